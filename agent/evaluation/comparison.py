"""Comparing values: equality, identity, order, membership."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from agent.evaluation.attributes import lookup_attribute, special_method
from agent.evaluation.concrete import NotConcrete, alternatives, concrete, is_off, key_of, reason_of
from agent.evaluation.iteration import turns
from agent.evaluation.machine import Machine
from agent.evaluation.truth import truth
from agent.evaluation.values import (
    ABSENT,
    AV,
    FALSE,
    TRUE,
    AliasV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    ListObj,
    ModuleV,
    OneOf,
    Perhaps,
    Tup,
    Unk,
    candidates,
    may_lack,
    present,
)

_ORDER: dict[str, Callable[[Any, Any], Any]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_ORDER_METHODS = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


def quick_equal(a: AV, b: AV) -> bool | None:
    """Equality of plain values without running code."""
    if isinstance(a, Const) and isinstance(b, Const):
        return bool(a.v == b.v)
    if a is b and not isinstance(a, (Unk, OneOf)):
        return True
    if isinstance(a, Unk) or isinstance(b, Unk):
        other = b if isinstance(a, Unk) else a
        unknown = a if isinstance(a, Unk) else b
        if isinstance(other, Const) and isinstance(unknown, Unk) and unknown.typ:
            return _typed_unequal(unknown.typ, other.v)
        return None
    if isinstance(a, OneOf) or isinstance(b, OneOf):
        verdicts = {quick_equal(x, y) for x in candidates(a) for y in candidates(b)}
        return verdicts.pop() if len(verdicts) == 1 else None
    if isinstance(a, Tup) and isinstance(b, Tup):
        if len(a.items) != len(b.items):
            return False
        parts = [quick_equal(x, y) for x, y in zip(a.items, b.items, strict=True)]
        return False if False in parts else None if None in parts else True
    return _quick_objects(a, b)


def _typed_unequal(typ: str, other: Any) -> bool | None:
    if other is None:
        return False
    if typ == "str" and not isinstance(other, str):
        return False
    return False if typ in ("int", "bool", "float") and isinstance(other, (str, bytes)) else None


def _quick_objects(a: AV, b: AV) -> bool | None:
    if isinstance(a, Const) and isinstance(b, (FuncV, ClassV, ModuleV, BuiltinV)):
        return False
    if isinstance(b, Const) and isinstance(a, (FuncV, ClassV, ModuleV, BuiltinV)):
        return False
    if isinstance(a, (ExternV, BuiltinV)) and isinstance(b, (ExternV, BuiltinV)):
        return _is_type(a, b)
    if isinstance(a, (ClassV, FuncV, ModuleV)) and isinstance(b, (ClassV, FuncV, ModuleV)):
        return a is b
    for x, y in ((a, b), (b, a)):
        if isinstance(x, ExternV) and isinstance(y, Const) and x.dotted.startswith(_UNLIKE_CONSTANTS):
            return False
    none_like = (isinstance(a, Const) and a.v is None) or (isinstance(b, Const) and b.v is None)
    if none_like:
        return False if isinstance(a, (Instance, ListObj, DictObj, Tup)) or isinstance(b, (Instance, ListObj, DictObj, Tup)) else None
    if isinstance(a, (Tup, ListObj, DictObj)) and isinstance(b, Const):
        return False
    return False if isinstance(b, (Tup, ListObj, DictObj)) and isinstance(a, Const) else None


def compare(m: Machine, op: str, left: AV, right: AV) -> AV:
    """One comparison."""
    row = _COMPARE.get(op)
    if row is not None:
        verdict = row(m, left, right)
        return _truth_value(verdict, left, right)
    return _ordered(m, op, left, right)


def _truth_value(verdict: bool | None, left: AV, right: AV) -> AV:
    if verdict is None:
        return Unk(reason_of(left, right), "bool")
    return TRUE if verdict else FALSE


def _is(m: Machine, a: AV, b: AV) -> bool | None:
    if isinstance(a, Const) and isinstance(b, Const):
        if a.v is None or b.v is None or isinstance(a.v, bool) or isinstance(b.v, bool) or a.v is ... or b.v is ...:
            return a.v is b.v
        return False if a.v != b.v or type(a.v) is not type(b.v) else None
    if isinstance(a, OneOf) or isinstance(b, OneOf):
        verdicts = {_is(m, x, y) for x in candidates(a) for y in candidates(b)}
        return verdicts.pop() if len(verdicts) == 1 else None
    for x, y in ((a, b), (b, a)):
        if isinstance(y, Const) and y.v is None:
            if isinstance(x, Unk):
                return False if x.typ and x.typ != "NoneType" else None
            return _is_type(x, y) if isinstance(x, ExternV) else False
        if isinstance(x, Unk):
            return None
    if isinstance(a, (ExternV, BuiltinV, AliasV)) or isinstance(b, (ExternV, BuiltinV, AliasV)):
        return _is_type(a, b)
    if isinstance(a, Instance) and isinstance(b, Instance) and (_some(m, a) or _some(m, b)):
        return None
    return True if a is b else False if type(a) is not type(b) or not isinstance(a, (Tup, BoundV)) else None


def _some(m: Machine, obj: Instance) -> bool:
    """Whether the object stands for any of its class."""
    return m.demand is not None and obj in m.demand.receivers.contexts


def _is_type(a: AV, b: AV) -> bool | None:
    """Identity of types and sentinels of the standard library: two names are two objects; of anything else nothing is known."""
    left, right = _type_name(a), _type_name(b)
    if left and right:
        return True if left == right else False if left.startswith(_KNOWN_TYPES) and right.startswith(_KNOWN_TYPES) else None
    if isinstance(a, AliasV) and isinstance(b, AliasV):
        return True if a is b else None  # whether two spellings are one object depends on a cache of typing
    if isinstance(a, AliasV) or isinstance(b, AliasV):
        return False
    other = b if left else a
    known = left or right
    if known.startswith(_KNOWN_TYPES) and isinstance(other, (Const, Tup, ListObj, DictObj, Instance, FuncV, BoundV, ClassV, ModuleV)):
        return False
    return None


_UNLIKE_CONSTANTS = ("builtins.", "typing.", "dataclasses.MISSING", "msgspec.NODEFAULT", "msgspec.UNSET")
"""Types and sentinels that equal no plain value."""
_KNOWN_TYPES = ("builtins.", "typing.", "dataclasses.MISSING", "inspect.", "types.", "argparse.", "collections.abc.", "msgspec.")


def _type_name(value: AV) -> str:
    if isinstance(value, ExternV):
        return value.dotted.replace("typing_extensions.", "typing.")
    return (f"builtins.{value.name}" if "." not in value.name else value.name) if isinstance(value, BuiltinV) else ""


def equal(m: Machine, a: AV, b: AV) -> bool | None:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, OneOf):
            verdicts = {equal(m, item, y) for item in x.values if item is not ABSENT}
            return verdicts.pop() if len(verdicts) == 1 else None
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Instance) and isinstance(x.cls, ClassV):
            verdict = _instance_equal(m, x, x.cls, y)
            if verdict is not NotImplemented:
                return verdict  # type: ignore[no-any-return]
    if isinstance(a, (ListObj, DictObj)) and isinstance(b, (ListObj, DictObj)):
        return _containers_equal(m, a, b)
    return quick_equal(a, b)


def _instance_equal(m: Machine, x: Instance, cls: ClassV, y: AV) -> Any:
    method = special_method(m, x, "__eq__")
    if isinstance(method, BoundV) and isinstance(method.func, FuncV):
        return truth(m, m.call(method, [y], {}))
    if _some(m, x) or (isinstance(y, Instance) and _some(m, y)):
        return None if isinstance(y, (Instance, Unk)) or cls.opaque else False
    if x is y:
        return True
    if cls.enum_members is not None:
        try:
            return bool(concrete(m, x) == concrete(m, y))
        except NotConcrete:
            return False if not isinstance(y, Unk) else None
    if cls.dataclass is not None and not is_off(cls.dataclass.get("eq")) and isinstance(y, Instance) and y.cls is cls:
        parts = [equal(m, m.getattr(x, name), m.getattr(y, name)) for name in cls.fields or ()]
        return False if False in parts else None if None in parts else True
    if isinstance(y, Unk):
        return None
    return False if not cls.opaque else NotImplemented


def _containers_equal(m: Machine, a: ListObj | DictObj, b: ListObj | DictObj) -> bool | None:
    if a is b:
        return True
    if isinstance(a, ListObj) is not isinstance(b, ListObj):
        return False
    try:
        return bool(concrete(m, a) == concrete(m, b))
    except (NotConcrete, TypeError):
        pass
    if isinstance(a, ListObj) and isinstance(b, ListObj):
        x, y = m.items(a), m.items(b)
        if not x.open and not y.open and len(x.items) != len(y.items) and a.kind == b.kind == "list":
            return False
    return None


def contains(m: Machine, item: AV, container: AV) -> bool | None:
    """``item in container``."""
    if isinstance(container, OneOf):
        verdicts = {contains(m, item, c) for c in container.values if c is not ABSENT}
        return verdicts.pop() if len(verdicts) == 1 else None
    if isinstance(container, Const):
        return _in_constant(item, container)
    if isinstance(container, DictObj):
        return _in_dict(m, item, container)
    if isinstance(container, Instance) and isinstance(container.cls, ClassV):
        method = special_method(m, container, "__contains__")
        if isinstance(method, BoundV):
            return truth(m, m.call(method, [item], {}))
        m.may_raise(f"{container!r} may be no container", "TypeError")
        return None
    if isinstance(container, ClassV) and container.enum_members is not None:
        return any(item is member for member in container.enum_members.values()) if isinstance(item, Instance) else None
    if isinstance(container, (Tup, ListObj)):
        if isinstance(item, OneOf):
            verdicts = {contains(m, each, container) for each in item.values if each is not ABSENT}
            return verdicts.pop() if len(verdicts) == 1 else None
        items, open_ = turns(m, container)
        if type(item) is Const and all(type(entry) is Const for entry in items):  # most lists, and they may be long
            return True if any(entry.v == item.v for entry in items) else None if open_ else False  # type: ignore[attr-defined]
        verdicts_list = [equal(m, item, present(entry)) for entry in items if entry is not ABSENT]
        if any(verdict and type(entry) is not Perhaps for entry, verdict in zip(items, verdicts_list, strict=False)):
            return True
        return None if open_ or None in verdicts_list or True in verdicts_list else False
    return None


def _in_constant(item: AV, container: Const) -> bool | None:
    parts = [x for x in candidates(item) if x is not ABSENT]
    verdicts: set[bool | None] = set()
    for part in parts:
        if not isinstance(part, Const):
            return None
        try:
            verdicts.add(part.v in container.v)
        except TypeError:
            return None
    return verdicts.pop() if len(verdicts) == 1 else None


def _in_dict(m: Machine, item: AV, container: DictObj) -> bool | None:
    content = m.entries_when_needed(container)
    verdicts: set[bool | None] = set()
    for part in candidates(item):
        if isinstance(part, Unk):
            return False if not content.items and not content.open else None
        if isinstance(part, ListObj):
            return None
        found = m.entry(container, key_of(part))
        if found is None:
            verdicts.add(None if content.open else False)
        else:
            verdicts.add(None if may_lack(found[1]) else found[1] is not ABSENT)
    return verdicts.pop() if len(verdicts) == 1 else None


def _negate(row: Callable[[Machine, AV, AV], bool | None]) -> Callable[[Machine, AV, AV], bool | None]:
    def negated(m: Machine, a: AV, b: AV) -> bool | None:
        verdict = row(m, a, b)
        return None if verdict is None else not verdict

    return negated


_COMPARE: dict[str, Callable[[Machine, AV, AV], bool | None]] = {
    "==": equal, "!=": _negate(equal), "is": _is, "is not": _negate(_is), "in": contains, "not in": _negate(contains),
}  # fmt: skip


def _ordered(m: Machine, op: str, left: AV, right: AV) -> AV:
    pairs = [(a, b) for a in candidates(left) for b in candidates(right) if a is not ABSENT and b is not ABSENT]
    if len(pairs) == 1:
        return _order_one(m, op, *pairs[0])
    return alternatives(m, [lambda a=a, b=b: _order_one(m, op, a, b) for a, b in pairs])  # type: ignore[misc]


def _order_one(m: Machine, op: str, a: AV, b: AV) -> AV:
    try:
        return Const(bool(_ORDER[op](concrete(m, a), concrete(m, b))))
    except NotConcrete:
        pass
    except TypeError as error:
        m.throw_new("TypeError", str(error))
    if isinstance(a, Instance):
        method = lookup_attribute(m, a, _ORDER_METHODS[op])
        if isinstance(method, BoundV):
            return m.call(method, [b], {})
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Const) and x.v is None and not isinstance(y, (Unk, Instance)):
            m.throw_new("TypeError", f"{op!r} not supported with None")
    return m.missing(reason_of(a, b), "bool")
