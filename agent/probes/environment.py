"""The environment a process was started with, by allow-list."""

from __future__ import annotations

from collections.abc import Sequence

from agent.probes.products import is_allowed


def parse_environ(raw: bytes, patterns: Sequence[str]) -> dict[str, str]:
    """Allowed names of /proc/PID/environ, sorted; the first of a repeated name counts, as for getenv(3)."""
    found: dict[str, str] = {}
    for entry in raw.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        text = name.decode("utf-8", "surrogateescape")
        if equals and text and text not in found and is_allowed(text, patterns):
            found[text] = value.decode("utf-8", "surrogateescape")
    return dict(sorted(found.items()))


def is_clobbered(raw: bytes) -> bool:
    """A process that renames itself may overwrite its environment: what is left holds no NAME=VALUE at all."""
    return bool(raw.strip(b"\0")) and b"=" not in raw
