"""The abstract machine: runs Python forward over the abstract store, forks on undecided conditions, joins where branches meet.

One Machine is one launch. It records which statements ran (certainly or perhaps), how every condition came out, what was raised, and for
every stored value the statement that wrote it. Constructs and library models are tables; the machine itself knows control flow only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from agent.analysis import ir
from agent.analysis.index import Index
from agent.analysis.scopes import Scope, scope_of
from agent.domain.launch import Launch
from agent.domain.source import Files
from agent.evaluation.frames import Catcher, Dead, Frame, Leaf, Raised, Tested, TooLong
from agent.evaluation.state import Cell, Control, Location, Place, State, merge
from agent.evaluation.values import (
    ABSENT,
    AV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    LateMap,
    Lazy,
    ListObj,
    Map,
    ModuleV,
    Seq,
    Unk,
)

if TYPE_CHECKING:
    from agent.evaluation.demand import Demand
    from agent.evaluation.passed_over import Stale
    from agent.evaluation.watch import Watch

MAX_SNAPSHOTS = 8
MAX_LEAVES = 48
"""States kept for what may have been raised, and for what was, in one suite: code that calls itself in a ``try`` makes any number."""
GRACE = 2500
"""Statements that are still followed after a configuration record was made."""
GRACE_FIELDS = 8


_DEDUCED = frozenset({"AttributeError", "TypeError", "NameError", "UnboundLocalError", "NotImplementedError"})
"""What a gap in the engine's own knowledge looks like. A launch that is asked about has started: where one of these would end it for
certain, nothing that comes after is called never."""


Handler = Callable[["Machine", Any], Any]


class Machine:
    """See the module. ``facts`` are given truths of the host by name; ``fuel`` bounds the statements run."""

    def __init__(
        self, index: Index, launch: Launch, files: Files, facts: Mapping[str, Any], *, fuel: int = 1_500_000, call_fuel: int = 150_000
    ) -> None:
        from agent.evaluation.attributes import get_attribute, instance_map
        from agent.evaluation.calls import call
        from agent.evaluation.constructs import EXPRESSIONS, STATEMENTS
        from agent.evaluation.truth import truth

        self._get_attribute, self._call, self._truth, self._attributes = get_attribute, call, truth, instance_map
        self.index = index
        self.launch = launch
        self.files = files
        self.facts = facts
        self.fuel = fuel
        self.call_fuel = call_fuel
        self.steps = 0
        self.state = State(None)
        self.root = self.state
        self.control: Control | None = None
        self.reads: list[Cell] = []
        self.frame: Frame = None  # type: ignore[assignment]
        self.depth = 0
        self.active: dict[ir.Node, int] = {}
        self.catchers: list[Catcher] = []
        self.exits = 0
        self.throws = 0
        self.marks: dict[ir.Node, bool] = {}
        self.tests: dict[ir.Node, list[Tested]] = {}
        self.raised: list[Raised] = []
        self.skipped: dict[str, str] = {}
        self.assumptions: dict[str, None] = {}
        self.entered: set[ir.Node] = set()
        self.unfollowed: set[ir.Node] = set()
        self.calls: dict[ir.Node, list[tuple[FuncV, Frame, bool]]] = {}
        self.call_node: ir.Call | None = None
        self.made: dict[ClassV, list[Instance]] = {}
        self.built: list[Instance] = []
        self.initial: dict[Instance, dict[str, Cell | None]] = {}
        self.modules: dict[str, ModuleV] = {}
        self.scopes: dict[ir.Node, Scope] = {}
        self.singletons: dict[str, Any] = {}
        self.finished = True
        self.broken = ""
        self.limit = fuel
        self.drained = False
        self.configured = False
        self.configuration: Instance | None = None
        self.building = 0
        self.settled: dict[Instance, dict[str, Cell]] = {}
        self.unfinished: dict[Instance, dict[str, Cell]] = {}
        self.frontier: dict[ir.Node, FuncV] = {}
        self.detached: set[ir.Node] = set()
        self.vague: set[ir.Node] = set()
        self.forks = 0
        self.loose = 0
        self.demand: Demand | None = None
        self.entry_path = ""
        self.caught: dict[ir.Node, AV] = {}
        self.forced: dict[ir.Node, bool] = {}
        self.stale: dict[Cell, Stale] = {}
        self.made_after = 0
        self.watched: dict[ir.Node, Watch] = {}
        self.has_call_facts = any("(" in name or ")" in name for name in facts)
        self.enter: Callable[[FuncV], bool] | None = None
        self.dropped: list[State] | None = None
        """The states in which a thread of the program ended by an exception."""
        self.between: Callable[[Iterable[AV]], None] | None = None
        """Told of each call, with what it is given, while an attribute is worked out: what is called may read it."""
        self.logged: list[tuple[Place, str, str, Control | None, bool]] = []
        self._places: dict[Place, Place] = {}
        self._statements: dict[type, Handler] = STATEMENTS
        self._expressions: dict[type, Handler] = EXPRESSIONS

    # --- store ---------------------------------------------------------------------------------------------------------------

    def place(self) -> Place:
        """Where the machine is."""
        stmt = self.frame.stmt
        at = Place(self.frame.module.path, stmt.line if stmt is not None else 0)
        return self._places.setdefault(at, at)

    def cell(self, location: Location) -> Cell | None:
        """The innermost cell; for a question after the forward run, with what later code may have written."""
        cell = self.state.get(location)
        if cell is None or self.demand is None:
            return cell
        return self.demand.passed_over.cell(location, cell) if self.stale else self.demand.later.cell(location, cell)

    def load(self, location: Location) -> AV | None:
        """The value of a cell, noted as read; None where there is no cell."""
        cell = self.cell(location)
        if cell is None:
            return None
        self.reads.append(cell)
        if type(cell.value) is Lazy:
            cell.value = cell.value.resolve()
        return cell.value

    def store(self, location: Location, value: AV) -> None:
        """Writes a cell with its provenance."""
        state = self.state
        if type(location[0]) is DictObj and location[0].mirrors is not None:
            self._mirror(location[0].mirrors, value)
            return
        state.own[location] = Cell(value, self.place(), tuple(self.reads[:12]), self.control, state.get(location), "", location[1])

    def _mirror(self, obj: Instance | ModuleV, content: AV) -> None:
        """What is written to ``vars(x)`` is written to ``x``."""
        assert isinstance(content, Map)
        before = self._attributes(self, obj).items
        kept = content.items if isinstance(obj, ModuleV) else before  # of a module not all globals have been read
        for name in [*kept, *(name for name in content.items if name not in kept)]:
            value = content.items[name][1] if name in content.items else Unk(content.open) if content.open else ABSENT
            if isinstance(name, str) and (name not in before or before[name][1] is not value):
                self.store((obj, name), value)
        if isinstance(obj, Instance):
            obj.open = obj.open or content.open

    def items(self, obj: ListObj) -> Seq:
        """Content of a list or set; open where some items may be missing: see ``selection`` for those."""
        content = self.selection(obj)
        return Seq((), content.open or "some items may be missing") if content.vague else content

    def selection(self, obj: ListObj) -> Seq:
        """Content of a list or set, with the items that may be missing."""
        cell = self.state.get((obj, "[]"))
        if cell is None:
            return Seq((), "its content is not known")
        self.reads.append(cell)
        content = cell.value
        assert isinstance(content, Seq)
        return content

    def entries(self, obj: DictObj) -> Map:
        """Content of a dict."""
        content = self.entries_when_needed(obj)
        return content.settled() if isinstance(content, LateMap) else content

    def entry(self, obj: DictObj, key: Any) -> tuple[AV, AV] | None:
        """One entry of a dict, by a hashable key."""
        content = self.entries_when_needed(obj)
        if key not in content.items:
            return None
        return content.entry(key) if isinstance(content, LateMap) else content.items[key]

    def entries_when_needed(self, obj: DictObj) -> Map:
        """Content of a dict, of which not all entries need have been worked out."""
        if obj.mirrors is not None:
            return self._attributes(self, obj.mirrors)
        cell = self.state.get((obj, "{}"))
        if cell is None:
            return Map({}, "its content is not known")
        self.reads.append(cell)
        content = cell.value
        assert isinstance(content, Map)
        return content

    def new_list(self, items: tuple[AV, ...] | list[AV], kind: str = "list", open_: str = "") -> ListObj:
        """A fresh list or set."""
        obj = ListObj(kind)
        self.store((obj, "[]"), Seq(tuple(items), open_))
        return obj

    def new_dict(self, items: dict[Any, tuple[AV, AV]] | None = None, open_: str = "", kind: str = "dict") -> DictObj:
        """A fresh dict."""
        obj = DictObj(kind)
        self.store((obj, "{}"), Map(items or {}, open_))
        return obj

    # --- control -------------------------------------------------------------------------------------------------------------

    def block(self, body: list[ir.Stmt]) -> bool:
        """Runs statements in order; False when no path reaches the end."""
        return all(self.statement(stmt) for stmt in body)

    def statement(self, stmt: ir.Stmt) -> bool:
        """Runs one statement; False when no path goes on."""
        frame = self.frame
        if frame.only is not None and stmt not in frame.only:
            if self.demand is not None:
                self.demand.passed_over.leave_out(stmt)
            return True
        self.steps += 1
        if self.steps > frame.deadline:
            if self.demand is not None and self.demand.effort.longest is not None:
                self.demand.effort.cuts += 1
            raise TooLong(frame)
        if self.steps > self.limit:
            self.drained = True
        frame.stmt = stmt
        self.reads = []
        certain = self.state.certain and not self.configured
        if certain or stmt not in self.marks:
            self.marks[stmt] = certain
        if stmt is frame.until and (frame.look is None or not frame.look()):
            return True
        try:
            return bool(self._statements[type(stmt)](self, stmt))
        except Dead:
            return False

    def eval(self, node: ir.Expr) -> AV:
        """Evaluates an expression; raises Dead when it cannot complete."""
        value: AV = self._expressions[type(node)](self, node)
        if type(value) is Unk and self.catchers:
            self.catchers[-1].vague = True
        return value

    def fork(self, thunks: list[Callable[[], Any]]) -> list[tuple[int, Any]]:
        """Runs alternatives of which one happens, each on its own layer, and joins the states of those that complete.

        Gives (index, result) of the completed ones; a thunk that raises Dead or returns False has not completed. Raises Dead when none has.
        """
        base = self.state
        control, reads = self.control, self.reads
        exits, throws = self.exits, self.throws
        alive: list[tuple[int, Any]] = []
        ends: list[State] = []
        left_by_exit = False
        seen: list[Cell] = []
        for number, thunk in enumerate(thunks):
            self.state = State(base, certain=False)
            self.control = control
            self.reads = list(reads)
            before = self.exits
            caught = self.throws
            self.forks += 1
            try:
                result = thunk()
            except Dead:
                result = False
            finally:
                self.forks -= 1
            if result is not False:
                alive.append((number, result))
                ends.append(self.state)
                seen += [cell for cell in self.reads[len(reads) :] if cell not in seen]
            elif self.exits > before or self.throws > caught:
                left_by_exit = True
        self.control = control
        self.reads = [*reads, *seen[:12]]
        if not ends:
            self.state = State(base, certain=False)
            raise Dead
        whole = not left_by_exit and all(end.whole for end in ends)
        self.resume(base, ends, untouched=exits == self.exits and throws == self.throws)
        if not whole:
            self.state.certain = False
            self.state.whole = False
        return alive

    def resume(self, base: State, ends: list[State], *, untouched: bool) -> None:
        """Goes on from the meeting of ``ends``; ``base`` is written in place when no other path still refers to it."""
        changes = merge(base, ends)
        if untouched:
            base.own.update(changes)
            self.state = base
            return
        state = State(base, base.certain)
        state.whole = base.whole
        state.own = changes
        self.state = state

    def meet(self, base: State, ends: list[State], *, certain: bool, whole: bool, clean: bool = False) -> None:
        """Goes on from the meeting of several states that all descend from ``base``; ``clean``: no other path refers to ``base``."""
        if clean:
            base.own.update(merge(base, ends))
            state = base
        elif len(ends) == 1:
            state = State(ends[0], certain) if ends[0] is not base else base
        else:
            state = State(base, certain)
            state.own = merge(base, ends)
        state.certain = certain
        state.whole = whole
        self.state = state

    def under(self, test: ir.Node, polarity: bool, truth: bool | None, deps: tuple[Cell, ...]) -> None:
        """Notes that what follows runs because ``test`` came out as ``polarity``."""
        self.control = Control(self.control, test, polarity, truth, deps, self.frame.module.path, self.frame.label)

    def tested(self, node: ir.Node, truth: bool | None, why: str = "") -> tuple[Cell, ...]:
        """Records how a condition came out; gives the cells it read."""
        deps = tuple(self.reads[:12])
        records = self.tests.setdefault(node, [])
        if len(records) < 24:
            records.append(Tested(truth, deps, self.control, self.frame, why))
        return deps

    # --- exceptions ----------------------------------------------------------------------------------------------------------

    def throw(self, exc: AV, message: str = "") -> NoReturn:
        """Raises for certain on this path: hands the state to the innermost handler and raises Dead."""
        if self.catchers:
            self.throws += 1
            if len(self.catchers[-1].leaves) < MAX_LEAVES:
                self.catchers[-1].leaves.append(Leaf(exc, self.state, tuple(self.reads)))
            else:
                self.catchers[-1].overflow = True
        else:
            self._uncaught(exc, message)
            if self.dropped is not None:
                self.dropped.append(self.state)
        raise Dead

    def throw_new(self, name: str, message: str) -> NoReturn:
        """Raises a built-in exception."""
        exc = Instance(ExternV(f"builtins.{name}"))
        self.store((exc, "args"), Const(message))
        if not self.catchers and self.state.certain and name in _DEDUCED:
            self.broken = self.broken or message
        self.throw(exc, message)

    def _uncaught(self, exc: AV, message: str) -> None:
        from agent.evaluation.render import exception_text

        name, text = exception_text(self, exc)
        if len(self.raised) < 200:
            self.raised.append(Raised(exc, self.place(), self.control, self.state.certain, message or text, name))
        if self.state.certain and self.building and self.demand is None and not self.broken:
            self._left_unfinished()

    def _left_unfinished(self) -> None:
        """The launch ends here: records that are being completed stay as they stand."""
        for obj, first in self.initial.items():
            if obj not in self.settled and "namespace" in self.singletons:
                cells = {name: self.state.get((obj, name)) for name in first}
                self.unfinished[obj] = {name: cell for name, cell in cells.items() if cell is not None}

    def may_raise(self, reason: str, exc: str = "") -> None:
        """Notes that what just ran may have raised; only a surrounding handler cares."""
        if not self.catchers:
            return
        catcher = self.catchers[-1]
        state = self.state
        if catcher.leaves and catcher.leaves[-1].state is state.parent and not state.own:
            return
        if len(catcher.leaves) >= MAX_SNAPSHOTS:
            catcher.overflow = True
        else:
            value: AV = Instance(ExternV(f"builtins.{exc}")) if exc else Unk(reason)
            catcher.leaves.append(Leaf(value, state, tuple(self.reads)))
            self.throws += 1
            self.state = State(state, certain=False)
        self.state.certain = False
        self.state.whole = False

    def record_made(self, obj: Instance) -> None:
        """A record has its final values: once the command line is parsed, this is the configuration, and exploring beyond it is bounded."""
        cls = obj.cls
        if not isinstance(cls, ClassV) or "namespace" not in self.singletons or self.demand is not None:
            return
        self.settled[obj] = {name: cell for name in cls.fields or () if (cell := self.state.get((obj, name))) is not None}
        options = getattr(self.singletons.get("command line"), "options", {})
        shared = sum(name in options for name in cls.fields or ())
        if shared * 5 >= len(cls.fields or ()) >= GRACE_FIELDS and not self.building:
            self.configured, self.configuration = True, obj
            self.limit = min(self.fuel, self.steps + GRACE)

    def assume(self, *texts: str) -> None:
        """Notes what answers rest on."""
        self.assumptions |= dict.fromkeys(texts)

    def missing(self, reason: str, typ: str = "") -> Unk:
        """An unknown result of something that may raise."""
        self.may_raise(reason)
        return Unk(reason, typ)

    # --- calls ---------------------------------------------------------------------------------------------------------------

    def scope(self, node: ir.FunctionDef | ir.Lambda) -> Scope:
        """Scope of a function, computed once."""
        found = self.scopes.get(node)
        if found is None:
            found = self.scopes[node] = scope_of(node)
        return found

    def assumed_call(self, node: ir.Call) -> AV | None:
        """The result of a call whose text is a given fact."""
        from agent.evaluation.facts import call_text

        return call_text(self, node) if self.has_call_facts else None

    def call(self, func: AV, args: list[AV], kwargs: dict[str, AV]) -> AV:
        """Calls any value."""
        return self._call(self, func, args, kwargs)

    def getattr(self, obj: AV, name: str) -> AV:
        """``obj.name``."""
        return self._get_attribute(self, obj, name)

    def truth(self, value: AV) -> bool | None:
        """``bool(value)``; None is undecided."""
        return self._truth(self, value)

    def loosely(self, run: Callable[[], Any]) -> Any:
        """Runs what a thread, a task or outside code may run at any time, and again: once is not the last word on it."""
        self.loose += 1
        try:
            return run()
        finally:
            self.loose -= 1
