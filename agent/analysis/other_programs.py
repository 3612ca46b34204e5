"""Functions that run only where another module of the tree is started as the program, as benchmarks and tools are."""

from __future__ import annotations

import re

from agent.analysis import ir
from agent.analysis.callers import Reference, references_in
from agent.analysis.control import only_as_program
from agent.analysis.index import Index, once_a_word

MAX_FILES = 8
_NO_USE = ("import", "annotation")


def programs_with(index: Index, path: str, function: ir.FunctionDef) -> frozenset[str] | None:
    """The modules that must be the program for a function of a module's top level to run; None where anything else may run it.

    Every use of it leads, by functions of top levels, to an ``if __name__ == "__main__":``. Only modules that have one are looked at.
    """
    return _programs(index, f"{path}:{function.name}") if path in index.files_with("__main__") else None


@once_a_word
def _programs(index: Index, place: str) -> frozenset[str] | None:
    found: set[str] = set()
    pending = [place]
    seen = {place}
    while pending:
        path, _, name = pending.pop().rpartition(":")
        uses = _uses(index, path, name)
        if not uses or len(seen) > MAX_FILES:
            return None
        for use in uses:
            if not use.chain:
                if not only_as_program(index.outline(use.path), use.statement):
                    return None
                found.add(use.path)
                continue
            around = use.chain[0]
            if not isinstance(around, ir.FunctionDef) or around.decorators:
                return None
            if (further := f"{use.path}:{around.name}") not in seen:
                seen.add(further)
                pending.append(further)
    return frozenset(found)


def _uses(index: Index, home: str, name: str) -> list[Reference] | None:
    """Every reference to a function of a module; None where there may be others."""
    homes, pending, uses = {home}, [home], []
    while pending:
        path = pending.pop()
        last = index.dotted(path).rpartition(".")[2]
        naming = index.files_with(last)
        files = {path, *naming}.intersection(index.files_with(name))
        if len(files) > MAX_FILES or any(_looks_up(index, each, index.dotted(path)) for each in naming):
            return None
        for each in naming:
            if each not in homes and _takes_all(index, each, last):
                homes.add(each)
                pending.append(each)
        for each in sorted(files):
            for ref in references_in(index.module(each), name):
                if ref.kind == "import" and not ref.chain and each not in homes:
                    homes.add(each)
                    pending.append(each)
                elif ref.kind not in _NO_USE and ref not in uses:
                    uses.append(ref)
    return uses


def _takes_all(index: Index, path: str, module: str) -> bool:
    """``from package.module import *``"""
    content = index.read(path)
    if not isinstance(content, bytes):
        return True
    if _ANY_STAR.search(content) is None:
        return False
    starred = (content[hit.start() : content.find(b"\n", hit.start())] for hit in _STAR.finditer(content))
    return any(re.search(rb"\b" + re.escape(module.encode()) + rb"[ \t]+import\b", line) for line in starred)


_ANY_STAR = re.compile(rb"import[ \t]*\(?[ \t]*\*")
"""What ``_STAR`` needs: looked for first, as it begins with a word."""
_STAR = re.compile(rb"^[ \t]*from[ \t][^\n]*\bimport[ \t]*\(?[ \t]*\*", re.MULTILINE)


def _looks_up(index: Index, path: str, module: str) -> bool:
    """``getattr(module, name)``, ``import_module("package.module")``, where the name may be any."""
    content = index.read(path)
    if not isinstance(content, bytes):
        return True
    last = re.escape(module.rpartition(".")[2].encode())
    called = b"getattr(" in content or b"vars(" in content
    if called and re.search(rb"\b(?:getattr|vars)\(\s*(?:[\w.]+\.)?" + last + rb"\s*(?:\)|,\s*(?![\"']\w+[\"']\s*[,)]))", content):
        return True
    by_text = b"import_module" in content or b"__import__" in content or b"sys.modules" in content or b"runpy" in content
    return by_text and re.search(rb"[\"']" + re.escape(module.encode()) + rb"[\"']", content) is not None
