"""Line ranges of one file that are asked for together are read by one program: starting one costs a host more than the reading."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError

MOST_RANGES = 100
_RANGE = re.compile(r"(\d+),(\d+)p;\d+q")
Answer = CommandResult | RcaError
Range = tuple[int, int]


async def batch_merged(send: Callable[[Sequence[Command]], Awaitable[list[Answer]]], wanted: Sequence[Command]) -> list[Answer]:
    """What ``send`` would answer to each command, with fewer of them sent; ranges that are too long together are sent one by one."""
    groups = _groups(wanted)
    first = await send([_merged([wanted[number] for number in group]) for group in groups])
    answers: dict[int, Answer] = {}
    for group, answer in zip(groups, first, strict=True):
        if len(group) == 1:
            answers[group[0]] = answer
        elif isinstance(answer, RcaError):
            answers |= dict.fromkeys(group, answer)
        elif not answer.truncated:
            answers |= dict(zip(group, _parts([wanted[number] for number in group], answer), strict=True))
    left = [number for number in range(len(wanted)) if number not in answers]
    if left:
        answers |= dict(zip(left, await send([wanted[number] for number in left]), strict=True))
    return [answers[number] for number in range(len(wanted))]


def _groups(wanted: Sequence[Command]) -> list[list[int]]:
    """The commands' numbers; reads of lines of the same file are together, where the first of them stands."""
    found: list[list[int]] = []
    of_file: dict[str, list[int]] = {}
    for number, command in enumerate(wanted):
        group = of_file.get(command.argv[-1]) if _range(command) else None
        if group is not None and len(group) < MOST_RANGES:
            group.append(number)
            continue
        found.append([number])
        if _range(command):
            of_file[command.argv[-1]] = found[-1]
    return found


def _range(command: Command) -> Range | None:
    """The lines, if that is what the command reads."""
    argv = command.argv
    match = _RANGE.fullmatch(argv[3]) if argv[:3] == ("sed", "-n", "-e") and len(argv) == 6 else None
    return (int(match[1]), int(match[2])) if match else None


def _merged(group: Sequence[Command]) -> Command:
    if len(group) == 1:
        return group[0]
    ranges = _united(group)
    script = "".join(f"{start},{end}p;" for start, end in ranges) + f"{ranges[-1][1]}q"
    argv = (*group[0].argv[:3], script, *group[0].argv[4:])
    return Command(argv=argv, limit=sum(command.limit for command in group), timeout=max(command.timeout for command in group))


def _united(group: Sequence[Command]) -> list[Range]:
    """The ranges in order, none touching another: sed prints a line once for each range that it is in."""
    found: list[Range] = []
    for start, end in sorted(lines for command in group if (lines := _range(command))):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _parts(group: Sequence[Command], whole: CommandResult) -> list[CommandResult]:
    """Each command's lines out of what was printed for all; lines that the file does not have would be the last, and are missing."""
    rows = re.findall(rb"[^\n]*\n|[^\n]+", whole.stdout)
    ranges = _united(group)
    found = []
    for command in group:
        lines = _range(command)
        assert lines is not None
        before = sum(end - start + 1 for start, end in ranges if end < lines[0])
        first = before + next(lines[0] - start for start, end in ranges if start <= lines[0] <= end)
        stdout = b"".join(rows[first : first + lines[1] - lines[0] + 1])
        cut = len(stdout) > command.limit
        found.append(replace(whole, command=command, stdout=stdout[: command.limit], truncated=cut))
    return found
