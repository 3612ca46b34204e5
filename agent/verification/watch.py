"""Follows a growing log until enough periodic lines were seen, by reading what was added since the last look."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent.domain.metrics import MetricTable, Sample, read_samples
from agent.verification.numbers import since_start


class GrowingLog(Protocol):
    """A log that is written to while it is read."""

    async def size(self) -> int:
        """Its bytes; 0 where it is not there yet."""
        ...

    async def read(self, start: int, end: int) -> tuple[bytes, int]:
        """Whole lines between two offsets, and the offset to go on from; a line that began before ``start`` is left out."""
        ...


@dataclass(slots=True)
class Watch:
    """``offset``: where to go on reading; ``lines`` and ``samples`` in the log's order, those of the last start alone.

    ``starts``: what a program writes when it begins; numbers before that are another process's. ``passed``: the line of a start that
    is over, whose numbers do not count; while ``waiting`` none do, until another start is seen.
    """

    table: MetricTable
    starts: Sequence[re.Pattern[str]] = ()
    passed: str = ""
    waiting: bool = False
    offset: int = 0
    lines: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    def feed(self, chunk: bytes, offset: int) -> int:
        """Takes the next whole lines; returns how many samples they hold. A last line without its end is none."""
        self.offset = offset
        lines = [line.decode("utf-8", "replace").rstrip("\r") for line in chunk.split(b"\n")[:-1]]
        kept = since_start(lines, self.starts)
        if any(start.search(kept[0]) for start in self.starts if kept):
            self.lines, self.samples, self.waiting = [], [], kept[0] == self.passed
        if self.waiting:
            return 0
        new = list(read_samples(kept, self.table))
        self.lines += kept
        self.samples += new
        return len(new)


async def follow(watch: Watch, log: GrowingLog, pause: Callable[[], Awaitable[None]]) -> AsyncIterator[Watch]:
    """Yields after every look that brought something new; the caller stops when it has seen enough, and bounds the time.

    A log that became shorter was truncated or replaced and is read from its beginning; what was seen stays.
    """
    while True:
        end = await log.size()
        if end < watch.offset:
            watch.offset = 0
        chunk, offset = await log.read(watch.offset, end) if end > watch.offset else (b"", watch.offset)
        moved = offset > watch.offset
        if watch.feed(chunk, offset):
            yield watch
        if not moved:
            await pause()
