"""Running a slice of one function for one question, and putting the machine back as it was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from agent.analysis import ir
from agent.analysis.outline import Outline
from agent.evaluation.effort import Effort
from agent.evaluation.forward import deep_recursion
from agent.evaluation.frames import Dead, Frame, Leaf, Tested, TooLong
from agent.evaluation.machine import Machine
from agent.evaluation.receivers import ANY, Context, Receivers
from agent.evaluation.slices import hollow_around, last_line, slice_of
from agent.evaluation.state import Cell, Location, Place, State, merge
from agent.evaluation.values import ABSENT, AV, ClassV, FuncV, Instance, Lazy, Map, ModuleV, Obj, Seq, Tup, Unk, candidates, one_of, same
from agent.evaluation.watch import Watch

QUESTION_FUEL = 12_000
"""Statements run in one function."""

MAKING = frozenset({"__init__", "__new__", "__post_init__", "__set_name__", "__init_subclass__"})
"""Methods that run before anybody else has the object."""

Reads = dict[ir.Node, tuple[ir.Node, ...]]
"""The expressions of a statement that matter to a question."""

Parameter = Callable[[FuncV, ClassV | None, ir.Param, Context], AV]
"""What a parameter of a function may be."""


class Making(NamedTuple):
    """The function that a run was of, the functions that it entered, and the calls that it made."""

    run_of: ir.Node | None
    entered: frozenset[ir.Node]
    calls: frozenset[ir.Node]


class Run(NamedTuple):
    """What one question's run saw."""

    marks: dict[ir.Node, bool]
    tests: dict[ir.Node, list[Tested]]
    stored: AV | None
    finished: bool


_KEPT = (
    "marks",
    "tests",
    "watched",
    "forced",
    "raised",
    "catchers",
    "control",
    "reads",
    "finished",
    "state",
    "frame",
    "depth",
    "active",
    "call_node",
    "exits",
    "throws",
    "entered",
    "calls",
    "unfollowed",
    "frontier",
    "stale",
    "made_after",
    "between",
)
"""What of the machine belongs to one run and is put back after it."""


class Runs:
    """Every run is thrown away but for the objects that it made."""

    def __init__(self, m: Machine, effort: Effort, receivers: Receivers, parameter: Parameter) -> None:
        self.m = m
        self.effort = effort
        self.receivers = receivers
        self.parameter = parameter
        self.base = State(m.state, certain=False, is_floor=True)
        self.made_along: dict[object, Making] = {}
        """For each object that a run made: what that run has followed."""
        self.put_in: dict[object, set[str]] = {}
        """The attributes and globals that a run has put such an object in; ``[]`` and ``{}`` are containers."""
        self._ended: list[tuple[int, int]] = []
        """Serial numbers between which the objects of runs lie that have come to their end, those within others left out; ascending."""

    def run(
        self,
        func: FuncV,
        owner: ClassV | None,
        criteria: Sequence[ir.Node] | None,
        *,
        context: Context = ANY,
        watch: dict[ir.Node, Watch] | None = None,
        wanted: Location | None = None,
        receiver: Instance | None = None,
        reads: Reads | None = None,
        forced: dict[ir.Node, bool] | None = None,
        look: Callable[[], None] | None = None,
    ) -> Run:
        """Runs a slice of a function for one question; all of it where there are no ``criteria``.

        ``look``: what is done each time that control comes to the one statement in ``reads``.
        """
        node = func.node
        assert isinstance(node, ir.FunctionDef)
        m = self.m
        if self.effort.spent():
            self.effort.cuts += 1
            return Run({}, {}, Unk(f"{func.qualname}() was not followed: the question has used up what it may") if wanted else None, False)
        outline = m.index.outline(func.module.path)
        only = slice_of(outline, node, criteria, reads, forced or {}) if criteria is not None else None
        kept = self._save()
        m.marks, m.tests, m.watched = {}, {}, dict(watch or {})
        m.forced = dict(forced or {})
        m.raised, m.catchers, m.control, m.reads, m.finished = [], [], None, [], True
        m.entered, m.calls, m.unfollowed, m.frontier = set(), {}, set(), {}
        m.state = State(self.base, certain=False)
        mark = m.made_after = Instance(func, "").serial
        m.stale = {}
        meanwhile: list[AV] = []
        m.between = self._noting(wanted, func.name in MAKING, meanwhile) if wanted is not None else None
        frame = Frame(func.module, func.closure, m.scope(node), func.qualname)
        frame.func, frame.owner, frame.only = func, owner, only
        frame.hollow = hollow_around(outline, criteria or (), node)
        frame.last = last_line(outline, node, criteria or (), reads)
        frame.until = _only_reached(outline, node, reads or {})
        if look is not None:
            frame.until, frame.look = _looking(outline, node, reads or {}, look)
        longest = self.effort.longest
        frame.deadline = m.steps + (max(QUESTION_FUEL, m.call_fuel) if longest is None else longest)
        m.frame = frame
        if node.is_generator:
            frame.yields, frame.forks = [], m.forks
        stored: AV | None = None
        before = m.steps
        self.effort.nesting += 1
        try:
            with deep_recursion():
                self._bind(frame, func, owner, context, receiver)
                stored = self._execute(frame, node, wanted)
                stored = one_of([stored, *meanwhile]) if stored is not None and meanwhile else stored
        finally:
            self.effort.nesting -= 1
            self.effort.total += m.steps - before
            m.steps = before
            seen = Run(m.marks, m.tests, stored, m.finished)
            self._keep_objects(mark, node)
            self._restore(kept)
        return seen

    def _noting(self, wanted: Location, alone: bool, meanwhile: list[AV]) -> Callable[[Iterable[AV]], None]:
        """Collects what the method leaves in an attribute for as long as a call lasts; ``alone``: nobody else has the object yet."""
        before = self.m.state.get(wanted)

        def note(args: Iterable[AV]) -> None:
            cell = self.m.state.get(wanted)
            if cell is None or cell is before or (alone and not any(wanted[0] in candidates(arg) for arg in args)):
                return
            value = cell.value.resolve() if isinstance(cell.value, Lazy) else cell.value
            narrowed = before is not None and cell.place == before.place and isinstance(value, Unk)  # it was asked about, not written
            if not narrowed and not any(same(value, each) for each in meanwhile):
                meanwhile.append(value)

        return note

    def _bind(self, frame: Frame, func: FuncV, owner: ClassV | None, context: Context, receiver: Instance | None) -> None:
        static = any(isinstance(d, ir.Name) and d.id == "staticmethod" for d in func.node.decorators)  # type: ignore[union-attr]
        classy = any(isinstance(d, ir.Name) and d.id == "classmethod" for d in func.node.decorators)  # type: ignore[union-attr]
        for number, param in enumerate(func.node.params):
            if number == 0 and owner is not None and not static:
                value: AV = owner if classy or func.name == "__new__" else receiver or self._any_of(owner, context)
                frame.receiver = value
            elif param.kind == "vararg":
                value = Unk(f"*{param.name} of {func.qualname}()", "tuple")
            elif param.kind == "kwarg":
                value = self.m.new_dict({}, f"**{param.name} of {func.qualname}()")
            else:
                value = Lazy(lambda p=param: self.parameter(func, owner, p, context))  # type: ignore[misc]
            place, text = Place(func.module.path, param.line), f"{param.name} of {func.qualname}()"
            self.m.state.own[(frame, param.name)] = Cell(value, place, (), None, None, text, param.name)

    def _any_of(self, owner: ClassV, context: Context) -> AV:
        """What a method runs on: of an enumeration one of its members."""
        return self.receivers.of(owner, context) if owner.enum_members is None else one_of(owner.enum_members.values())

    def _execute(self, frame: Frame, node: ir.FunctionDef, wanted: Location | None) -> AV | None:
        m = self.m
        entry = m.state
        try:
            if m.block(node.body):
                frame.returns.append(Leaf(ABSENT, m.state, ()))
        except (Dead, TooLong) as stop:
            if isinstance(stop, TooLong):
                m.finished = False
                return Unk(f"{frame.label}() takes too many steps to follow") if wanted is not None else None
        if wanted is None:
            m.state = self._ends(frame, entry)
            return None
        values: list[AV] = []
        for leaf in frame.returns:
            cell = leaf.state.get(wanted)
            value = cell.value if cell is not None else ABSENT
            values.append(value.resolve() if isinstance(value, Lazy) else value)
        m.state = self._ends(frame, entry)
        return one_of(values) if values else ABSENT

    def _ends(self, frame: Frame, entry: State) -> State:
        ends = [leaf.state for leaf in frame.returns]
        if not ends:
            return entry
        state = State(entry, certain=False)
        state.own = merge(entry, ends)
        return state

    def _keep_objects(self, mark: int, function: ir.Node | None) -> None:
        """Objects that a run made outlive it: their cells move to the layer that all runs share."""
        while self._ended and self._ended[-1][0] >= mark:
            self._ended.pop()
        self._ended.append((mark, Obj.last_serial()))
        along = Making(function, frozenset(self.m.entered), frozenset(self.m.calls))
        chain = []
        layer: State | None = self.m.state
        while layer is not None and layer is not self.base:
            chain.append(layer)
            layer = layer.parent
        for state in reversed(chain):
            for location, cell in state.own.items():
                owner = location[0]
                if isinstance(owner, Obj) and owner.serial > mark and owner not in self.receivers.contexts:
                    self.base.own[location] = cell
                    self.made_along.setdefault(owner, along)
                if not isinstance(owner, Frame):
                    for held in _objects(cell.value):
                        if held.serial > mark:
                            self.put_in.setdefault(held, set()).add(location[1])

    def made_now(self, obj: Obj) -> bool:
        """Whether the run of the moment has made the object itself, not one that has ended meanwhile: that run alone knows all of it."""
        at = bisect_right(self._ended, obj.serial, key=itemgetter(0)) - 1
        return obj.serial > self.m.made_after and not (at >= 0 and obj.serial <= self._ended[at][1])

    def _save(self) -> dict[str, Any]:
        m = self.m
        kept = {name: getattr(m, name) for name in _KEPT}
        m.active, m.call_node = dict(m.active), None
        return kept

    def _restore(self, kept: dict[str, Any]) -> None:
        for name, value in kept.items():
            setattr(self.m, name, value)

    def quiet(self, ask: Callable[[], AV]) -> AV:
        """What a question in passing gives, ABSENT where it raises; nothing that it does is seen."""
        kept = self._save()
        self.m.state, self.m.catchers, self.m.raised = State(self.base, certain=False), [], []
        self.m.entered, self.m.calls, self.m.unfollowed, self.m.frontier = set(), {}, set(), {}
        mark = Instance(ABSENT, "").serial
        try:
            return ask()
        except Dead:
            return ABSENT
        finally:
            self._keep_objects(mark, None)
            self._restore(kept)

    def in_module(self, module: ModuleV, ask: Callable[[], AV]) -> AV:
        """The same, asked at the top of a module."""

        def run() -> AV:
            frame = Frame(module, None, None, module.dotted)
            frame.deadline = self.m.steps + QUESTION_FUEL
            self.m.frame = frame
            return ask()

        return self.quiet(run)


def _only_reached(outline: Outline, function: ir.FunctionDef, reads: Reads) -> ir.Node | None:
    """The statement of which nothing matters but whether control comes to it; in a loop it decides over the next turn, too."""
    node = next((node for node, parts in reads.items() if not parts), None)
    return None if node is None or _in_loop(outline, function, node) else node


def _in_loop(outline: Outline, function: ir.FunctionDef, node: ir.Node) -> bool:
    around = outline.parents.get(node)
    while around is not None and around is not function and not isinstance(around, (ir.For, ir.While)):
        around = outline.parents.get(around)
    return isinstance(around, (ir.For, ir.While))


def _looking(outline: Outline, function: ir.FunctionDef, reads: Reads, look: Callable[[], None]) -> tuple[ir.Node, Callable[[], bool]]:
    """The statement at which to look, and whether to run it then: in a loop it has a part in what the next turn finds."""
    (node,) = reads
    again = _in_loop(outline, function, node) or isinstance(node, (ir.For, ir.While))

    def looked() -> bool:
        look()
        return again

    return node, looked


def _objects(value: AV) -> Iterator[Instance]:
    """The objects in a value, or in what a container holds, as far as they are known."""
    value = value.made or value if isinstance(value, Lazy) else value
    if isinstance(value, (Seq, Tup)):
        yield from (held for item in value.items for held in _objects(item))
    elif isinstance(value, Map):
        yield from (held for pair in value.items.values() for held in _objects(pair[1]))
    else:
        yield from (each for each in candidates(value) if isinstance(each, Instance))
