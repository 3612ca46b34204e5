"""What an attribute may be: the values over all methods of the class that write it, and over the calls that give it as a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.attribute_names import may_write
from agent.analysis.writers import Writer, holds_one, receivers_by_text, reflective_by_text, writers_in
from agent.evaluation.attributes import class_attribute, lookup_attribute
from agent.evaluation.call_sites import makes_itself
from agent.evaluation.definitions import underlying
from agent.evaluation.parameters import MAX_SITES
from agent.evaluation.receivers import snake_case
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
        self.definitions = demand.definitions
        self.call_sites = demand.call_sites
        self.parameters = demand.parameters
        self.later = demand.later
        self.known: dict[tuple[Instance, str], AV] = {}
        self.writers: dict[tuple[Instance, str], tuple[Place, ...]] = {}
        self.below: dict[ClassV, tuple[ClassV, ...]] = {}

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
                if isinstance(around, ir.FunctionDef) and _on_self(writer, around):
                    methods.setdefault(around, []).append(writer)
        values += self._from_outside(cls, name)
        if cls.fields is not None and name in cls.fields:
            values += self._given(cls, name)
        if not methods and not values:
            return None
        self.writers[(obj, name)] = tuple(Place(w.path, w.line) for ws in methods.values() for w in ws)
        for method, writers in methods.items():
            values.append(self._by_method(obj, cls, name, method, writers))
        kept = [v for value in values for v in candidates(value) if v is not ABSENT]
        return one_of(kept) if kept else (self._class_level(cls, name) or ABSENT)

    def _given(self, cls: ClassV, name: str) -> list[AV]:
        """A field over all calls that make such a record."""
        assert cls.fields is not None
        sites = self.call_sites.constructor_sites(cls)
        handed_on = any(ref.kind == "value" for ref in sites) or makes_itself(cls)
        if not sites or len(sites) > MAX_SITES or handed_on:
            return [Unk(f"{name} is a field of {cls.name}, given where one is made")]
        values: list[AV] = []
        for site in sites:
            watch = Watch(name, list(cls.fields).index(name), False)
            if not self.parameters.reaches(site, watch):
                return [Unk(f"{name} of {cls.name}: the call at {site.path}:{site.line} was not followed")]
            values += watch.seen
        default = cls.fields[name].default or Unk(f"the default of {name}")
        return [default if value is ABSENT else value for value in values]

    def overridden(self, obj: Instance, name: str, value: AV) -> AV:
        """``value`` joined with what the attribute is on objects of derived classes that define or write it themselves."""
        assert isinstance(obj.cls, ClassV)
        key = ("derived", obj, name)
        if key in self.effort.pending:
            return value
        found = [value]
        self.effort.pending.add(key)
        try:
            for derived in self.derived(obj.cls):
                if any(writer.owner is derived.node and writer.kind != "keyword" for writer in writers_in(derived.module.ir, name)):  # type: ignore[arg-type]
                    found.append(lookup_attribute(self.m, self.receivers.of(derived), name))
        finally:
            self.effort.pending.discard(key)
        return one_of([v for each in found for v in candidates(each) if v is not ABSENT]) if len(found) > 1 else value

    def derived(self, cls: ClassV) -> tuple[ClassV, ...]:
        """Every class of the tree below this one that the launch can import."""
        if cls not in self.below:
            self.below[cls] = ()
            found: dict[ClassV, None] = {}
            for ref in self.call_sites.references(cls.name) if cls.node is not None else ():
                if ref.kind == "base" and isinstance(ref.statement, ir.ClassDef):
                    definition = next(d for d in self.m.index.outline(ref.path).definitions if d.node is ref.statement)
                    each = self.definitions.class_of(definition)
                    if each is not None and cls in each.mro:
                        found |= {each: None, **dict.fromkeys(self.derived(each))}
            self.below[cls] = tuple(found)
        return self.below[cls]

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

    def _from_outside(self, cls: ClassV, name: str) -> list[AV]:
        """Writers through another name than ``self``: counted when the name says that it holds such an object."""
        made = self.receivers.made.get(cls, ())
        kinds = {snake_case(base.name) for base in cls.mro}.union(*(self.later.names.get(obj, ()) for obj in made))
        index = self.m.index
        rows = reflective_by_text(index, "setattr")
        unnamed = [row[:2] for row in rows if row[2] == "self" and row[0] in self.call_sites.importable and self._in_class(*row[:2], cls)]
        if any(may_write(index, *row, name) for row in unnamed):
            return [Unk(f"{name} may be written by setattr() with a name that is worked out")]
        for path, line, receiver in receivers_by_text(index, name):
            if receiver in ("self", "cls") or path not in self.call_sites.importable:
                continue
            named = any(kind == receiver or kind.endswith("_" + receiver) or receiver.endswith("_" + kind) for kind in kinds)
            if named or self.later.alone(cls, name) or holds_one(index, path, receiver, (base.name for base in cls.mro)):
                return [Unk(f"{name} is also written at {path}:{line}")]
            self.m.assume("attributes that are written through names of other kinds belong to other objects")
        return []


def _on_self(writer: Writer, around: ir.Node | None) -> bool:
    if not isinstance(around, ir.FunctionDef) or not around.params or not isinstance(writer.receiver, ir.Name):
        return False
    return writer.receiver.id == around.params[0].name
