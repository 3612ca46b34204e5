"""Source text to the IR, by tree-sitter; the only module that imports it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from agent.analysis import ir, source_text
from agent.analysis.lower_expressions import EXPRESSIONS
from agent.analysis.lower_patterns import PATTERNS
from agent.analysis.lower_statements import STATEMENTS
from agent.analysis.lower_stdlib import lower_stdlib
from agent.analysis.lowering import CarefulLowering, Later, Lowering, Row, Rows, no_row
from agent.analysis.walk import header_lines, statements, walk
from agent.domain.source import sha256

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

PARTS = frozenset(
    {
        "aliased_import", "argument_list", "assignment", "augmented_assignment", "block", "case_clause", "chevron", "decorator",
        "default_parameter", "dictionary_splat", "dictionary_splat_pattern", "elif_clause", "else_clause", "escape_interpolation",
        "escape_sequence", "except_clause", "finally_clause", "for_in_clause", "format_expression", "format_specifier",
        "if_clause", "import_prefix", "interpolation", "keyword_argument", "keyword_pattern", "keyword_separator",
        "lambda_parameters", "module", "pair", "parameters", "positional_separator", "relative_import", "string_content",
        "string_end", "string_start", "type_conversion", "type_parameter", "typed_default_parameter", "typed_parameter",
        "wildcard_import", "with_clause", "with_item",
    }
)  # fmt: skip
"""Node types that the row of the node around them reads."""

EXTRAS = frozenset({"comment", "line_continuation"})


class _Grammar(NamedTuple):
    parser: Parser
    piecewise: Parser
    expressions: Rows
    statements: Rows
    patterns: Rows
    comments: frozenset[int]


def parse(path: str, source: bytes, *, late: bool = False) -> ir.Module:
    """Lowers one file. Never raises: what cannot be read becomes Unsupported and is listed in ``errors``.

    ``late``: bodies of functions are lowered when they are first read, where that gives the same.
    """
    text = source_text.read(source)
    module = ir.Module(path, sha256(source), source, [])
    root = _grammar().parser.parse(text.utf8).root_node
    sound = not root.has_error and not text.fault
    plain = late and not text.shift and text.offset is None
    lowered = _lowered(Lowering, text.utf8, root, _Bodies(module, text.utf8).later if plain else None) if sound else None
    module.body, module.errors = lowered or _second_reading(text, root)
    _to_file_offsets(module, text)
    return module


def put_off_bodies(module: ir.Module) -> None:
    """Of a module that was loaded without the bodies of some functions: they are lowered when they are first read."""
    functions = [each for each in statements(module.body, into_functions=False) if isinstance(each, ir.FunctionDef) and not each.has_body]
    if functions:
        bodies = _Bodies(module, source_text.read(module.source).utf8)
        for each in functions:
            each.put_off(bodies.later(each.start_byte, each.end_byte))


class _Bodies:
    """Lowers the functions of one file one by one, from the text of each: a tree kept for it would take ten times the room of the text."""

    def __init__(self, module: ir.Module, utf8: bytes) -> None:
        self._module = ref(module)
        self._path, self._source, self._utf8 = module.path, module.source, utf8

    def later(self, start: int, end: int) -> Callable[[], list[ir.Stmt]]:
        """See ``Later``."""
        return lambda: self._body(start, end)

    def _body(self, start: int, end: int) -> list[ir.Stmt]:
        root = _piece(self._utf8, start, end)
        with _room_to_nest():
            lowered = None if root.has_error else _lowered(Lowering, self._utf8, root)
        if lowered is not None and not lowered[1] and len(lowered[0]) == 1 and isinstance(lowered[0][0], ir.FunctionDef):
            return lowered[0][0].body
        return self._of_the_whole(start, end)

    def _of_the_whole(self, start: int, end: int) -> list[ir.Stmt]:
        """For what only shows now that the grammar cannot read it: the whole file is, as it would have been at once."""
        whole, module = parse(self._path, self._source), self._module()
        if module is not None:
            module.errors = whole.errors
        found = (each.body for each in statements(whole.body) if isinstance(each, ir.FunctionDef) and each.start_byte == start)
        unread = ir.Unsupported("syntax error", self._utf8[start:end].decode("utf-8", "replace"), start_byte=start, end_byte=end)
        return next(found, [unread])


@contextmanager
def _room_to_nest() -> Iterator[None]:
    """Whoever reads a body may be deep in calls of their own; what is nested too deeply must not depend on it."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + ROOM)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


ROOM = 1_000
"""Calls within calls that a body may take to lower."""


def text_of(module: ir.Module, node: ir.Node) -> str:
    """The node's text as it stands in the file."""
    return module.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def statement_lines(module: ir.Module) -> Iterator[tuple[ir.Stmt, int, int]]:
    """Every statement in file order with its first and last line; of a compound statement the lines of its header."""
    for statement in statements(module.body):
        yield statement, *header_lines(module.source, statement)


@cache
def _grammar() -> _Grammar:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    language = Language(tree_sitter_python.language())
    kinds = [language.node_kind_for_id(number) or "" for number in range(language.node_kind_count)]
    comments = frozenset(number for number, kind in enumerate(kinds) if kind in EXTRAS)
    return _Grammar(
        parser=Parser(language),
        piecewise=Parser(language),
        expressions=_by_number(kinds, EXPRESSIONS),
        statements=_by_number(kinds, STATEMENTS),
        patterns=_by_number(kinds, PATTERNS),
        comments=comments,
    )


def _piece(utf8: bytes, start: int, end: int) -> Node:
    """The tree of a stretch of the text; its nodes have their places in the whole."""
    from tree_sitter import Range

    line = utf8.count(b"\n", 0, start)
    first = (line, start - utf8.rfind(b"\n", 0, start) - 1)
    last = (line + utf8.count(b"\n", start, end), end - utf8.rfind(b"\n", 0, end) - 1)
    parser = _grammar().piecewise
    parser.included_ranges = [Range(first, last, start, end)]
    return parser.parse(utf8).root_node


def _by_number(kinds: list[str], table: Mapping[str, Row]) -> Rows:
    """A row for each kind id, since a lookup by number costs a third of one by name."""
    return [table.get(kind, no_row) for kind in kinds]


def _lowered(kind: type[Lowering], utf8: bytes, root: Node, later: Later | None = None) -> tuple[list[ir.Stmt], list[ir.ParseError]] | None:
    """None when a row found that the grammar misread the source; never so for CarefulLowering."""
    grammar = _grammar()
    lo = kind(utf8, grammar.expressions, grammar.statements, grammar.patterns, grammar.comments)
    lo.later = later
    if root.is_error:
        return _readable_start(lo, root), lo.errors
    body = [lo.statement(child) for child in root.named_children if child.kind_id not in grammar.comments]
    return None if lo.misread and kind is Lowering else (body, lo.errors)


def _readable_start(lo: Lowering, root: Node) -> list[ir.Stmt]:
    """A tree that is one error: statements up to the first loose token; behind it nothing is known to stand where it seems to."""
    body: list[ir.Stmt] = []
    for child in root.children:
        if child.kind_id in lo.comments:
            continue
        if child.is_error or lo.statements[child.kind_id] is no_row:
            rest = ir.Unsupported("syntax error", lo.slice(child.start_byte, root.end_byte))
            lo.place(rest, child)
            rest.end, rest.end_byte = root.end_point[0] + 1, root.end_byte
            lo.errors.append(ir.ParseError(rest.text, line=rest.line, end=rest.end, start_byte=rest.start_byte, end_byte=rest.end_byte))
            return [*body, rest]
        body.append(lo.statement(child))
    return body


def _second_reading(text: source_text.SourceText, root: Node) -> tuple[list[ir.Stmt], list[ir.ParseError]]:
    """For what the grammar cannot read: the standard library if it can, else tree-sitter's recovery with the broken stretches marked."""
    if text.fault is None:
        try:
            return lower_stdlib(text.utf8, _string_at), []
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    body, errors = _lowered(CarefulLowering, text.utf8, root) or ([], [])
    if text.fault is not None:
        at, what = text.fault
        line = text.utf8.count(b"\n", 0, at) + 1
        errors.insert(0, ir.ParseError(what, line=line, end=line, start_byte=at, end_byte=at + 1))
    return body, errors


def _string_at(utf8: bytes, start: int, end: int) -> Any:
    """One string literal of a file, lowered by the grammar (in brackets, since it may run over lines); None if it cannot be read."""
    piece = b"(" + utf8[start:end] + b")"
    root = _grammar().parser.parse(piece).root_node
    if root.has_error:
        return None
    body, errors = _lowered(Lowering, piece, root) or ([], [])
    if errors or len(body) != 1 or not isinstance(body[0], ir.ExprStmt):
        return None
    _shift(body[0].value, start - 1, utf8.count(b"\n", 0, start))
    return body[0].value


def _shift(root: ir.Node, offset: int, lines: int) -> None:
    for node in walk(root):
        node.start_byte += offset
        node.end_byte += offset
        node.line += lines
        node.end += lines


def _to_file_offsets(module: ir.Module, text: source_text.SourceText) -> None:
    """From offsets in the UTF-8 that was parsed to offsets in the file."""
    if not text.shift and text.offset is None:
        return
    offset = text.offset or (lambda at: at + text.shift)
    for root in (*module.body, *module.errors):
        for node in walk(root):
            node.start_byte, node.end_byte = offset(node.start_byte), offset(node.end_byte)
