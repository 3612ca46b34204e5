"""What an attribute may be: the values over all methods of the class that write it, and over the calls that give it as a field."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.attribute_names import may_write
from agent.analysis.writers import REFLECTIVE, Writer, holds_one, holds_self, receivers_by_text, reflective_by_text, writers_in
from agent.evaluation.attributes import class_attribute, lookup_attribute
from agent.evaluation.definitions import underlying
from agent.evaluation.parameters import MAX_SITES, or_default
from agent.evaluation.receivers import called_so, snake_case
from agent.evaluation.runs import MAKING
from agent.evaluation.state import Cell, Place
from agent.evaluation.values import ABSENT, AV, ClassV, Instance, Unk, candidates, one_of
from agent.evaluation.watch import Watch

if TYPE_CHECKING:
    from agent.evaluation.demand import Demand


class WrittenAttributes:
    """Of receivers known by class only; each is worked out when it is first read."""

    def __init__(self, demand: Demand) -> None:
        self.m = demand.m
        self.effort = demand.effort
        self.receivers = demand.receivers
        self.runs = demand.runs
        self.call_sites = demand.call_sites
        self.parameters = demand.parameters
        self.later = demand.later
        self.known: dict[tuple[Instance, str], AV] = {}
        self.writers: dict[tuple[Instance, str], tuple[Place, ...]] = {}

    def value(self, obj: Instance, name: str) -> AV | None:
        """The attribute of a receiver known by class only, over all methods that write it; None where nothing in the class does."""
        if obj not in self.receivers.contexts:
            return None
        key = (obj, name)
        if key in self.known:
            self.m.assumptions |= self.effort.rests[key]
            self.m.reads.append(self._origin(obj, name))
            return self.known[key]
        if key in self.effort.pending or self.effort.stops():
            return Unk(f"{name} of {obj.cls!r} depends on itself or lies too deep")
        with self.effort.working_out(key):
            value = self._written(obj, name)
        if value is not None:
            self.later.stored(name, value)
            self.known[key] = value
            self.m.reads.append(self._origin(obj, name))
        return value

    def _origin(self, obj: Instance, name: str) -> Cell:
        """A cell that says where the attribute is written, for explanations."""
        places = self.writers.get((obj, name), ())
        written = tuple(Cell(ABSENT, place, name=name) for place in places[1:])
        return Cell(self.known[(obj, name)], places[0] if places else None, written, None, None, "", name)

    def _written(self, obj: Instance, name: str) -> AV | None:
        cls = obj.cls
        assert isinstance(cls, ClassV)
        nodes = {base.node for base in cls.mro if base.node is not None}
        methods: dict[ir.Node, list[Writer]] = {}
        values: list[AV] = []
        for path in dict.fromkeys(base.module.path for base in cls.mro):
            for writer in writers_in(self.m.index.module(path), name):
                around = writer.chain[-1] if writer.chain else None
                if writer.kind in ("method", "field", "keyword") or writer.owner not in nodes:
                    continue
                if isinstance(around, ir.FunctionDef) and _on_self(writer, around) and not self._in_lambda(writer):
                    methods.setdefault(around, []).append(writer)
                elif _on_own_object(writer):
                    values.append(Unk(f"{name} is written at {writer.path}:{writer.line}, in a function inside of a method"))
        values += self._from_outside(cls, name)
        if cls.fields is not None and name in cls.fields:
            values += self._given(cls, name)
        if not methods and not values:
            return None
        self.writers[(obj, name)] = tuple(Place(w.path, w.line) for ws in methods.values() for w in ws)
        for method, writers in methods.items():
            values.append(self._by_method(obj, cls, name, method, writers))
        kept = [v for value in values for v in candidates(value) if v is not ABSENT]
        always = (cls.fields is not None and name in cls.fields) or self._class_level(cls, name) is not None
        if kept and not always and all(getattr(method, "name", "") not in MAKING for method in methods):
            return one_of([*kept, ABSENT])  # nobody may have called the methods that write it
        return one_of(kept) if kept else (self._class_level(cls, name) or ABSENT)

    def _in_lambda(self, writer: Writer) -> bool:
        parents = self.m.index.outline(writer.path).parents
        node: ir.Node | None = writer.node
        while node is not None and node is not writer.statement and not isinstance(node, ir.Lambda):
            node = parents.get(node)
        return isinstance(node, ir.Lambda)

    def _given(self, cls: ClassV, name: str) -> list[AV]:
        """A field over all calls that make such a record."""
        assert cls.fields is not None
        sites = self.call_sites.constructor_sites(cls)
        handed_on = any(ref.kind == "value" for ref in sites)
        if not sites or len(sites) > MAX_SITES or handed_on:
            return [Unk(f"{name} is a field of {cls.name}, given where one is made")]
        replaced = self._replaced(name)
        values: list[AV] = [replaced] if replaced is not None else []
        for site in sites:
            watch = Watch(name, list(cls.fields).index(name), False)
            if not self.parameters.reaches(site, watch):
                return [Unk(f"{name} of {cls.name}: the call at {site.path}:{site.line} was not followed")]
            values += watch.seen
        default = cls.fields[name].default or Unk(f"the default of {name}")
        return [or_default(value, default) for value in values]

    def _replaced(self, name: str) -> AV | None:
        """``replace(record, name=value)``, ``record._replace(**changes)``: another record, of whatever class."""
        for function in ("replace", "_replace", "evolve"):
            for ref in self.call_sites.references(function):
                given = [each.name for each in ref.call.keywords] if ref.call is not None else [None] if ref.kind == "value" else []
                if name in given or (None in given and function != "replace"):
                    return Unk(f"{name} may be given anew at {ref.path}:{ref.line}")
        return None

    def overridden(self, obj: Instance, name: str, value: AV) -> AV:
        """``value`` joined with what the attribute is on objects of derived classes that define or write it themselves."""
        assert isinstance(obj.cls, ClassV)
        key = ("derived", obj, name)
        if key in self.effort.pending:
            return value
        found = [value]
        self.effort.pending.add(key)
        try:
            for derived in self.call_sites.derived(obj.cls):
                if self._written_below(derived, obj.cls, name):
                    found.append(lookup_attribute(self.m, self.receivers.of(derived), name))
        finally:
            self.effort.pending.discard(key)
        return one_of([v for each in found for v in candidates(each) if v is not ABSENT]) if len(found) > 1 else value

    def _written_below(self, derived: ClassV, cls: ClassV, name: str) -> bool:
        """Whether the derived class, or what it has besides the class, defines or writes the attribute."""
        own = [base for base in derived.mro if base not in cls.mro and base.node is not None and base.module.ir is not None]
        return any(
            writer.owner is base.node and writer.kind != "keyword"
            for base in own
            for writer in writers_in(base.module.ir, name)  # type: ignore[arg-type]
        )

    def _class_level(self, cls: ClassV, name: str) -> AV | None:
        found = class_attribute(self.m, cls, name)
        return found[0] if found is not None else None

    def _by_method(self, obj: Instance, cls: ClassV, name: str, method: ir.Node, writers: list[Writer]) -> AV:
        """What one method leaves in the attribute; ABSENT when it never comes to write it."""
        assert isinstance(method, ir.FunctionDef)
        owner = next(base for base in cls.mro if base.node is not None and base.node is writers[0].owner)
        found = class_attribute(self.m, owner, method.name)
        func = underlying(found[0]) if found is not None else None
        if func is None or func.node is not method:
            return Unk(f"{name} is written in {owner.name}.{method.name}(), which was not followed")
        context = self.receivers.contexts[obj]
        seen = self.runs.run(func, owner, [w.statement for w in writers], context=context, wanted=(obj, name), receiver=obj)
        return seen.stored if seen.stored is not None else Unk(f"{name} as {owner.name}.{method.name}() leaves it")

    def _in_class(self, path: str, line: int, cls: ClassV) -> bool:
        around = self.m.index.enclosing(path, line) if any(path == base.module.path for base in cls.mro) else ()
        return any(base.node in around for base in cls.mro)

    def on_self(self, path: str, line: int, cls: ClassV) -> bool:
        """Whether ``self`` on that line may be such an object: in its classes, or in a function outside of all that knows them."""
        return self._in_any(path, line, cls) or (self.later.named_in(path, cls) and self.later.outside_classes(path, line))

    def _in_any(self, path: str, line: int, cls: ClassV) -> bool:
        """In the class, a base of it, or one that is derived from it."""
        return self._in_class(path, line, cls) or any(self._in_class(path, line, each) for each in self.call_sites.derived(cls))

    def _from_outside(self, cls: ClassV, name: str) -> list[AV]:
        """Writers through another name than ``self``: counted when the name says that it holds such an object."""
        made = self.receivers.made.get(cls, ())
        kinds = {snake_case(base.name) for base in cls.mro}.union(*(self.later.names.get(obj, ()) for obj in made))
        index = self.m.index
        for path, line, receiver in (row for function in REFLECTIVE for row in reflective_by_text(index, function)):
            if path not in self.call_sites.importable:
                continue
            meant = self.on_self(path, line, cls) if receiver in ("self", "cls") else called_so(receiver, kinds)
            meant = meant or (receiver != "self" and holds_one(index, path, receiver, (base.name for base in cls.mro)))
            meant = meant or (self._in_any(path, line, cls) and holds_self(index, path, receiver))
            if meant and may_write(index, path, line, name):
                return [Unk(f"{name} may be written at {path}:{line} under a name that is worked out")]
        for path, line, receiver in receivers_by_text(index, name):
            if path not in self.call_sites.importable:
                continue
            if receiver in ("self", "cls"):
                if self.later.outside_classes(path, line):
                    return [Unk(f"{name} is also written at {path}:{line}")]
                continue
            if (
                called_so(receiver, kinds)
                or (holds_self(index, path, receiver) and self._in_any(path, line, cls))
                or self.later.alone(cls, name)
                or holds_one(index, path, receiver, (base.name for base in cls.mro))
            ):
                return [Unk(f"{name} is also written at {path}:{line}")]
            self.m.assume("attributes that are written through names of other kinds belong to other objects")
        return []


def _on_own_object(writer: Writer) -> bool:
    """``self.name = ...`` in a function or lambda inside of a method."""
    if not isinstance(writer.receiver, ir.Name):
        return False
    methods = (inner for outer, inner in pairwise(writer.chain) if outer is writer.owner and isinstance(inner, ir.FunctionDef))
    return any(method.params and method.params[0].name == writer.receiver.id for method in methods)


def _on_self(writer: Writer, around: ir.Node | None) -> bool:
    if not isinstance(around, ir.FunctionDef) or not around.params or not isinstance(writer.receiver, ir.Name):
        return False
    return writer.receiver.id == around.params[0].name
