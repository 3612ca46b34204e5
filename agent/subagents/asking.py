"""Named questions to a host in one round trip, with answers that keep "absent", "unreadable" and "failed" apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.domain.command import Command, CommandResult
from agent.domain.counting import size
from agent.domain.errors import RcaError
from agent.domain.source import Absent, Unreadable
from agent.hosts.commands import Hit, parse_grep, problems, to_text
from agent.hosts.interface import Host


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers by name. A command that failed has an error or a message instead of a result."""

    commands: Mapping[str, Command]
    results: Mapping[str, CommandResult | RcaError]

    def result(self, name: str) -> CommandResult | None:
        """The result, whatever its exit status; None where none came back."""
        found = self.results[name]
        return None if isinstance(found, RcaError) else found

    def content(self, name: str) -> bytes | Absent | Unreadable:
        """Standard output of a command that reads one file."""
        found, path = self.results[name], self.commands[name].argv[-1]
        if isinstance(found, RcaError):
            return Unreadable(path=path, reason=str(found))
        if found.status == 0:
            return found.stdout
        why = "; ".join(problem.removeprefix(f"{path}: ") for problem in problems(found)) or f"status {found.status}"
        return Absent(path=path) if "No such file" in why or "No such process" in why else Unreadable(path=path, reason=why)

    def whole(self, name: str) -> bytes | Absent | Unreadable:
        """The same for a file that is of no use in part."""
        found = self.results[name]
        if isinstance(found, CommandResult) and found.truncated:
            return Unreadable(path=self.commands[name].argv[-1], reason=f"it is larger than {size(found.command.limit)}")
        return self.content(name)

    def bytes_or_none(self, name: str) -> bytes | None:
        """The content, or None for any reason."""
        found = self.content(name)
        return found if isinstance(found, bytes) else None

    def hits(self, name: str) -> tuple[Hit, ...]:
        """What a search found; none where it could not look."""
        found = self.result(name)
        return parse_grep(found).hits if found else ()

    def link(self, name: str) -> str | None:
        """Where a link points; None where it could not be read."""
        found = self.bytes_or_none(name)
        return to_text(found).removesuffix("\n") if found else None

    def why_not(self, name: str) -> str:
        """The reason for an answer that is missing."""
        found = self.content(name)
        return "" if isinstance(found, bytes) else "no such file" if isinstance(found, Absent) else found.reason


async def ask(host: Host, commands: Mapping[str, Command]) -> Answers:
    """All commands in one write."""
    results = await host.batch(list(commands.values())) if commands else []
    return Answers(commands=commands, results=dict(zip(commands, results, strict=True)))
