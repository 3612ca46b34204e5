"""Functions under ``functools.cache`` or ``lru_cache``: with the same arguments their body runs once, as in the real program.

What a call gave is a cell of the store, so that it is remembered on those paths only that made the call. That a cache may be full is left
aside: what was dropped would be computed again from the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.evaluation.state import Cell
from agent.evaluation.values import AV, NONE, BuiltinV, ClassV, Const, FuncV, Instance, Tup, Unk

if TYPE_CHECKING:
    from agent.evaluation.machine import Machine

Kwargs = dict[str, AV]
_EMPTIED = "<times emptied>"
_PLAIN = (str, bytes, int, float, type(None))


def remember(m: Machine, func: FuncV) -> FuncV:
    """The function as its decorator makes it, with ``cache_clear`` and ``cache_info``."""
    node = func.node
    if isinstance(node, ir.FunctionDef) and node.decorators and not (node.is_generator or node.is_async):
        m.store((func, _EMPTIED), Const(0))
    m.store((func, "cache_clear"), BuiltinV("cache_clear", lambda mm, args, kwargs: _empty(mm, func)))
    m.store((func, "cache_info"), BuiltinV("cache_info", lambda mm, args, kwargs: Unk("how often a cache was hit", "object")))
    return func


def _empty(m: Machine, func: FuncV) -> AV:
    times = m.state.get((func, _EMPTIED))
    if times is not None:
        m.store((func, _EMPTIED), Const(times.value.v + 1) if isinstance(times.value, Const) else times.value)
    return NONE


def once(m: Machine, func: FuncV, args: list[AV], kwargs: Kwargs, run: Callable[[], AV]) -> AV:
    """What ``run`` gives, or gave before on every path to here. Questions after the forward run add nothing to what it has cached."""
    times = m.state.get((func, _EMPTIED))
    key = _key(args, kwargs) if times is not None and isinstance(times.value, Const) else None
    if times is None or key is None:
        return run()
    name = f"<{times.value} {key}>"
    cell = m.state.get((func, name))
    if cell is not None and isinstance(cell.value, Tup):
        m.reads.append(cell)
        return cell.value.items[0]
    followed = not m.drained and m.demand is None
    value = run()
    if followed:
        # In a tuple of its own, what only some paths gave does not pass for what all gave, whatever it is. No place: for a reader the
        # value comes from where its parts come from, not from whoever happened to ask first.
        m.state.own[(func, name)] = Cell(Tup((value,)), None, tuple(m.reads[:12]), m.control, None, "", name)
    return value


def _key(args: list[AV], kwargs: Kwargs) -> str | None:
    """Tells calls apart at least as finely as the real cache; None where the arguments are not known, or cannot be kept."""
    words: list[str] = []
    for name, value in [*(("", value) for value in args), *kwargs.items()]:
        if isinstance(value, Const) and isinstance(value.v, _PLAIN):
            words.append(f"{name}={value.v!r}")
        elif isinstance(value, (ClassV, FuncV, Instance)):
            words.append(f"{name}=#{value.serial}")
        else:
            return None
    return ", ".join(words)
