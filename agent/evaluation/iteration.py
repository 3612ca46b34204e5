"""What iterating over a value gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from agent.evaluation.attributes import special_method
from agent.evaluation.concrete import reason_of
from agent.evaluation.joins import join
from agent.evaluation.machine import Machine
from agent.evaluation.values import (
    ABSENT,
    AV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    Instance,
    ListObj,
    OneOf,
    Perhaps,
    Seq,
    Tup,
    Unk,
    may_lack,
)

MAX_ITEMS = 20_000


def iterate(m: Machine, value: AV) -> tuple[tuple[AV, ...], str]:
    """Items in order, and the reason why there may be others ("" where these are all)."""
    items, open_ = turns(m, value)
    if any(type(item) is Perhaps for item in items):
        return (), open_ or "some items may be missing"
    return items, open_


def turns(m: Machine, value: AV) -> tuple[tuple[AV, ...], str]:
    """As ``iterate``, with the items that may be missing as a Perhaps."""
    row = _ITERATE.get(type(value))
    if row is not None:
        return row(m, value)
    return (), reason_of(value) if isinstance(value, Unk) else f"iteration over {value!r}"[:200]


def _iterate_one_of(m: Machine, value: OneOf) -> tuple[tuple[AV, ...], str]:
    """A row of which the items of each candidate are a selection."""
    rows = m.fork([lambda item=item: Seq(*turns(m, item)) for item in value.values if item is not ABSENT])  # type: ignore[misc]
    woven = reduce(join, (row for _, row in rows))
    assert isinstance(woven, Seq)
    return woven.items, woven.open


def _iterate_const(m: Machine, value: Const) -> tuple[tuple[AV, ...], str]:
    raw = value.v
    if isinstance(raw, (str, bytes, range)):
        if len(raw) > MAX_ITEMS:
            return (), "too many items"
        return tuple(Const(x) for x in raw), ""
    m.throw_new("TypeError", f"{type(raw).__name__!r} object is not iterable")
    return (), ""


def _iterate_list(m: Machine, value: ListObj) -> tuple[tuple[AV, ...], str]:
    content = m.selection(value)
    if value.kind == "iterator" and (content.items or content.open):  # used up by whoever takes its items, all of them or some
        m.store((value, "[]"), Seq((), "what is left of an iterator"))
    return content.items, content.open


def _iterate_dict(m: Machine, value: DictObj) -> tuple[tuple[AV, ...], str]:
    content = m.entries(value)
    return tuple(Perhaps(k) if may_lack(v) else k for k, v in content.items.values() if v is not ABSENT), content.open


def _iterate_class(m: Machine, value: ClassV) -> tuple[tuple[AV, ...], str]:
    if value.enum_members is not None:
        members = list(dict.fromkeys(value.enum_members.values()))
        return tuple(members), ""
    return (), f"iteration over {value!r}"


def _iterate_instance(m: Machine, value: Instance) -> tuple[tuple[AV, ...], str]:
    method = special_method(m, value, "__iter__")
    if isinstance(method, (BoundV, BuiltinV)):
        result = m.call(method, [], {})
        if result is not value:
            return turns(m, result)
    m.may_raise(f"{value!r} may not be iterable", "TypeError")
    return (), f"iteration over {value!r}"


_ITERATE: dict[type, Callable[[Machine, Any], tuple[tuple[AV, ...], str]]] = {
    Const: _iterate_const,
    OneOf: _iterate_one_of,
    Tup: lambda m, v: (v.items, ""),
    ListObj: _iterate_list,
    DictObj: _iterate_dict,
    ClassV: _iterate_class,
    Instance: _iterate_instance,
}
