"""What stands where in one module: its definitions, the statement on a line, each node's parent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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


class Outline:
    """Answers about one module; each table is built when first asked for."""

    def __init__(self, module: ir.Module) -> None:
        # Not the module itself: an outline lives as long as its module, and must not keep it alive.
        self._path = module.path
        self._source = module.source
        self.body = module.body

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """All of the module, in file order."""
        return tuple(self._define(self.body))

    @cached_property
    def parents(self) -> dict[ir.Node, ir.Node]:
        """Each node's parent; a statement of the module's own body has none."""
        return {child: node for root in self.body for node in walk(root) for child in children(node)}

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
        end = bisect_right(self._firsts, line)
        start = bisect_left(self._firsts, line - self._longest)
        on_line = [(first, statement) for first, last, statement in self._spans[start:end] if last >= line]
        if not on_line:
            return None
        latest = [statement for first, statement in on_line if first == on_line[-1][0]]
        return next((statement for statement in latest if not SUITE_FIELDS[type(statement)]), latest[0])

    def nearest(self, line: int, count: int = 3) -> tuple[ir.Stmt, ...]:
        """The statements next to a line, closest first."""
        at = bisect_left(self._firsts, line)
        around = self._spans[max(0, at - count) : at + count]
        near = sorted(around, key=lambda span: (min(abs(span[0] - line), abs(span[1] - line)), span[0]))
        return tuple(statement for _, _, statement in near[:count])

    @cached_property
    def _spans(self) -> list[tuple[int, int, ir.Stmt]]:
        spans = [(*header_lines(self._source, statement), statement) for statement in statements(self.body)]
        return sorted(spans, key=lambda span: span[0])

    @cached_property
    def _firsts(self) -> list[int]:
        return [first for first, _, _ in self._spans]

    @cached_property
    def _longest(self) -> int:
        return max((last - first for first, last, _ in self._spans), default=0)

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
        text = self._source[function.start_byte : function.end_byte]
        return text.find(b"def", text.find(b"def") + 3) >= 0 or b"class" in text


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
