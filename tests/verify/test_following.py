"""Following a log until enough batches were seen: a file here, and one on a host."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import wiring
from agent.cli import following
from agent.cli.following import Following, LocalLog, RemoteLog
from agent.config import load_settings
from agent.domain.launch import HostSpec
from agent.verification import Watch, follow
from tests.verify.test_numbers import SGLANG, decode_line


class Told:
    """Progress that remembers."""

    def __init__(self) -> None:
        self.said_: list[str] = []
        self.status = ""

    def started(self, name: str, task: str) -> None: ...

    def said(self, name: str, text: str) -> None:
        self.said_.append(text)

    def ended(self, name: str, status: str, summary: str) -> None:
        self.status = f"{status}: {summary}"


def lines(count: int, accept: float = 2.1) -> bytes:
    return ("".join(decode_line(accept=accept) + "\n" for _ in range(count))).encode()


async def test_enough_batches_end_it(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(lines(5))
    told = Told()
    seen = await Following(batches=3, seconds=60, progress=told).follow(LocalLog(path=tmp_path / "log"), SGLANG)
    assert len(seen) == 5
    assert told.status == "done: 5 of 3 batches were seen"
    assert told.said_ == ["3/3 batches: running 1, accept_length 2.1, accept_rate 0.13, throughput 61.4"]


async def test_the_time_ends_it_too_and_keeps_what_was_seen(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(lines(2))
    told = Told()
    seen = await Following(batches=3, seconds=0.2, progress=told).follow(LocalLog(path=tmp_path / "log"), SGLANG)
    assert len(seen) == 2
    assert told.status == "failed: 2 of 3 batches were seen"


async def test_a_log_that_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_PAUSE", 0.0)
    path, told = tmp_path / "log", Told()
    growing = asyncio.create_task(grow(path, [lines(1), lines(2)[:-30], lines(2)[-30:]]))
    seen = await Following(batches=3, seconds=60, progress=told).follow(LocalLog(path=path), SGLANG)
    await growing
    assert seen == lines(3).decode().splitlines()
    assert told.said_[-1].startswith("3/3 batches")


async def grow(path: Path, pieces: list[bytes]) -> None:
    for piece in pieces:
        await asyncio.to_thread(append, path, piece)


def append(path: Path, piece: bytes) -> None:
    with path.open("ab") as handle:
        handle.write(piece)


@given(st.lists(st.integers(1, 700), max_size=6))
async def test_lines_are_read_once_however_the_log_grows(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("grows") / "log"
    text = b"".join(lines(1, accept=1 + n / 10) for n in range(3)) + b"half a li"
    edges = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    watch, looks = Watch(table=SGLANG), 0

    async def pause() -> None:
        nonlocal looks
        looks += 1
        if looks == len(edges):
            raise TimeoutError
        append(path, text[edges[looks - 1] : edges[looks]])

    with pytest.raises(TimeoutError):
        async for _ in follow(watch, LocalLog(path=path), pause):
            pass
    assert watch.lines == text.decode().splitlines()[:-1]
    assert [sample.values["accept_length"] for sample in watch.samples] == [1.0, 1.1, 1.2]


async def test_a_truncated_log_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    contents = iter([lines(2, accept=1.0), lines(1, accept=2.0)])

    async def pause() -> None:
        path.write_bytes(next(contents))

    watch = Watch(table=SGLANG)
    async for _ in follow(watch, LocalLog(path=path), pause):
        if len(watch.samples) == 3:
            break
    assert [sample.values["accept_length"] for sample in watch.samples] == [1.0, 1.0, 2.0]


async def test_a_restart_in_the_log_begins_the_count_again(tmp_path: Path) -> None:
    """A server that was restarted writes on in the same file: what the one before it measured says nothing of this one."""
    path, told = tmp_path / "log", Told()
    start = b"[2026-05-01 15:16:08] server_args=ServerArgs(model_path='m')\n"
    path.write_bytes(lines(40, accept=1.0))
    watching = Following(batches=3, seconds=60, progress=told, starts=[re.compile("server_args=")])
    append(path, start + lines(3))
    seen = await watching.follow(LocalLog(path=path), SGLANG)
    assert seen == [start.decode().strip(), *lines(3).decode().splitlines()]
    assert told.status == "done: 3 of 3 batches were seen"


async def test_a_start_that_is_over_is_waited_past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was just restarted has not written its first line yet: until then the log is the old one's."""
    monkeypatch.setattr(following, "_PAUSE", 0.0)
    old, new = (f"[2026-05-01 15:{minute}:08] server_args=ServerArgs(model_path='m')\n".encode() for minute in (16, 40))
    path, told = tmp_path / "log", Told()
    path.write_bytes(old + lines(40, accept=1.0))
    growing = asyncio.create_task(grow(path, [lines(5, accept=1.0), new, lines(2), lines(1)]))
    waiting = Following(batches=3, seconds=60, progress=told, starts=[re.compile("server_args=")], passed=old.decode().strip())
    seen = await waiting.follow(LocalLog(path=path), SGLANG)
    await growing
    assert seen == [new.decode().strip(), *lines(3).decode().splitlines()]


async def test_only_the_end_of_a_long_log_is_read_and_its_cut_line_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "TAIL", len(lines(2)) + 10)
    (tmp_path / "log").write_bytes(lines(50, accept=1.0) + lines(2))
    seen = await Following(batches=2, seconds=60, progress=Told()).follow(LocalLog(path=tmp_path / "log"), SGLANG)
    assert seen == lines(2).decode().splitlines()


async def test_a_log_on_a_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))
    (tmp_path / "log").write_bytes(lines(4))
    host = await wiring.open_host(HostSpec(name="localhost", transport="local"), load_settings(), wiring.products())
    try:
        log = RemoteLog(host=host, path=str(tmp_path / "log"))
        assert await log.size() == len(lines(4))
        assert await log.read(len(lines(3)), len(lines(4))) == (lines(1), len(lines(4)))
        assert len(await Following(batches=4, seconds=60, progress=Told()).follow(log, SGLANG)) == 4
        assert await RemoteLog(host=host, path=str(tmp_path / "none")).size() == 0
    finally:
        await host.close()
