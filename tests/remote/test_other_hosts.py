"""Hosts that are not the usual one: busybox alone, another user's processes, containers, odd files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError, RestrictedHost, UsageError
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, Unreadable
from agent.hosts import commands
from agent.hosts.containers import recognise, shells
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport
from tests.busybox import program as busybox_program
from tests.sshd import serving

ROOT = os.geteuid() == 0


class Elsewhere(LocalTransport):
    """The local transport with another way to start its shell."""

    def __init__(self, start: str) -> None:
        super().__init__()
        self._start = start

    async def open(self, command: str = "") -> object:  # type: ignore[override]
        return await super().open(self._start)


@pytest.fixture
def busybox(tmp_path: Path) -> Iterator[tuple[RemoteHost, Path]]:
    """A host that has nothing but busybox, as a root directory of its own."""
    program = busybox_program()
    root = tmp_path / "root"
    for folder in ("bin", "proc", "dev", "opt"):
        (root / folder).mkdir(parents=True)
    shutil.copy(program, root / "bin" / "busybox")
    for library in re.findall(r"(/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    for applet in subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if not (root / "bin" / applet).exists():
            (root / "bin" / applet).symlink_to("busybox")
    mounts = f"mount -t proc proc {root}/proc 2>/dev/null; mount --rbind /dev {root}/dev"
    start = f"exec unshare -Urmpf --kill-child sh -c '{mounts}; exec chroot {root} /bin/sh -s'"
    if subprocess.run(["unshare", "-Urmpf", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces")
    yield RemoteHost(Elsewhere(start), HostSpec(name="busybox")), root


async def test_every_read_on_busybox(busybox: tuple[RemoteHost, Path]) -> None:
    host, root = busybox
    (root / "opt" / "pkg").mkdir()
    (root / "opt" / "pkg" / "a.py").write_text("import x\nneedle = 'a'\n")
    (root / "opt" / "pkg" / "b c.py").write_text("needle\n")
    (root / "opt" / "pkg" / "link.py").symlink_to("a.py")
    os.mkfifo(root / "opt" / "pkg" / "fifo.py")
    (root / "opt" / "pkg-1.dist-info").mkdir()
    (root / "opt" / "pkg-1.dist-info" / "METADATA").write_text("Name: pkg\n")
    features = await host.features()
    assert not features.gnu_grep and not features.gnu_find and not features.zstd
    grep, read, stat, ps, lines, link, digest, missing = await host.batch([
        commands.grep("needle", ["/opt"]), commands.read_bytes("/opt/pkg/a.py", offset=9, size=100),
        commands.stat(["/opt/pkg/a.py", "/no"]),
        commands.ps(), commands.command_lines(), commands.readlink("/opt/pkg/link.py"), commands.sha256(["/opt/pkg/a.py"]),
        commands.gpus(),
    ])  # fmt: skip
    answers = [answer for answer in (grep, read, stat, ps, lines, link, digest, missing) if isinstance(answer, CommandResult)]
    assert len(answers) == 8
    grep, read, stat, ps, lines, link, digest, missing = answers
    found = commands.parse_grep(grep)
    assert found.problems == ()
    assert [(hit.path, hit.line) for hit in found.hits] == [("/opt/pkg/a.py", 2), ("/opt/pkg/b c.py", 1), ("/opt/pkg/link.py", 2)]
    assert read.stdout == b"needle = 'a'\n"
    assert list(commands.parse_stat(stat)) == ["/opt/pkg/a.py"] and commands.parse_stat(stat)["/opt/pkg/a.py"].size == 22
    assert b"sh -s" in ps.stdout
    assert ("/bin/sh", "-s") in commands.parse_command_lines(lines).values()
    assert link.stdout == b"/opt/pkg/a.py\n"
    assert list(commands.parse_sha256(digest)) == ["/opt/pkg/a.py"]
    assert missing.status == 127 and commands.problems(missing)
    fetched = await host.fetch(["/opt/pkg/a.py", "/no", "/opt", "/proc/self/comm"])
    assert fetched["/opt/pkg/a.py"] == b"import x\nneedle = 'a'\n"
    assert fetched["/no"] == Absent(path="/no")
    assert isinstance(fetched["/opt"], Unreadable)
    tree = await host.sync_tree("/opt", ["pkg"])
    assert list(tree.files()) == ["pkg-1.dist-info/METADATA", "pkg/a.py", "pkg/b c.py", "pkg/link.py"]
    assert (await host.run(Command(argv=("find", "/opt", "-print0"), limit=4))).truncated
    await host.close()


@pytest.mark.skipif(not ROOT, reason="needs root, to become somebody else")
async def test_another_users_process_gives_what_the_kernel_shows(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    forced = 'ForceCommand setpriv --reuid=65534 --regid=65534 --clear-groups /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'
    from agent.transports.asyncssh_client import AsyncsshTransport
    from agent.transports.ssh_options import SshOptions

    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "secret.txt").chmod(0o600)
    with serving(tmp_path, more=forced) as sshd:
        transport = AsyncsshTransport(SshOptions(own_known_hosts=tmp_path / "own"))
        await transport.connect(sshd.spec())
        host = RemoteHost(transport, sshd.spec())
        argv, environ, cwd = await host.batch(
            [commands.proc_file(process.pid, "cmdline"), commands.proc_file(process.pid, "environ"), commands.proc_link(process.pid, "cwd")]
        )
        assert not isinstance(argv, RcaError) and not isinstance(environ, RcaError) and not isinstance(cwd, RcaError)
        assert b"input()" in argv.stdout
        assert environ.stdout == b"" and environ.status == 1 and "Permission denied" in commands.problems(environ)[0]
        assert cwd.stdout == b"" and cwd.status == 1
        fetched = await host.fetch([str(tmp_path / "secret.txt"), f"/proc/{process.pid}/environ"])
        for found in fetched.values():
            assert isinstance(found, Unreadable) and "Permission denied" in found.reason
        await host.close()
    process.communicate(b"\n")


async def test_a_latin_1_file_is_text(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes("# caf\xe9\nneedle = 'na\xefve'\n".encode("latin-1"))
    (tmp_path / "binary.py").write_bytes(b"\0\1needle\n")
    host = RemoteHost(LocalTransport(), HostSpec(name="here"))
    found = commands.parse_grep(await host.run(commands.grep("needle", [str(tmp_path)])))
    assert [(Path(hit.path).name, hit.line) for hit in found.hits] == [("latin.py", 2)]
    assert commands.to_bytes(found.hits[0].text) == "needle = 'na\xefve'".encode("latin-1")
    as_text = commands.parse_grep(await host.run(commands.grep("needle", [str(tmp_path)], as_text=True)))
    assert {Path(hit.path).name for hit in as_text.hits} == {"latin.py", "binary.py"}
    await host.close()


async def test_a_log_of_two_gigabytes_costs_no_more_than_what_is_read(tmp_path: Path) -> None:
    log = tmp_path / "big.log"
    with log.open("wb") as file:
        file.write(b"first\nsecond\n" + b"x" * 100 + b"\n")
        file.seek(2_000_000_000)
        file.write(b"\nlast line\n")
    host = RemoteHost(LocalTransport(), HostSpec(name="here"))
    head, tail, middle = await host.batch(
        [
            commands.lines(str(log), 1, 2),
            commands.tail_bytes(str(log), 10_000),
            commands.read_bytes(str(log), offset=1_999_999_990, size=5000),
        ]
    )
    assert await _read_by_its_shell(host) < 10_000_000, "the file is not read through"
    assert not isinstance(head, RcaError) and not isinstance(tail, RcaError) and not isinstance(middle, RcaError)
    assert head.stdout == b"first\nsecond\n"
    assert tail.stdout == middle.stdout == b"last line\n"
    await host.close()


async def _read_by_its_shell(host: RemoteHost) -> int:
    """Bytes that the one shell of the host and all programs it started have read, as the kernel counts them."""
    status = await host.run(commands.proc_file("self", "status"))
    (shell,) = (int(row.split()[1]) for row in status.stdout.splitlines() if row.startswith(b"PPid:"))
    io = (await host.run(commands.proc_file(shell, "io"))).stdout.split()
    return int(io[io.index(b"rchar:") + 1])


FAKE = """#!/bin/sh
# A stand-in for a container engine: `docker exec -i NAME COMMAND...` runs the command where RCA_INSIDE is set.
echo "$@" >> "$0.log"
[ "$1" = exec ] || exit 64
while [ "$1" != /bin/sh ]; do shift; done
RCA_INSIDE=yes exec "$@"
"""


@pytest.mark.parametrize("container", ["docker:web-1", "podman:abc", "kubectl:models/server-0", "kubectl:models/server-0/engine"])
async def test_a_shell_inside_a_container(container: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _, name = container.partition(":")
    program = tmp_path / engine
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    host = RemoteHost(LocalTransport(), HostSpec(name="here", container=container), shells=shells(container))
    answer = await host.run(commands.proc_file("self", "environ"))
    assert b"RCA_INSIDE" in answer.stdout
    await host.close()
    said = (tmp_path / f"{engine}.log").read_text()
    assert said.startswith(
        f"exec -i -n models server-0{' -c engine' if name.endswith('engine') else ''} --" if engine == "kubectl" else f"exec -i {name} "
    )


async def test_a_container_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho 'Error response from daemon: No such container: web-1' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    host = RemoteHost(LocalTransport(), HostSpec(name="gpu7", container="docker:web-1"), shells=shells("docker:web-1"))
    with pytest.raises(RestrictedHost) as caught:
        await host.run(commands.uname())
    await host.close()
    assert "no shell to be had in docker:web-1 on gpu7" in caught.value.what
    assert "No such container: web-1" in caught.value.what
    assert "is it running" in caught.value.hint and "SFTP" not in caught.value.hint


@pytest.mark.parametrize("text", ["docker:", "docker:a b", "docker:$(id)", "docker:-v", "rkt:x", "web", "kubectl:a/b;c", "docker:a'b"])
def test_what_is_no_container_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        shells(text)


LONG = "3f4e8b0a" * 8
USER = "0::/user.slice/user-1000.slice/user@1000.service/user.slice"
POD = "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c3d4e_1111_2222_3333_444455556666.slice"
CGROUPS = {
    f"0::/system.slice/docker-{LONG}.scope": ("docker", "--container docker:3f4e8b0a3f4e"),
    f"12:pids:/docker/{LONG}\n11:memory:/docker/{LONG}": ("docker", "--container docker:3f4e8b0a3f4e"),
    f"{USER}/libpod-{LONG}.scope/container": ("podman", "--container podman:3f4e8b0a3f4e"),
    f"{POD}/cri-containerd-{LONG}.scope": (
        "kubectl", "pod 1b2c3d4e-1111-2222-3333-444455556666",
    ),
    f"0::/system.slice/containerd.service/default/{LONG}": ("containerd", "--tree"),
    "0::/lxc.payload.box/system.slice": ("lxc", "--tree"),
}  # fmt: skip


@pytest.mark.parametrize("cgroup", CGROUPS)
def test_a_contained_process_is_recognised(cgroup: str) -> None:
    engine, hint = CGROUPS[cgroup]
    found = recognise(cgroup + "\n")
    assert found is not None and found.engine == engine and hint in found.hint


@pytest.mark.parametrize("cgroup", ["0::/", "0::/user.slice/user-0.slice/session-1.scope", "0::/system.slice/ssh.service", ""])
def test_a_process_of_the_host_is_not(cgroup: str) -> None:
    assert recognise(cgroup) is None
