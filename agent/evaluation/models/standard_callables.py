"""Callables and contexts of the standard library that run the program's own code: getters, dispatch by type, stacks of contexts."""

from __future__ import annotations

from collections.abc import Callable

from agent.evaluation.concrete import reason_of
from agent.evaluation.invocation import forget_all, invoke
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.subscripts import get_item
from agent.evaluation.suspended import at_any_moment
from agent.evaluation.values import AV, NONE, BuiltinV, Const, ContextV, ExternV, FuncV, Instance, Tup


def _getter(read: Callable[[Machine, AV, AV], AV]) -> Callee:
    """``itemgetter(k)``, ``attrgetter(a, b)``: of several a tuple."""

    def make(m: Machine, names: list[AV], kwargs: Kwargs) -> AV:
        def get(machine: Machine, args: list[AV], kwargs: Kwargs) -> AV:
            found = [read(machine, args[0], name) for name in names]
            return found[0] if len(found) == 1 else Tup(tuple(found))

        return BuiltinV("getter", get)

    return make


def _dotted_attribute(m: Machine, obj: AV, name: AV) -> AV:
    if not isinstance(name, Const) or not isinstance(name.v, str):
        return m.missing(reason_of(name))
    for part in name.v.split("."):
        obj = m.getattr(obj, part)
    return obj


def _partial_method(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``partialmethod(f, ...)`` in a class: bound to the object as f is."""

    def run(machine: Machine, given: list[AV], named: Kwargs) -> AV:
        return machine.call(args[0], [*given[:1], *args[1:], *given[1:]], {**kwargs, **named})

    return BuiltinV("partialmethod", run)


def _single_dispatch(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``singledispatch(f)``: f, or any function that is registered for a type."""

    def run(machine: Machine, given: list[AV], named: Kwargs) -> AV:
        reason = "which function the type of the argument chooses is not followed"
        machine.fork([lambda: None, lambda: machine.call(args[0], list(given), dict(named))])
        for value in given:
            forget_all(machine, value, reason)
        return machine.missing(reason)

    return BuiltinV("singledispatch", run)


def _stack(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return Instance(ExternV("contextlib.ExitStack"), open_="a stack of contexts")


def _stack_enter(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``stack.enter_context(c)``: the context is in force, or over already."""
    context = args[1]
    entered: list[AV] = []

    def at_yield(value: AV) -> AV:
        entered.append(value)
        return NONE

    def run() -> None:
        base = m.state.parent
        if isinstance(context, ContextV) and isinstance(context.func, FuncV):
            invoke(m, context.func, context.args, context.kwargs, on_yield=at_yield)
        elif isinstance(context, Instance):
            entered.append(m.call(m.getattr(context, "__enter__"), [], {}))
            m.call(m.getattr(context, "__exit__"), [NONE, NONE, NONE], {})
        at_any_moment(m, base)

    m.fork([lambda: None, run])
    return entered[0] if len(entered) == 1 else m.missing("what a context gives")


def _stack_callback(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``stack.callback(f, ...)``: called when the stack is left."""
    if len(args) > 1:
        m.fork([lambda: None, lambda: m.call(args[1], args[2:], dict(kwargs))])
    return args[1] if len(args) > 1 else NONE


_STACK: dict[str, Callee] = {
    **dict.fromkeys(("enter_context", "enter_async_context", "push", "push_async_exit"), _stack_enter),
    **dict.fromkeys(("callback", "push_async_callback"), _stack_callback),
}


FUNCTIONS: dict[str, Callee] = {
    "operator.attrgetter": _getter(_dotted_attribute),
    "operator.itemgetter": _getter(get_item),
    "functools.partialmethod": _partial_method,
    "functools.singledispatch": _single_dispatch,
    "contextlib.ExitStack": _stack,
    "contextlib.AsyncExitStack": _stack,
}
CONSTANTS: dict[str, Attribute] = {}
METHODS: dict[str, dict[str, Callee]] = {"contextlib.ExitStack": _STACK}
