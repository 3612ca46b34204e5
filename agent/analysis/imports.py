"""Which modules a start module can import, directly or through others, by the text of the files: none is parsed for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from agent.analysis.index import Index

_IMPORT = re.compile(rb"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]+))")
_NAME = re.compile(rb"[\w.*]+")
_QUOTED = re.compile(rb"[\"'](\w+)[\"']")
_TESTS = frozenset({"test", "tests"})
_STRING_MODULE = re.compile(rb"([A-Za-z_]\w*(?:\.\w+)+)(?::\w+)?[\"']")


def importable_from(index: Index, start: str) -> frozenset[str]:
    """Paths of every module that code of ``start`` (a path) may import, at any place; modules named by dotted strings count too.

    Packages that are imported by computed names (``import_module(name)``, ``pkgutil``) are taken whole where the package's own name stands
    in the text; of their tests those only that something names.
    """
    known = _IMPORTABLE.setdefault(index, {})
    if start not in known:
        kept = index.kept(f"importable from {start}")
        found = frozenset(kept.decode("utf-8", "surrogateescape").split("\0")) if kept is not None else None
        if found is None or not found <= index.files | {start}:
            found = _closure(index, start)
            index.keep(f"importable from {start}", "\0".join(sorted(found)).encode("utf-8", "surrogateescape"))
        known[start] = found
    return known[start]


_IMPORTABLE: WeakKeyDictionary[Index, dict[str, frozenset[str]]] = WeakKeyDictionary()
"""Launches of one tree start at the same few modules."""


def _closure(index: Index, start: str) -> frozenset[str]:
    seen = {start}
    named: set[str] = set()
    tops = frozenset(path.partition("/")[0].removesuffix(".py") for path in index.files)
    queue = [start]
    while queue:
        new = _named(index, queue.pop(), tops) - named
        named |= new
        for dotted in new:
            if dotted.partition(".")[0] in tops:
                found = _paths(index, dotted)
                queue += [path for path in found if path not in seen]
                seen.update(found)
    return frozenset(seen)


def _statements(content: bytes) -> Iterator[re.Match[bytes]]:
    """Import statements that start a line, by the word that each holds: a pattern tried at every line costs four times as much."""
    end, at = -1, content.find(b"import")
    while at >= 0:
        line = content.rfind(b"\n", 0, at) + 1
        found = _IMPORT.match(content, line) if line >= end else None
        if found is not None:
            yield found
            end = found.end()
        at = content.find(b"import", max(at + 6, end))


def _strings(content: bytes, top: bytes) -> Iterator[bytes]:
    """Dotted names below ``top`` that are whole strings; a pattern tried at every quote costs ten times as much."""
    for start in (b'"%b.' % top, b"'%b." % top):
        at = content.find(start)
        while at >= 0:
            found = _STRING_MODULE.match(content, at + 1)
            if found is not None:
                yield found.group(1)
            at = content.find(start, at + len(start))


def _named(index: Index, path: str, tops: frozenset[str]) -> set[str]:
    content = index.read(path)
    if not isinstance(content, bytes):
        return set()
    package = index.dotted(path) if path.endswith("__init__.py") else index.dotted(path).rpartition(".")[0]
    names: set[str] = set()
    for found in _statements(content):
        if found.group(3) is not None:
            names |= {part.split()[0].decode() for part in found.group(3).split(b",") if part.split()}
            continue
        base = _absolute(found.group(1).decode(), package)
        names.add(base)
        given = {n.decode() for n in _NAME.findall(found.group(2))}
        names |= {f"{base}.{name}" for name in (_listed(index, base) if "*" in given else given)}
    names |= (strings := {found.decode() for top in tops for found in _strings(content, top.encode())})
    if b"iter_modules" in content or b"walk_packages" in content or b"import_module(" in content:
        names |= {f"{name}.*" for name in strings if index.is_package(name)}
        if b"__path__" in content or b"__package__" in content:
            names.add(f"{package}.*")
    return names


def _listed(index: Index, package: str) -> set[str]:
    """What ``from package import *`` may import besides the package: submodules that it lists."""
    path = index.module_path(package)
    content = index.read(path) if path is not None else b""
    if not isinstance(content, bytes) or b"__all__" not in content:
        return set()
    return {found.decode() for found in _QUOTED.findall(content)}


def _absolute(name: str, package: str) -> str:
    level = len(name) - len(name.lstrip("."))
    if level == 0:
        return name
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    rest = name.lstrip(".")
    return f"{package}.{rest}" if rest else package


def _paths(index: Index, dotted: str) -> list[str]:
    """The module itself and the packages around it; of ``package.*`` every module inside."""
    if dotted.endswith(".*"):
        folder = dotted[:-2].replace(".", "/") + "/"
        inside = (p for p in index.files if p.startswith(folder) and p.endswith(".py"))
        return [p for p in inside if _TESTS.isdisjoint(p.removeprefix(folder).split("/")[:-1])]
    found: list[str] = []
    while dotted:
        path = index.module_path(dotted)
        if path is not None:
            found.append(path)
        dotted = dotted.rpartition(".")[0]
    return found
