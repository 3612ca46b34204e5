"""The objects that methods run on and parameters hold: configuration records, and any other as known by its class."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.walk import walk
from agent.evaluation.machine import Machine
from agent.evaluation.settings import configurations
from agent.evaluation.state import State
from agent.evaluation.values import AV, ClassV, Instance


class Context(NamedTuple):
    """Which constructor call made the receiver; None: any of them. ``made``: an object of the forward run, which is the receiver itself."""

    site: Reference | None
    outer: Context | None
    made: Instance | None = None


ANY = Context(None, None)


class Receivers:
    """The records as the forward run made them; of any other class one object for each context."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.by_class: dict[tuple[ClassV, Context], Instance] = {}
        self.contexts: dict[Instance, Context] = {}
        self.made = {cls: tuple(objects) for cls, objects in m.made.items()}
        """Instances of the forward run, by class; what questions make in passing is not counted."""
        self.configurations = tuple(configurations(m))
        self.names = self._record_names()

    def _record_names(self) -> dict[str, Instance]:
        """Variable and attribute names under which the configuration records are passed around in the forward run."""
        found: dict[str, Instance] = {}
        ambiguous: set[str] = set()
        records = self.configurations
        layer: State | None = self.m.state
        while layer is not None:
            for (_, name), cell in layer.own.items():
                if cell.value in records and not name.startswith("<") and name not in ("self", "cls"):
                    if name in found and found[name] is not cell.value:
                        ambiguous.add(name)
                    found[name] = cell.value
            layer = layer.parent
        for obj in records:
            if isinstance(obj.cls, ClassV) and self.only_record(obj.cls) is obj:
                found.setdefault(snake_case(obj.cls.name), obj)
        return {name: obj for name, obj in found.items() if name not in ambiguous}

    def of(self, cls: ClassV, context: Context = ANY) -> Instance:
        """The object on which a method of ``cls`` runs: the configuration record itself, or one known only by its class."""
        made = context.made
        if made is not None and isinstance(made.cls, ClassV) and cls in made.cls.mro:
            return made
        record = self.only_record(cls)
        if record is not None:
            return record
        key = (cls, context)
        if key not in self.by_class:
            obj = Instance(cls, f"any {cls.name}", "demand")
            obj.open = f"an attribute of {cls.name} that no method writes"
            self.by_class[key] = obj
            self.contexts[obj] = context
        return self.by_class[key]

    def record(self, param: ir.Param) -> AV | None:
        """The configuration record that a parameter holds, by its annotation or its name."""
        names = {node.id for node in _annotation_names(param.annotation)} if param.annotation is not None else set()
        for obj in self.m.settled:
            if isinstance(obj.cls, ClassV) and any(base.name in names and self.only_record(base) is obj for base in obj.cls.mro):
                self._assume_single(obj.cls)
                return obj
        if param.annotation is None or not names:
            found = self.names.get(param.name)
            if found is not None:
                assert isinstance(found.cls, ClassV)
                self._assume_single(found.cls)
                return found
        return None

    def is_record(self, cls: ClassV) -> bool:
        """Whether a configuration record of the launch is of exactly this class: what is asked of its class is asked of the record."""
        return any(obj.cls is cls for obj in self.configurations)

    def only_record(self, cls: ClassV) -> Instance | None:
        """The one object of the class, or of a class derived from it, that the forward run has made, if it is a configuration record."""
        made = [obj for each, objects in self.made.items() if cls in each.mro for obj in objects]
        return made[0] if len(made) == 1 and made[0] in self.configurations else None

    def _assume_single(self, cls: ClassV) -> None:
        self.m.assume(f"every {cls.name} that is passed around is the one made from the command line")


def snake_case(name: str) -> str:
    """``ServerArgs`` as a variable that holds one is called."""
    return "".join(("_" if i and c.isupper() and not name[i - 1].isupper() else "") + c.lower() for i, c in enumerate(name))


def called_so(receiver: str, called: Collection[str]) -> bool:
    """Whether a receiver may be an object that is known by these names."""
    one = receiver[:-1] if receiver.endswith("s") else receiver  # ``workers[0].ready = True``
    return any(receiver == each or one == each or each.endswith("_" + receiver) or receiver.endswith("_" + each) for each in called)


_BETWEEN_NAMES = re.compile(r"[\[\]|\s]+")


def _annotation_names(annotation: ir.Expr | None) -> list[ir.Name]:
    if annotation is None:
        return []
    nodes = list(walk(annotation))
    found = [node for node in nodes if isinstance(node, ir.Name)]
    found += [ir.Name(node.attr) for node in nodes if isinstance(node, ir.Attribute)]
    for node in nodes:
        if isinstance(node, ir.Constant) and isinstance(node.value, str):
            found += [ir.Name(part) for part in _BETWEEN_NAMES.split(node.value) if part]
    return found
