"""What a statement that a question passes over may have changed meanwhile.

A slice runs the statements that its question names. The others may still call something, and what they call may write to the objects that
the slice has made or written to: what they can reach through a name of theirs, and what is kept where any code can get at it. Such a value
is read as what it was, joined with all that is written to an attribute of that name elsewhere; a container is not known any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from agent.analysis import ir
from agent.analysis.effects import attributes_written
from agent.analysis.touches import ANY, Ref, Touched, Touches
from agent.analysis.walk import walk
from agent.evaluation.attributes import class_attribute
from agent.evaluation.definitions import underlying
from agent.evaluation.machine import Machine
from agent.evaluation.models import BUILTINS, SILENT
from agent.evaluation.state import Cell, Location
from agent.evaluation.values import (
    AV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    Lazy,
    ListObj,
    Map,
    ModuleV,
    Obj,
    PartialV,
    Seq,
    Tup,
    Unk,
    candidates,
    one_of,
    present,
)

if TYPE_CHECKING:
    from agent.evaluation.demand import Demand

Written = dict[object, dict[str, Cell]]
"""The cells that a run has written, by owner and name."""


class Passed(NamedTuple):
    """What is passed over, and the function that it stands in."""

    part: ir.Node
    path: str
    function: ir.FunctionDef


class Stale:
    """What was passed over since a cell was written, and the cell as it may be by now, where somebody has read it."""

    __slots__ = ("passed", "read")

    def __init__(self) -> None:
        self.passed: list[Passed] = []
        self.read: Cell | None = None


class PassedOver:
    """One for all questions of a launch."""

    def __init__(self, demand: Demand) -> None:
        self.m = demand.m
        self.demand = demand
        self.touches: dict[ir.Node, Touches] = {}
        self.passing: Passed | None = None
        self.effects: dict[ir.Node, frozenset[str] | None] = {}

    def leave_out(self, part: ir.Node) -> None:
        """Called for each statement, or head of one, that the run of the moment leaves out."""
        func = self.m.frame.func
        if func is None or not isinstance(func.node, ir.FunctionDef) or part.line > self.m.frame.last:
            return  # what comes after all that is asked about changes what is left behind, and that is looked for when it is read
        touches = self.touches.get(func.node)
        if touches is None:
            touches = self.touches[func.node] = Touches(func.node)
        touched = touches.by(part)
        if self.m.between is not None and (touched.calls or any(isinstance(node, ir.Yield) for node in walk(part))):
            self.m.between([value for ref in touched.refs for value in self._behind(*ref)])
        if touched:
            self.passing = Passed(part, func.module.path, func.node)
            self._change(touched, f"it may be changed at {func.module.path}:{part.line}, which was passed over")

    def _change(self, touched: Touched, reason: str) -> None:
        written = self._written()
        for name in touched.rebound:
            self.m.store((self.m.frame, name), Unk(reason))
        calls = {self._kind(name) for name in touched.calls} - {"silent"}
        if "outside" in calls and any(self._is_function(ref) for ref in touched.refs):
            calls.add("tree")
        pending = [value for ref in touched.refs for value in self._behind(*ref)] if calls or touched.stores else []
        seen: set[Obj] = set()
        if "tree" in calls:
            for owner, cells in written.items():
                pending += self._expose(owner, cells, reason) if self._shared(owner) else []
        while pending:
            value = pending.pop()
            for each in candidates(value):
                if isinstance(each, Tup):
                    pending += each.items
                elif isinstance(each, (Instance, ListObj, DictObj)) and each not in seen:
                    seen.add(each)
                    pending += self._reached(each, written.get(each, {}), touched, calls, reason)

    def _written(self) -> Written:
        found: Written = {}
        layer, base = self.m.state, self.demand.runs.base
        while layer is not base and layer is not None:
            for (owner, name), cell in layer.own.items():
                found.setdefault(owner, {}).setdefault(name, cell)
            layer = layer.parent  # type: ignore[assignment]
        return found

    def _kind(self, name: str) -> str:
        """What calling a name or handing it on runs: code of the tree, what is outside of it, or (silent) nothing that matters."""
        frame = self.m.frame
        if not name or (frame.scope is not None and name in frame.scope.local):
            return "tree"
        cell = self.m.state.get((frame.module, name))
        if cell is None:
            return "outside" if name in BUILTINS else "tree"
        value = _looked_at(cell)
        if isinstance(value, Instance) and isinstance(value.cls, ExternV):
            value = value.cls
        if isinstance(value, ExternV):
            return "silent" if value.dotted.startswith(SILENT) else "outside"
        return "silent" if isinstance(value, Const) else "outside" if isinstance(value, (Unk, BuiltinV)) else "tree"

    def _shared(self, owner: object) -> bool:
        """Whether code that was given nothing can get at what the owner holds: it is older than the run."""
        if isinstance(owner, Obj):
            return owner.serial <= self.m.made_after or owner in self.demand.receivers.contexts
        return isinstance(owner, (ModuleV, ClassV))

    def _behind(self, name: str, attribute: str) -> Iterable[AV]:
        """What can be changed through a name, or through one attribute of it."""
        value = _looked_at(self.m.state.get((self.m.frame, name)))
        if value is None or not attribute:
            return [] if value is None else [value]
        found: list[AV] = []
        for each in candidates(value):
            held = _looked_at(self.m.state.get((each, attribute)))
            found += [each] if not isinstance(each, Instance) or _is_method(self.m, each, attribute) else [held] if held is not None else []
        return found

    def _is_function(self, ref: Ref) -> bool:
        value = _looked_at(self.m.state.get((self.m.frame, ref[0])))
        each = candidates(value) if value is not None else ()
        return any(isinstance(one, (FuncV, BoundV, PartialV)) or (bool(ref[1]) and _is_method(self.m, one, ref[1])) for one in each)

    def _reached(self, obj: Obj, cells: dict[str, Cell], touched: Touched, calls: set[str], reason: str) -> Iterable[AV]:
        """Changes one object; gives what it holds."""
        if isinstance(obj, Instance):
            if "tree" in calls:
                held = self._expose(obj, cells, reason)
            else:
                held = [value for cell in cells.values() if (value := _looked_at(cell)) is not None]
            if ANY in touched.stores and not self._shared(obj):
                obj.open = obj.open or reason
            for name in sorted(cells if ANY in touched.stores else touched.stores - {""}):
                if name in cells or not self._shared(obj):
                    self.m.store((obj, name), Unk(reason))
            return held
        return self._open(obj, cells, reason) if "" in touched.stores or calls else []

    def _open(self, obj: Obj, cells: dict[str, Cell], reason: str) -> Iterable[AV]:
        """A container that this run has made or filled."""
        name = "[]" if isinstance(obj, ListObj) else "{}"
        cell = cells.get(name)
        if cell is None:
            return []
        self.m.store((obj, name), Map({}, reason) if name == "{}" else Seq((), reason))
        return _items(cell.value)

    def _expose(self, owner: object, cells: dict[str, Cell], reason: str) -> list[AV]:
        """Code of the tree may write what the owner holds."""
        if isinstance(owner, Instance) and not self._shared(owner):
            owner.open = owner.open or reason
        held = []
        for name, cell in cells.items():
            if name[:1] not in "<[{":
                assert self.passing is not None
                self.m.stale.setdefault(cell, Stale()).passed.append(self.passing)
            value = _looked_at(cell)
            held += _items(value) if isinstance(value, (Seq, Map)) else [value] if value is not None else []
        return held

    # --- reading -------------------------------------------------------------------------------------------------------------

    def cell(self, location: Location, cell: Cell) -> Cell:
        """The cell as it may be by now."""
        passed = self._passed(cell)
        if not any(self._may_write(each, location[1]) for each in passed):
            if passed:
                self.m.assume("importing a module, or reading an attribute, changes no attribute of anything else")
            return self.demand.later.cell(location, cell)
        stale = self.m.stale.setdefault(cell, Stale())
        if stale.read is None:
            value = cell.value.resolve() if isinstance(cell.value, Lazy) else cell.value
            stale.read = Cell(
                one_of([value, *self._meanwhile(*location)]), cell.place, (cell,), cell.control, cell.previous, cell.text, cell.name
            )
        return stale.read

    def _passed(self, cell: Cell) -> list[Passed]:
        """What was passed over since the cell, or one of those that met in it, was written."""
        stale, pending, seen = self.m.stale, [cell], set[int]()
        found: list[Passed] = []
        while pending and len(seen) < 32:
            current = pending.pop()
            if current in stale:
                found += stale[current].passed
            if id(current) not in seen:
                seen.add(id(current))
                pending += [dep for dep in current.deps if dep.name == cell.name and dep.place is not None]
        return found

    def _may_write(self, passed: Passed, name: str) -> bool:
        """Whether what was passed over may write an attribute or global of this name."""
        if passed.part not in self.effects:
            self.effects[passed.part] = attributes_written(self.m.index, passed.path, passed.part, passed.function)
        written = self.effects[passed.part]
        return written is None or name in written

    def _meanwhile(self, owner: object, name: str) -> Iterable[AV]:
        attributes = self.demand.attributes
        if isinstance(owner, Instance) and owner in self.demand.receivers.contexts and (owner, name) not in self.demand.effort.pending:
            value = attributes.value(owner, name)
            return [] if value is None else candidates(value)
        return self.demand.later.elsewhere(owner, name)


def _items(content: AV) -> list[AV]:
    """What a container holds, as far as that is known."""
    if isinstance(content, Map):
        return [value for _, value in content.items.values()]
    return [present(item) for item in content.items] if isinstance(content, Seq) else []


def _is_method(m: Machine, obj: AV, name: str) -> bool:
    held = class_attribute(m, obj.cls, name) if isinstance(obj, Instance) and isinstance(obj.cls, ClassV) else None
    return held is not None and underlying(held[0]) is not None


def _looked_at(cell: Cell | None) -> AV | None:
    """A value that is known already: what nobody has looked at is nothing that this run has made."""
    value = cell.value if cell is not None else None
    return value.made if isinstance(value, Lazy) else value
