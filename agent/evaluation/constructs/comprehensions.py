"""List, set, dict and generator comprehensions: unrolled when the items are known."""

from __future__ import annotations

from collections.abc import Callable

from agent.analysis import ir
from agent.analysis.scopes import Scope, target_names
from agent.analysis.walk import walk
from agent.evaluation import assign
from agent.evaluation.concrete import united
from agent.evaluation.constructs import expressions
from agent.evaluation.frames import Dead, Frame
from agent.evaluation.iteration import turns
from agent.evaluation.machine import Handler, Machine
from agent.evaluation.refine import refine
from agent.evaluation.state import State
from agent.evaluation.subscripts import update_dict
from agent.evaluation.suspended import perhaps_later, taker
from agent.evaluation.values import ABSENT, AV, Perhaps, Tup, Unk, perhaps, present

MAX_ELEMENTS = 5000


class _Gather:
    """Elements so far, and the reason why they are not all.

    ``until``: what takes the elements stops at the first that is this ("any": at whatever comes first); ``over``: it has, None for perhaps.
    """

    __slots__ = ("items", "open", "over", "until")

    def __init__(self, until: bool | str | None = None) -> None:
        self.items: list[AV] = []
        self.open = ""
        self.until = until
        self.over: bool | None = False


_STOPPING: dict[str, bool | str] = {"any": True, "all": False, "next": "any"}


def comprehension(m: Machine, node: ir.Comprehension) -> AV:
    """Runs the clauses; those of a generator that calls something as far as its items are taken."""
    if node.kind != "generator" or not _has_effects(m, node):
        return _run(m, node, None)
    until = _STOPPING.get(taker(m, node))
    return _run(m, node, until) if until is not None else perhaps_later(m, node, "", lambda: _run(m, node, None))


def _has_effects(m: Machine, node: ir.Comprehension) -> bool:
    known: dict[ir.Comprehension, bool] = m.singletons.setdefault("calling generators", {})
    if node not in known:
        parts = [node.element, *(each for clause in node.clauses for each in clause.ifs), *(clause.iter for clause in node.clauses[1:])]
        known[node] = any(isinstance(each, (ir.Call, ir.NamedExpr, ir.Await)) for part in parts for each in walk(part))
    return known[node]


def _run(m: Machine, node: ir.Comprehension, until: bool | str | None) -> AV:
    """Runs the clauses in a frame of their own."""
    names = frozenset(name for clause in node.clauses for name in target_names(clause.target))
    outer = m.frame
    frame = Frame(outer.module, outer, Scope(names, frozenset(), frozenset()), outer.label)
    frame.deadline, frame.stmt = outer.deadline, outer.stmt
    first = m.eval(node.clauses[0].iter)
    gathered = _Gather(until)
    m.frame = frame
    try:
        _clause(m, node, 0, gathered, first)
    finally:
        m.frame = outer
    for name in names if not frame.kept else ():
        m.state.own.pop((frame, name), None)
    return _result(m, node, gathered)


def _clause(m: Machine, node: ir.Comprehension, number: int, gathered: _Gather, iterable: AV | None = None) -> None:
    if number == len(node.clauses):
        _element(m, node, gathered)
        return
    clause = node.clauses[number]
    items, open_ = turns(m, iterable if iterable is not None else m.eval(clause.iter))
    if len(items) > MAX_ELEMENTS:
        items, open_ = (), "too many items"
    m.steps += len(items)
    for item in items:
        if gathered.over:
            return
        if gathered.over is None:
            _unless_over(m, node, number, present(item), gathered)
        elif isinstance(item, Perhaps):
            _sometimes(m, node, number, item.value, gathered)
        elif item is not ABSENT:
            assign.assign(m, clause.target, item)
            _filtered(m, node, number, 0, gathered)
    if open_ and not gathered.over:
        gathered.open = gathered.open or open_
        _sometimes(m, node, number, Unk(open_), gathered)


def _filtered(m: Machine, node: ir.Comprehension, number: int, position: int, gathered: _Gather) -> None:
    clause = node.clauses[number]
    if position == len(clause.ifs):
        _clause(m, node, number + 1, gathered)
        return
    test = clause.ifs[position]
    truth = expressions.asked(m, test)
    m.tested(test, truth)
    if truth is False:
        return
    if truth is True:
        refine(m, test, True)
        _filtered(m, node, number, position + 1, gathered)
        return

    def taken(perhaps_gathered: _Gather) -> None:
        refine(m, test, True)
        _filtered(m, node, number, position + 1, perhaps_gathered)

    _perhaps(m, taken, gathered)


def _sometimes(m: Machine, node: ir.Comprehension, number: int, item: AV, gathered: _Gather) -> None:
    """A turn for an item that may be missing."""

    def turn(perhaps_gathered: _Gather) -> None:
        assign.assign(m, node.clauses[number].target, item)
        _filtered(m, node, number, 0, perhaps_gathered)

    _perhaps(m, turn, gathered)


def _unless_over(m: Machine, node: ir.Comprehension, number: int, item: AV, gathered: _Gather) -> None:
    """A turn to which it does not come where an element before has ended it: its elements count, what it does may not happen."""

    def turn() -> None:
        if item is not ABSENT:
            assign.assign(m, node.clauses[number].target, item)
            _filtered(m, node, number, 0, gathered)

    try:
        m.fork([lambda: None, turn])
    except Dead:
        m.state = State(m.state, certain=False)


def _perhaps(m: Machine, run: Callable[[_Gather], None], gathered: _Gather) -> None:
    """Runs something that may not happen; what it gives may be missing."""
    more = _Gather(gathered.until)
    try:
        m.fork([lambda: None, lambda: run(more)])
    except Dead:
        m.state = State(m.state, certain=False)
    gathered.items += map(perhaps, more.items)
    gathered.open = gathered.open or more.open
    if more.over is not False:
        gathered.over = None


def _element(m: Machine, node: ir.Comprehension, gathered: _Gather) -> None:
    element = m.eval(node.element)
    if node.kind == "dict":
        assert node.value is not None
        element = Tup((element, m.eval(node.value)))
    gathered.items.append(element)
    if gathered.until is not None:
        ends = True if gathered.until == "any" else _same_truth(m.truth(element), gathered.until)
        gathered.over = ends or gathered.over if ends is not None else None


def _same_truth(truth: bool | None, wanted: bool | str) -> bool | None:
    return None if truth is None else truth is wanted


def _result(m: Machine, node: ir.Comprehension, gathered: _Gather) -> AV:
    if node.kind == "dict":
        obj = m.new_dict({}, gathered.open)
        if not gathered.open:
            update_dict(m, obj, m.new_list(gathered.items))
        return obj
    kind = {"list": "list", "set": "set", "generator": "iterator"}[node.kind]
    items = [] if gathered.open else gathered.items
    if node.kind == "set":
        items = list(united((), tuple(items)))
    return m.new_list(items, kind, gathered.open)


HANDLERS: dict[type, Handler] = {ir.Comprehension: comprehension}
