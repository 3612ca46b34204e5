"""Places that set or remove a variable of the process's environment, by the text of the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from agent.analysis.index import Index
from agent.analysis.words import positions

_KNOWN: WeakKeyDictionary[Index, tuple[EnvironmentWriter, ...]] = WeakKeyDictionary()


class EnvironmentWriter(NamedTuple):
    """``name`` is empty where it is worked out; ``value`` is None where it is no plain text.

    ``at_import``: outside of all functions; ``keeps``: what is there already stays.
    """

    path: str
    line: int
    name: str
    value: str | None
    at_import: bool
    keeps: bool


def environment_writers(index: Index) -> tuple[EnvironmentWriter, ...]:
    """``os.environ["NAME"] = ...``, ``os.environ.update({"NAME": ...})``, ``os.putenv("NAME", ...)``, and with other names than texts."""
    if index not in _KNOWN:
        paths = sorted({*index.files_with("environ"), *index.files_with("putenv")})
        _KNOWN[index] = tuple(found for path in paths for found in _in_file(index, path))
    return _KNOWN[index]


def _in_file(index: Index, path: str) -> list[EnvironmentWriter]:
    content = index.read(path)
    found = []
    for hit in _writes(content if isinstance(content, bytes) else b""):
        line = hit.string.count(b"\n", 0, hit.start()) + 1
        several = hit["several"]
        names = [each[1] or each[2] for each in _KEY.finditer(several)] if several is not None else [hit["item"] or hit["call"] or b""]
        text = _TEXT.match(hit.string, hit.end()) if several is None else None
        value = text[1].decode() if text is not None and b"pop" not in hit[0] else None
        at_import, keeps = _at_import(hit.string, hit.start()), b"setdefault" in hit[0]
        found += [EnvironmentWriter(path, line, name.decode(), value, at_import, keeps) for name in names or [b""]]
    return found


def _writes(content: bytes) -> Iterator[re.Match[bytes]]:
    """In file order; a pattern tried at every place costs ten times as much."""
    for at in sorted(at for word in ("environ", "putenv") for at in positions(content, word)):
        found = _WRITES.match(content, at)
        if found is not None:
            yield found


def _at_import(content: bytes, at: int) -> bool:
    """Whether the nearest line before that is not indented, or this one, begins no function or class."""
    start = content.rfind(b"\n", 0, at) + 1
    if content[start : start + 1] not in b" \t":
        return True
    before = list(_OUTER.finditer(content, 0, start))
    return not before or before[-1][1] is None


_OUTER = re.compile(rb"^(?:(def |class |async def )|[A-Za-z@])", re.MULTILINE)
_TEXT = re.compile(rb"\s*[\"']([^\"'\\\n{}]*)[\"']\s*\)?[ \t]*(?:#.*)?(?:\n|$)")
_WRITES = re.compile(
    rb"environ\s*\[\s*(?:[\"'](?P<item>\w+)[\"']|[^\]\n]*)\s*\]\s*=(?!=)"
    rb"|(?:environ\.(?:setdefault|pop|__setitem__)|putenv)\(\s*(?:[\"'](?P<call>\w+)[\"']\s*,?|[\w.]+\s*,)"
    rb"|environ(?:\.update\(|\s*\|=)(?P<several>[^)]*)"
)
_KEY = re.compile(rb"[\"'](\w+)[\"']\s*:|\b(\w+)\s*=(?!=)")
