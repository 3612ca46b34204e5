"""Evaluates formulas: one handler per syntax node, one row per function, three-valued throughout."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent.domain.facts import ABSENT, Answer, Facts
from agent.domain.truth import Truth
from agent.domain.values import Known, Unknown

COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.In: ("in", lambda left, right: left in right),
    ast.NotIn: ("not in", lambda left, right: left not in right),
}
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What names mean: local values before facts."""

    facts: Facts
    local: Mapping[str, Answer]

    def get(self, name: str) -> Answer:
        return self.local[name] if name in self.local else self.facts.get(name)


def dotted(node: ast.expr) -> str | None:
    """The dotted name that a node spells; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def evaluate(node: ast.expr, scope: Scope) -> Answer:
    """The answer for a node that passed the check of ``formula``."""
    name = dotted(node)
    return scope.get(name) if name is not None else _EVALUATE[type(node)](node, scope)


def worked(node: ast.expr, scope: Scope) -> str:
    """A calculation with its numbers in it, like ``3 x 7168``; empty where it is none, or one of them is not known."""
    found = _put_in(node, scope) if isinstance(node, ast.BinOp) else None
    return ast.unparse(found).replace(" * ", " x ") if found else ""


def _put_in(node: ast.expr, scope: Scope) -> ast.expr | None:
    if isinstance(node, ast.BinOp):
        left, right = _put_in(node.left, scope), _put_in(node.right, scope)
        return ast.BinOp(left, node.op, right) if left and right else None
    value = evaluate(node, scope)
    return ast.Constant(value.value) if isinstance(value, Known) else None


def _bool_op(node: Any, scope: Scope) -> Answer:
    """Strong Kleene; the reason of an unknown is that of the first unknown operand."""
    values = [evaluate(child, scope) for child in node.values]
    truth = Truth.of(isinstance(node.op, ast.And))
    for value in values:
        truth = truth & truth_of(value) if isinstance(node.op, ast.And) else truth | truth_of(value)
    if truth is Truth.UNKNOWN:
        return next(value for value in values if isinstance(value, Unknown))
    return Known(value=truth is Truth.TRUE)


def _unary(node: Any, scope: Scope) -> Answer:
    value = evaluate(node.operand, scope)
    if isinstance(value, Unknown):
        return value
    if isinstance(node.op, ast.Not):
        return Known(value=truth_of(value) is Truth.FALSE)
    return _calculate(operator.sub, ast.unparse(node), Known(value=0), value)


def _binary(node: Any, scope: Scope) -> Answer:
    return _calculate(ARITHMETIC[type(node.op)], ast.unparse(node), evaluate(node.left, scope), evaluate(node.right, scope))


def _calculate(operation: Callable[[Any, Any], Any], text: str, left: Answer, right: Answer) -> Answer:
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
        if not isinstance(side, Known) or isinstance(side.value, bool) or not isinstance(side.value, (int, float)):
            return Unknown(reason=f"{text} needs numbers, and one side is {_show(side)}")
    assert isinstance(left, Known) and isinstance(right, Known)
    try:
        return Known(value=operation(left.value, right.value))
    except (ZeroDivisionError, OverflowError):
        return Unknown(reason=f"{text} cannot be calculated")


def _compare(node: Any, scope: Scope) -> Answer:
    values = [evaluate(child, scope) for child in (node.left, *node.comparators)]
    answers = [_compare_two(op, values[i], values[i + 1], ast.unparse(node)) for i, op in enumerate(node.ops)]
    truth = Truth.TRUE
    for answer in answers:
        truth = truth & truth_of(answer)
    return next(a for a in answers if isinstance(a, Unknown)) if truth is Truth.UNKNOWN else Known(value=truth is Truth.TRUE)


def _compare_two(op: ast.cmpop, left: Answer, right: Answer, text: str) -> Answer:
    """Something absent equals nothing and is in nothing; ordering it is unknown, since a default that is not seen decides."""
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    symbol, operation = COMPARE[type(op)]
    if not isinstance(left, Known) or not isinstance(right, Known):
        if symbol in ("==", "in"):
            return Known(value=False)
        return Known(value=True) if symbol in ("!=", "not in") else Unknown(reason=f"{text}: one side was not given")
    try:
        return Known(value=bool(operation(left.value, right.value)))
    except TypeError:
        return Unknown(reason=f"{text} compares {type(left.value).__name__} with {type(right.value).__name__}")


def _sequence(node: Any, scope: Scope) -> Answer:
    values = [evaluate(child, scope) for child in node.elts]
    for value in values:
        if isinstance(value, Unknown):
            return value
    return Known(value=tuple(value.value if isinstance(value, Known) else None for value in values))


def _index(node: Any, scope: Scope) -> Answer:
    """An element that is not there is absent, as a key of a config file is."""
    value = evaluate(node.value, scope)
    if not isinstance(value, Known):
        return value
    try:
        return Known(value=value.value[node.slice.value])
    except (KeyError, IndexError):
        return ABSENT
    except TypeError:
        return Unknown(reason=f"{ast.unparse(node.value)} is {type(value.value).__name__} and has no elements")


def _choice(node: Any, scope: Scope) -> Answer:
    test = evaluate(node.test, scope)
    return test if isinstance(test, Unknown) else evaluate(node.body if truth_of(test) is Truth.TRUE else node.orelse, scope)


def _call(node: Any, scope: Scope) -> Answer:
    function = FUNCTIONS[node.func.id]
    arguments = [evaluate(argument, scope) for argument in node.args]
    if function.raw is not None:
        return function.raw(arguments)
    for argument, shown in zip(arguments, node.args, strict=True):
        if isinstance(argument, Unknown):
            return argument
        if not isinstance(argument, Known):
            return Unknown(reason=f"{ast.unparse(shown)} is absent")
    try:
        return Known(value=function.plain(*[a.value for a in arguments if isinstance(a, Known)]))
    except (TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        return Unknown(reason=f"{ast.unparse(node)}: {problem}")


_EVALUATE: dict[type[ast.expr], Callable[[Any, Scope], Answer]] = {
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.Constant: lambda node, _: Known(value=node.value),
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.IfExp: _choice,
    ast.Subscript: _index,
    ast.Call: _call,
}


def truth_of(value: Answer) -> Truth:
    """As a condition: absent is false, unknown is unknown."""
    if isinstance(value, Unknown):
        return Truth.UNKNOWN
    return Truth.of(isinstance(value, Known) and bool(value.value))


def _show(value: Answer) -> str:
    return repr(value.value) if isinstance(value, Known) else "absent" if value is ABSENT else "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function: ``plain`` works on values, ``raw`` on answers (it may ask whether something is there)."""

    arity: tuple[int, int]
    plain: Callable[..., Any] = len
    raw: Callable[[list[Answer]], Answer] | None = None


def _present(values: list[Answer]) -> Answer:
    return values[0] if isinstance(values[0], Unknown) else Known(value=isinstance(values[0], Known))


def _absent(values: list[Answer]) -> Answer:
    return values[0] if isinstance(values[0], Unknown) else Known(value=values[0] is ABSENT)


def _first(values: list[Answer]) -> Answer:
    """The first one that is there; an unknown before it leaves the answer unknown."""
    return next((value for value in values if value is not ABSENT), ABSENT)


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(str(item) for item in value)


def _matches(value: Any, pattern: str) -> bool:
    return any(re.search(pattern, text) for text in _texts(value))


def _count(value: Any, pattern: str) -> int:
    return sum(1 for text in _texts(value) if re.search(pattern, text))


def _number_at(value: Any, pattern: str) -> float:
    """The last number that the pattern's first group caught."""
    found = [match.group(1) for text in _texts(value) if (match := re.search(pattern, text))]
    if not found:
        raise ValueError(f"no line matches {pattern!r}")
    return float(found[-1]) if "." in found[-1] else int(found[-1])


PATTERN_LAST: Final = frozenset({"matches", "count", "number_at"})
FUNCTIONS: Final[dict[str, Function]] = {
    "present": Function(arity=(1, 1), raw=_present),
    "absent": Function(arity=(1, 1), raw=_absent),
    "first": Function(arity=(1, 8), raw=_first),
    "len": Function(arity=(1, 1), plain=len),
    "min": Function(arity=(1, 8), plain=min),
    "max": Function(arity=(1, 8), plain=max),
    "sum": Function(arity=(1, 1), plain=sum),
    "abs": Function(arity=(1, 1), plain=abs),
    "round": Function(arity=(1, 2), plain=round),
    "lower": Function(arity=(1, 1), plain=str.lower),
    "upper": Function(arity=(1, 1), plain=str.upper),
    "matches": Function(arity=(2, 2), plain=_matches),
    "count": Function(arity=(2, 2), plain=_count),
    "number_at": Function(arity=(2, 2), plain=_number_at),
}
