"""What lowering rows work with: the file's text, the dispatch tables, and where nodes get their place."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from agent.analysis import ir


class SyntaxNode(Protocol):
    """The part of a concrete syntax node that rows may use."""

    @property
    def type(self) -> str: ...
    @property
    def kind_id(self) -> int: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def start_point(self) -> tuple[int, int]: ...
    @property
    def end_point(self) -> tuple[int, int]: ...
    @property
    def children(self) -> Sequence[Any]: ...
    @property
    def named_children(self) -> Sequence[Any]: ...
    @property
    def has_error(self) -> bool: ...
    @property
    def is_named(self) -> bool: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def is_missing(self) -> bool: ...
    def child_by_field_name(self, name: str, /) -> Any: ...


Row = Callable[["Lowering", Any], Any]
Rows = Sequence[Row]
Later = Callable[[int, int], Callable[[], list[ir.Stmt]]]
"""From the first byte of a function and the one behind its last to what lowers its body."""
Placed = TypeVar("Placed", bound=ir.Node)


class Lowering:
    """One file on its way from the concrete tree to the IR. Rows are indexed by the grammar's kind id.

    ``later``: bodies of functions are put off; None: they are lowered with the rest.
    ``saw_yield``: in the function being lowered. ``misread``: a row met a tree that cannot be what the source means.
    """

    def __init__(self, utf8: bytes, expressions: Rows, statements: Rows, patterns: Rows, comments: frozenset[int]) -> None:
        self.utf8 = utf8
        self.expressions = expressions
        self.statements = statements
        self.patterns = patterns
        self.comments = comments
        self.later: Later | None = None
        self.errors: list[ir.ParseError] = []
        self.saw_yield = False
        self.misread = False
        self._words: dict[bytes, str] = {}

    # Three places where a node gets its place; a row that drops a bracket returns a node that has one already.

    def expr(self, node: SyntaxNode) -> Any:
        made = self.expressions[node.kind_id](self, node)
        if not made.end_byte:
            made.start_byte = node.start_byte
            made.end_byte = node.end_byte
            made.line = node.start_point[0] + 1
            made.end = node.end_point[0] + 1
        return made

    def statement(self, node: SyntaxNode) -> Any:
        try:
            made = self.statements[node.kind_id](self, node)
        except RecursionError:
            made = ir.Unsupported("nested too deeply", self.text(node))
        if not made.end_byte:
            self.place(made, node)
        return made

    def pattern(self, node: SyntaxNode) -> Any:
        made = self.patterns[node.kind_id](self, node)
        if not made.end_byte:
            self.place(made, node)
        return made

    def optional(self, node: SyntaxNode | None) -> Any:
        return None if node is None else self.expr(node)

    def block(self, node: SyntaxNode | None) -> list[ir.Stmt]:
        """The statements of a suite. A suite without any is an error that the grammar lets pass."""
        if node is None:
            return []
        comments = self.comments
        body = [self.statement(child) for child in node.named_children if child.kind_id not in comments]
        if not body:
            self.fault(node, "a block without a statement")
        return body

    def place(self, made: Placed, node: SyntaxNode) -> Placed:
        made.start_byte = node.start_byte
        made.end_byte = node.end_byte
        made.line = node.start_point[0] + 1
        made.end = node.end_point[0] + 1
        return made

    def named(self, node: SyntaxNode) -> list[Any]:
        """Named children without comments and line continuations."""
        comments = self.comments
        return [child for child in node.named_children if child.kind_id not in comments]

    def text(self, node: SyntaxNode) -> str:
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        return self.utf8[start:end].decode("utf-8", "replace")

    def word(self, node: SyntaxNode) -> str:
        """An identifier, in the normal form in which Python compares them; each is one object per file."""
        raw = self.utf8[node.start_byte : node.end_byte]
        known = self._words.get(raw)
        if known is None:
            known = raw.decode("utf-8", "replace")
            if not known.isascii():
                known = unicodedata.normalize("NFKC", known)
            self._words[raw] = known
        return known

    def unsupported(self, node: SyntaxNode, kind: str = "") -> ir.Unsupported:
        return self.place(ir.Unsupported(kind or node.type, self.text(node)), node)

    def misreading(self, node: SyntaxNode) -> ir.Unsupported:
        """For a tree that cannot be what the source means: the file gets a second reading, the node stays unknown if there is none."""
        self.misread = True
        return self.unsupported(node, "misread by the grammar")

    def fault(self, node: SyntaxNode, text: str = "") -> None:
        self.errors.append(self.place(ir.ParseError(text or self.text(node)), node))


_ABSENT_PART = (AttributeError, IndexError, TypeError, ValueError)
"""What a row raises when a part that the grammar promises is missing, as only a tree with errors can have it."""


_CLAUSES = frozenset({"block", "case_clause", "elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause"})


def no_row(lo: Lowering, node: SyntaxNode) -> Any:
    """Stands in a table for what is not to be found there, such as ``b as v`` in ``with a if x else b as v``."""
    return lo.misreading(node)


class CarefulLowering(Lowering):
    """For a tree with errors: the stretch that could not be read becomes Unsupported, its neighbours are lowered."""

    def expr(self, node: SyntaxNode) -> Any:
        if not node.has_error:
            return super().expr(node)
        return self.unreadable(node)

    def pattern(self, node: SyntaxNode) -> Any:
        if not node.has_error:
            return super().pattern(node)
        return self.place(ir.MatchValue(self.unreadable(node)), node)

    def statement(self, node: SyntaxNode) -> Any:
        if not (node.has_error or node.is_error or node.is_missing):
            return super().statement(node)
        if node.is_error or node.is_missing or self._broken(node):
            return self.unreadable(node)
        count = len(self.errors)
        try:
            return super().statement(node)
        except _ABSENT_PART:
            del self.errors[count:]
            return self.unreadable(node)

    def misreading(self, node: SyntaxNode) -> ir.Unsupported:
        self.fault(node)
        return self.unsupported(node, "misread by the grammar")

    def unreadable(self, node: SyntaxNode) -> ir.Unsupported:
        self._note(node)
        return self.unsupported(node, "syntax error")

    def _broken(self, node: SyntaxNode) -> bool:
        """Whether an error lies outside of what expr(), pattern() and the statements of a suite mark by themselves."""
        pending = [node]
        while pending:
            at = pending.pop()
            for child in at.children:
                if child.is_error or child.is_missing:
                    return True
                if not child.has_error or (child.type == "block" and at.type != "match_statement"):
                    continue
                if child.type in _CLAUSES or (at.type == "decorated_definition" and child.type != "decorator"):
                    pending.append(child)
                elif child.type != "case_pattern" and self.expressions[child.kind_id] is no_row:
                    return True
        return False

    def _note(self, node: SyntaxNode) -> None:
        """Records each outermost unreadable stretch in ``node``."""
        pending: list[SyntaxNode] = [node]
        while pending:
            at = pending.pop()
            if at.is_error or at.is_missing:
                self.fault(at, f"{at.type} is missing" if at.is_missing else "")
            elif at.has_error:
                pending.extend(reversed(at.children))
