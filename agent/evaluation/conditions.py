"""A comparison of one attribute with literals, under a given value of the attribute."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.analysis import ir
from agent.evaluation.concrete import NotConcrete, concrete

if TYPE_CHECKING:
    from agent.evaluation.machine import Machine
    from agent.evaluation.values import AV


def compared(m: Machine, part: ir.Compare, name: str, value: AV) -> bool:
    """How it comes out. Raises NotConcrete where it takes more than the attribute's value, TypeError where Python does."""
    if len(part.ops) != 1:
        raise NotConcrete
    left, right = (_side(m, node, name, value) for node in (part.left, part.comparators[0]))
    return bool(_OPERATORS[part.ops[0]](left, right))


def _side(m: Machine, node: ir.Expr, name: str, value: AV) -> Any:
    return concrete(m, value) if isinstance(node, ir.Attribute) and node.attr == name else _literal(node)


def _literal(node: ir.Expr) -> Any:
    if isinstance(node, ir.Constant):
        return node.value
    if isinstance(node, (ir.TupleExpr, ir.ListExpr, ir.SetExpr)):
        return [_literal(each) for each in node.items]
    raise NotConcrete


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
