"""What the rest of the house sees of a host: it can be read, in batches, and never changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.investigation import Cost
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, SourceTree, Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the host's programs can do, probed once."""

    gnu_grep: bool
    gnu_find: bool
    tar_null: bool
    zstd: bool
    gzip: bool
    timeout: bool
    uid: int
    kernel: str


class Host(Protocol):
    """One host, over any transport. Every command was built by ``hosts.commands``; there is no way to pass shell text."""

    spec: HostSpec
    transport_name: str
    transport_reason: str

    @property
    def cost(self) -> Cost:
        """Commands, round trips (writes that were waited for), bytes received and files so far."""
        ...

    async def features(self) -> Features:
        """Probed on first use, then remembered."""
        ...

    async def run(self, command: Command) -> CommandResult:
        """One command; raises CommandTimeout, Truncated or ConnectionLost. A non-zero exit status is a result, not an error."""
        ...

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        """All of them in one write, answers in order; an error takes the place of its own answer only."""
        ...

    def stream(self, command: Command) -> AsyncIterator[bytes]:
        """Standard output in pieces as it comes, up to the command's limit."""
        ...

    async def fetch(self, paths: Sequence[str]) -> dict[str, bytes | Absent | Unreadable]:
        """Whole files by absolute path, in one round trip, redacted by kind (config files, logs) before anybody sees them."""
        ...

    async def sync_tree(self, root: str, packages: Sequence[str]) -> SourceTree:
        """A snapshot of ``root/PACKAGE/**/*.py`` and its dist-info, from the content-addressed cache plus what changed."""
        ...

    async def close(self) -> None:
        """Ends every worker and the connection; idempotent."""
        ...
