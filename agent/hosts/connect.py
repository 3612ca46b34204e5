"""From a HostSpec to a connected Host: which transport is taken, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agent.config import Settings
from agent.domain.errors import UsageError
from agent.domain.launch import HostSpec
from agent.hosts.audit import AuditLog
from agent.hosts.containers import shells
from agent.hosts.hard_mode import harden
from agent.hosts.redact import Redactor
from agent.hosts.remote import RemoteHost
from agent.transports.handshakes import Incompatible
from agent.transports.interface import Transport

Transports = Mapping[str, Callable[[Settings], Transport]]
AUTO_ORDER = ("asyncssh", "paramiko", "openssh")


async def connect(
    spec: HostSpec,
    settings: Settings,
    transports: Transports,
    *,
    environment: Sequence[str] = (),
    tell: Callable[[str], None] = lambda problem: None,
) -> RemoteHost:
    """Connects by the transport that ``spec`` names, or by the first of AUTO_ORDER that can.

    ``transports``: name to factory (the table in ``wiring``). ``environment``: names of variables that products allow to be read.
    ``tell``: is told what cannot be written on this machine; a run goes on without it.
    Raises HostError; only a failure that another SSH implementation could avoid (Incompatible) moves on, never a refused login.
    """
    reason = "asked for"
    names: tuple[str, ...] = (spec.transport,)
    if spec.transport == "auto":
        reason, names = await _order(spec, settings, transports)
    tried: list[str] = []
    for name in names:
        if name not in transports:
            raise UsageError(f"no transport called {name!r}", hint=f"one of auto, {', '.join(transports)}")
        transport = transports[name](settings)
        try:
            await transport.connect(spec)
        except Incompatible as error:
            await transport.close()
            tried.append(f"{name}: {error.what}")
            if name == names[-1]:
                raise
            continue
        except BaseException:
            await transport.close()
            raise
        return RemoteHost(
            transport,
            spec,
            reason=f"after {'; '.join(tried)}" if tried else reason,
            shells=harden(shells(spec.container)) if settings.hard_mode else shells(spec.container),
            redactor=Redactor(environment),
            audit=AuditLog(settings.data_dir / "audit.jsonl", tell),
            cache_dir=settings.cache_dir,
            tell=tell,
        )
    raise UsageError("no transport to try")


async def _order(spec: HostSpec, settings: Settings, transports: Transports) -> tuple[str, tuple[str, ...]]:
    """Why, and in which order: ssh(1) first where ssh_config asks for something that only it can do."""
    names = tuple(name for name in AUTO_ORDER if name in transports)
    if "openssh" in names:
        because = await getattr(transports["openssh"](settings), "preferred_because", _no_preference)(spec)
        if because:
            return because, ("openssh", *(name for name in names if name != "openssh"))
    return "the default", names


async def _no_preference(spec: HostSpec) -> str:
    return ""
