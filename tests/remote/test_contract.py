"""One contract for every transport: what a Host does is the same over all of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.domain.command import Command
from agent.domain.errors import CommandTimeout, RcaError
from agent.domain.source import Absent, Unreadable
from agent.hosts import commands
from agent.hosts.remote import RemoteHost
from agent.hosts.shell import render
from benchmarks.proxy import Proxy
from tests.remote.conftest import ALL_TRANSPORTS, SSH_TRANSPORTS, Connect
from tests.remote.replayed import ReplayedHost
from tests.remote.waiting import processes, until
from tests.sshd import Sshd


@pytest.fixture(params=[*ALL_TRANSPORTS, "replay"])
async def host(
    request: pytest.FixtureRequest, sshd: Sshd, connect: Connect, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Any]:
    if request.param != "replay":
        yield await connect(request.param, sshd.spec())
        return
    replayed = ReplayedHost(tmp_path_factory.mktemp("replay") / "recording.json")
    yield replayed
    await replayed.close()


with_a_shell = pytest.mark.parametrize("host", ALL_TRANSPORTS, indirect=True)
"""What is about processes on the host: a recording has none."""


async def test_a_batch_answers_in_order_in_one_round_trip(host: RemoteHost, tmp_path: Path) -> None:
    names = [tmp_path / f"file {number}" for number in range(20)]
    for number, name in enumerate(names):
        name.write_text(f"{number}\n")
    answers = await host.batch([commands.lines(str(name), 1, 1) for name in names])
    assert [answer.stdout for answer in answers if not isinstance(answer, RcaError)] == [f"{number}\n".encode() for number in range(20)]
    assert host.cost.round_trips == 1
    assert host.cost.commands == 20


@pytest.mark.parametrize("name", SSH_TRANSPORTS)
async def test_a_batch_is_one_round_trip_on_the_wire(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    """As a proxy between both sees it: how often the client spoke after the server had."""
    (tmp_path / "a").write_text("x\n")
    async with Proxy.to(sshd.port) as proxy:
        known = tmp_path / "known"
        known.write_text(sshd.known_hosts.read_text().replace(f":{sshd.port} ", f":{proxy.port} "))
        host = await connect(name, sshd.spec(port=proxy.port, known_hosts=str(known)))
        await host.run(commands.identity())
        before = proxy.turns
        answers = await host.batch([commands.lines(str(tmp_path / "a"), 1, 1)] * 10 + [commands.grep("x", [str(tmp_path)])] * 10)
        assert not [answer for answer in answers if isinstance(answer, RcaError) or answer.status]
        assert proxy.turns - before == 1


async def test_status_and_both_streams_are_kept_apart(host: RemoteHost, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    result = await host.run(commands.stat([str(tmp_path / "a"), str(tmp_path / "missing")]))
    assert result.status == 1
    assert list(commands.parse_stat(result)) == [str(tmp_path / "a")]
    assert b"No such file" in result.stderr
    assert host.cost.bytes == len(result.stdout) + len(result.stderr), "what frames an answer is not counted: it differs from run to run"


async def test_bytes_that_are_no_text_arrive_as_they_are(host: RemoteHost, tmp_path: Path) -> None:
    content = bytes(range(256)) * 3
    (tmp_path / "binary").write_bytes(content)
    assert (await host.run(commands.read_bytes(str(tmp_path / "binary")))).stdout == content
    part = await host.run(commands.read_bytes(str(tmp_path / "binary"), offset=250, size=300))
    assert part.stdout == content[267:550], "from the first whole line on"


async def test_names_of_any_bytes(host: RemoteHost, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/ -x'\"$(id)\n\xff*?[a]"
    Path(os.fsdecode(name)).write_text("found\n")
    assert (await host.run(commands.lines(os.fsdecode(name), 1, 5))).stdout == b"found\n"


async def test_fetch_tells_absent_from_unreadable(host: RemoteHost, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    (tmp_path / "empty").write_text("")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    paths = {name: str(tmp_path / name) for name in ("plain", "empty", "fifo", "link", "loop", "missing", "plain/below")}
    found = await host.fetch([*paths.values(), str(tmp_path), "/proc/self/comm"])
    assert found[paths["plain"]] == b"text"
    assert found[paths["empty"]] == b""
    assert found[paths["link"]] == b"text"
    assert isinstance(found[paths["fifo"]], Unreadable)
    assert isinstance(found[paths["loop"]], Unreadable)
    assert found[paths["missing"]] == Absent(path=paths["missing"])
    assert found[paths["plain/below"]] == Absent(path=paths["plain/below"])
    assert isinstance(found[str(tmp_path)], Unreadable)
    assert found["/proc/self/comm"] == b"head\n"


async def test_a_file_over_the_limit_is_not_fetched_in_part(host: RemoteHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hosts.fetch.FILE_LIMIT", 50_000)
    for name, size in (("small", 10), ("full", 50_000), ("large", 50_001)):
        (tmp_path / name).write_bytes(b"a" * (size - 1) + b"\n")
    found = await host.fetch([str(tmp_path / name) for name in ("small", "full", "large")])
    assert {Path(path).name: len(one) if isinstance(one, bytes) else one.reason for path, one in found.items()} == {
        "small": 10,
        "full": 50_000,
        "large": "larger than 50000 bytes",
    }


async def test_a_fifo_hangs_nothing(host: RemoteHost, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "to_fifo.py").symlink_to(tmp_path / "fifo.py")
    (tmp_path / "a.py").write_text("needle = 1\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    grep, read = await host.batch([commands.grep("needle", [str(tmp_path)]), commands.lines(str(tmp_path / "fifo.py"), 1, 2)])
    assert not isinstance(grep, RcaError) and not isinstance(read, RcaError)
    assert {Path(hit.path).name for hit in commands.parse_grep(grep).hits} == {"a.py", "link.py"}
    assert read.status == 1 and b"not a regular file" in read.stderr


async def test_grep_tells_nothing_found_from_not_looked(host: RemoteHost, tmp_path: Path) -> None:
    (tmp_path / "a:7:b.py").write_text("x\nneedle 'quoted'\n")
    found = commands.parse_grep(await host.run(commands.grep("needle", [str(tmp_path)])))
    assert [(hit.path, hit.line, hit.text) for hit in found.hits] == [(str(tmp_path / "a:7:b.py"), 2, "needle 'quoted'")]
    nothing = commands.parse_grep(await host.run(commands.grep("absent", [str(tmp_path)])))
    assert nothing.hits == () and nothing.problems == ()
    nowhere = commands.parse_grep(await host.run(commands.grep("needle", [str(tmp_path / "missing")])))
    assert nowhere.hits == () and "No such file" in nowhere.problems[0]


@with_a_shell
async def test_output_is_cut_at_its_limit_and_says_so(host: RemoteHost, tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 5_000_000)
    cut = await host.run(commands.grep("x", [str(tmp_path)], include=("long",), limit=1000))
    assert (len(cut.stdout), cut.truncated) == (1000, True)
    endless = Command(argv=("sed", "-n", "-e", "1,2p;2q", "--", str(tmp_path / "long")), limit=1000)
    cut = await host.run(endless)
    assert (len(cut.stdout), cut.truncated) == (1000, True)
    assert (await host.run(commands.uname())).status == 0


@with_a_shell
async def test_a_slow_read_is_a_timeout_and_leaves_nothing(host: RemoteHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hosts.worker.GRACE_SECONDS", 0.2)
    marker = str(tmp_path / "hanging")
    os.mkfifo(marker)
    slow = Command(argv=("stat", "-L", "-c", "%s", "--", "/proc"), timeout=0.1)
    monkeypatch.setattr("agent.hosts.prelude.render", lambda command: f"cat {marker}" if command is slow else render(command))
    before = commands.uname()
    first, timed_out, after = await host.batch([before, slow, commands.identity()])
    assert not isinstance(first, RcaError)
    assert isinstance(timed_out, CommandTimeout)
    assert not isinstance(after, RcaError), "a command behind the slow one is sent again"
    assert await until(lambda: f"cat {marker}" not in processes())


@with_a_shell
async def test_cancelling_ends_the_command_on_the_host(host: RemoteHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = str(tmp_path / "hanging")
    os.mkfifo(marker)
    slow = Command(argv=("id",))
    monkeypatch.setattr("agent.hosts.prelude.render", lambda command: f"cat {marker}" if command is slow else render(command))
    task = asyncio.create_task(host.run(slow))
    assert await until(lambda: f"cat {marker}" in processes())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await host.run(commands.uname())).status == 0, "the host stays usable"
    assert await until(lambda: f"cat {marker}" not in processes())


@with_a_shell
async def test_a_program_that_ignores_the_signal_is_killed(host: RemoteHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = str(tmp_path / "hanging")
    os.mkfifo(marker)
    slow = Command(argv=("id",))
    stubborn = f"sh -c 'trap \"\" TERM; exec cat {marker}'"
    monkeypatch.setattr("agent.hosts.prelude.render", lambda command: stubborn if command is slow else render(command))
    task = asyncio.create_task(host.run(slow))
    assert await until(lambda: f"\ncat {marker}" in processes())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await until(lambda: marker not in processes())
    assert (await host.run(commands.uname())).status == 0, "the host stays usable"


@with_a_shell
async def test_a_search_that_takes_too_long_ends_on_the_host_and_its_shell_goes_on(
    host: RemoteHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = str(tmp_path / "hanging")
    os.mkfifo(marker)
    slow = commands.find([str(tmp_path)], timeout=0.5)
    monkeypatch.setattr("agent.hosts.prelude.render", lambda command: f"cat {marker}" if command is slow else render(command))
    shell = await parent_of_reads(host)
    with pytest.raises(CommandTimeout, match=r"took longer than 0\.5 s"):
        await host.run(slow)
    assert f"cat {marker}" not in processes()
    assert await parent_of_reads(host) == shell


async def parent_of_reads(host: RemoteHost) -> int:
    """The process id of the shell that answers now."""
    status = await host.run(commands.proc_file("self", "status"))
    (parent,) = (int(row.split()[1]) for row in status.stdout.splitlines() if row.startswith(b"PPid:"))
    return parent


@with_a_shell
async def test_what_marks_the_end_of_an_answer_is_nowhere_to_be_read(host: RemoteHost) -> None:
    """The shell was told it on its standard input: it stands in no argument vector and no environment that another process could see."""
    nonce = (await host._pool.worker())._nonce
    shell = await parent_of_reads(host)
    shown = [commands.command_lines(), commands.ps(), commands.proc_file("self", "environ"), commands.proc_file(shell, "environ")]
    for answer in await host.batch(shown):
        assert not isinstance(answer, RcaError) and answer.stdout
        assert nonce not in answer.stdout


async def test_a_stream_gives_everything_and_may_be_left_early(host: RemoteHost, tmp_path: Path) -> None:
    content = b"".join(b"line %d\n" % number for number in range(400_000))
    (tmp_path / "log").write_bytes(content)
    read = commands.read_bytes(str(tmp_path / "log"), size=10_000_000)
    assert b"".join([piece async for piece in host.stream(read)]) == content
    stream = host.stream(read)
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    assert (await host.run(commands.uname())).status == 0


async def test_features(host: RemoteHost) -> None:
    features = await host.features()
    assert features.gnu_grep and features.gnu_find and features.timeout
    assert features.uid == os.getuid()
    assert features.kernel == os.uname().release


@with_a_shell
async def test_closing_leaves_no_shell(host: RemoteHost) -> None:
    shell = await parent_of_reads(host)
    await host.close()
    await host.close()
    assert await until(lambda: not Path(f"/proc/{shell}").exists())
