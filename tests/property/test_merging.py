"""The law of merging: ranges read together are line for line what each is alone; what cannot be read together is read alone."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.domain.command import Command, CommandResult
from agent.domain.errors import ConnectionLost, RcaError
from agent.hosts import commands
from agent.hosts.merging import batch_merged
from agent.hosts.shell import render

RANGES = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 12)), min_size=1, max_size=8)
CONTENTS = st.lists(st.binary(max_size=4).map(lambda raw: raw.replace(b"\n", b"")), max_size=25).map(b"\n".join)


class Machine:
    """Runs what it is sent on this machine, and counts."""

    def __init__(self) -> None:
        self.sent = 0

    async def __call__(self, wanted: Sequence[Command]) -> list[CommandResult | RcaError]:
        self.sent += len(wanted)
        return [self._run(command) for command in wanted]

    def _run(self, command: Command) -> CommandResult:
        done = subprocess.run(["/bin/sh", "-c", render(command)], capture_output=True, check=False)
        stdout = done.stdout[: command.limit]
        return CommandResult(command=command, status=done.returncode, stdout=stdout, stderr=done.stderr, truncated=stdout != done.stdout)


def _lines(answer: CommandResult | RcaError) -> object:
    """Without a newline at the end: GNU sed adds one where it quits at a last line that has none."""
    return (
        replace(answer, stdout=answer.stdout.removesuffix(b"\n")) if isinstance(answer, CommandResult) and not answer.truncated else answer
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(contents=CONTENTS, ranges=RANGES, limit=st.sampled_from([3, 20, 1000]))
def test_together_as_alone(tmp_path: Path, contents: bytes, ranges: list[tuple[int, int]], limit: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(contents)
    reads = [commands.lines(str(path), start, start + more, limit=limit) for start, more in ranges]
    wanted = [reads[0], commands.uname(), *reads[1:]]
    machine = Machine()
    together = asyncio.run(batch_merged(machine, wanted))
    assert list(map(_lines, together)) == list(map(_lines, asyncio.run(Machine()(wanted))))
    assert machine.sent <= 2 or limit < 1000


def test_a_file_that_is_missing_is_missing_for_each(tmp_path: Path) -> None:
    reads = [commands.lines(str(tmp_path / "none"), start, start + 3) for start in (1, 9)]
    assert asyncio.run(batch_merged(Machine(), reads)) == asyncio.run(Machine()(reads))


def test_files_are_kept_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    reads = [commands.lines(str(tmp_path / name), line, line) for line in (1, 2) for name in ("a", "b")]
    machine = Machine()
    found = asyncio.run(batch_merged(machine, reads))
    assert [answer.stdout for answer in found if isinstance(answer, CommandResult)] == [b"a1\n", b"b1\n", b"a2\n", b"b2\n"]
    assert machine.sent == 2


def test_an_error_is_the_error_of_each() -> None:
    async def lost(wanted: Sequence[Command]) -> list[CommandResult | RcaError]:
        return [ConnectionLost("gone", host="h") for _ in wanted]

    found = asyncio.run(batch_merged(lost, [commands.lines("/a", 1, 1), commands.lines("/a", 5, 9)]))
    assert [type(answer) for answer in found] == [ConnectionLost, ConnectionLost]


@pytest.mark.parametrize("script", ["1,2p;3w/tmp/x", "1,2p;1,2d;2q", "1,2p2q", "$p;2q"])
def test_no_other_script_is_let_through(script: str) -> None:
    command = commands.lines("/a", 1, 2)
    with pytest.raises(RcaError):
        render(replace(command, argv=(*command.argv[:3], script, *command.argv[4:])))
