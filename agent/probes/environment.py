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
    return bool(raw) and b"=" not in raw


def names_set(raw: bytes) -> frozenset[str] | None:
    """Every name in /proc/PID/environ; None where it is not whole: cut, overwritten in part, or empty, as of a process that ends."""
    entries = raw.removesuffix(b"\0").split(b"\0")
    if not raw.endswith(b"\0") or not all(entry.find(b"=") > 0 for entry in entries):
        return None
    return frozenset(entry.partition(b"=")[0].decode("utf-8", "surrogateescape") for entry in entries)
