"""Between abstract values and Python's own: the value behind one, the abstract value of one, the reason where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.domain.redaction import is_redacted
from agent.evaluation.machine import Machine
from agent.evaluation.values import (
    ABSENT,
    AV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    Instance,
    ListObj,
    OneOf,
    Perhaps,
    Tup,
    Unk,
    candidates,
    one_of,
    present,
)


class NotConcrete(Exception):
    """The value is not fully known."""


def concrete(m: Machine, value: AV, depth: int = 0) -> Any:
    """The Python value behind an abstract one; raises NotConcrete."""
    if isinstance(value, Const):
        return value.v
    if depth > 12:
        raise NotConcrete
    if isinstance(value, Tup):
        return tuple(concrete(m, item, depth + 1) for item in value.items)
    if isinstance(value, ListObj):
        content = m.items(value)
        if content.open:
            raise NotConcrete
        items = [concrete(m, item, depth + 1) for item in content.items if item is not ABSENT]
        return set(items) if value.kind in ("set", "dict_keys") else frozenset(items) if value.kind == "frozenset" else items
    if isinstance(value, DictObj):
        entries = m.entries(value)
        if entries.open:
            raise NotConcrete
        return {concrete(m, k, depth + 1): concrete(m, v, depth + 1) for k, v in entries.items.values() if v is not ABSENT}
    if isinstance(value, Instance) and isinstance(value.cls, ClassV) and value.cls.enum_members is not None:
        payload = m.load((value, "_value_"))
        if payload is not None and any(b in LIKE_VALUE for b in value.cls.opaque):
            return concrete(m, payload, depth + 1)
    raise NotConcrete


def concrete_named(m: Machine, kwargs: Mapping[str, AV]) -> dict[str, Any]:
    """Keyword arguments as Python values; raises NotConcrete, also where a spread may give more of them."""
    return {name: concrete(m, value) for name, value in kwargs.items()}


def is_off(value: object) -> bool:
    """Whether an option is certainly false."""
    return isinstance(value, Const) and not value.v


LIKE_VALUE = frozenset({"enum.IntEnum", "enum.StrEnum", "builtins.str", "builtins.int", "enum.IntFlag"})
"""Bases of enumerations whose members work as their value does, everywhere."""


def lift(m: Machine, value: Any) -> AV:
    """The abstract value of a Python value; a text that was masked is any text but an empty one."""
    if isinstance(value, list):
        return m.new_list([lift(m, item) for item in value])
    if isinstance(value, (set, frozenset)):
        return m.new_list([lift(m, item) for item in sorted(value, key=repr)], "set" if isinstance(value, set) else "frozenset")
    if isinstance(value, tuple):
        return Tup(tuple(lift(m, item) for item in value))
    if isinstance(value, dict):
        return m.new_dict({key_of(lift(m, k)): (lift(m, k), lift(m, v)) for k, v in value.items()})
    if is_redacted(value):
        return Unk("it holds a secret, which is not read", "str", masked=value)
    return Const(value)


def key_of(value: AV) -> Any:
    """A hashable stand-in for a dict key: constants by value, objects by identity."""
    if isinstance(value, Const):
        return value.v
    if isinstance(value, Tup):
        return ("tuple", *map(key_of, value.items))
    if isinstance(value, ExternV):
        return ("extern", value.dotted)
    return value


def reason_of(*values: AV) -> str:
    """The first reason among some values."""
    for value in values:
        if isinstance(value, Unk):
            return value.reason
    for value in values:
        if isinstance(value, OneOf):
            return f"it is one of {value!r}"[:200]
    return "it cannot be compared without running it"


def alternatives(m: Machine, thunks: list[Callable[[], AV]]) -> AV:
    """One of several operations happens; those that raise drop out."""
    return one_of([result for _, result in m.fork(list(thunks))])


def for_each(m: Machine, value: AV, run: Callable[[AV], AV]) -> AV:
    """``run`` on each candidate; those on which it raises drop out, and where it raises on all of them so does this."""
    parts = [item for item in candidates(value) if item is not ABSENT]
    return run(parts[0]) if len(parts) == 1 else alternatives(m, [lambda item=item: run(item) for item in parts])  # type: ignore[misc]


def united(known: tuple[AV, ...], more: tuple[AV, ...]) -> tuple[AV, ...]:
    """The members of two sets; one that is certain in either is certain."""
    found: dict[Any, AV] = {key_of(present(item)): item for item in known}
    for item in more:
        before = found.get(key_of(present(item)))
        if before is None or type(before) is Perhaps:
            found[key_of(present(item))] = item
    return tuple(found.values())
