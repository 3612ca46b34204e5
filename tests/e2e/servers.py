"""Stand-in servers for end-to-end tests: a real process with a real launch command, in front of a real release."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from agent.demo.case import DemoCase, load_case
from agent.demo.stage import Stage, lay_out, standing_in
from tests.sshd import Sshd

REPOSITORY = Path(__file__).resolve().parents[2]
SYMPTOM = "hidden dim 7168"


def case(*, model: str = "default", changes: Sequence[tuple[str, str | None]] = (), version: str = "0.5.9") -> DemoCase:
    """The founding case with some flags changed; a value of None takes the flag out."""
    found = load_case("founding", model)
    argv = list(found.argv)
    for flag, value in changes:
        at = argv.index(flag)
        argv[at : at + 2] = [] if value is None else [flag, value]
    return replace(found, argv=tuple(argv), version=version)


@contextmanager
def serving(root: Path, what: DemoCase, release: Path) -> Iterator[Stage]:
    """The case below ``root`` with its process, for the length of the block."""
    site = lay_out(root, what, release)
    log = root / "server.log"
    with standing_in(root, what.argv, what.environment, log=log) as pid:
        yield Stage(root=root, pid=pid, site=site, log=log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def rca(home: Path, *arguments: str, timeout: float = 300, stdout: IO[str] | None = None) -> Outcome:
    """Runs the program in a process of its own, with directories of its own; ``stdout``: where its output goes instead."""
    environment = {**os.environ, "RCA_HOME": str(home), "PYTHONWARNINGS": "error", "NO_COLOR": "1"}
    environment.pop("RCA_DEBUG", None)
    done = subprocess.run(
        [sys.executable, "-m", "agent.cli.main", *arguments],
        cwd=REPOSITORY,
        env=environment,
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=timeout,
    )
    return Outcome(code=done.returncode, out=done.stdout or "", err=done.stderr)


def written(root: Path, files: Mapping[str, str]) -> Path:
    """Writes files by their paths below a directory, and gives that directory."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def login(server: Sshd) -> list[str]:
    """Options that reach the test's own SSH server."""
    return ["--host", f"{server.user}@127.0.0.1:{server.port}", "--identity", str(server.key), "--known-hosts", str(server.known_hosts)]


def snapshot(root: Path) -> dict[str, tuple[int, int, int, str]]:
    """Mode, size, modification time and digest of everything below ``root``."""
    found = {}
    for path in sorted(root.rglob("*")):
        stat = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        found[str(path)] = (stat.st_mode, stat.st_size, stat.st_mtime_ns, digest)
    return found
