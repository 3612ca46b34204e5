"""Calling anything: argument binding, dispatch by kind of callee, and what is forgotten where a call is not followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.evaluation import caching, facts
from agent.evaluation.contents import callables_in, forget
from agent.evaluation.invocation import forget_all, invoke
from agent.evaluation.machine import Machine
from agent.evaluation.values import (
    ABSENT,
    AV,
    AliasV,
    BoundV,
    BuiltinV,
    ClassMethodV,
    ClassV,
    Const,
    ContextFuncV,
    ContextV,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    ListObj,
    OneOf,
    PartialV,
    StaticV,
    Tup,
    Unk,
    one_of,
)

Kwargs = dict[str, AV]


def call(m: Machine, func: AV, args: list[AV], kwargs: Kwargs) -> AV:
    """``func(*args, **kwargs)``; ``kwargs["**"]`` is the unknown rest of an open spread."""
    row = _CALLS.get(type(func))
    if row is None:
        if isinstance(func, Const):
            m.throw_new("TypeError", f"{type(func.v).__name__!r} object is not callable")
        return _unknown(m, Unk(f"a call of {func!r}"), args, kwargs)
    return row(m, func, args, kwargs)


def _function(m: Machine, func: FuncV, args: list[AV], kwargs: Kwargs) -> AV:
    if m.call_node is not None:
        seen = m.calls.setdefault(m.call_node, [])
        if len(seen) < 16:
            seen.append((func, m.frame, m.state.certain))
    return caching.once(m, func, args, kwargs, lambda: invoke(m, func, args, kwargs))


def _bound(m: Machine, func: BoundV, args: list[AV], kwargs: Kwargs) -> AV:
    return call(m, func.func, [func.receiver, *args], kwargs)


def _builtin(m: Machine, func: BuiltinV, args: list[AV], kwargs: Kwargs) -> AV:
    return func.impl(m, args, kwargs)


def _class(m: Machine, cls: ClassV, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.classes import instantiate

    return instantiate(m, cls, args, kwargs)


def _extern(m: Machine, func: ExternV, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.models import call_extern

    known = facts.result_of(m, func.dotted, args)
    if known is not None:
        return known
    modelled = call_extern(m, func, args, kwargs)
    return modelled if modelled is not None else _unknown(m, Unk(f"{func.dotted}() is outside the tree"), args, kwargs)


def _unknown(m: Machine, func: Unk, args: list[AV], kwargs: Kwargs) -> AV:
    """Code that cannot be followed: it may change the containers and call the functions that it is given."""
    given = [*args, *kwargs.values()]
    if func.of is not None:
        forget_all(m, func.of, func.reason)
    callbacks: list[AV] = []
    for value in given:
        if isinstance(value, Instance) and isinstance(value.cls, ClassV):
            m.singletons.setdefault("given to others", {})[value] = None
        callbacks += callables_in(m, [value])
        if isinstance(value, (ListObj, DictObj, Tup)):
            forget(m, value, func.reason)
    for callback in callbacks:
        perhaps(m, callback)
    return m.missing(func.reason)


def perhaps(m: Machine, callback: AV, args: list[AV] | None = None) -> None:
    """A function that may be called later, by code that cannot be followed, with arguments nobody knows."""
    func = callback.func if isinstance(callback, BoundV) else callback
    if m.drained or not isinstance(func, FuncV) or m.active.get(func.node, 0) or m.depth > 40:
        return
    given = ([callback.receiver] if isinstance(callback, BoundV) else []) + (args or [])
    unknown = Unk(f"an argument of {func.qualname}(), which is called from outside the tree")
    params = [p for p in func.node.params if p.kind in ("posonly", "normal")]
    given += [unknown] * (len([p for p in params if p.default is None]) - len(given))
    kwonly = {p.name: unknown for p in func.node.params if p.kind == "kwonly" and p.default is None}
    m.fork([lambda: None, lambda: m.loosely(lambda: invoke(m, func, given, dict(kwonly)))])


def _one_of(m: Machine, func: OneOf, args: list[AV], kwargs: Kwargs) -> AV:
    callees = [v for v in func.values if v is not ABSENT]

    def alternative(callee: AV) -> Callable[[], AV]:
        return lambda: call(m, callee, list(args), dict(kwargs))

    return one_of([result for _, result in m.fork([alternative(c) for c in callees])])


def _partial(m: Machine, func: PartialV, args: list[AV], kwargs: Kwargs) -> AV:
    return call(m, func.func, [*func.args, *args], {**func.kwargs, **kwargs})


def _context(m: Machine, func: ContextFuncV, args: list[AV], kwargs: Kwargs) -> AV:
    return ContextV(func.func, args, kwargs)


def _instance(m: Machine, obj: Instance, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.attributes import class_attribute

    if isinstance(obj.cls, ClassV):
        method = class_attribute(m, obj.cls, "__call__")
        if method is not None:
            return call(m, BoundV(method[0], obj), args, kwargs)
        if any(not base.startswith("builtins.") for base in obj.cls.opaque):
            return _framework_call(m, obj, args, kwargs)
    return _unknown(m, Unk(f"a call of {obj!r}"), args, kwargs)


def _framework_call(m: Machine, obj: Instance, args: list[AV], kwargs: Kwargs) -> AV:
    """A callable object of a framework's base class: ``forward`` by the convention of neural network modules."""
    from agent.evaluation.attributes import class_attribute

    assert isinstance(obj.cls, ClassV)
    method = class_attribute(m, obj.cls, "forward")
    if method is not None and isinstance(method[0], FuncV):
        return call(m, BoundV(method[0], obj), args, kwargs)
    return _unknown(m, Unk(f"a call of {obj!r}"), args, kwargs)


_CALLS: dict[type, Callable[[Machine, Any, list[AV], Kwargs], AV]] = {
    FuncV: _function,
    BoundV: _bound,
    BuiltinV: _builtin,
    ClassV: _class,
    ExternV: _extern,
    Unk: _unknown,
    OneOf: _one_of,
    PartialV: _partial,
    ContextFuncV: _context,
    Instance: _instance,
    AliasV: lambda m, f, a, k: call(m, f.origin, a, k),
    StaticV: lambda m, f, a, k: call(m, f.func, a, k),
    ClassMethodV: lambda m, f, a, k: call(m, f.func, a, k),
}


# --- binding -----------------------------------------------------------------------------------------------------------------


# --- calls that are not followed ---------------------------------------------------------------------------------------------
