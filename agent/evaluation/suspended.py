"""Calls that do not run the body they name: a generator's runs as far as somebody takes its items, a coroutine's where it is awaited.

Where the call's own expression takes all of it at once (``list(f())``, ``await f()``) the body is run as any other. Elsewhere it may not
have begun yet, stand at any of its ``yield``s, or be over: what it writes may be there.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.analysis import ir
from agent.analysis.outline import Parents
from agent.analysis.resolve import dotted_text
from agent.evaluation.frames import Dead, Frame
from agent.evaluation.joins import join
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell, State, delta
from agent.evaluation.values import AV, ExternV, FuncV, Instance, Lazy, ListObj, Map, Seq, Unk, same

MAX_MOMENTS = 64
"""Writes of one attribute that are told apart."""
COROUTINE = ExternV("types.CoroutineType")
_RESULT = "<result>"
_EXHAUSTING = frozenset("list tuple set frozenset dict sorted sum min max deque join extend update fsum".split())
_AWAITING = frozenset({"asyncio.run", "uvloop.run", "anyio.run", "trio.run"})
_TOGETHER = frozenset({"gather", "shield"})


def later_than_called(m: Machine, func: FuncV) -> bool:
    """Whether a call of the function leaves its body, or part of it, for later."""
    node = func.node
    if not isinstance(node, ir.FunctionDef) or not (node.is_generator or node.is_async):
        return False
    call = m.call_node
    named = (dotted_text(call.func) or "").rpartition(".")[2] if call is not None else ""
    if call is None or named != func.name:
        return True
    return not (taken_at_once(m, call) if node.is_generator else _awaited(m.index.outline(m.frame.module.path).parents, call))


def taken_at_once(m: Machine, row: ir.Expr) -> bool:
    """``list(row)``, ``[*row]``, ``yield from row``: every item is taken before anything else happens."""
    around = m.index.outline(m.frame.module.path).parents.get(row)
    if isinstance(around, ir.Starred) or (isinstance(around, ir.Yield) and around.is_from):
        return True
    return taker(m, row) in _EXHAUSTING


def taker(m: Machine, row: ir.Expr) -> str:
    """The last name of the function that the row is given to; empty for any other use."""
    around = m.index.outline(m.frame.module.path).parents.get(row)
    given = isinstance(around, ir.Call) and row in around.args
    return (dotted_text(around.func) or "").rpartition(".")[2] if given else ""  # type: ignore[union-attr]


def perhaps_later(m: Machine, row: ir.Expr | None, named: str, run: Callable[[], AV]) -> AV:
    """``map(f, items)``, ``(f(item) for item in items)``: worked out when somebody takes the items; ``named``: the call's name."""
    made_here = isinstance(row, ir.Comprehension) or (isinstance(row, ir.Call) and dotted_text(row.func) == named)
    if made_here and row is not None and taken_at_once(m, row):
        return run()
    try:
        ends = dict(m.fork([lambda: None, run]))
    except Dead:
        m.state, ends = State(m.state, certain=False), {}
    value = ends.get(1)
    return value if value is not None else m.new_list((), "iterator", "what an iterator gives")


def _awaited(parents: Parents, call: ir.Call) -> bool:
    """``await f()``, ``await gather(f(), g())``, ``asyncio.run(f())``."""
    around = parents.get(call)
    if isinstance(around, ir.Call) and call in around.args:
        named = dotted_text(around.func) or ""
        if named in _AWAITING or named.endswith("run_until_complete"):
            return True
        if named.rpartition(".")[2] in _TOGETHER and not around.keywords:
            around = parents.get(around)
    return isinstance(around, ir.Await)


def suspended(m: Machine, func: FuncV, run: Callable[[], AV]) -> AV:
    """What such a call gives, with the body run as one that may not run."""
    node = func.node
    assert isinstance(node, ir.FunctionDef)

    def later() -> AV:
        base = m.state.parent
        value = run()
        at_any_moment(m, base)
        return value

    try:
        ends = dict(m.fork([lambda: None, later]))
    except Dead:
        m.state, ends = State(m.state, certain=False), {}
    value = ends.get(1)
    if node.is_generator:
        return value if isinstance(value, ListObj) else m.new_list((), "iterator", f"what {func.qualname}() gives")
    coroutine = Instance(COROUTINE, open_=f"the coroutine of {func.qualname}()")
    m.store((coroutine, _RESULT), value if value is not None else Unk(f"what awaiting {func.qualname}() gives"))
    return coroutine


def at_any_moment(m: Machine, base: State | None) -> None:
    """Joins to what has been written since ``base`` all that stood there meanwhile: others may read it while this goes on."""
    assert base is not None
    for location, cell in delta(m.state, base).items():
        if isinstance(location[0], Frame):
            continue
        value, before, found = cell.value, base.get(location), _since(cell, base.get(location))
        if found is None:
            value = _unknown_content(value, f"{location[1]} is written many times")
        for each in found or ():
            value = join(value, each)
        if found is None or found:
            m.state.own[location] = Cell(value, cell.place, (cell,), cell.control, before, cell.text, cell.name)


def _since(cell: Cell, before: Cell | None) -> list[AV] | None:
    """The other values that the cell has had; None: too many to tell."""
    values: list[AV] = []
    queue, seen = [cell], {id(cell), id(before)}
    while queue:
        current = queue.pop()
        for each in (current.previous, *(dep for dep in current.deps if dep.name == cell.name)):
            if each is not None and id(each) not in seen:
                seen.add(id(each))
                queue.append(each)
                value = each.value.resolve() if isinstance(each.value, Lazy) else each.value
                if not same(value, cell.value) and not any(same(value, other) for other in values):
                    values.append(value)
        if len(seen) > MAX_MOMENTS:
            return None
    return values


def _unknown_content(value: AV, reason: str) -> AV:
    return Seq((), reason) if isinstance(value, Seq) else Map({}, reason) if isinstance(value, Map) else Unk(reason)


def result(m: Machine, value: AV) -> AV:
    """What ``await`` gives for a value: of a coroutine that was made before, what it returned."""
    if isinstance(value, Instance):
        known = m.load((value, _RESULT)) if value.cls == COROUTINE else None
        return known if known is not None else Unk("what awaiting an object gives")
    return value
