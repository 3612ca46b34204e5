"""Whom to ask and what was started: hosts and launch commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agent.domain.serialize import Plain

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpec(Plain):
    """One host as the user named it; empty fields are left to ssh_config and its defaults."""

    name: str
    user: str = ""
    port: int = 0
    identities: tuple[str, ...] = ()
    jump: tuple[str, ...] = ()
    known_hosts: str = ""
    host_key_policy: str = "strict"
    transport: str = "auto"
    container: str = ""

    @classmethod
    def parse(cls, text: str, **options: Any) -> HostSpec:
        """Reads ``[user@]host[:port]`` and ``[user@][v6addr]:port``; ``options`` override."""
        user, _, rest = text.rpartition("@")
        host, port = rest, 0
        if rest.startswith("["):
            host, _, tail = rest[1:].partition("]")
            port = int(tail[1:]) if tail.startswith(":") else 0
        elif rest.count(":") == 1:
            host, _, tail = rest.partition(":")
            port = int(tail)
        return cls(name=host, **{"user": user, "port": port, **options})


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Plain):
    """A server's start as judged: ``source`` is "process", "log", "server_info" or "given"."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    cwd: str = "."
    pid: int | None = None
    source: str = "given"
    env_complete: bool = True
    """False where only allow-listed names were read: a name that is not in ``env`` may then be set all the same, see ``lacks``."""
    env_hidden: tuple[str, ...] | None = None
    """The other variables that are set, whose values are not known; None where their names are not known either."""

    def lacks(self, name: str) -> bool:
        """Whether this environment variable is certainly not set."""
        if name in self.env:
            return False
        return self.env_complete or (self.env_hidden is not None and name not in self.env_hidden)
