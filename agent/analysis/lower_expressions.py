"""One row per expression of the grammar: concrete node to IR."""

from __future__ import annotations

from typing import Any

from agent.analysis import ir
from agent.analysis.lower_displays import ROWS as DISPLAY_ROWS
from agent.analysis.lower_strings import ROWS as STRING_ROWS
from agent.analysis.lowering import Lowering, Row, SyntaxNode

# --- names and numbers -------------------------------------------------------------------------------------------------------


def identifier(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.Name(lo.word(node))


def integer(lo: Lowering, node: SyntaxNode) -> Any:
    text = lo.text(node)
    try:
        return ir.Constant(complex(text) if text[-1] in "jJ" else int(text, 0))
    except ValueError:  # 0777 and 10L of Python 2, or more digits than int() reads
        return lo.unsupported(node)


def float_(lo: Lowering, node: SyntaxNode) -> Any:
    text = lo.text(node)
    try:
        return ir.Constant(complex(text) if text[-1] in "jJ" else float(text))
    except ValueError:
        return lo.unsupported(node)


def _constant(value: object) -> Row:
    return lambda lo, node: ir.Constant(value)


# --- operators ---------------------------------------------------------------------------------------------------------------


def _chain(lo: Lowering, node: Any, kinds: tuple[str, ...], left: str) -> tuple[Any, list[Any]]:
    """Walks down the ``left`` side: the innermost operand, lowered, and the links from inside out.

    A loop, since ``a + b + ...`` and ``a.b().c()`` nest as deep as they are long.
    """
    links = [node]
    inner = node.child_by_field_name(left)
    while inner.type in kinds and not inner.has_error:
        links.append(inner)
        inner = inner.child_by_field_name(left)
    links.reverse()
    return lo.expr(inner), links


def _linked(lo: Lowering, made: Any, node: SyntaxNode) -> Any:
    """Places a link. The grammar reads ``*f(x)`` as ``(*f)(x)``; Python stars the whole."""
    inner = made.left if isinstance(made, ir.BinOp) else made.func if isinstance(made, ir.Call) else made.value
    lo.place(made, node)
    if type(inner) is not ir.Starred:
        return made
    made.start_byte, made.line = inner.value.start_byte, inner.value.line
    if isinstance(made, ir.BinOp):
        made.left = inner.value
    elif isinstance(made, ir.Call):
        made.func = inner.value
    else:
        made.value = inner.value
    return lo.place(ir.Starred(made), node)


def binary_operator(lo: Lowering, node: SyntaxNode) -> Any:
    """To the grammar ``^`` binds more than ``&``, to Python less: where both meet, the file is read again."""
    made, links = _chain(lo, node, ("binary_operator",), "left")
    before = ""
    for link in links:
        operator, right = lo.word(link.child_by_field_name("operator")), link.child_by_field_name("right")
        if operator == "&" and "^" in (before, _operator(lo, right)):
            return lo.misreading(node)
        made = _linked(lo, ir.BinOp(made, operator, lo.expr(right)), link)
        before = operator
    return made


def _operator(lo: Lowering, node: SyntaxNode) -> str:
    return lo.word(node.child_by_field_name("operator")) if node.type == "binary_operator" else ""


def boolean_operator(lo: Lowering, node: SyntaxNode) -> Any:
    """A run of one operator is one BoolOp, as written without parentheses; runs of two alternate on the way up."""
    made, links = _chain(lo, node, ("boolean_operator",), "left")
    run: ir.BoolOp | None = None
    for link in links:
        operator = lo.word(link.child_by_field_name("operator"))
        right = lo.expr(link.child_by_field_name("right"))
        if run is not None and run.op == operator:
            run.values.append(right)
        else:
            run = ir.BoolOp(operator, [made, right])
        made = lo.place(run, link)
    return made


def not_operator(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.UnaryOp("not", lo.expr(node.child_by_field_name("argument")))


def unary_operator(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.UnaryOp(lo.word(node.child_by_field_name("operator")), lo.expr(node.child_by_field_name("argument")))


def comparison_operator(lo: Lowering, node: SyntaxNode) -> Any:
    operands, ops = [], []
    for child in node.children:
        if not child.is_named:
            ops.append(" ".join(lo.text(child).split()))
        elif child.kind_id not in lo.comments:
            operands.append(lo.expr(child))
    if "<>" in ops:
        return lo.unsupported(node)
    return ir.Compare(operands[0], _joined_words(ops), operands[1:])


def _joined_words(ops: list[str]) -> list[str]:
    """``not in`` and ``is not`` are one token in some releases of the grammar, two in others."""
    out: list[str] = []
    for op in ops:
        if out and (out[-1], op) in (("not", "in"), ("is", "not")):
            out[-1] += f" {op}"
        else:
            out.append(op)
    return out


def conditional_expression(lo: Lowering, node: SyntaxNode) -> Any:
    body, test, orelse = (lo.expr(child) for child in lo.named(node))
    return ir.IfExp(test, body, orelse)


def named_expression(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.NamedExpr(lo.expr(node.child_by_field_name("name")), lo.expr(node.child_by_field_name("value")))


def await_(lo: Lowering, node: SyntaxNode) -> Any:
    (awaited,) = lo.named(node)
    if awaited.type == "binary_operator":  # await a ** b: to Python the power of what was awaited
        return lo.misreading(node)
    return ir.Await(lo.expr(awaited))


def yield_(lo: Lowering, node: SyntaxNode) -> Any:
    lo.saw_yield = True
    inner = lo.named(node)
    return ir.Yield(lo.expr(inner[0]) if inner else None, any(child.type == "from" for child in node.children))


def lambda_(lo: Lowering, node: SyntaxNode) -> Any:
    listed = node.child_by_field_name("parameters")
    params = parameters(lo, listed) if listed is not None else []
    outer, lo.saw_yield = lo.saw_yield, False
    body = lo.expr(node.child_by_field_name("body"))
    lo.saw_yield = outer
    return ir.Lambda(params, body)


# --- access and calls --------------------------------------------------------------------------------------------------------

_PRIMARY = ("attribute", "call", "subscript")
_INNER = {"attribute": "object", "call": "function", "subscript": "value"}


def primary(lo: Lowering, node: Any) -> Any:
    """``a.b(c)[d]``: a loop along the chain."""
    links = []
    inner = node
    while inner.type in _INNER and (inner is node or not inner.has_error):
        links.append(inner)
        inner = inner.child_by_field_name(_INNER[inner.type])
    made = lo.expr(inner)
    for link in reversed(links):
        made = _linked(lo, _LINKS[link.type](lo, link, made), link)
    return made


def _attribute(lo: Lowering, node: SyntaxNode, value: Any) -> Any:
    return ir.Attribute(value, lo.word(node.child_by_field_name("attribute")))


def _call(lo: Lowering, node: SyntaxNode, func: Any) -> Any:
    listed = node.child_by_field_name("arguments")
    if listed.type == "generator_expression":
        return ir.Call(func, [lo.expr(listed)], [])
    args, keywords = arguments(lo, listed)
    return ir.Call(func, args, keywords)


def arguments(lo: Lowering, node: SyntaxNode) -> tuple[list[Any], list[ir.Keyword]]:
    """Positional and keyword arguments, each in order."""
    args: list[Any] = []
    keywords: list[ir.Keyword] = []
    for child in node.named_children:
        kind = child.type
        if kind == "keyword_argument":
            name = lo.word(child.child_by_field_name("name"))
            keywords.append(lo.place(ir.Keyword(name, lo.expr(child.child_by_field_name("value"))), child))
        elif kind == "dictionary_splat":
            keywords.append(lo.place(ir.Keyword(None, lo.expr(lo.named(child)[0])), child))
        elif child.kind_id not in lo.comments:
            args.append(lo.expr(child))
    return args, keywords


def _subscript(lo: Lowering, node: SyntaxNode, value: Any) -> Any:
    listed = [child for child in node.children if child.kind_id not in lo.comments]
    opening = next(at for at, child in enumerate(listed) if child.type == "[")
    return ir.Subscript(value, _index(lo, listed[opening + 1 : -1]))


def _index(lo: Lowering, inside: list[Any]) -> Any:
    """What stands between the brackets; a comma makes it a tuple. A lone ``*a`` is a tuple too."""
    items = [lo.expr(child) for child in inside if child.type != ","]
    if len(inside) == 1 and not isinstance(items[0], ir.Starred):
        return items[0]
    return _spanning(ir.TupleExpr(items), inside[0], inside[-1])


def _spanning(made: Any, first: SyntaxNode, last: SyntaxNode) -> Any:
    made.start_byte, made.line = first.start_byte, first.start_point[0] + 1
    made.end_byte, made.end = last.end_byte, last.end_point[0] + 1
    return made


def slice_(lo: Lowering, node: SyntaxNode) -> Any:
    bounds: list[Any] = [None]
    for child in node.children:
        if child.type == ":":
            bounds.append(None)
        elif child.kind_id not in lo.comments:
            bounds[-1] = lo.expr(child)
    lower, upper, step = (*bounds, None)[:3]
    return ir.Slice(lower, upper, step)


_LINKS = {"attribute": _attribute, "call": _call, "subscript": _subscript}


# --- types in annotations ----------------------------------------------------------------------------------------------------


def generic_type(lo: Lowering, node: SyntaxNode) -> Any:
    name, listed = lo.named(node)
    inside = [child for child in listed.children if child.kind_id not in lo.comments][1:-1]
    return ir.Subscript(lo.expr(name), _index(lo, inside))


def union_type(lo: Lowering, node: SyntaxNode) -> Any:
    """``list[int] | int | None``: the grammar hangs the rest to the right of the first bar, Python to the left of the last."""
    first, *rest = _union_operands(lo, node)
    if any(operand.type in _LOOSER for operand in (first, *rest)):
        return lo.misreading(node)
    made = lo.expr(first)
    for operand in rest:
        right = lo.expr(operand)
        made = _spanning(ir.BinOp(made, "|", right), first, operand)
    return made


_LOOSER = frozenset(
    {"boolean_operator", "comparison_operator", "conditional_expression", "lambda", "named_expression", "not_operator"}
)  # fmt: skip
"""Expressions that bind less than ``|``: as its right side they show a misreading."""


def _union_operands(lo: Lowering, node: Any) -> list[Any]:
    operands: list[Any] = []
    pending = [node]
    while pending:
        at = pending.pop()
        while at.type == "type":
            at = lo.named(at)[0]
        is_bar = at.type == "union_type" or (at.type == "binary_operator" and lo.text(at.child_by_field_name("operator")) == "|")
        if is_bar:
            pending.extend(reversed(lo.named(at)))
        else:
            operands.append(at)
    return operands


def member_type(lo: Lowering, node: SyntaxNode) -> Any:
    value, name = lo.named(node)
    return ir.Attribute(lo.expr(value), lo.word(name))


# --- parameters --------------------------------------------------------------------------------------------------------------


def parameters(lo: Lowering, node: SyntaxNode) -> list[ir.Param]:
    """``/`` makes those before it positional only, a star those after it keyword only."""
    params: list[ir.Param] = []
    kind = "normal"
    for child in lo.named(node):
        if child.type == "positional_separator":
            for param in params:
                param.kind = "posonly"
        elif child.type == "keyword_separator":
            kind = "kwonly"
        else:
            params.append(_parameter(lo, child, kind))
            if params[-1].kind == "vararg":
                kind = "kwonly"
    return params


_SPLATS = {"list_splat_pattern": "vararg", "dictionary_splat_pattern": "kwarg"}


def _parameter(lo: Lowering, node: Any, kind: str) -> ir.Param:
    named = node.child_by_field_name("name") or (lo.named(node)[0] if node.type == "typed_parameter" else node)
    default, annotation = node.child_by_field_name("value"), node.child_by_field_name("type")
    if named.type in _SPLATS:
        kind = _SPLATS[named.type]
        named = lo.named(named)[0]
    if named.type != "identifier":
        lo.fault(named, "a parameter that unpacks, as in Python 2")
    param = ir.Param(lo.word(named), kind, lo.optional(default), lo.optional(annotation))
    return _spanning(param, named, annotation if annotation is not None else named)  # type: ignore[no-any-return]


EXPRESSIONS: dict[str, Row] = {
    **DISPLAY_ROWS,
    **STRING_ROWS,
    "attribute": primary,
    "await": await_,
    "binary_operator": binary_operator,
    "boolean_operator": boolean_operator,
    "call": primary,
    "comparison_operator": comparison_operator,
    "conditional_expression": conditional_expression,
    "ellipsis": _constant(...),
    "false": _constant(False),
    "float": float_,
    "generic_type": generic_type,
    "identifier": identifier,
    "integer": integer,
    "lambda": lambda_,
    "member_type": member_type,
    "named_expression": named_expression,
    "none": _constant(None),
    "not_operator": not_operator,
    "slice": slice_,
    "constrained_type": slice_,
    "subscript": primary,
    "true": _constant(True),
    "unary_operator": unary_operator,
    "union_type": union_type,
    "yield": yield_,
}
