"""Web addresses and short forms of tickets, taken apart without asking anybody."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.domain.errors import TicketError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """``base`` is the server with the path it is mounted under, ``project`` may be empty, ``number`` is the ticket's."""

    base: str
    project: str
    number: str
    kind: str = ""


def from_url(text: str, pattern: str) -> Reference | None:
    """Matches the path of an http(s) address; groups of ``pattern``: mount, project, kind, number. Query and fragment are dropped."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    if "@" in parts.netloc:
        raise TicketError("the address holds a user name or password", hint="leave it out; tokens come from the environment or keyring")
    match = re.fullmatch(pattern, parts.path.rstrip("/"))
    if match is None:
        return None
    groups = match.groupdict(default="")
    base = f"{parts.scheme}://{parts.netloc}{groups.get('mount', '')}".rstrip("/")
    return Reference(base=base, project=groups.get("project", ""), number=groups["number"], kind=groups.get("kind", ""))


def from_short(text: str, pattern: str, base: str) -> Reference | None:
    """Matches a short form such as ``owner/repo#12``; ``base`` is the server it is taken to be on."""
    match = re.fullmatch(pattern, text)
    if match is None or not base:
        return None
    groups = match.groupdict(default="")
    return Reference(base=base, project=groups.get("project", ""), number=groups["number"], kind=groups.get("kind", ""))
