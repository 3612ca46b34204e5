"""Follows a growing log with a live line on the terminal, until enough periodic lines were seen or the time is over."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.domain.metrics import MetricTable
    from agent.hosts.interface import Host
    from agent.orchestrator import Progress
    from agent.verification import GrowingLog, Watch

TAIL = 262_144
"""Bytes before the end from which following starts."""
_PIECE = 1_000_000
_PAUSE = 1.0
_NAME = "watch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """``batches``: periodic lines that are enough; ``seconds``: how long to wait for them; ``starts``: how a start shows in the log;
    ``passed``: the line of the start before this process, if its own is not in the log yet.
    """

    batches: int
    seconds: float
    progress: Progress
    starts: Sequence[re.Pattern[str]] = ()
    passed: str = ""

    async def follow(self, log: GrowingLog, table: MetricTable) -> list[str]:
        """The lines seen; fewer than enough where the time ran out, which is said."""
        from agent.verification import Watch, follow

        offset = max(0, await log.size() - TAIL)
        watch = Watch(table=table, starts=self.starts, passed=self.passed, waiting=bool(self.passed), offset=offset)
        self.progress.started(_NAME, f"follow the log until {self.batches} batches were seen")
        status = "done"
        try:
            async with asyncio.timeout(self.seconds):
                async for seen in follow(watch, log, lambda: asyncio.sleep(_PAUSE)):
                    self.progress.said(_NAME, _live_line(seen, self.batches))
                    if len(seen.samples) >= self.batches:
                        break
        except TimeoutError:
            status = "failed"
        self.progress.ended(_NAME, status, f"{len(watch.samples)} of {self.batches} batches were seen")
        return watch.lines


def _live_line(watch: Watch, wanted: int) -> str:
    figures = ", ".join(f"{name} {value:g}" for name, value in watch.samples[-1].values.items())
    return f"{min(len(watch.samples), wanted)}/{wanted} batches: {figures}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalLog:
    """A file of this machine."""

    path: Path

    async def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    async def read(self, start: int, end: int) -> tuple[bytes, int]:
        before = min(start, 1)
        with self.path.open("rb") as handle:
            handle.seek(start - before)
            chunk = handle.read(min(end - start, _PIECE) + before)
        first, last = chunk.find(b"\n") + 1 if before else 0, chunk.rfind(b"\n") + 1
        return (chunk[first:last], start - before + last) if last else (b"", start)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteLog:
    """A file on a host. Its text comes with secrets masked, so offsets are those of the file, never lengths of the text."""

    host: Host
    path: str

    async def size(self) -> int:
        from agent.hosts import commands

        rows = commands.parse_stat(await self.host.run(commands.stat([self.path])))
        return next((row.size for row in rows.values()), 0)

    async def read(self, start: int, end: int) -> tuple[bytes, int]:
        """From one byte before: a read from the middle leaves its first line out, and that is then the end of the line before."""
        from agent.hosts import commands

        before, stop = min(start, 1), min(end, start + _PIECE)
        result = await self.host.run(commands.read_bytes(self.path, offset=start - before, size=stop - start + before))
        return result.stdout, stop
