"""Lays a case out in a temporary directory, with a real process that was started by the case's command; removes all of it afterwards.

The process is this machine's Python in a virtual environment of its own, called as the case's command says. It imports nothing of the
package: a line in the environment's ``.pth`` file makes it wait on standard input first, so it also ends when whoever started it ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.demo.case import DemoCase
from agent.domain.errors import RcaError

_WAIT = "import os; os.read(0, 1); os._exit(0)\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A running stand-in server."""

    root: Path
    pid: int
    site: Path
    log: Path


@contextmanager
def staged(case: DemoCase, release: Path) -> Iterator[Stage]:
    """Everything below one temporary directory; raises RcaError where there is no /proc."""
    if not Path("/proc/self/cmdline").exists():
        raise RcaError("the demonstration needs Linux: its stand-in server is looked up in /proc", hint="run it in a Linux container")
    root = Path(tempfile.mkdtemp(prefix="rca-demo-")).resolve()
    try:
        site = lay_out(root, case, release)
        with standing_in(root, case.argv, case.environment, log=root / "server.log") as pid:
            yield Stage(root=root, pid=pid, site=site, log=root / "server.log")
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def staging(case: DemoCase, release: Path) -> Iterator[Future[Stage]]:
    """As ``staged``, in a thread of its own: a release of 1,400 files is unpacked while the program loads the rest of itself."""
    with ExitStack() as stack, ThreadPoolExecutor(1, thread_name_prefix="rca-stage") as thread:
        yield thread.submit(lambda: stack.enter_context(staged(case, release)))


def lay_out(root: Path, case: DemoCase, release: Path) -> Path:
    """Virtual environment, package, models and log below ``root``; gives site-packages. ``release``: a wheel, or its content."""
    site = make_environment(root)
    if release.is_dir():
        shutil.copytree(release, site, dirs_exist_ok=True)
    else:
        _unpack(release, site)
    for place, config in case.models.items():
        folder = root / place
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(config, encoding="utf-8")
    (root / "server.log").write_text(case.log, encoding="utf-8")
    return site


def _unpack(wheel: Path, site: Path) -> None:
    """Sources and metadata; ``extractall`` looks at every directory again for each of its files."""
    with zipfile.ZipFile(wheel) as archive:
        wanted = [name for name in archive.namelist() if name.endswith(".py") or ".dist-info/" in name]
        if any(name.startswith("/") or ".." in name.split("/") for name in wanted):
            raise RcaError(f"{wheel.name} is no wheel: a name in it leads out of its directory")
        for folder in sorted({os.path.dirname(name) for name in wanted}):
            (site / folder).mkdir(parents=True, exist_ok=True)
        for name in wanted:
            (site / name).write_bytes(archive.read(name))


def make_environment(root: Path) -> Path:
    """A virtual environment as PEP 405 describes it, around this Python; gives its site-packages directory."""
    base = Path(getattr(sys, "_base_executable", sys.executable) or sys.executable).resolve()
    major, minor = sys.version_info[:2]
    site = root / "venv" / "lib" / f"python{major}.{minor}" / "site-packages"
    site.mkdir(parents=True)
    (root / "venv" / "bin").mkdir()
    (root / "venv" / "bin" / "python3").symlink_to(base)
    config = f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {major}.{minor}.{sys.version_info[2]}\n"
    (root / "venv" / "pyvenv.cfg").write_text(config, encoding="utf-8")
    (site / "stand_in.pth").write_text(_WAIT, encoding="utf-8")
    return site


@contextmanager
def standing_in(root: Path, argv: tuple[str, ...], environment: Mapping[str, str], *, log: Path) -> Iterator[int]:
    """The process, by its id, with standard output and error in ``log``; it is ended with the context."""
    path = f"{root / 'venv' / 'bin'}:{os.environ.get('PATH', os.defpath)}"
    env = {"PATH": path, "HOME": str(root), "LANG": "C.UTF-8", **environment}
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv, executable=root / "venv" / "bin" / "python3", env=env, cwd=root, stdin=subprocess.PIPE, stdout=output, stderr=output
        )
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate()
