"""What code that runs later may have changed: a value that the forward run left behind holds only where nothing writes it afterwards.

Writers are found by the text of the modules that this launch can import. One that the forward run has followed does not count; what any
other one writes is joined to the value, or makes it unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from agent.analysis import ir
from agent.analysis.arguments import arguments
from agent.analysis.around_line import in_function_of_no_class
from agent.analysis.callers import Reference
from agent.analysis.effects import outside_names
from agent.analysis.environment_writers import EnvironmentWriter, environment_writers
from agent.analysis.global_writes import global_writes
from agent.analysis.mutation import changing_lines
from agent.analysis.own_names import own_names
from agent.analysis.resolve import dotted_text, root_name
from agent.analysis.scopes import binds
from agent.analysis.walk import statements, walk
from agent.analysis.writers import (
    REFLECTIVE,
    changed_in_place,
    global_items,
    holds_one,
    holds_self,
    receivers_by_text,
    receivers_in,
    reflective_by_text,
)
from agent.evaluation.called_again import Again, CalledAgain, Known
from agent.evaluation.frames import Frame
from agent.evaluation.handed_in import HandedIn
from agent.evaluation.left_behind import LeftBehind
from agent.evaluation.models.argument_parser import command_line
from agent.evaluation.occasions import MAX_CLIMB, Occasions, called_by_nobody, is_a_copy, puts_back, taken_before
from agent.evaluation.receivers import called_so, snake_case
from agent.evaluation.runs import MAKING
from agent.evaluation.settling import Settling
from agent.evaluation.state import Cell, Location, Place, State, earlier_values, written_at
from agent.evaluation.values import (
    ABSENT,
    AV,
    ClassV,
    Const,
    DictObj,
    FuncV,
    Instance,
    LateMap,
    ListObj,
    Map,
    ModuleV,
    Obj,
    Seq,
    Unk,
    candidates,
    one_of,
)

if TYPE_CHECKING:
    from agent.evaluation.demand import Demand

ASIDE = 400
NAMED_PLACES = 3
_FIXED = (FuncV, ClassV, ModuleV)


class _Writer(NamedTuple):
    """``own``: past the hooks of the class, as objects write to themselves while they are filled."""

    path: str
    line: int
    receiver: str
    own: bool = False


class Later:
    """Asked for every cell that a question reads and that no code of the question itself has written."""

    def __init__(self, demand: Demand) -> None:
        self.m = demand.m
        self.demand = demand
        self.runs = demand.runs
        self.effort = demand.effort
        self.base = demand.runs.base
        self.call_sites = demand.call_sites
        self.followed = frozenset(demand.m.entered)
        self.marks = demand.m.marks
        self.occasions = Occasions(demand.m, demand.definitions, demand.call_sites, self.followed, self._held_by)
        self.handed_in = HandedIn(self.occasions)
        self.again = CalledAgain(self.occasions)
        self.left_behind = LeftBehind(demand, self.occasions)
        self.known: dict[tuple[object, str, bool], tuple[Cell, Cell, dict[str, None]]] = {}
        self.strict = False
        """For code that runs at any time, and again: what the forward run saw being written may not be written yet, or be written anew."""
        self.settling = Settling(lambda: (self.known, *self.effort.kept))
        self.variables: dict[tuple[str, AV], tuple[AV, dict[str, None]]] = {}
        self.being_filled: set[object] = demand.m.singletons.setdefault("being filled", set())
        """Objects for which the top-level statements that fill them are run just now: nothing later has happened to them yet."""
        self.names: dict[Obj, set[str]] = {}
        self.of_modules: set[Obj] = set()
        self.lonely: dict[tuple[ClassV, str], bool] = {}
        self.owned: dict[str, frozenset[str] | None] = {}
        self._learn(demand.m.state)

    def _held_by(self, cls: ClassV, name: str) -> AV | None:
        """What tells who is called: worth little of the question's fuel."""
        with self.effort.at_most(ASIDE):
            return self.demand.attribute_of(cls, name)

    def cell(self, location: Location, cell: Cell) -> Cell:
        """The cell as it may be when later code reads it."""
        key = (*location, self.strict)
        before = self.known.get(key)
        if before is not None and before[0] is cell:
            self.m.assumptions |= before[2]
            return before[1]
        if self.base.get(location) is not cell or location[0] in self.being_filled:
            return cell
        meanwhile = self.settling.meanwhile(location)
        if meanwhile is not None:
            return meanwhile
        outer, self.m.assumptions = self.m.assumptions, {}
        found = self._joined(location, cell)
        self.known[key] = (cell, found, self.m.assumptions)
        self.m.assumptions = outer | self.m.assumptions
        return found

    def of_class_alone(self, obj: Instance, name: str, value: AV) -> AV:
        """What an object has from its class alone, as later code may read it: what has been written to the object itself stands before it.

        Of an object that the run of the moment has made, that run knows what is written to it.
        """
        if self.runs.made_now(obj) or obj in self.demand.receivers.contexts or obj in self.being_filled:
            return value
        key = (obj, name, self.strict)
        before = self.known.get(key)
        if before is None or before[0].value is not value:
            outer, self.m.assumptions = self.m.assumptions, {}
            cell = Cell(value, deps=tuple(self.m.reads[-1:]), name=name)
            before = self.known[key] = (cell, self._joined((obj, name), cell), self.m.assumptions)
            self.m.assumptions = outer
        self.m.assumptions |= before[2]
        if before[1] is not before[0]:
            self.m.reads[-1:] = [before[1]]
        return before[1].value

    def _joined(self, location: Location, cell: Cell) -> Cell:
        owner, name = location
        if name.startswith(("<", "[", "{", "__")) or (isinstance(cell.value, _FIXED) and not isinstance(owner, (ModuleV, ClassV))):
            return cell
        written = self._written(owner, name, cell)
        if not isinstance(owner, Frame) or self.m.frame.only is not None:
            self._open(owner, name, cell.value)
        else:
            self.m.assume("what a closure keeps between calls is what the call itself would work out")
        if self.strict:
            written += earlier_values(cell)
        if not written:
            return cell
        return Cell(one_of([cell.value, *written]), cell.place, (cell,), cell.control, cell.previous, cell.text, cell.name)

    # --- values --------------------------------------------------------------------------------------------------------------

    def _written(self, owner: object, name: str, cell: Cell) -> list[AV]:
        if isinstance(owner, ModuleV):
            writers = self._of_global(owner, name)
            if owner.ir is not None and not isinstance(cell.value, _FIXED):
                writers += [_Writer(owner.path, line, "") for line in global_items(owner.ir.source, name)]
        elif isinstance(owner, ClassV) and owner.enum_members is None:
            writers = self._of_class(owner, name)
        elif isinstance(owner, FuncV):
            writers = [_Writer(*row) for row in receivers_by_text(self.m.index, name) if row[2] == owner.name]
        elif isinstance(owner, Instance) and isinstance(owner.cls, ClassV) and owner.cls.enum_members is None:
            writers = self._of_attribute(owner, owner.cls, name)
        else:
            return []
        accounted = set() if self.strict else written_at(cell)
        values: list[AV] = []
        once_more: list[tuple[_Writer, Again]] = []
        for writer in writers:
            again = self._again(owner, writer, name)
            if Place(writer.path, writer.line) in accounted and not (
                self._put_back(writer, name) or (again is not None and self._with_another(writer))
            ):
                continue
            if again is None:
                values += self._value(owner, writer, name)
            else:
                once_more.append((writer, again))
        return values + self._once_more(owner, name, [cell.value, *values], once_more)

    def _once_more(self, owner: object, name: str, before: list[AV], writers: list[tuple[_Writer, Again]]) -> list[AV]:
        """What functions leave that the forward run has been in and that other code calls again."""
        for _, again in writers:
            self.m.assume(*again.assumed)
        known = [(writer, again) for writer, again in writers if again.ways]
        if not known:
            return []

        def found() -> list[AV]:
            with self.left_behind.passing():
                return [value for writer, again in known for value in self._value(owner, writer, name, again)]

        return self.settling.settled((owner, name), before, found, self.left_behind.cut_short)

    def _with_another(self, writer: _Writer) -> bool:
        """Whether what a statement has written once may be another value next time, when its function is called again."""
        statement = self.m.index.statement_at(writer.path, writer.line)
        return not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Constant)

    def _put_back(self, writer: _Writer, name: str) -> bool:
        """A cell holds what was put back; while a ``with`` lasted, it held the other."""
        function = self._function(writer)
        return function is not None and puts_back(function, name)

    def _function(self, writer: _Writer) -> ir.FunctionDef | None:
        around = self.m.index.enclosing(writer.path, writer.line)
        return next((node for node in reversed(around) if isinstance(node, ir.FunctionDef)), None)

    def elsewhere(self, owner: object, name: str) -> list[AV]:
        """What any code may write there, whatever it calls the object by, but for constructors and methods of other classes."""
        kept, self.strict = self.strict, True
        try:
            if isinstance(owner, ModuleV):
                writers = self._of_global(owner, name)
            elif isinstance(owner, ClassV):
                writers = self._of_class(owner, name)
            elif isinstance(owner, Instance) and isinstance(owner.cls, ClassV):
                writers = self._of_attribute(owner, owner.cls, name, by_any_name=True)
            else:
                return []
            return [value for writer in writers for value in self._value(owner, writer, name)]
        finally:
            self.strict = kept

    def _of_global(self, module: ModuleV, name: str) -> list[_Writer]:
        """Functions that declare the name global, and ``module.name = ...`` elsewhere."""
        found: list[_Writer] = []
        if module.ir is not None:
            found += [_Writer(module.path, line, "") for line in global_writes(module.ir).get(name, ())]
        last = module.dotted.rpartition(".")[2]
        index = self.m.index
        rows = receivers_in(index, name, {*index.files_with(last), *({*index.files_with("modules")}.intersection(index.files_with("sys")))})
        found += [_Writer(*row) for row in rows if row[2] == last or (row[2] != "self" and self._renamed(row[0], last, row[2]))]
        return found + [_Writer(*row) for row in rows if row[2] == "modules"]

    def _renamed(self, path: str, module: str, name: str) -> bool:
        """``import package.module as name``, ``from package import module as name``."""
        if path not in self.m.index.files_with(module):
            return False
        content = self.m.index.read(path)
        pattern = rb"\b" + re.escape(module.encode()) + rb"\s+as\s+" + re.escape(name.encode()) + rb"\b"
        return not isinstance(content, bytes) or re.search(pattern, content) is not None

    def _of_class(self, cls: ClassV, name: str) -> list[_Writer]:
        """``Class.name = ...``, ``cls.name = ...`` in its methods, and by the name of a module for what stands in it."""
        found = []
        named = {*self.m.index.files_with(cls.name), *(base.module.path for base in cls.mro)}
        for path, line, receiver in receivers_in(self.m.index, name, named):
            own = receiver in ("cls", "__class__") and self._in_class(path, line, cls)
            if own or (receiver == cls.name and path in self.call_sites.importable):
                found.append(_Writer(path, line, receiver))
        return found

    def alone(self, cls: ClassV, name: str) -> bool:
        """Whether nothing else has an attribute of this name, no other class and no parsed command line: then its writers mean this."""
        if name in command_line(self.m).options:
            return False
        if (cls, name) not in self.lonely:
            self.lonely[cls, name] = self._alone(cls, name)
        return self.lonely[cls, name]

    def _alone(self, cls: ClassV, name: str) -> bool:
        rows = receivers_by_text(self.m.index, name)
        nodes = {base.node for base in cls.mro}
        for path, line, receiver in rows:
            if receiver == "self" and path in self.call_sites.importable:
                around = self.m.index.enclosing(path, line)
                owner = next((node for node in reversed(around) if isinstance(node, ir.ClassDef)), None)
                if owner not in nodes:
                    return False
        declared = self.m.singletons.get("declared fields", {}).get(name, ())
        return all(place.path in {base.module.path for base in cls.mro} for place in declared)

    def _of_attribute(self, obj: Instance, cls: ClassV, name: str, *, by_any_name: bool = False) -> list[_Writer]:
        called = self.names.get(obj, set()) | {snake_case(base.name) for base in cls.mro}
        own = None if by_any_name else self._own_names(obj)
        found = []
        index = self.m.index
        unnamed = ((*row, "") for function in REFLECTIVE for row in reflective_by_text(index, function))
        for path, line, receiver, written in (*((*row, name) for row in receivers_by_text(index, name)), *unnamed):
            if path not in self.call_sites.importable:
                continue
            if receiver == "cls" and self._writes_class(path, line):
                continue
            if receiver in ("self", "cls"):
                meant = self._in_class(path, line, cls) or (bool(written or self.named_in(path, cls)) and self.outside_classes(path, line))
            elif holds_self(index, path, receiver) and self._in_class(path, line, cls):
                meant = not is_a_copy(index, path, line, receiver)
            else:
                so = receiver in own if own is not None else called_so(receiver, called)
                meant = by_any_name or so or holds_one(index, path, receiver, (base.name for base in cls.mro))
                meant = meant or (bool(written) and self.alone(cls, name))
                if meant and not by_any_name and self._given_others(path, line, receiver, cls, called):
                    meant = False
                if not meant:
                    self.m.assume("attributes that are written through names of other kinds belong to other objects")
            if meant and (written or self._under_that_name(path, line, name, receiver, cls, called)):
                found.append(_Writer(path, line, receiver, not written and self._in_class(path, line, cls)))
        return found

    def _under_that_name(self, path: str, line: int, name: str, receiver: str, cls: ClassV, called: set[str]) -> bool:
        """Whether a ``setattr`` may write the attribute; one on ``self`` is asked by the objects that its method is called on."""

        def elsewhere(site: Reference) -> bool:
            held = site.receiver.id if isinstance(site.receiver, ir.Name) and receiver in ("self", "cls") else ""
            return held not in ("", "self", "cls") and self._given_others(site.path, site.line, held, cls, called)

        return self.handed_in.may_write(path, line, name, strict=self.strict, elsewhere=elsewhere)

    def _writes_class(self, path: str, line: int) -> bool:
        """Whether ``cls`` on the line is a class for sure: what is written to it is not written to its objects."""
        function = self._function(_Writer(path, line, "cls"))
        decorators = {dotted_text(each) for each in function.decorators} if function is not None else set()
        return function is not None and ("classmethod" in decorators or function.name in ("__new__", "__init_subclass__"))

    def _own_names(self, obj: Instance) -> frozenset[str] | None:
        """All names for an object that a run made and nothing hands on under others."""
        put_in = self.runs.put_in.get(obj, set()) | self.names.get(obj, set())
        if obj not in self.runs.made_along or not put_in:
            return None
        together: frozenset[str] = frozenset()
        for name in sorted(put_in):
            if name not in self.owned:
                self.owned[name] = own_names(self.m.index, name, self.call_sites.importable)
            found = self.owned[name]
            if found is None:
                return None
            together |= found
        return together

    def _given_others(self, path: str, line: int, name: str, cls: ClassV, called: set[str], depth: int = 0) -> bool:
        """Whether the name can hold no such object.

        It is a parameter for which all callers give objects that go by names of other kinds, or their own; or it is bound to new objects
        of other classes.
        """
        around = self.m.index.enclosing(path, line)
        function = next((node for node in reversed(around) if isinstance(node, ir.FunctionDef)), None)
        if function is None or depth > MAX_CLIMB:
            return False
        binding = [each for each in statements(function.body) if binds(each, name)]
        if all(param.name != name for param in function.params):
            loops = [node for node in walk(function) if isinstance(node, (ir.For, ir.While)) and node.line <= line <= node.end]
            until = max((node.end for node in loops), default=line)  # in a loop what stands below comes before, one turn earlier
            binding = [each for each in binding if each.line <= until]
            return bool(binding) and all(self._makes_another(each, path, line, cls) for each in binding)
        sites = None if binding else self.occasions.sites(path, function)
        return bool(sites) and all(self._gives_another(site, function, name, cls, called, depth) for site in sites or ())

    def _makes_another(self, statement: ir.Stmt, path: str, line: int, cls: ClassV) -> bool:
        """``name = cls(...)`` in another class, ``name = Other(...)``, ``name = library.call(...)``."""
        value = statement.value if isinstance(statement, ir.Assign) else None
        if isinstance(value, ir.Call) and root_name(value.func) in outside_names(self.m.index, path):
            return True
        if not isinstance(value, ir.Call) or not isinstance(value.func, ir.Name):
            return False
        if value.func.id == "cls":
            return not self._in_class(path, line, cls)
        return all(base.name != value.func.id for base in cls.mro) and bool(self.m.index.classes_named(value.func.id))

    def _gives_another(self, site: Reference, function: ir.FunctionDef, name: str, cls: ClassV, called: set[str], depth: int) -> bool:
        given = arguments(site.call, function) if site.call is not None and site.kind == "call" else None
        value = given.get(name) if given is not None else None
        if not isinstance(value, (ir.Name, ir.Attribute)):
            return given is not None and (value is None or isinstance(value, ir.Constant))
        shown = value.id if isinstance(value, ir.Name) else value.attr
        if shown in ("self", "cls"):
            return not self._in_class(site.path, site.line, cls)
        if not called_so(shown, called) and not holds_one(self.m.index, site.path, shown, (base.name for base in cls.mro)):
            return True
        return isinstance(value, ir.Name) and self._given_others(site.path, site.line, shown, cls, called, depth + 1)

    def named_in(self, path: str, cls: ClassV) -> bool:
        """Whether a file names the class or a base of it."""
        return any(path in self.m.index.files_with(base.name) for base in cls.mro)

    def outside_classes(self, path: str, line: int) -> bool:
        """Whether a ``self`` on the line may be anything: a function of no class may be made a method, or called with any object."""
        return in_function_of_no_class(self.m.index, path, line)

    def _in_class(self, path: str, line: int, cls: ClassV) -> bool:
        """In a method of the class or of a base."""
        if all(path != base.module.path for base in cls.mro):
            return False
        around = self.m.index.enclosing(path, line)
        owner = next((node for node in reversed(around) if isinstance(node, ir.ClassDef)), None)
        return owner is not None and any(base.node is owner for base in cls.mro)

    def _value(self, owner: object, writer: _Writer, name: str, again: Again | None = None) -> list[AV]:
        """What a writer may leave; nothing where it makes the object, or never runs."""
        function = self._function(writer)
        if function is None and self.m.index.statement_at(writer.path, writer.line) in self.marks:
            return []
        if function is not None and writer.receiver in ("self", "cls") and function.name in MAKING:
            return []
        idle = self.occasions.idle(writer.path, function) if function is not None and not self.strict else None
        if idle == ():
            return []
        if function is not None and (not self.strict or writer.own) and self._while_made(owner, writer.path, function):
            return []
        statement = self.m.index.statement_at(writer.path, writer.line)
        if statement is None:
            return []
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.Assign) and isinstance(value, ir.Constant) and len(statement.targets) == 1:
            return [Const(value.value)]
        if function is not None and self.occasions.for_a_while(writer.path, function, name):
            self.m.assume(f"outside of `with {function.name}(...)`, which puts {name} back at its end ({writer.path}:{writer.line})")
            return []
        if idle is None and function is not None and self.occasions.uncalled(writer.path, function):
            idle = (called_by_nobody(writer.path, function),)
        if idle is not None:
            self.m.assume(*idle)
            return []
        if again is not None and function is not None:
            return self.left_behind.once_more(owner, writer.path, function, statement, name, again)
        asked = function is not None and not self.strict and _given(statement, function)
        if asked and function is not None and self.occasions.on_request(writer.path, function):
            self.m.assume(f"nobody has asked the running program to change {name} ({writer.path}:{writer.line} would)")
            return []
        kept = taken_before(self.m.index, writer.path, statement, name)
        if kept is not None:
            return [Const(each.value) for each in kept]
        if isinstance(owner, Instance) and owner in self.of_modules and function is not None and writer.receiver == "self":
            return self.left_behind.by_method(owner, function, name)
        return [Unk(f"{name} is also written at {writer.path}:{writer.line}")]

    def _again(self, owner: object, writer: _Writer, name: str) -> Again | None:
        """Where a function that the forward run has been in may be called once more, on the same object; None of any other function."""
        function = self._function(writer)
        if function is None or function not in self.followed or self.strict or puts_back(function, name):
            return None
        if owner in self.runs.made_along:  # what the forward run wrote is not in those
            return None
        if not isinstance(owner, Instance) or not isinstance(owner.cls, ClassV):
            return self.again.of(writer.path, function)
        again = self.again.of(writer.path, function, writer.receiver, self._known(owner, owner.cls))
        if again.ways and owner in self.demand.receivers.configurations:  # it is resolved once, however many functions begin with that
            where = f"{again.ways[0].path}:{again.ways[0].line}"
            return Again(
                (), (*again.assumed, f"{function.name}() is not called again on the {owner.cls.name} of this launch ({where} would)")
            )
        return again

    def _known(self, owner: Instance, cls: ClassV) -> Known:
        """By what calls are known that are on the object."""
        classes = tuple(base.name for base in cls.mro)
        return Known(owner, frozenset(self.names.get(owner, ())).union(snake_case(each) for each in classes), classes)

    def _while_made(self, owner: object, path: str, function: ir.FunctionDef) -> bool:
        """Whether the run that made the object has followed the function, and all that calls it stands where such an object is made."""
        along = self.runs.made_along.get(owner)
        if along is None or not isinstance(owner, Instance) or not isinstance(owner.cls, ClassV):
            return False
        return self.occasions.only_in_making(path, function, owner.cls.name, along)

    def environment(self, obj: DictObj) -> None:
        """Joins to the environment what code that the forward run has not followed may set in it: to each variable when it is read."""
        if self._set_by_worked_out_name:
            where = self._set_by_worked_out_name
            self.m.assume(f"no variable that this launch reads is set where its name is worked out ({where} would)")
        location: Location = (obj, "{}")
        before = self.base.get(location)
        if before is None or type(before.value) is not Map:
            return
        items = dict(before.value.items)
        named = [name for name in self._setters if name]
        for name in named:
            items.setdefault(name, (Const(name), ABSENT))
        late: dict[str, Callable[[], AV]] = {name: partial(self._variable, items[name][1], name) for name in named}
        self.base.own[location] = Cell(LateMap(items, before.value.open, late), before.place, (before,), None, before, "", "{}")

    def _variable(self, before: AV, name: str) -> AV:
        """What a variable may hold when later code reads it."""
        key = (name, before)
        if key not in self.variables:
            self.variables[key] = (Unk(f"the environment variable {name} is being worked out"), {})
            outer, self.m.assumptions = self.m.assumptions, {}
            setters = [_Writer(each.path, each.line, "environ") for each in self._setters[name]]
            again = [self._again(None, each, name) for each in setters]
            written = zip(setters, again, strict=True)
            values = [value for each, more in written if more is None or more.ways for value in self._value(None, each, name, more)]
            self.variables[key] = (one_of([before, *values]) if values else before, self.m.assumptions)
            self.m.assumptions = outer
        value, assumptions = self.variables[key]
        self.m.assumptions |= assumptions
        return value

    @cached_property
    def _setters(self) -> dict[str, list[EnvironmentWriter]]:
        """Writers of the environment in this launch's modules, by the name of the variable; "" where it is worked out."""
        found: dict[str, list[EnvironmentWriter]] = {}
        for each in environment_writers(self.m.index):
            if each.path in self.call_sites.importable:
                found.setdefault(each.name, []).append(each)
        return found

    @cached_property
    def _set_by_worked_out_name(self) -> str:
        """Where variables are set whose name is worked out, by code that the forward run has not followed."""
        places = [f"{each.path}:{each.line}" for each in self._setters.get("", ()) if not self._seen(each)]
        more = f" and {len(places) - NAMED_PLACES} other places" if len(places) > NAMED_PLACES else ""
        return ", ".join(places[:NAMED_PLACES]) + more

    def _seen(self, writer: EnvironmentWriter) -> bool:
        if self.m.index.statement_at(writer.path, writer.line) in self.marks:
            return True
        return self._followed_by(writer.path, writer.line)

    # --- contents ------------------------------------------------------------------------------------------------------------

    def stored(self, name: str, value: AV) -> None:
        """A question has found a value in an attribute of this name: the objects in it are known by it, too."""
        for each in candidates(value):
            if isinstance(each, Instance):
                self.names.setdefault(each, set()).add(name)
        self._open(None, name, value)

    def _changed(self, owner: object, name: str, held: Iterable[Obj]) -> bool:
        """Of a global, by its own module or by one that names that module; of an attribute, by any."""
        paths = set(changed_in_place(self.m.index, name)) & self.call_sites.importable
        if isinstance(owner, ModuleV):
            paths &= {owner.path, *self.m.index.files_with(owner.dotted.rpartition(".")[2])}
        lines = ((path, line) for path in sorted(paths) for line in changing_lines(self.m.index, path, name))
        # What a question has made has nothing in it of what the forward run did.
        anew = self.strict or any(each.serial > self.base.mark for each in held)
        return any(anew or not self._followed_by(*line) or self._changed_once_more(owner, *line) for line in lines)

    def _changed_once_more(self, owner: object, path: str, line: int) -> bool:
        """Whether a function that the forward run has been in changes the container again, on the same object."""
        on_it = isinstance(owner, Instance) and isinstance(owner.cls, ClassV) and self._in_class(path, line, owner.cls)
        again = self._again(owner, _Writer(path, line, "self" if on_it else ""), "")
        if again is None:
            return False
        self.m.assume(*again.assumed)
        return bool(again.ways)

    def _followed_by(self, path: str, line: int) -> bool:
        """Whether the forward run has been in the function around a line: what it did there is in what it left."""
        function = self._function(_Writer(path, line, ""))
        return function is not None and function in self.followed

    def _open(self, owner: object, name: str, value: AV) -> None:
        """Containers that are changed in place somewhere: what they hold is not known, or for registries not all of it."""
        final: set[Obj] = self.m.singletons.get("final containers", set())
        held = [each for each in candidates(value) if isinstance(each, (ListObj, DictObj)) and each not in final]
        if not held or not self._changed(owner, name, held):
            return
        registries: set[Obj] = self.m.singletons.get("filled registries", set())
        for each in held:
            location: Location = (each, "[]" if isinstance(each, ListObj) else "{}")
            cell = self.base.get(location)
            if cell is None:
                continue
            reason = f"{name} is changed where it is used"
            content: AV = Seq((), reason) if isinstance(each, ListObj) else Map({}, reason)
            if each in registries:
                kept = cell.value
                content = (
                    Seq(kept.items, reason) if isinstance(kept, Seq) else Map(kept.items, reason) if isinstance(kept, Map) else content
                )
            self.base.own[location] = Cell(content, cell.place, (), None, cell, "", location[1])

    def _learn(self, state: State | None) -> None:
        """Under which names objects are known: of variables, attributes and globals that hold them."""
        while state is not None:
            for (owner, name), cell in state.own.items():
                for value in candidates(cell.value):
                    if isinstance(value, Instance) and isinstance(owner, ModuleV):
                        self.of_modules.add(value)
                    if isinstance(value, Instance) and name[:1] not in "<[{" and name not in ("self", "cls"):
                        self.names.setdefault(value, set()).add(name)
            state = state.parent


def _given(statement: ir.Stmt, function: ir.FunctionDef) -> bool:
    """``x.name = argument``, ``x.name = argument.name``: what is written comes from outside the function."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    while isinstance(value, ir.Attribute):
        value = value.value
    return isinstance(value, ir.Name) and value.id not in ("self", "cls") and any(each.name == value.id for each in function.params)
