"""Modules whose names are looked up while a program runs: ``getattr(module, name)``, ``import_module("package.module")``; by text."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from agent.analysis.index import Index
from agent.analysis.words import positions

_ASKING = ("getattr", "vars")
_BY_TEXT = ("import_module", "__import__", "modules", "runpy")
_ASKED = re.compile(rb"\(\s*(?:[\w.]+\.)?(\w+)\s*(?:\)|,\s*(?![\"']\w+[\"']\s*[,)]))")
"""After ``getattr`` or ``vars``: of what, where the name is not written there."""
BY_NAME = re.compile(rb"\bglobals\(\)\s*(?:\[|\.get\()|\b(?:vars\(|locals\()\)|\bmodules\[\s*__name__\s*\]")
"""A module that takes its own names by text."""
_IMPORTS = re.compile(rb"import_module|__import__|sys\.modules|runpy")
_QUOTED = re.compile(rb"[\"']([A-Za-z_][\w.]*)[\"']")

_Table = dict[str, list[str]]

_tables: WeakKeyDictionary[Index, _Table] = WeakKeyDictionary()


def looking_up(index: Index, module: str) -> list[str]:
    """Files that may take any name of the module, given by its dotted name, in path order; by mistake those that mean another one too."""
    table = _tables.get(index)
    if table is None:
        table = _tables[index] = _made(index)
    last = module.rpartition(".")[2]
    return sorted({*table.get(f"{last}?", ()), *table.get(module, ())})


def _made(index: Index) -> _Table:
    """By the name of a variable and ``?``, and by a module's dotted name."""
    table: _Table = {}
    by_text = {path for word in _BY_TEXT for path in index.files_with(word)}
    for path in sorted(by_text.union(*map(index.files_with, _ASKING))):
        content = index.read(path)
        if not isinstance(content, bytes):
            continue
        found = {
            hit[1].decode() + "?" for word in _ASKING for at in positions(content, word) if (hit := _ASKED.match(content, at + len(word)))
        }
        if path in by_text and _IMPORTS.search(content):
            found.update(hit[1].decode() for hit in _QUOTED.finditer(content))
        for name in sorted(found):
            table.setdefault(name, []).append(path)
    return table
