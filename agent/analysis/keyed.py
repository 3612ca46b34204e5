"""Where a name is given a value as a dictionary's key or as a keyword, by the text of the files: none is parsed for it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from agent.analysis.index import Index
from agent.analysis.words import positions

_KEY = re.compile(rb"[\"']\s*(?::|\]\s*=(?!=))")
_KEYWORD = re.compile(rb"\s*=(?!=)")


def keys(index: Index, name: str, paths: Container[str]) -> Iterator[tuple[str, int]]:
    """Path and line of ``{"name": ...}`` and ``x["name"] = ...`` in these files."""
    for path, content, at in _places(index, name, paths):
        if content[at - 1 : at] in (b'"', b"'") and _KEY.match(content, at + len(name)):
            yield path, content.count(b"\n", 0, at) + 1


def keywords(index: Index, name: str, functions: Iterable[str], paths: Container[str]) -> Iterator[tuple[str, int]]:
    """Path and line of ``name=...`` in those of these files that name one of the functions; by mistake those of other calls, too."""
    beside = {path for function in functions for path in index.files_with(function) if path in paths}
    for path, content, at in _places(index, name, beside):
        if content[max(0, at - 81) : at].rstrip()[-1:] in (b"(", b",") and _KEYWORD.match(content, at + len(name)):
            yield path, content.count(b"\n", 0, at) + 1


def _places(index: Index, name: str, paths: Container[str]) -> Iterator[tuple[str, bytes, int]]:
    for path in index.files_with(name):
        content = index.read(path) if path in paths else b""
        if isinstance(content, bytes):
            yield from ((path, content, at) for at in positions(content, name))
