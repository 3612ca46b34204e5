"""One read on a host, and what came back."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.serialize import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Plain):
    """A read command as built by ``hosts.commands``: a program, its arguments, limits.

    ``argv`` is data for display and audit; only ``hosts`` turns it into shell text.
    ``limit``: bytes of standard output kept. ``timeout``: seconds.
    """

    argv: tuple[str, ...]
    limit: int = 4_000_000
    timeout: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult(Plain):
    """``status`` is the exit status; ``truncated``: output was cut at the limit."""

    command: Command
    status: int
    stdout: bytes
    stderr: bytes
    seconds: float = 0.0
    truncated: bool = False
