"""Functions that run only where another module of the tree is started as the program, as benchmarks and tools are."""

from __future__ import annotations

import re

from agent.analysis import ir
from agent.analysis.callers import Reference, references_in
from agent.analysis.control import only_as_program
from agent.analysis.index import Index, once_a_word
from agent.analysis.looked_up import looking_up

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
        naming = frozenset(index.files_with(last))
        inside = _inside(index, path)
        files = ({path} | naming | inside).intersection(index.files_with(name))
        if len(files) > MAX_FILES or looking_up(index, index.dotted(path)):
            return None
        for each in sorted((naming | inside) & frozenset(index.files_with("*")) - homes):
            if _takes_all(index, each, last) or (each in inside and _takes_all(index, each, "")):
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


def _inside(index: Index, path: str) -> frozenset[str]:
    """Modules that may say ``from . import name`` of a package, without its name; of other modules none."""
    folder = path.removesuffix("__init__.py")
    return frozenset(each for each in index.files if each.startswith(folder)) if folder != path else frozenset()


def _takes_all(index: Index, path: str, module: str) -> bool:
    """``from package.module import *``; where ``module`` is empty, ``from . import *``"""
    content = index.read(path)
    if not isinstance(content, bytes):
        return True
    named = (re.sub(rb"[\s\\]", b"", hit[1]).rpartition(b".")[2] for hit in _STAR.finditer(content))
    return module.encode() in named


_STAR = re.compile(rb"\bfrom((?:[\w.\s]|\\\r?\n)+?)\bimport(?:\s|\\\r?\n)*\*")
