"""From a dotted name in a module to the definitions it may stand for, through imports, re-exports and plain aliases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent.analysis import ir
from agent.analysis.index import Index
from agent.analysis.outline import Def, Definition
from agent.analysis.walk import children
from agent.domain.errors import NotFoundOnHost

_DEPTH = 12
"""Re-exports followed in a row; longer chains are cycles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """Something that is not in the tree, or that cannot be told from the text: ``name`` is its dotted name or its text."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRef:
    """A module of the tree; ``path`` is empty for a namespace package."""

    dotted: str
    path: str


Meaning = Definition | ModuleRef | External


def dotted_text(node: ir.Expr | None) -> str | None:
    """``a.b.c`` of a chain of names, else None."""
    parts: list[str] = []
    while isinstance(node, ir.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ir.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def root_name(node: ir.Node | None) -> str:
    """The name that a chain of attributes and items starts from, as in ``name[k][0].attr``; empty where it starts from no name."""
    while isinstance(node, (ir.Attribute, ir.Subscript)):
        node = node.value
    return node.id if isinstance(node, ir.Name) else ""


class Resolver:
    """Follows names. An answer has several meanings where the binding depends on a branch, and none where nothing binds the name."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._bindings: dict[str, dict[str, list[Any]]] = {}

    def meanings(self, path: str, dotted: str, chain: tuple[Def, ...] = ()) -> tuple[Meaning, ...]:
        """What ``dotted`` may mean in the module at ``path``, inside the definitions of ``chain``."""
        return tuple(dict.fromkeys(self._dotted(path, dotted, chain, _DEPTH)))

    def members(self, meaning: Meaning, name: str) -> tuple[Meaning, ...]:
        """What ``meaning.name`` may mean: a module's global, or a name in a class's own body."""
        return tuple(dict.fromkeys(self._member(meaning, name, _DEPTH)))

    def _dotted(self, path: str, dotted: str, chain: tuple[Def, ...], depth: int) -> list[Meaning]:
        first, *rest = dotted.split(".")
        found = self._name(path, first, chain, depth)
        for name in rest:
            found = [meaning for each in found for meaning in self._member(each, name, depth)]
        return found

    def _name(self, path: str, name: str, chain: tuple[Def, ...], depth: int) -> list[Meaning]:
        """Python's scopes: functions from inside out, then the module; a class body is seen from itself alone."""
        for place in range(len(chain), 0, -1):
            scope = chain[place - 1]
            if isinstance(scope, ir.ClassDef) and place != len(chain):
                continue
            bindings = _bindings_of(scope.body)
            if isinstance(scope, ir.FunctionDef) and any(param.name == name for param in scope.params):
                return []
            if name in bindings:
                return self._bound(path, name, bindings[name], chain[:place], depth)
        return self._bound(path, name, self._module_bindings(path).get(name, []), (), depth) or self._starred(path, name, depth)

    def _bound(self, path: str, name: str, bindings: list[Any], chain: tuple[Def, ...], depth: int) -> list[Meaning]:
        if depth <= 0:
            return [External(name=name)]
        return [meaning for binding in bindings for meaning in self._binding(path, binding, chain, depth - 1)]

    def _binding(self, path: str, binding: Any, chain: tuple[Def, ...], depth: int) -> list[Meaning]:
        if isinstance(binding, (ir.FunctionDef, ir.ClassDef)):
            return [Definition(path=path, node=binding, chain=chain)]
        if isinstance(binding, _Imported):
            return self._imported(path, binding, depth)
        text = dotted_text(binding) if isinstance(binding, ir.Expr) else None
        return self._dotted(path, text, chain, depth) if text is not None else [External(name=f"<{type(binding).__name__}>")]

    def _imported(self, path: str, binding: _Imported, depth: int) -> list[Meaning]:
        if binding.origin is None:
            return [self._module(binding.name)]
        source = self._index.import_source(path, binding.origin)
        if source is None:
            return [External(name=binding.name)]
        return self._member(self._module(source), binding.name, depth)

    def _module(self, dotted: str) -> Meaning:
        path = self._index.module_path(dotted)
        if path is not None or self._index.is_package(dotted):
            return ModuleRef(dotted=dotted, path=path or "")
        return External(name=dotted)

    def _member(self, meaning: Meaning, name: str, depth: int) -> list[Meaning]:
        if isinstance(meaning, External):
            return [External(name=f"{meaning.name}.{name}")]
        if isinstance(meaning, ModuleRef):
            found = self._name(meaning.path, name, (), depth) if meaning.path and depth > 0 else []
            inner = self._module(f"{meaning.dotted}.{name}")
            return found or ([inner] if isinstance(inner, ModuleRef) else [External(name=f"{meaning.dotted}.{name}")])
        if isinstance(meaning.node, ir.ClassDef):
            bindings = _bindings_of(meaning.node.body).get(name, [])
            return self._bound(meaning.path, name, bindings, (*meaning.chain, meaning.node), depth)
        return []

    def _starred(self, path: str, name: str, depth: int) -> list[Meaning]:
        """``from m import *`` may bind any name; the last one that has it wins."""
        for binding in reversed(self._module_bindings(path).get("*", [])):
            found = self._imported(path, _Imported(name, binding.origin), depth - 1) if depth > 0 else []
            if any(not isinstance(meaning, External) for meaning in found):
                return found
        return []

    def _module_bindings(self, path: str) -> dict[str, list[Any]]:
        known = self._bindings.get(path)
        if known is None:
            try:
                known = _bindings_of(self._index.module(path).body)
            except NotFoundOnHost:
                known = {}
            self._bindings[path] = known
        return known


@dataclass(frozen=True, slots=True)
class _Imported:
    """``name`` from the statement ``origin``, or the module ``name`` where ``origin`` is None."""

    name: str
    origin: ir.ImportFrom | None


def _bindings_of(body: list[ir.Stmt]) -> dict[str, list[Any]]:
    """What each name is bound to by the statements of one scope, in order: definitions, imports, values of plain assignments."""
    found: dict[str, list[Any]] = {}
    pending: list[ir.Node] = list(reversed(body))
    while pending:
        node = pending.pop()
        for name, binding in _bound_by(node):
            found.setdefault(name, []).append(binding)
        if not isinstance(node, (ir.FunctionDef, ir.ClassDef, ir.Expr)):
            pending.extend(each for each in reversed(children(node)) if isinstance(each, (ir.Stmt, ir.Handler, ir.Case)))
    return found


def _bound_by(node: ir.Node) -> Iterator[tuple[str, Any]]:
    if isinstance(node, (ir.FunctionDef, ir.ClassDef)):
        yield node.name, node
    elif isinstance(node, ir.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname, _Imported(alias.name, None)) if alias.asname else (top, _Imported(top, None))
    elif isinstance(node, ir.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, _Imported(alias.name, node)
    elif isinstance(node, ir.Assign):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ir.Name))
    elif isinstance(node, ir.AnnAssign) and isinstance(node.target, ir.Name) and node.value is not None:
        yield node.target.id, node.value
