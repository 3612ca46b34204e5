"""Going through IR nodes without recursion, in file order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from agent.analysis import ir

_PLAIN = frozenset({"Any", "str", "bool", "str | None", "list[str]", "int"})
_PLACE = frozenset({"line", "end", "start_byte", "end_byte"})


_KINDS: tuple[type[Any], ...] = tuple(kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, ir.Node))


def _child_fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind) if item.name not in _PLACE and item.type not in _PLAIN)


def _suite_fields(kind: type[Any]) -> tuple[str, ...]:
    names = {item.name for item in fields(kind) if str(item.type).startswith("list")}
    return tuple(name for name in _SUITES if name in names)


_SUITES = ("body", "handlers", "cases", "orelse", "finalbody")

CHILD_FIELDS = {kind: _child_fields(kind) for kind in _KINDS}
"""Names of the fields of each node class that hold nodes or lists of nodes."""

SUITE_FIELDS = {kind: _suite_fields(kind) for kind in _KINDS}
"""The fields that hold statements, directly or in handlers and cases, in file order."""


_WITH_GAPS = {(kind, item.name) for kind in _KINDS for item in fields(kind) if "list" in str(item.type) and "None" in str(item.type)}
"""Lists that may hold None in a node's place."""


def children(node: ir.Node) -> list[ir.Node]:
    """Direct children in field order."""
    found: list[ir.Node] = []
    for name, gaps in _FIELDS[type(node)]:
        value = getattr(node, name)
        if value is None:
            continue
        if type(value) is not list:
            found.append(value)
        elif gaps:
            found.extend(item for item in value if item is not None)
        else:
            found += value
    return found


_FIELDS = {kind: tuple((name, (kind, name) in _WITH_GAPS) for name in names) for kind, names in CHILD_FIELDS.items()}


def walk(node: ir.Node, *, into_scopes: bool = True) -> Iterator[ir.Node]:
    """The node and all below it, parents first; without ``into_scopes`` nested functions, lambdas and classes are named, not entered."""
    pending = [node]
    while pending:
        at = pending.pop()
        yield at
        if not into_scopes and at is not node and isinstance(at, (ir.FunctionDef, ir.ClassDef, ir.Lambda)):
            continue
        below = children(at)
        below.reverse()
        pending.extend(below)


def statements(body: list[ir.Stmt], *, into_functions: bool = True) -> Iterator[ir.Stmt]:
    """Every statement of a suite and of the suites in it, definitions included, in file order.

    Without ``into_functions`` those that stand in no function: no body of one is read.
    """
    pending: list[Any] = list(reversed(body))
    while pending:
        at = pending.pop()
        if isinstance(at, ir.Stmt):
            yield at
        if into_functions or not isinstance(at, ir.FunctionDef):
            for name in reversed(SUITE_FIELDS[type(at)]):
                pending.extend(reversed(getattr(at, name)))


_HEADER_FIELDS = ("test", "target", "iter", "items", "subject", "params", "returns", "bases", "keywords")
_HEADER_TOKEN = re.compile(rb"#[^\n]*|[\[({]|[\])}]|:")


def header_lines(source: bytes, statement: ir.Stmt) -> tuple[int, int]:
    """First and last line of a statement; of a compound one those of its decorators and header, up to the colon."""
    if not SUITE_FIELDS[type(statement)]:
        return statement.line, statement.end
    first = min([statement.line, *(decorator.line for decorator in getattr(statement, "decorators", ()))])
    after = _header_end(statement)
    depth = 0
    for token in _HEADER_TOKEN.finditer(source, after):
        sign = token[0][:1]
        if sign == b":" and depth <= 0:
            return first, max(statement.line, statement.line + source.count(b"\n", statement.start_byte, token.start()))
        depth += (sign in b"[({") - (sign in b"])}")
    return first, statement.line


def _header_end(statement: ir.Stmt) -> int:
    """Where the last expression of the header ends."""
    ends = [statement.start_byte]
    for name in _HEADER_FIELDS:
        value = getattr(statement, name, None)
        for node in value if isinstance(value, list) else [value]:
            if node is not None:
                default = getattr(node, "default", None)
                ends.append(max(node.end_byte, default.end_byte if default is not None else 0))
    return max(ends)
