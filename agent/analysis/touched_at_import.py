"""Top-level statements that use an object or a class of another module in a way that may change it, by the text of the files."""

from __future__ import annotations

import re
from typing import NamedTuple
from weakref import WeakKeyDictionary

from agent.analysis.index import Index

_KNOWN: WeakKeyDictionary[Index, dict[frozenset[str], dict[str, tuple[Touch, ...]]]] = WeakKeyDictionary()
"""By the files that were read: launches of one tree mostly import the same ones."""


class Touch(NamedTuple):
    """``kind``: "call" for ``@name.method(...)``, ``name.method(...)``; "assign" for ``name.attribute = ...``; "base" for a class below."""

    path: str
    line: int
    kind: str
    attribute: str


def touches_of(index: Index, name: str, paths: frozenset[str]) -> tuple[Touch, ...]:
    """Where the name is used at the beginning of a line that is not indented, in these files."""
    known = _KNOWN.setdefault(index, {})
    if paths not in known:
        known[paths] = _touches(index, paths)
    return known[paths].get(name, ())


def _touches(index: Index, paths: frozenset[str]) -> dict[str, tuple[Touch, ...]]:
    found: dict[str, list[Touch]] = {}
    for path in sorted(paths):
        content = index.read(path) if path.endswith(".py") else b""
        line = at = 0
        for hit in _AT_TOP.finditer(b"\n" + content if isinstance(content, bytes) else b""):
            line, at = line + hit.string.count(b"\n", at, hit.start() + 1), hit.start() + 1
            _note(found, path, line, hit)
    return {each: tuple(rows) for each, rows in found.items()}


def _note(found: dict[str, list[Touch]], path: str, line: int, hit: re.Match[bytes]) -> None:
    if hit["bases"] is not None:
        for base in _NAME.findall(hit["bases"]):
            found.setdefault(base.decode(), []).append(Touch(path, line, "base", ""))
        return
    parts = (hit["deco"] or hit["used"]).decode().split(".")
    if len(parts) > 1:
        kind = "assign" if hit["assign"] is not None else "call"
        found.setdefault(parts[-2], []).append(Touch(path, line, kind, parts[-1]))


_AT_TOP = re.compile(
    rb"\n(?:@(?P<deco>[\w.]+)|class\s+\w+\((?P<bases>[^)]+)\)"
    rb"|(?P<used>[A-Za-z_]\w*(?:\.\w+)+)\s*(?:\(|(?P<assign>[-+|]?=(?!=))))"
)
"""It begins with a text, the end of the line before, as a search for the beginning of a line would try every place."""
_NAME = re.compile(rb"\w+")
