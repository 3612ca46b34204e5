"""Operators that give a new value or change one in place: ``+``, ``|``, ``-x``, ``+=``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from agent.evaluation.attributes import lookup_attribute
from agent.evaluation.concrete import NotConcrete, alternatives, concrete, key_of, lift, reason_of, united
from agent.evaluation.iteration import turns
from agent.evaluation.machine import Machine
from agent.evaluation.subscripts import update_dict
from agent.evaluation.values import (
    ABSENT,
    AV,
    AliasV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    Instance,
    ListObj,
    Perhaps,
    Seq,
    Tup,
    Unk,
    candidates,
    one_of,
    perhaps,
    present,
)

MAX_TEXT = 20_000
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
_DUNDER = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "&": "and", "|": "or", "^": "xor",
    "@": "matmul", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


def binary(m: Machine, op: str, left: AV, right: AV) -> AV:
    """``left op right``."""
    pairs = [(a, b) for a in candidates(left) for b in candidates(right) if a is not ABSENT and b is not ABSENT]
    if len(pairs) == 1:
        return _binary_one(m, op, *pairs[0])
    return alternatives(m, [lambda a=a, b=b: _binary_one(m, op, a, b) for a, b in pairs])  # type: ignore[misc]


def _binary_one(m: Machine, op: str, a: AV, b: AV) -> AV:
    if isinstance(a, Const) and isinstance(b, Const):
        return _constants(m, op, a.v, b.v)
    container = _join_containers(m, op, a, b)
    if container is not None:
        return container
    for x, y, prefix in ((a, b, "__"), (b, a, "__r")):
        if isinstance(x, Instance) and op in _DUNDER:
            method = lookup_attribute(m, x, f"{prefix}{_DUNDER[op]}__")
            if isinstance(method, (BoundV, BuiltinV)):
                return m.call(method, [y], {})
    if op == "|" and isinstance(a, (ClassV, ExternV, BuiltinV, AliasV)) and isinstance(b, (ClassV, ExternV, BuiltinV, AliasV, Const)):
        from agent.evaluation.models.typing_forms import union

        return union(a, b)
    try:
        return _constants(m, op, concrete(m, a), concrete(m, b))
    except NotConcrete:
        return m.missing(reason_of(a, b), _result_type(op, a, b))


def _result_type(op: str, a: AV, b: AV) -> str:
    types = {v.typ if isinstance(v, Unk) else type(v.v).__name__ if isinstance(v, Const) else "object" for v in (a, b)}
    if types == {"str"} and op == "+":
        return "str"
    if op == "%" and isinstance(a, Const) and isinstance(a.v, str):
        return "str"
    if types <= {"int", "bool"} and op != "/":
        return "int"
    return "float" if types <= {"int", "float", "bool"} else ""


def _constants(m: Machine, op: str, a: Any, b: Any) -> AV:
    if op == "**" and (not isinstance(b, (int, float)) or abs(b) > 64):
        return Unk("a large power", "int")
    repeated = op in ("*", "<<") and any(isinstance(x, (str, bytes, tuple, list)) for x in (a, b))
    if repeated and any(isinstance(x, int) and x > 5000 for x in (a, b)):
        return Unk("a long repetition", "object")
    if op not in _BINARY:
        return m.missing(f"operator {op}")
    try:
        result = _BINARY[op](a, b)
    except ArithmeticError as error:
        m.throw_new(type(error).__name__, str(error))
    except (TypeError, ValueError) as error:
        m.throw_new(type(error).__name__, str(error))
    if isinstance(result, (str, bytes)) and len(result) > MAX_TEXT:
        return Unk("a very long text", type(result).__name__)
    return lift(m, result)


def _join_containers(m: Machine, op: str, a: AV, b: AV) -> AV | None:
    if op == "+" and isinstance(a, Tup) and isinstance(b, Tup):
        return Tup(a.items + b.items)
    if op == "+" and isinstance(a, ListObj) and isinstance(b, ListObj):
        x, y = m.selection(a), m.selection(b)
        return m.new_list(x.items + y.items, a.kind, x.open or y.open)
    if op == "*" and isinstance(a, (ListObj, Tup)) and isinstance(b, Const) and isinstance(b.v, int) and b.v < 5000:
        if isinstance(a, Tup):
            return Tup(a.items * b.v)
        content = m.items(a)
        return m.new_list(content.items * b.v, a.kind, content.open)
    if op in ("|", "&", "-") and isinstance(a, ListObj) and isinstance(b, ListObj):
        return _sets(m, op, a, b)
    if op == "|" and isinstance(a, DictObj) and isinstance(b, DictObj):
        merged = m.new_dict(dict(m.entries(a).items), m.entries(a).open)
        update_dict(m, merged, b)
        return merged
    return None


def _sets(m: Machine, op: str, a: ListObj, b: ListObj) -> AV:
    x, y = m.selection(a), m.selection(b)
    if x.open or y.open:
        return m.new_list((), "set", x.open or y.open)
    if op == "|":
        return m.new_list(united(x.items, y.items), "set")
    right = {key_of(present(item)): type(item) is Perhaps for item in y.items}
    found: list[AV] = []
    for item in x.items:
        vague = right.get(key_of(present(item)))
        if vague is None:
            found += [item] if op == "-" else []
        elif vague or op == "&":
            found.append(perhaps(item) if vague else item)
    return m.new_list(found, "set")


def inplace(m: Machine, op: str, old: AV, value: AV) -> AV:
    """``old op= value``: lists, dicts and sets keep their identity."""
    if isinstance(old, ListObj) and op in ("+", "|") and old.kind != "frozenset":
        items, open_ = turns(m, value)
        content = m.selection(old)
        m.store((old, "[]"), Seq(content.items + items if op == "+" else united(content.items, items), content.open or open_))
        return old
    if isinstance(old, DictObj) and op == "|":
        update_dict(m, old, value)
        return old
    if isinstance(old, Instance) and op in _DUNDER:
        method = lookup_attribute(m, old, f"__i{_DUNDER[op]}__")
        if isinstance(method, BoundV):
            return m.call(method, [value], {})
    result = binary(m, op, old, value)
    if isinstance(old, ListObj) and isinstance(result, ListObj) and old.kind != "frozenset":
        m.store((old, "[]"), m.selection(result))
        return old
    return result


def unary(m: Machine, op: str, value: AV) -> AV:
    """``-x``, ``+x``, ``~x``."""
    results: list[AV] = []
    for item in candidates(value):
        try:
            results.append(Const(_UNARY[op](concrete(m, item))))
        except (NotConcrete, TypeError):
            results.append(m.missing(reason_of(item), item.typ if isinstance(item, Unk) and item.typ in ("int", "float") else ""))
    return one_of(results)
