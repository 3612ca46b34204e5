"""Takes the source tree over, whole: everything that is judged afterwards is judged on the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.domain.counting import are, counted
from agent.domain.source import SourceTree
from agent.hosts import commands
from agent.probes.processes import newer_files
from agent.subagents.interface import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSnapshot:
    """``root/PACKAGE/**/*.py`` and the package's metadata."""

    root: str
    package: str
    name: str = "source snapshot"
    task: str = "take over the source tree"

    async def run(self, desk: Desk) -> SourceTree:
        desk.say(f"reading {self.root}/{self.package}")
        return await desk.host.sync_tree(self.root, [self.package])

    def summary(self, result: SourceTree) -> str:
        return f"{sum(1 for path in result.files() if path.endswith('.py'))} Python files"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDates:
    """Which files changed after the process began: what runs may then be something else than what is on disk."""

    root: str
    package: str
    started: float | None
    name: str = "file dates"
    task: str = "compare the files' dates with the start of the process"

    async def run(self, desk: Desk) -> tuple[str, ...] | None:
        if self.started is None:
            desk.unknown("files newer than the process", "when it began could not be read", "compare the dates by hand")
            return None
        desk.say("comparing dates")
        result = await desk.host.run(commands.stat_tree([f"{self.root}/{self.package}"]))
        times = {path.removeprefix(f"{self.root}/"): float(row.mtime) for path, row in commands.parse_stat(result).items()}
        return newer_files(times, self.started)

    def summary(self, result: Sequence[str] | None) -> str:
        if result is None:
            return "unknown"
        return (
            f"{counted(len(result), 'file')} {are(len(result))} newer than the process" if result else "no file is newer than the process"
        )
