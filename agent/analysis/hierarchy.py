"""Classes: their bases through imports, method resolution order, subclasses, and where a method is defined."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.callers import references
from agent.analysis.index import Index
from agent.analysis.outline import Definition
from agent.analysis.resolve import External, Resolver, dotted_text
from agent.analysis.syntax import text_of

Base = Definition | External


class Hierarchy:
    """Answers about the classes of one tree; a class is the Definition of its ClassDef."""

    def __init__(self, index: Index, resolver: Resolver | None = None) -> None:
        self._index = index
        self._resolver = resolver or Resolver(index)
        self._mros: dict[Definition, tuple[Base, ...]] = {}

    def find(self, dotted: str) -> list[Definition]:
        """Classes by name or by the end of their dotted name: ``Scheduler``, ``pkg.mod.Scheduler``, ``Outer.Inner``."""
        return [each for each in self._index.classes_named(dotted.rpartition(".")[2]) if ends_with(self._index, each, dotted)]

    def bases(self, cls: Definition) -> tuple[Base, ...]:
        """In the order written. External: outside of the tree, computed, or bound differently on different branches."""
        assert isinstance(cls.node, ir.ClassDef)
        return tuple(self._base(cls, base) for base in cls.node.bases)

    def _base(self, cls: Definition, written: ir.Expr) -> Base:
        plain = written.value if isinstance(written, ir.Subscript) else written
        text = dotted_text(plain)
        if text is None:
            return External(name=text_of(self._index.module(cls.path), written))
        found = self._resolver.meanings(cls.path, text, cls.chain)
        classes = [each for each in found if isinstance(each, Definition) and isinstance(each.node, ir.ClassDef)]
        if len(found) == 1 and classes and classes[0] != cls:
            return classes[0]
        known = next((each.name for each in found if isinstance(each, External)), text)
        return External(name=known)

    def mro(self, cls: Definition) -> tuple[Base, ...]:
        """C3, the class first, ``object`` left out. An External base is a leaf; its own bases are unknown, so methods may come from it.

        Where C3 has no answer (Python would refuse the class, or a base is wrongly guessed) the order is depth first.
        """
        return self._mro(cls, ())

    def _mro(self, cls: Definition, below: tuple[Definition, ...]) -> tuple[Base, ...]:
        known = self._mros.get(cls)
        if known is None:
            if cls in below:
                return (cls,)
            bases = self.bases(cls)
            lines = [self._mro(base, (*below, cls)) if isinstance(base, Definition) else (base,) for base in bases]
            known = (cls, *(each for each in _merge([*map(list, lines), list(bases)]) if each != cls))
            self._mros[cls] = known
        return known

    def subclasses(self, cls: Definition) -> list[Definition]:
        """Direct and indirect, by classes whose base resolves to it; in the order found."""
        found: list[Definition] = []
        pending = [cls]
        seen = {cls}
        while pending:
            parent = pending.pop(0)
            for child in self._direct_subclasses(parent):
                if child not in seen:
                    seen.add(child)
                    found.append(child)
                    pending.append(child)
        return found

    def _direct_subclasses(self, cls: Definition) -> list[Definition]:
        children: list[Definition] = []
        for reference in references(self._index, cls.name):
            if reference.kind == "base" and isinstance(reference.statement, ir.ClassDef):
                child = Definition(path=reference.path, node=reference.statement, chain=reference.chain)
                if cls in self.bases(child):
                    children.append(child)
        return children

    def attribute(self, cls: Definition, name: str) -> Definition | External | None:
        """The function or class that ``name`` means on an instance, by the MRO; External when a base outside of the tree comes first."""
        for each in self.mro(cls):
            if isinstance(each, External):
                if each.name not in _EMPTY_BASES:
                    return each
                continue
            for member in reversed(self._resolver.members(each, name)):
                return member if isinstance(member, (Definition, External)) else External(name=name)
        return None


_EMPTY_BASES = frozenset(
    {
        "object", "ABC", "abc.ABC", "Generic", "typing.Generic", "Protocol", "typing.Protocol", "typing_extensions.Protocol",
        "NamedTuple", "typing.NamedTuple", "TypedDict", "typing.TypedDict", "Enum", "enum.Enum", "IntEnum", "enum.IntEnum",
    }
)  # fmt: skip
"""Bases that bring no method of a name that a program would define."""


def ends_with(index: Index, definition: Definition, dotted: str) -> bool:
    """Whether ``dotted`` is the definition's full dotted name or an end of it."""
    full = f"{index.dotted(definition.path)}.{definition.qualname}"
    return full == dotted or full.endswith(f".{dotted}")


def _merge(lines: list[list[Base]]) -> list[Base]:
    """The merge step of C3."""
    merged: list[Base] = []
    lines = [line for line in lines if line]
    while lines:
        head = next((line[0] for line in lines if not any(line[0] in other[1:] for other in lines)), lines[0][0])
        merged.append(head)
        lines = [rest for line in lines if (rest := [each for each in line if each != head])]
    return merged
