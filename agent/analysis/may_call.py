"""The functions that a piece of code may come to run, by the names that are called in it and in what these names may mean."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from agent.analysis import ir
from agent.analysis.index import Index
from agent.analysis.resolve import root_name
from agent.analysis.walk import children, walk
from agent.analysis.writers import receivers_by_text

MAX_FUNCTIONS = 150
"""Beyond that many, anything may run."""
_OUTSIDE: WeakKeyDictionary[ir.Module, frozenset[str]] = WeakKeyDictionary()
_BUILT_IN = frozenset(dir(builtins)) - {"eval", "exec"}


def may_call(index: Index, path: str, part: ir.Node) -> frozenset[str] | None:
    """Names of all functions and classes of the tree that running ``part`` may call, at any depth; None where that cannot be told.

    By name alone, so that each method of a name counts. What is handed on may be called. A call of something that has no name, of a
    variable, or of an attribute that some code assigns may be a call of anything.
    """
    found: set[str] = set()
    outside = _outside(index, path)
    called, handed = _names(part, outside)
    looked = 0
    while called or handed:
        certain = bool(called)
        name = called.pop() if called else handed.pop()
        plain = name.lstrip(".")
        if plain in found:
            continue
        definitions = [*index.functions_named(plain), *index.classes_named(plain)] if plain else []
        if certain and not definitions and not _known(index, name):
            return None
        if not definitions:
            continue
        found.add(plain)
        for definition in definitions:
            looked += 1
            inner, given = _names(definition.node, _outside(index, definition.path))
            if looked > MAX_FUNCTIONS:
                return None
            called |= inner
            handed |= given
    return frozenset(found)


def _known(index: Index, name: str) -> bool:
    """Whether a name that no definition has means something of the language or of a library, and no variable."""
    return _never_assigned(index, name[1:]) if name.startswith(".") else name in _BUILT_IN


def _never_assigned(index: Index, attribute: str) -> bool:
    """Whether no object of the tree is given a function under the name by its own class; what libraries are patched with is theirs."""
    return bool(attribute) and not any(receiver in ("self", "cls") for _, _, receiver in receivers_by_text(index, attribute))


def _values(given: ir.Expr) -> Iterator[str]:
    """Last names of what an argument gives: of a display, of what stands in it."""
    if isinstance(given, ir.Name):
        yield given.id
    elif isinstance(given, ir.Attribute):
        yield given.attr
    elif isinstance(given, (ir.ListExpr, ir.TupleExpr, ir.SetExpr, ir.DictExpr, ir.Starred, ir.IfExp, ir.BoolOp)):
        for each in children(given):
            if isinstance(each, ir.Expr):
                yield from _values(each)


def _outside(index: Index, path: str) -> frozenset[str]:
    """Names that a module imports from libraries, and those that it gives to what it takes from there."""
    module = index.module(path)
    known = _OUTSIDE.get(module)
    if known is None:
        names: set[str] = set()
        imports = (node for top in module.body for node in walk(top) if isinstance(node, (ir.Import, ir.ImportFrom)))
        for node in imports:
            for alias in node.names:
                source = alias.name if isinstance(node, ir.Import) else index.import_source(path, node) or ""
                package = source.partition(".")[0]
                if package and index.module_path(package) is None and not index.is_package(package):
                    names.add(alias.asname or alias.name.partition(".")[0])
        for statement in module.body:
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Attribute) and root_name(statement.value) in names:
                names |= {target.id for target in statement.targets if isinstance(target, ir.Name)}
        known = _OUTSIDE[module] = frozenset(names)
    return known


def _names(part: ir.Node, outside: frozenset[str]) -> tuple[set[str], set[str]]:
    """Names that are called, those of attributes with a dot before them, empty for what has none; and names that are handed on."""
    called: set[str] = set()
    handed: set[str] = set()
    params = {param.name for node in walk(part) if isinstance(node, (ir.FunctionDef, ir.Lambda)) for param in node.params}
    for node in walk(part):
        if isinstance(node, ir.Call):
            if isinstance(node.func, ir.Name):
                if node.func.id not in outside:
                    called.add("" if node.func.id in params else node.func.id)
            elif root_name(node.func) not in outside:
                called.add(f".{node.func.attr}" if isinstance(node.func, ir.Attribute) else "")
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                handed |= set(_values(value)) - params
        elif isinstance(node, ir.FunctionDef):
            handed |= {each.id for decorator in node.decorators for each in walk(decorator) if isinstance(each, ir.Name)}
    return called, handed
