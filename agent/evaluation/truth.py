"""How a value comes out as a condition: true, false or undecided."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from agent.evaluation.attributes import special_method
from agent.evaluation.concrete import LIKE_VALUE
from agent.evaluation.machine import Machine
from agent.evaluation.values import (
    ABSENT,
    AV,
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
    may_lack,
)


def truth(m: Machine, value: AV) -> bool | None:
    """``bool(value)``; None where it is undecided."""
    row = _TRUTHS.get(type(value))
    return row(m, value) if row is not None else None


def _truth_one_of(m: Machine, value: OneOf) -> bool | None:
    verdicts = {truth(m, item) for item in value.values if item is not ABSENT}
    return verdicts.pop() if len(verdicts) == 1 else None


def _truth_list(m: Machine, value: ListObj) -> bool | None:
    if value.kind == "iterator":  # an object like any other, whatever it has left
        return True
    content = m.selection(value)
    if any(item is not ABSENT and type(item) is not Perhaps for item in content.items):
        return True
    return None if content.open or content.items else False


def _truth_dict(m: Machine, value: DictObj) -> bool | None:
    content = m.entries(value)
    if any(v is not ABSENT and not may_lack(v) for _, v in content.items.values()):
        return True
    return None if content.open or content.items else False


def _truth_instance(m: Machine, value: Instance) -> bool | None:
    cls = value.cls
    if isinstance(cls, ClassV):
        for name in ("__bool__", "__len__"):
            method = special_method(m, value, name)
            if isinstance(method, BoundV):
                result = m.call(method, [], {})
                return truth(m, result)
        payload = m.state.get((value, "_value_"))
        if cls.enum_members is not None:
            return truth(m, payload.value) if payload is not None and any(b in _LIKE_TRUTH for b in cls.opaque) else True
        return True if all(b.startswith(("builtins.", "abc.", "typing.")) and not _counts(b) for b in cls.opaque) else None
    return True if not value.open else None


def _counts(base: str) -> bool:
    """Whether objects of a built-in base may be false: containers, numbers and texts."""
    known = getattr(builtins, base.rpartition(".")[2], None) if base.startswith("builtins.") else None
    return isinstance(known, type) and (hasattr(known, "__len__") or hasattr(known, "__bool__"))


_LIKE_TRUTH = LIKE_VALUE | {"enum.Flag"}
"""Bases of enumerations whose members work as their value does in a condition."""


def _truth_unknown(m: Machine, value: Unk) -> bool | None:
    return True if value.masked or value.typ in ("function", "type", "module") else None


def _truth_extern(m: Machine, value: ExternV) -> bool | None:
    """What is modelled as a function or class is one."""
    from agent.evaluation.models import is_modelled

    return True if is_modelled(value.dotted) else None


_TRUTHS: dict[type, Callable[[Machine, Any], bool | None]] = {
    Const: lambda m, v: bool(v.v),
    Tup: lambda m, v: bool(v.items),
    OneOf: _truth_one_of,
    ListObj: _truth_list,
    DictObj: _truth_dict,
    Instance: _truth_instance,
    Unk: _truth_unknown,
    ExternV: _truth_extern,
    FuncV: lambda m, v: True,
    BoundV: lambda m, v: True,
    BuiltinV: lambda m, v: True,
    ClassV: lambda m, v: True,
    ModuleV: lambda m, v: True,
}
