"""One row per pattern of a ``case``: concrete node to IR."""

from __future__ import annotations

from typing import Any

from agent.analysis import ir
from agent.analysis.lowering import Lowering, Row, SyntaxNode


def _leaves(lo: Lowering, node: SyntaxNode) -> list[Any]:
    comments = lo.comments
    return [child for child in node.children if child.kind_id not in comments]


def _operand(lo: Lowering, parts: list[Any]) -> Any:
    """One simple pattern: the grammar leaves a minus sign and its number side by side, and ``_`` without a name."""
    first, last = parts[0], parts[-1]
    if first.type == "_":
        return lo.place(ir.MatchAs(None, None), first)
    if first.type != "-":
        return lo.pattern(first)
    return _spanned(ir.MatchValue(_negative(lo, first, last)), first, last)


def _negative(lo: Lowering, minus: SyntaxNode, number: SyntaxNode) -> Any:
    return _spanned(ir.UnaryOp("-", lo.expr(number)), minus, number)


def _spanned(made: Any, first: SyntaxNode, last: SyntaxNode) -> Any:
    made.line, made.start_byte = first.start_point[0] + 1, first.start_byte
    made.end, made.end_byte = last.end_point[0] + 1, last.end_byte
    return made


def case_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    return _operand(lo, _leaves(lo, node))


def as_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    pattern, name = lo.named(node)
    return ir.MatchAs(lo.pattern(pattern), lo.word(name))


def union_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    alternatives: list[list[Any]] = [[]]
    for child in _leaves(lo, node):
        if child.type == "|":
            alternatives.append([])
        else:
            alternatives[-1].append(child)
    return ir.MatchOr([_operand(lo, parts) for parts in alternatives])


def dotted_name(lo: Lowering, node: SyntaxNode) -> Any:
    """A plain name captures, a dotted one compares."""
    first, *rest = lo.named(node)
    if not rest:
        return ir.MatchAs(None, lo.word(first))
    return ir.MatchValue(_dotted(lo, node))


def _dotted(lo: Lowering, node: SyntaxNode) -> Any:
    first, *rest = lo.named(node)
    made: Any = lo.place(ir.Name(lo.word(first)), first)
    for part in rest:
        made = _spanned(ir.Attribute(made, lo.word(part)), first, part)
    return made


def value(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.MatchValue(lo.expr(node))


def complex_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    """``-3 + 4j``."""
    leaves = _leaves(lo, node)
    *left, operator, imaginary = leaves
    real = _negative(lo, left[0], left[1]) if left[0].type == "-" else lo.expr(left[0])
    return ir.MatchValue(lo.place(ir.BinOp(real, lo.word(operator), lo.expr(imaginary)), node))


def list_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.MatchSequence([lo.pattern(child) for child in lo.named(node)])


def tuple_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    """Brackets around one pattern without a comma only group."""
    inside = lo.named(node)
    if len(inside) == 1 and not any(child.type == "," for child in node.children):
        return lo.pattern(inside[0])
    return ir.MatchSequence([lo.pattern(child) for child in inside])


def splat_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    name = _leaves(lo, node)[-1]
    return ir.MatchStar(None if lo.text(name) == "_" else lo.word(name))


def dict_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    keys, patterns, rest = [], [], None
    key: list[Any] = []
    for child in _leaves(lo, node)[1:-1]:
        if child.type == "splat_pattern":
            rest = lo.word(_leaves(lo, child)[-1])
        elif child.type == "case_pattern":
            patterns.append(lo.pattern(child))
        elif child.type == ":":
            keys.append(_key(lo, key))
            key = []
        elif child.type != ",":
            key.append(child)
    return ir.MatchMapping(keys, patterns, rest)


def _key(lo: Lowering, parts: list[Any]) -> Any:
    made = _operand(lo, parts)
    return made.value if isinstance(made, ir.MatchValue) else lo.unsupported(parts[0])


def class_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    name, *arguments = lo.named(node)
    patterns, kwd_names, kwd_patterns = [], [], []
    for argument in arguments:
        inner = _leaves(lo, argument)
        if inner[0].type == "keyword_pattern":
            keyword, _, *operand = _leaves(lo, inner[0])
            kwd_names.append(lo.word(keyword))
            kwd_patterns.append(_operand(lo, operand))
        else:
            patterns.append(lo.pattern(argument))
    return ir.MatchClass(_dotted(lo, name), patterns, kwd_names, kwd_patterns)


PATTERNS: dict[str, Row] = {
    "as_pattern": as_pattern,
    "case_pattern": case_pattern,
    "class_pattern": class_pattern,
    "complex_pattern": complex_pattern,
    "concatenated_string": value,
    "dict_pattern": dict_pattern,
    "dotted_name": dotted_name,
    "false": value,
    "float": value,
    "integer": value,
    "list_pattern": list_pattern,
    "none": value,
    "splat_pattern": splat_pattern,
    "string": value,
    "true": value,
    "tuple_pattern": tuple_pattern,
    "union_pattern": union_pattern,
}
