"""Which files can hold callers of a name, by their text: most files that have a name only define, import or annotate with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.analysis.index import Index, once_a_word
from agent.analysis.words import positions


@once_a_word
def calling_files(index: Index, name: str) -> tuple[str, ...]:
    """Files in which ``name`` is more than defined, imported or an annotation, by their text: only they can hold its callers."""
    tests = _HARMLESS if name[:1].isupper() else _HARMLESS[:-1]
    return tuple(path for path in index.files_with(name) if _goes_on(index.read(path), name, tests))


@once_a_word
def files_that_reach(index: Index, name: str) -> frozenset[str]:
    """Files that may mean what another module calls so: they import it, have it behind a dot or in quotes, or import all names of one."""
    starred = set(index.files_with("*"))
    return frozenset(path for path in index.files_with(name) if path in starred or _reaches(index.read(path), name))


def _reaches(content: object, name: str) -> bool:
    if not isinstance(content, bytes):
        return True
    behind = len(name.encode())
    for at in positions(content, name):
        around = (content[at - 1 : at], content[at + behind : at + behind + 1])
        if around[0] == b"." or any(each in (b'"', b"'") for each in around) or _imported(content[max(0, at - _LONG_LIST) : at]):
            return True
    return False


def _imported(before: bytes) -> bool:
    """Whether the text ends within the names of an ``import``."""
    words = list(_IMPORT.finditer(before))
    if not words:
        return False
    names = _COMMENT.sub(b"", before[words[-1].end() :])
    over_lines = names.lstrip()[:1] == b"(" or b"\\" in names
    return _NAMES.fullmatch(names) is not None and (over_lines or b"\n" not in names)


_LONG_LIST = 20_000
_IMPORT = re.compile(rb"\bimport\b")
_COMMENT = re.compile(rb"#[^\n]*")
_NAMES = re.compile(rb"\s*\(?[\w\s,.\\]*")


@once_a_word
def files_that_derive(index: Index, name: str) -> frozenset[str]:
    """Files that may derive a class from one of this name: it stands in the head of a class, or gets another name there."""
    word = name.encode()
    heads = re.compile(rb"class\s+\w+\s*(?:\[[^\]]*\]\s*)?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?\b" + word + rb"\b")
    renamed = re.compile(word + rb"(?:\s+as\b|\s*(?:#[^\n]*)?(?:[\n;),]|\Z))")
    found = set()
    for path in index.files_with(name):
        content = index.read(path)
        if not isinstance(content, bytes) or heads.search(content) or any(_gives_a_name(content, hit) for hit in renamed.finditer(content)):
            found.add(path)
    return frozenset(found)


def _gives_a_name(content: bytes, hit: re.Match[bytes]) -> bool:
    """``Name as other``, ``other = Name``, ``other = module.Name``."""
    if b"as" in hit[0].split():
        return True
    before = content[content.rfind(b"\n", 0, hit.start()) + 1 : hit.start()]
    return _ALIAS.search(before) is not None


_ALIAS = re.compile(rb"=\s*\(?\s*(?:[\w.]+\.)?$|^\s*(?:[\w.]+\.)?$")


def in_a_text(content: object, name: str) -> bool:
    """Whether a text may end with the name, as ``"name"`` and ``"module:name"`` do: quotes stand behind it and no word before it."""
    behind = len(name.encode())
    return not isinstance(content, bytes) or any(content[at + behind : at + behind + 1] in (b'"', b"'") for at in positions(content, name))


def _goes_on(content: object, name: str, tests: Sequence[_LineTest]) -> bool:
    if not isinstance(content, bytes):
        return True
    for position in positions(content, name):
        start = content.rfind(b"\n", 0, position) + 1
        before, after = content[start:position], _rest_of_line(content, position + len(name.encode()))
        if not any(test(before, after) for test in tests) and not _in_import_list(content, start, before, after):
            return True
        if before.rstrip().endswith(b":") and _opener(content[max(0, start - 4000) : start]) == b"{":
            return True  # a value of a dict, however much it looks like an annotation
    return False


def _rest_of_line(content: bytes, at: int) -> bytes:
    end = content.find(b"\n", at)
    return content[at:] if end < 0 else content[at:end]


def _opener(text: bytes) -> bytes:
    """The bracket that is open at the end of the text, as far as brackets alone tell."""
    depth = 0
    for bracket in reversed(_BRACKET.findall(text)):
        depth += 1 if bracket in b")]}" else -1
        if depth < 0:
            return bytes(bracket)
    return b""


_BRACKET = re.compile(rb"[()\[\]{}]")


_LineTest = Callable[[bytes, bytes], object]
_RENAMED = re.compile(rb"\s+as\b")
_IMPORT_LINE = re.compile(rb"[ \t]*(?:from[ \t]+[.\w]+[ \t]+)?import[ \t][^;]*$")
_DEFINING = re.compile(rb"\b(?:def|class)[ \t]+$")
_RETURN_TYPE = re.compile(rb"->[^:]*$")
_FIELD_OR_PARAMETER = re.compile(
    rb"[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+\((?:(?!lambda)[^{])*?)?"
    rb"[a-z_]\w*[ \t]*:[ \t]*[\"']?(?:(?:\w+\.)*\w+\[)*[\"']?(?:\w+\.)*"
)
_HARMLESS: tuple[_LineTest, ...] = (
    lambda before, after: before.lstrip().startswith(b"#"),
    lambda before, after: _IMPORT_LINE.match(before) and b";" not in after and not _RENAMED.match(after),
    lambda before, after: _DEFINING.search(before),
    lambda before, after: _RETURN_TYPE.search(before),
    lambda before, after: _FIELD_OR_PARAMETER.fullmatch(before) and not re.match(rb"[\w.(\[]", after),
)
"""Tests of what stands before and behind the name on its line; the last one for names with a capital, which may be types."""

_LIST_ITEM = re.compile(rb"\s*(?:,.*|#.*|\).*)?$")


def _in_import_list(content: bytes, start: int, before: bytes, after: bytes) -> bool:
    """On a line of its own within ``from m import (...)``, and not renamed."""
    if before.strip() or not _LIST_ITEM.match(after):
        return False
    opened = content.rfind(b"import (", 0, start)
    return opened >= 0 and content.find(b")", opened, start) < 0
