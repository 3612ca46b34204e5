"""``for`` and ``while``: unrolled while the number of turns is known, else run to a fixed point."""

from __future__ import annotations

from collections.abc import Callable

from agent.analysis import ir
from agent.evaluation import assign
from agent.evaluation.constructs import expressions
from agent.evaluation.constructs.search_loops import without_misses
from agent.evaluation.frames import Dead, Loop
from agent.evaluation.iteration import turns
from agent.evaluation.joins import join
from agent.evaluation.machine import Handler, Machine
from agent.evaluation.refine import refine
from agent.evaluation.state import Cell, State, fresh, merge
from agent.evaluation.values import ABSENT, AV, Map, Obj, Perhaps, Seq, Unk, may_lack, one_of, present, same

MAX_TURNS = 600
MAX_WHILE = 64


def for_loop(m: Machine, node: ir.For) -> bool:
    """``for target in iter``."""
    iterable = m.eval(node.iter)
    items, open_ = turns(m, iterable)
    some = any(item is not ABSENT and type(item) is not Perhaps for item in items)
    deps = m.tested(node, True if some else None if open_ or items else False)
    loop, control = Loop(), m.control
    m.frame.loops.append(loop)
    entry, exits, throws, certain, whole = m.state, m.exits, m.throws, m.state.certain, m.state.whole
    m.under(node, True, True if some and not open_ else None, deps)
    try:
        alive = _turns(m, node, loop, without_misses(m, node, items[:MAX_TURNS]))
        if alive and (open_ or len(items) > MAX_TURNS):
            element = one_of(map(present, items)) if items else Unk(open_ or "one of many items")
            alive = _widen(m, loop, lambda: _bind(m, node.target, element), node.body, can_skip=True)
    finally:
        m.frame.loops.pop()
        m.control = control
    return _after(m, node.orelse, loop, entry, alive, exits, throws, certain, whole)


def _bind(m: Machine, target: ir.Expr, value: AV) -> bool:
    assign.assign(m, target, value)
    return True


def _turns(m: Machine, node: ir.For, loop: Loop, items: tuple[AV, ...]) -> bool:
    """Unrolled turns; False when none comes to its end."""
    for item in items:
        if item is ABSENT:
            continue
        if isinstance(item, Perhaps):
            _perhaps_turn(m, node, loop, item.value)
            continue
        assign.assign(m, node.target, item)
        if not _turn(m, loop, node.body):
            return False
    return True


def _perhaps_turn(m: Machine, node: ir.For, loop: Loop, item: AV) -> None:
    """A turn for an item that may be missing."""

    def turn() -> bool:
        assign.assign(m, node.target, item)
        return _turn(m, loop, node.body)

    m.fork([lambda: None, turn])


def _turn(m: Machine, loop: Loop, body: list[ir.Stmt]) -> bool:
    """One turn; ``continue`` meets its end."""
    base, certain, whole = m.state, m.state.certain, m.state.whole
    loop.continues = []
    exits, throws, breaks = m.exits, m.throws, len(loop.breaks)
    alive = m.block(body)
    ends = [*loop.continues, *([m.state] if alive else [])]
    if not ends:
        return False
    if loop.continues:
        left = bool(loop.breaks) or not whole or (m.throws > throws and bool(m.catchers))
        m.exits -= len(loop.continues)
        clean = m.exits == exits and m.throws == throws and len(loop.breaks) == breaks
        m.meet(base, ends, certain=certain and not left, whole=whole and not left, clean=clean)
    return True


def _after(
    m: Machine, orelse: list[ir.Stmt], loop: Loop, entry: State, alive: bool, exits: int, throws: int, certain: bool, whole: bool
) -> bool:
    """What follows the loop: its normal end (with ``else``) and every ``break`` meet."""
    if alive and orelse:
        if m.exits > exits or (m.throws > throws and m.catchers):
            m.state.certain = False
        alive = m.block(orelse)
    ends = [*loop.breaks, *([m.state] if alive else [])]
    if not ends:
        return False
    m.exits -= len(loop.breaks)
    left = m.exits > exits or (m.throws > throws and bool(m.catchers))
    if loop.breaks:
        m.meet(entry, ends, certain=certain and not left, whole=whole and not left, clean=not left and m.throws == throws)
    elif left:
        m.state.certain = m.state.whole = False
    else:
        m.state.certain, m.state.whole = certain, whole
    return True


def _widen(m: Machine, loop: Loop, start: Callable[[], object], body: list[ir.Stmt], *, can_skip: bool) -> bool:
    """Runs the body until the store stops growing; what still grows after three passes becomes unknown."""
    base = m.state
    mark = Obj.last_serial()
    current: dict[tuple[object, str], Cell] = {}
    for attempt in range(4):
        m.state = State(base, certain=False)
        m.state.own.update(current)
        loop.continues = []
        m.forks += 1
        try:
            alive = start() is not False and m.block(body)
        except Dead:
            alive = False
        finally:
            m.forks -= 1
        ends = [*loop.continues, *([m.state] if alive else [])]
        m.exits -= len(loop.continues)
        if not ends:
            break
        grown = _grow(base, current, merge(base, ends), mark, last=attempt == 2)
        if not grown:
            break
        current.update(grown)
    if not can_skip and not current and not loop.breaks:
        m.state = State(base, certain=False)
        return False
    m.state = State(base, base.certain)
    m.state.whole = base.whole
    m.state.own.update(current)
    return can_skip


def _grow(
    base: State, current: dict[tuple[object, str], Cell], after: dict[tuple[object, str], Cell], mark: int, *, last: bool
) -> dict[tuple[object, str], Cell]:
    grown = {}
    for location, cell in after.items():
        before = current.get(location) or base.get(location)
        if before is None:  # no turn has been made yet: what the loop binds may never be bound, but for objects that it makes itself
            value = cell.value if fresh(location, mark) else join(ABSENT, cell.value)
        else:
            value = join(before.value, cell.value)
            if same(value, before.value):
                continue
        if last:
            value = _unknown_content(value)
        grown[location] = Cell(value, cell.place, (cell,), cell.control, before)
    return grown


def _unknown_content(value: AV) -> AV:
    reason = "it changes in a loop"
    if isinstance(value, Seq):
        return Seq((), reason)
    return Map({}, reason) if isinstance(value, Map) else Unk(reason, lacking=may_lack(value))


def while_loop(m: Machine, node: ir.While) -> bool:
    """``while test``: unrolled while the test is decided."""
    loop, control = Loop(), m.control
    m.frame.loops.append(loop)
    entry, exits, throws, certain, whole = m.state, m.exits, m.throws, m.state.certain, m.state.whole
    try:
        alive = _while(m, node, loop)
    finally:
        m.frame.loops.pop()
        m.control = control
    return _after(m, node.orelse, loop, entry, alive, exits, throws, certain, whole)


def _while(m: Machine, node: ir.While, loop: Loop) -> bool:
    truth: bool | None = None
    for _ in range(MAX_WHILE):
        m.reads = []
        truth = expressions.asked(m, node.test)
        deps = m.tested(node, truth)
        m.under(node, truth is not False, truth, deps)
        if truth is False:
            return True
        if truth is None or (m.exits and loop.breaks):
            break
        refine(m, node.test, True)
        if not _turn(m, loop, node.body):
            return False
    forever = isinstance(node.test, ir.Constant) and bool(node.test.value)

    def start() -> bool:
        decided = expressions.asked(m, node.test)
        if decided is False:
            return False
        refine(m, node.test, True)
        return True

    alive = _widen(m, loop, start, node.body, can_skip=not forever)
    if alive:
        refine(m, node.test, False)
    return alive


def breaking(m: Machine, node: ir.Break) -> bool:
    """``break``."""
    if m.frame.loops:
        m.frame.loops[-1].breaks.append(m.state)
        m.exits += 1
    return False


def continuing(m: Machine, node: ir.Continue) -> bool:
    """``continue``."""
    if m.frame.loops:
        m.frame.loops[-1].continues.append(m.state)
        m.exits += 1
    return False


HANDLERS: dict[type, Handler] = {ir.For: for_loop, ir.While: while_loop, ir.Break: breaking, ir.Continue: continuing}
