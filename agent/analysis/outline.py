"""What stands where in one module: its definitions, the statement on a line, each node's parent."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agent.analysis import ir
from agent.analysis.walk import SUITE_FIELDS, children, header_lines, statements, walk

Def = ir.FunctionDef | ir.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Definition:
    """A function or class. ``chain``: the definitions around it, outermost first.

    Two are equal when they stand at the same place, even if the file was parsed twice in between.
    """

    path: str
    node: Def
    chain: tuple[Def, ...]

    @property
    def key(self) -> tuple[str, int]:
        return self.path, self.node.start_byte

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.qualname} at {self.path}:{self.node.line}>"

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def qualname(self) -> str:
        """``Class.method``, ``outer.inner``."""
        return qualname((*self.chain, self.node))

    @property
    def owner(self) -> ir.ClassDef | None:
        """The class in whose body it stands."""
        return self.chain[-1] if self.chain and isinstance(self.chain[-1], ir.ClassDef) else None


def qualname(chain: tuple[Def, ...]) -> str:
    return ".".join(definition.name for definition in chain)


_Span = tuple[int, int, ir.Stmt]
"""First and last line of a statement, or of its header."""


_DEFINES = re.compile(rb"\b(?:def|class)[ \t\f\\]")


def _first(span: _Span) -> int:
    return span[0]


class Outline:
    """Answers about one module; each table is built when first asked for."""

    def __init__(self, module: ir.Module) -> None:
        # Not the module itself: an outline lives as long as its module, and must not keep it alive.
        self._path = module.path
        self._source = module.source
        self.body = module.body
        self._inner_spans: dict[ir.FunctionDef, list[_Span]] = {}

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """All of the module, in file order."""
        return tuple(self._define(self.body))

    @cached_property
    def _by_node(self) -> dict[Def, Definition]:
        return {each.node: each for each in self.definitions}

    def definition_of(self, node: ir.Node) -> Definition | None:
        """The definition that a node of this module is; None for one that is no function or class."""
        return self._by_node.get(node) if isinstance(node, Def) else None

    @cached_property
    def parents(self) -> Parents:
        """Each node's parent; a statement of the module's own body has none."""
        return Parents(self.body)

    def enclosing(self, line: int) -> tuple[Def, ...]:
        """The definitions around a line, outermost first; a definition's own header and decorators are inside it."""
        innermost: tuple[Def, ...] = ()
        for definition in self.definitions:
            first = min([definition.node.line, *(each.line for each in definition.node.decorators)])
            if first <= line <= definition.node.end and len(definition.chain) >= len(innermost):
                innermost = (*definition.chain, definition.node)
        return innermost

    def statement_at(self, line: int) -> ir.Stmt | None:
        """The innermost statement on the line: a simple one (the first of several), else a compound one by its header.

        None: no statement is there, as on a blank line, a comment, an ``else:``.
        """
        around = [each for each in self._functions if each.line <= line <= each.end]
        spans = [*self._outer_spans, *(span for each in around for span in self._spans_in(each))]
        on_line = sorted((span for span in spans if span[0] <= line <= span[1]), key=_first)
        if not on_line:
            return None
        latest = [statement for first, _, statement in on_line if first == on_line[-1][0]]
        return next((statement for statement in latest if not SUITE_FIELDS[type(statement)]), latest[0])

    def nearest(self, line: int, count: int = 3) -> tuple[ir.Stmt, ...]:
        """The statements next to a line, closest first."""
        spans = sorted([*self._outer_spans, *(span for each in self._functions for span in self._spans_in(each))], key=_first)
        at = bisect_left(spans, line, key=_first)
        around = spans[max(0, at - count) : at + count]
        near = sorted(around, key=lambda span: (min(abs(span[0] - line), abs(span[1] - line)), span[0]))
        return tuple(statement for _, _, statement in near[:count])

    def statements_naming(self, word: bytes) -> Iterator[ir.Stmt]:
        """Every statement but for those in functions without the word in their text, whose bodies need not be read; in no order."""
        yield from statements(self.body, into_functions=False)
        for function in self._functions:
            if word in self._source[function.start_byte : function.end_byte]:
                yield from statements(function.body)

    @cached_property
    def _functions(self) -> tuple[ir.FunctionDef, ...]:
        """Those that stand in no other."""
        return tuple(each for each in statements(self.body, into_functions=False) if isinstance(each, ir.FunctionDef))

    @cached_property
    def _outer_spans(self) -> list[_Span]:
        return [(*header_lines(self._source, each), each) for each in statements(self.body, into_functions=False)]

    def _spans_in(self, function: ir.FunctionDef) -> list[_Span]:
        if function not in self._inner_spans:
            self._inner_spans[function] = [(*header_lines(self._source, each), each) for each in statements(function.body)]
        return self._inner_spans[function]

    def _define(self, body: list[ir.Stmt]) -> list[Definition]:
        found: list[Definition] = []
        pending: list[tuple[ir.Stmt, tuple[Def, ...]]] = [(statement, ()) for statement in reversed(body)]
        while pending:
            statement, chain = pending.pop()
            if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
                found.append(Definition(path=self._path, node=statement, chain=chain))
                chain = (*chain, statement)
                if isinstance(statement, ir.FunctionDef) and not statement.has_body and not self._may_define(statement):
                    continue
            pending.extend((below, chain) for below in reversed(_suites_below(statement)))
        return found

    def _may_define(self, function: ir.FunctionDef) -> bool:
        """Whether the text of a function whose body nobody has read yet can hold a definition."""
        own = self._source.find(b"def", function.start_byte)
        return _DEFINES.search(self._source, own + 3, function.end_byte) is not None


def _header(function: ir.FunctionDef) -> list[ir.Node]:
    """The children of a function but for its body."""
    return [*function.params, *function.decorators, *([function.returns] if function.returns is not None else [])]


class Parents:
    """Parents of a module's nodes. Those in a function are entered when one is asked for: most bodies need not be read."""

    def __init__(self, body: list[ir.Stmt]) -> None:
        self._known: dict[ir.Node, ir.Node] = {}
        functions = (each for each in statements(body, into_functions=False) if isinstance(each, ir.FunctionDef))
        self._functions = sorted(functions, key=lambda each: each.start_byte)
        self._starts = [each.start_byte for each in self._functions]
        outer = frozenset(self._functions)
        pending: list[ir.Node] = list(body)
        while pending:
            node = pending.pop()
            below = _header(node) if isinstance(node, ir.FunctionDef) and node in outer else children(node)
            self._known.update(dict.fromkeys(below, node))
            pending.extend(below)

    def get(self, node: ir.Node) -> ir.Node | None:
        """None for a statement of the module's own body, and for what is no node of it."""
        found = self._known.get(node)
        if found is None:
            at = bisect_right(self._starts, node.start_byte) - 1
            if at >= 0 and self._enter(at, node):
                found = self._known.get(node)
        return found

    def _enter(self, at: int, node: ir.Node) -> bool:
        """Enters the function whose text holds the node; False where that was done, or it stands behind the function."""
        function = self._functions[at]
        if node is function or node.start_byte >= function.end_byte or (function.body and function.body[0] in self._known):
            return False
        self._known.update(dict.fromkeys(function.body, function))
        self._known.update((child, each) for statement in function.body for each in walk(statement) for child in children(each))
        return True


def _suites_below(statement: ir.Stmt) -> list[ir.Stmt]:
    """The statements one level down."""
    below: list[ir.Stmt] = []
    for child in children(statement):
        if isinstance(child, ir.Stmt) and not isinstance(child, ir.Expr):
            below.append(child)
        elif isinstance(child, (ir.Handler, ir.Case)):
            below.extend(child.body)
    return below


def holder(outline: Outline, node: ir.Node) -> ir.Stmt:
    """The statement that a node belongs to."""
    at: ir.Node | None = node
    while at is not None and not isinstance(at, ir.Stmt):
        at = outline.parents.get(at)
    assert at is not None
    return at
