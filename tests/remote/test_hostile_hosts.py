"""A host that lies in every way that its shell allows: each ends soon, in a result or an error of ours, and holds little memory."""

from __future__ import annotations

import asyncio
import resource
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent.domain.command import CommandResult
from agent.domain.errors import CommandTimeout, HostError, NotFoundOnHost, RestrictedHost, Truncated
from agent.domain.launch import HostSpec
from agent.domain.source import Unreadable
from agent.hosts import commands
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport

PATIENCE = 60
SHELL = Path(__file__).with_name("hostile_shell.py")
Liar = Callable[[str], RemoteHost]


@pytest.fixture
async def liar(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Liar]:
    monkeypatch.setattr("agent.hosts.worker.READY_SECONDS", 5.0)
    monkeypatch.setattr("agent.hosts.worker.GRACE_SECONDS", 0.5)
    hosts: list[RemoteHost] = []

    def host(way: str) -> RemoteHost:
        hosts.append(RemoteHost(LocalTransport(), HostSpec(name="liar"), shells=(f"exec {sys.executable} {SHELL} '{way}'",)))
        return hosts[-1]

    async with asyncio.timeout(PATIENCE):
        yield host
        for one in hosts:
            await one.close()


WAYS = [
    "status", "long status", "another number", "twice", "ready again", "endless", "endless problems", "endless frame", "garbage", "vanish",
    "endless noise", "features", "nothing special",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
async def test_every_lie_ends_in_a_result_or_an_error_of_ours(way: str, liar: Liar) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    host = liar(way)
    read = commands.read_bytes("/a", size=1000, timeout=1.0)
    (answer,) = await host.batch([read])
    assert isinstance(answer, CommandResult | HostError)
    if isinstance(answer, CommandResult):
        assert len(answer.stdout) <= 1000 and -1 <= answer.status <= 999
    expected = {"vanish": Truncated, "another number": Truncated, "endless problems": CommandTimeout, "endless noise": RestrictedHost}
    assert isinstance(answer, expected.get(way, object))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000, "kilobytes"


async def test_features_that_are_no_numbers(liar: Liar) -> None:
    features = await liar("features").features()
    assert features.uid == -1 and features.gzip and not features.zstd


async def test_few_bytes_that_stand_for_gigabytes(liar: Liar) -> None:
    """The tree's archive is cut at its limit while it is unpacked."""
    from agent.hosts.archive import Archive

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (answer,) = await liar("bomb").batch_exact([(commands.tar_tree(["/r"], limit=20_000_000, timeout=30), Archive())])
    assert isinstance(answer, CommandResult) and answer.truncated
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000, "kilobytes"


@pytest.mark.parametrize("way", ["garbage", "nothing special", "status"])
async def test_listings_that_make_no_sense(way: str, liar: Liar) -> None:
    with pytest.raises(NotFoundOnHost):
        await liar(way).sync_tree("/r", ["p"])


async def test_a_listing_of_which_nothing_is_sent(liar: Liar) -> None:
    tree = await liar("rows").sync_tree("/r", ["p"])
    assert list(tree.files()) == ["p/a.py"]
    assert isinstance(tree.read("p/a.py"), Unreadable)


@pytest.mark.parametrize("way", ["rows", "garbage", "nothing special"])
async def test_answers_that_make_no_sense_are_parsed_to_nothing(way: str, liar: Liar) -> None:
    host = liar(way)
    stat, digest, lines, grep = await host.batch(
        [commands.stat(["/r/p/a.py"]), commands.sha256(["/a"]), commands.command_lines(), commands.grep("x", ["/r"])]
    )
    assert isinstance(stat, CommandResult) and isinstance(digest, CommandResult)
    assert isinstance(lines, CommandResult) and isinstance(grep, CommandResult)
    assert set(commands.parse_stat(stat)) <= {"/r/p/a.py"}
    assert commands.parse_sha256(digest) == {} and commands.parse_grep(grep).hits == ()
    assert isinstance(commands.parse_command_lines(lines), dict)
