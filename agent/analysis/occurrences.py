"""From a word in a file's bytes to the IR nodes that carry it, without walking the whole tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from weakref import WeakKeyDictionary

from agent.analysis import ir
from agent.analysis.outline import Def
from agent.analysis.walk import SUITE_FIELDS, children, walk
from agent.analysis.words import positions


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``node`` carries the word; ``ancestors``: the nodes around it, outermost first.

    Whoever holds one holds its module: while a module is held, its nodes are the same objects.
    """

    module: ir.Module
    node: ir.Node
    ancestors: tuple[ir.Node, ...]

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def parent(self) -> ir.Node | None:
        return self.ancestors[-1] if self.ancestors else None

    @property
    def statement(self) -> ir.Stmt:
        """The innermost statement around the node, or the node."""
        line = (None, *self.ancestors, self.node)
        for above, node in reversed(list(pairwise(line))):
            if isinstance(node, ir.Stmt) and (not isinstance(node, ir.Expr) or _in_suite(above, node)):
                return node
        raise AssertionError("every node of a module lies in a statement")

    @property
    def chain(self) -> tuple[Def, ...]:
        """The definitions in whose body the node lies; a decorator, base, default or annotation lies outside of its own."""
        line = (*self.ancestors, self.node)
        around = pairwise(line)
        return tuple(each for each, below in around if isinstance(each, (ir.FunctionDef, ir.ClassDef)) and below in each.body)


def _in_suite(above: ir.Node | None, node: ir.Node) -> bool:
    """An Unsupported is a statement where it stands in a suite, else an expression."""
    return above is None or any(node in getattr(above, name) for name in SUITE_FIELDS[type(above)])


Found = tuple[ir.Node, tuple[ir.Node, ...]]
"""A node and those around it."""

_FOUND: WeakKeyDictionary[ir.Module, dict[str, tuple[Found, ...]]] = WeakKeyDictionary()
"""A word is looked for once in a module: launches and questions share what was found, and it holds no module."""


def occurrences(module: ir.Module, word: str) -> tuple[Occurrence, ...]:
    """Each node that carries the identifier, or holds it in a string; in file order. Comments do not count."""
    known = _FOUND.setdefault(module, {})
    found = known.get(word)
    if found is None:
        found = known[word] = tuple(_search(module, word))
    return tuple(Occurrence(module, node, ancestors) for node, ancestors in found)


def _search(module: ir.Module, word: str) -> Iterator[Found]:
    seen: set[ir.Node] = set()
    for position in positions(module.source, word):
        for node, ancestors in _at(module, position, word):
            if node not in seen:
                seen.add(node)
                yield node, ancestors


def _at(module: ir.Module, position: int, word: str) -> Iterator[Found]:
    """Down to the innermost node at the position. In an f-string by name: before Python 3.12 places in it may be too wide."""
    line: list[ir.Node] = []
    level: list[ir.Node] = list(module.body)
    while (below := next((node for node in level if _covers(node, position)), None)) is not None:
        if isinstance(below, ir.FString):
            yield from _in_fstring(below, tuple(line), word)
            return
        line.append(below)
        level = children(below)
    if line and _carries(line[-1], word):
        yield line[-1], tuple(line[:-1])


def _in_fstring(string: ir.FString, around: tuple[ir.Node, ...], word: str) -> Iterator[Found]:
    pending: list[tuple[ir.Node, tuple[ir.Node, ...]]] = [(string, around)]
    while pending:
        node, above = pending.pop()
        if _carries(node, word):
            yield node, above
        pending.extend((child, (*above, node)) for child in reversed(children(node)))


def _covers(node: ir.Node, position: int) -> bool:
    start, end = node.start_byte, node.end_byte
    if isinstance(node, ir.Param) and node.default is not None:
        end = node.default.end_byte
    elif isinstance(node, (ir.FunctionDef, ir.ClassDef)) and node.decorators:
        start = min(start, node.decorators[0].start_byte)
    return start <= position < end


def _carries(node: ir.Node, word: str) -> bool:
    if isinstance(node, ir.Constant):
        return isinstance(node.value, str) and word in node.value
    if isinstance(node, ir.Unsupported):
        return word in node.text
    if isinstance(node, (ir.Import, ir.ImportFrom)):
        return word in getattr(node, "module", "").split(".")
    if isinstance(node, ir.Alias):
        return word == node.asname or word in node.name.split(".")
    if isinstance(node, ir.MatchClass):
        return word in node.kwd_names
    if isinstance(node, (ir.Global, ir.Nonlocal)):
        return word in node.names
    return any(getattr(node, name, None) == word for name in ("id", "attr", "name", "rest"))


def names_in(node: ir.Node) -> Iterator[str]:
    """Every plain name and attribute name below a node."""
    for each in walk(node):
        if isinstance(each, ir.Name):
            yield each.id
        elif isinstance(each, ir.Attribute):
            yield each.attr
