"""One row per display and comprehension of the grammar, and for the brackets that the IR does not keep."""

from __future__ import annotations

from typing import Any

from agent.analysis import ir
from agent.analysis.lowering import Lowering, Row, SyntaxNode


def _items(lo: Lowering, node: SyntaxNode) -> list[Any]:
    comments = lo.comments
    return [lo.expr(child) for child in node.named_children if child.kind_id not in comments]


def list_(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.ListExpr(_items(lo, node))


def tuple_(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.TupleExpr(_items(lo, node))


def tuple_pattern(lo: Lowering, node: SyntaxNode) -> Any:
    """Brackets around one target without a comma only group."""
    items = _items(lo, node)
    if len(items) == 1 and not any(child.type == "," for child in node.children):
        return items[0]
    return ir.TupleExpr(items)


def set_(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.SetExpr(_items(lo, node))


def dictionary(lo: Lowering, node: SyntaxNode) -> Any:
    keys: list[Any] = []
    values: list[Any] = []
    for child in lo.named(node):
        if child.type == "pair":
            keys.append(lo.expr(child.child_by_field_name("key")))
            values.append(lo.expr(child.child_by_field_name("value")))
        else:
            keys.append(None)
            values.append(lo.expr(lo.named(child)[0]))
    return ir.DictExpr(keys, values)


def _comprehension(kind: str) -> Row:
    def row(lo: Lowering, node: SyntaxNode) -> Any:
        body, *rest = lo.named(node)
        value = None
        if kind == "dict":
            element = lo.expr(body.child_by_field_name("key"))
            value = lo.expr(body.child_by_field_name("value"))
        else:
            element = lo.expr(body)
        return ir.Comprehension(kind, element, value, _clauses(lo, rest))

    return row


def _clauses(lo: Lowering, nodes: list[Any]) -> list[ir.Clause]:
    clauses: list[ir.Clause] = []
    for node in nodes:
        if node.type == "if_clause":
            test = lo.expr(lo.named(node)[0])
            clauses[-1].ifs.append(test)
            clauses[-1].end, clauses[-1].end_byte = test.end, test.end_byte
            continue
        target, iterated = lo.expr(node.child_by_field_name("left")), lo.expr(node.child_by_field_name("right"))
        is_async = any(child.type == "async" for child in node.children)
        clause = lo.place(ir.Clause(target, iterated, [], is_async), node)
        clause.end, clause.end_byte = iterated.end, iterated.end_byte
        clauses.append(clause)
    return clauses


def starred(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.Starred(lo.expr(lo.named(node)[0]))


def inner(lo: Lowering, node: SyntaxNode) -> Any:
    """Brackets and wrappers that the IR does not keep."""
    return lo.expr(lo.named(node)[0])


ROWS: dict[str, Row] = {
    "as_pattern_target": inner,
    "dictionary": dictionary,
    "dictionary_comprehension": _comprehension("dict"),
    "expression_list": tuple_,
    "generator_expression": _comprehension("generator"),
    "list": list_,
    "list_comprehension": _comprehension("list"),
    "list_pattern": list_,
    "list_splat": starred,
    "list_splat_pattern": starred,
    "parenthesized_expression": inner,
    "parenthesized_list_splat": inner,
    "pattern_list": tuple_,
    "set": set_,
    "set_comprehension": _comprehension("set"),
    "splat_type": starred,
    "tuple": tuple_,
    "tuple_pattern": tuple_pattern,
    "type": inner,
}
