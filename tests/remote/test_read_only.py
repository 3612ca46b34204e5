"""Nothing on the host changes: every builder runs against a planted tree, whose content, modes, owners and times stay as they were."""

from __future__ import annotations

import hashlib
import os
import stat as modes
import subprocess
from pathlib import Path

import pytest

from agent.domain.command import Command
from agent.domain.launch import HostSpec
from agent.hosts import commands
from agent.hosts.frames import new_nonce
from agent.hosts.hard_mode import harden
from agent.hosts.pool import SHELLS
from agent.hosts.prelude import prelude
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport
from tests import busybox
from tests.remote.conftest import ALL_TRANSPORTS, Connect
from tests.sshd import Sshd


def picture(*roots: Path) -> dict[str, tuple[object, ...]]:
    """Every file and directory: type and mode, owner, size, times (ns), link target, content."""
    found: dict[str, tuple[object, ...]] = {}
    for root in roots:
        for path in [root, *root.rglob("*")]:
            row = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if modes.S_ISREG(row.st_mode) else ""
            target = os.readlink(path) if modes.S_ISLNK(row.st_mode) else ""
            found[str(path)] = (row.st_mode, row.st_uid, row.st_gid, row.st_size, row.st_mtime_ns, row.st_ctime_ns, target, content)
    return found


def plant(home: Path) -> Path:
    root = home / "site packages"
    (root / "pkg" / "sub").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text("x = 1\nneedle = 2\n")
    (root / "pkg" / "sub" / "b;rm -rf $HOME.py").write_text("needle\n")
    (root / "pkg" / "ro.py").write_text("y\n")
    (root / "pkg" / "ro.py").chmod(0o444)
    (root / "pkg" / "link.py").symlink_to("a.py")
    (root / "pkg-1.dist-info").mkdir()
    (root / "pkg-1.dist-info" / "METADATA").write_text("Name: pkg\n")
    (root / "server.log").write_text("line\n" * 5000)
    (root / "config.json").write_text('{"hidden_size": 7168}')
    os.mkfifo(root / "fifo")
    return root


def every_read(root: Path) -> list[Command]:
    a, log = str(root / "pkg" / "a.py"), str(root / "server.log")
    return [
        commands.grep(["needle", "$(touch x)"], [str(root)]),
        commands.grep("`touch x`", [str(root)], fixed=True, ignore_case=True, names_only=True, include=()),
        commands.lines(a, 1, 2),
        commands.read_bytes(log, offset=100, size=50),
        commands.read_bytes(log),
        commands.tail_bytes(log, 100),
        commands.stat([a, str(root / "missing")]),
        commands.find([str(root)], names=["*.py", "*"], kind="", max_depth=3, newer_than=a),
        commands.list_dir(str(root)),
        commands.stat_tree([str(root)]),
        commands.tar_tree([str(root)]),
        commands.tar([a, log]),
        commands.sha256([a]),
        commands.sha256_tree([str(root)]),
        commands.stat_metadata(str(root), ["pkg"]),
        commands.tar_metadata(str(root), ["pkg"]),
        commands.proc_file("self", "cmdline"),
        commands.proc_file("self", "environ"),
        commands.proc_link("self", "cwd"),
        commands.machine_file("/proc/meminfo"),
        commands.command_lines(),
        commands.ps(),
        commands.readlink(str(root / "pkg" / "link.py")),
        commands.uname(),
        commands.identity(),
        commands.clock(),
        commands.gpus(),
        commands.journal(1),
        commands.container_logs("docker", "none"),
    ]


@pytest.mark.parametrize("name", ALL_TRANSPORTS)
async def test_every_read_leaves_everything_as_it_was(
    name: str, sshd: Sshd, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    root = plant(tmp_path / "host")
    before = picture(tmp_path / "host", scratch)
    host = await connect(name, sshd.spec())
    await host.batch(every_read(root))
    await host.fetch([str(root / "pkg" / "a.py"), str(root / "fifo"), str(root / "config.json")])
    await host.sync_tree(str(root), ["pkg"])
    async for _ in host.stream(commands.read_bytes(str(root / "server.log"))):
        pass
    await host.close()
    after = picture(tmp_path / "host", scratch)
    if name == "openssh":
        after[str(scratch)] = before[str(scratch)]  # the control socket's directory is on this side, and is gone again
    assert after == before


@pytest.mark.parametrize("shell", ["/bin/dash", "/bin/bash", "busybox sh"])
async def test_the_kernel_refuses_file_data_from_a_worker(shell: str, tmp_path: Path) -> None:
    """Layer two, under the allow-list: what a mistake in layer one could still do. Files may be created, but not filled, nor replaced."""
    if shell == "busybox sh":
        shell = f"{busybox.program()} sh"
    elif not Path(shell).exists():
        pytest.skip(f"needs {shell}")
    kept = tmp_path / "kept"
    kept.write_text("as it was\n")
    pipe = await LocalTransport().open(f"exec {shell} -s")
    nonce = new_nonce()
    attempts = f"echo lost > {kept}\necho more >> {kept}\ncp /etc/passwd {tmp_path}/copy\necho done\nexit\n"
    await pipe.write(prelude(nonce) + attempts.encode())
    said = b""
    while chunk := await pipe.read():
        said += chunk
    await pipe.close()
    assert said.endswith(b"done\n"), "the worker itself survives"
    assert kept.read_text() == "as it was\n"
    assert not (tmp_path / "copy").exists() or (tmp_path / "copy").stat().st_size == 0


@pytest.mark.parametrize("name", ALL_TRANSPORTS)
async def test_the_limits_that_each_read_runs_under(name: str, sshd: Sshd, connect: Connect) -> None:
    """Both the soft limit and the hard one, which cannot be raised again: no file data, no core file, ten minutes of a processor."""
    host = await connect(name, sshd.spec())
    told = (await host.run(commands.proc_file("self", "limits"))).stdout.decode()
    limits = {row[:26].strip(): row[26:].split()[:2] for row in told.splitlines()[1:]}
    assert (limits["Max file size"], limits["Max core file size"], limits["Max cpu time"]) == (["0", "0"], ["0", "0"], ["600", "600"])


async def test_a_hostile_environment_changes_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TAR_OPTIONS can run programs, GREP_OPTIONS and functions can change what a read shows; a PATH of the account's is not searched."""
    marker = tmp_path / "ran"
    fake = tmp_path / "bin"
    fake.mkdir()
    for program in ("grep", "tar", "find", "sed", "stat"):
        (fake / program).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (fake / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")
    monkeypatch.setenv("TAR_OPTIONS", f"--checkpoint=1 --checkpoint-action=exec='touch {marker}'")
    monkeypatch.setenv("GREP_OPTIONS", "-v")
    monkeypatch.setenv("ENV", str(fake / "grep"))
    monkeypatch.setenv("BASH_ENV", str(fake / "grep"))
    monkeypatch.setenv("BASH_FUNC_find%%", f"() {{ touch {marker}; }}")
    root = plant(tmp_path / "host")
    host = RemoteHost(LocalTransport(), HostSpec(name="here"))
    found = commands.parse_grep(await host.run(commands.grep("needle = 2", [str(root)])))
    assert len(found.hits) == 2
    await host.sync_tree(str(root), ["pkg"])
    await host.close()
    assert not marker.exists()


@pytest.mark.skipif(
    subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode != 0, reason="needs user namespaces"
)
async def test_hard_mode_refuses_even_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("as it was\n")
    (command, _) = harden(SHELLS)
    pipe = await LocalTransport().open(command)
    await pipe.write(
        f"touch {tmp_path}/new; rm {tmp_path}/kept; mkdir {tmp_path}/dir; chmod 777 {tmp_path}/kept; echo done; exit\n".encode()
    )
    said = b""
    while chunk := await pipe.read():
        said += chunk
    await pipe.close()
    assert said == b"done\n"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "as it was\n"


@pytest.mark.skipif(
    subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode != 0, reason="needs user namespaces"
)
async def test_reads_work_in_hard_mode(sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    root = plant(tmp_path / "host")
    host = await connect("asyncssh", sshd.spec(), shells=harden(SHELLS))
    found = commands.parse_grep(await host.run(commands.grep("needle = 2", [str(root)])))
    assert len(found.hits) == 2
    assert len(list((await host.sync_tree(str(root), ["pkg"])).files())) == 5
    assert os.getpid() in commands.parse_command_lines(await host.run(commands.command_lines()))
