"""Which names a function, class body or module binds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agent.analysis import ir
from agent.analysis.walk import SUITE_FIELDS, children, walk


@dataclass(frozen=True, slots=True)
class Scope:
    """Names bound in a function's own body, and those it declares global or nonlocal."""

    local: frozenset[str]
    global_: frozenset[str]
    nonlocal_: frozenset[str]


def scope_of(node: ir.FunctionDef | ir.Lambda) -> Scope:
    """Python's static scoping rule for one function."""
    bound = {param.name for param in node.params}
    body: list[ir.Stmt] | list[ir.Expr] = node.body if isinstance(node, ir.FunctionDef) else [node.body]
    global_: set[str] = set()
    nonlocal_: set[str] = set()
    for part in body:
        _collect(part, bound, global_, nonlocal_)
    return Scope(frozenset(bound - global_ - nonlocal_), frozenset(global_), frozenset(nonlocal_))


def bound_names(stmt: ir.Stmt) -> set[str]:
    """Names that a statement, with everything nested in it, binds in its own scope."""
    bound: set[str] = set()
    _collect(stmt, bound, set(), set())
    return bound


def _collect(root: ir.Node, bound: set[str], global_: set[str], nonlocal_: set[str]) -> None:
    stack = [root]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ir.Name or kind is ir.Constant:
            continue
        if isinstance(node, (ir.FunctionDef, ir.ClassDef)):
            bound.add(node.name)
            continue
        if kind is ir.Lambda:
            continue
        names = _BINDERS.get(kind)
        if names is not None:
            bound.update(names(node))
        elif isinstance(node, ir.Global):
            global_.update(node.names)
        elif isinstance(node, ir.Nonlocal):
            nonlocal_.update(node.names)
        if kind is ir.Comprehension:
            stack.extend(n for n in walk(node, into_scopes=False) if isinstance(n, ir.NamedExpr))
            continue
        stack.extend(children(node))


def target_names(target: ir.Expr | None) -> Iterator[str]:
    """Plain names in an assignment target."""
    if isinstance(target, ir.Name):
        yield target.id
    elif isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        for item in target.items:
            yield from target_names(item)
    elif isinstance(target, ir.Starred):
        yield from target_names(target.value)


def _alias_names(node: ir.Import | ir.ImportFrom) -> Iterator[str]:
    for alias in node.names:
        yield alias.asname or (alias.name.partition(".")[0] if isinstance(node, ir.Import) else alias.name)


_BINDERS: dict[type[ir.Node], Callable[[Any], Iterable[str]]] = {
    ir.Assign: lambda n: [name for t in n.targets for name in target_names(t)],
    ir.AugAssign: lambda n: target_names(n.target),
    ir.AnnAssign: lambda n: target_names(n.target),
    ir.For: lambda n: target_names(n.target),
    ir.WithItem: lambda n: target_names(n.target),
    ir.NamedExpr: lambda n: target_names(n.target),
    ir.Delete: lambda n: [name for t in n.targets for name in target_names(t)],
    ir.Handler: lambda n: [n.name] if n.name else [],
    ir.Import: _alias_names,
    ir.ImportFrom: _alias_names,
    ir.MatchAs: lambda n: [n.name] if n.name else [],
    ir.MatchStar: lambda n: [n.name] if n.name else [],
    ir.MatchMapping: lambda n: [n.rest] if n.rest else [],
}


def binds(statement: ir.Stmt, name: str) -> bool:
    """Of a compound statement, its own header: what stands inside is asked by itself."""
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return statement.name == name
    if isinstance(statement, ir.Try):
        return any(handler.name == name for handler in statement.handlers)
    if isinstance(statement, ir.Match) or not SUITE_FIELDS[type(statement)]:
        return name in bound_names(statement)
    headers = [getattr(statement, field, None) for field in ("target", "test", "iter")]
    if isinstance(statement, ir.With):
        headers += [part for item in statement.items for part in (item.target, item.context)]
    parts = [node for each in headers if each is not None for node in walk(each)]
    stored: list[ir.Node] = [node.target for node in parts if isinstance(node, ir.NamedExpr)]
    stored += [node for each in _targets(statement) for node in walk(each)]
    return any(isinstance(node, ir.Name) and node.id == name for node in stored)


def _targets(statement: ir.Stmt) -> list[ir.Expr]:
    if isinstance(statement, ir.For):
        return [statement.target]
    return [item.target for item in statement.items if item.target is not None] if isinstance(statement, ir.With) else []
