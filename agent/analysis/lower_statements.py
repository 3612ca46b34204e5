"""One row per statement of the grammar: concrete node to IR."""

from __future__ import annotations

from typing import Any

from agent.analysis import ir
from agent.analysis.lower_expressions import arguments, parameters
from agent.analysis.lowering import Later, Lowering, Row, SyntaxNode

# --- simple statements -------------------------------------------------------------------------------------------------------


def expression_statement(lo: Lowering, node: SyntaxNode) -> Any:
    """A bare expression, a tuple without brackets, or one of the assignments."""
    parts = lo.named(node)
    first = parts[0]
    row = _ASSIGNMENTS.get(first.type)
    if row is not None:
        return row(lo, first)
    if len(parts) == 1 and len(node.children) == 1:
        return ir.ExprStmt(lo.expr(first))
    return ir.ExprStmt(lo.place(ir.TupleExpr([lo.expr(part) for part in parts]), node))


def assignment(lo: Lowering, node: Any) -> Any:
    annotation = node.child_by_field_name("type")
    target, right = lo.expr(node.child_by_field_name("left")), node.child_by_field_name("right")
    if annotation is not None:
        return ir.AnnAssign(target, lo.expr(annotation), lo.optional(right))
    targets = [target]
    while right.type == "assignment" and right.child_by_field_name("type") is None:
        targets.append(lo.expr(right.child_by_field_name("left")))
        right = right.child_by_field_name("right")
    return ir.Assign(targets, lo.expr(right))


def augmented_assignment(lo: Lowering, node: SyntaxNode) -> Any:
    operator = lo.word(node.child_by_field_name("operator"))
    return ir.AugAssign(lo.expr(node.child_by_field_name("left")), operator[:-1], lo.expr(node.child_by_field_name("right")))


_ASSIGNMENTS: dict[str, Row] = {"assignment": assignment, "augmented_assignment": augmented_assignment}


def return_statement(lo: Lowering, node: SyntaxNode) -> Any:
    value = lo.named(node)
    return ir.Return(lo.expr(value[0]) if value else None)


def raise_statement(lo: Lowering, node: SyntaxNode) -> Any:
    cause = node.child_by_field_name("cause")
    raised = [child for child in lo.named(node) if cause is None or child.start_byte != cause.start_byte]
    if raised and raised[0].type == "expression_list":
        return lo.unsupported(node)
    return ir.Raise(lo.expr(raised[0]) if raised else None, lo.optional(cause))


def assert_statement(lo: Lowering, node: SyntaxNode) -> Any:
    test, *message = (lo.expr(child) for child in lo.named(node))
    return ir.Assert(test, message[0] if message else None)


def delete_statement(lo: Lowering, node: SyntaxNode) -> Any:
    (listed,) = lo.named(node)
    return ir.Delete([lo.expr(child) for child in lo.named(listed)] if listed.type == "expression_list" else [lo.expr(listed)])


def global_statement(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.Global([lo.word(child) for child in lo.named(node)])


def nonlocal_statement(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.Nonlocal([lo.word(child) for child in lo.named(node)])


def type_alias_statement(lo: Lowering, node: SyntaxNode) -> Any:
    """``type X = ...`` binds X to an object of the typing machinery: bound, and of no known value.

    ``type(x).y = z`` assigns an attribute, whatever the grammar makes of it.
    """
    name: Any = lo.named(node.child_by_field_name("left"))[0]
    if name.type == "generic_type":
        name = lo.named(name)[0]
    if name.type != "identifier":
        return lo.misreading(node)
    value = node.child_by_field_name("right")
    return ir.Assign([lo.expr(name)], lo.unsupported(value, "type_alias_statement"))


# --- imports -----------------------------------------------------------------------------------------------------------------


def _dotted(lo: Lowering, node: SyntaxNode) -> str:
    return ".".join(lo.word(part) for part in lo.named(node))


def _alias(lo: Lowering, node: Any) -> ir.Alias:
    if node.type == "aliased_import":
        name, asname = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return lo.place(ir.Alias(_dotted(lo, name), lo.word(asname)), node)
    return lo.place(ir.Alias("*" if node.type == "wildcard_import" else _dotted(lo, node), None), node)


def import_statement(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.Import([_alias(lo, child) for child in lo.named(node)])


def future_import_statement(lo: Lowering, node: SyntaxNode) -> Any:
    return ir.ImportFrom("__future__", 0, [_alias(lo, child) for child in lo.named(node)])


def import_from_statement(lo: Lowering, node: SyntaxNode) -> Any:
    source, *names = lo.named(node)
    module, level = source, 0
    if source.type == "relative_import":
        prefix, *rest = lo.named(source)
        level, module = lo.text(prefix).count("."), rest[0] if rest else None
    return ir.ImportFrom(_dotted(lo, module) if module is not None else "", level, [_alias(lo, child) for child in names])


# --- compound statements -----------------------------------------------------------------------------------------------------


def _closed(lo: Lowering, made: Any, node: SyntaxNode, *suites: list[Any]) -> Any:
    """Ends a compound statement at its last statement: the grammar's block runs on over comments and semicolons."""
    lo.place(made, node)
    last = next((suite[-1] for suite in reversed(suites) if suite), None)
    if last is not None:
        made.end, made.end_byte = last.end, last.end_byte
    return made


def _else_suite(lo: Lowering, node: Any) -> list[Any]:
    clause = next((child for child in node.children if child.type == "else_clause"), None)
    return lo.block(clause.child_by_field_name("body")) if clause is not None else []


def if_statement(lo: Lowering, node: SyntaxNode) -> Any:
    """An ``elif`` becomes an If in the branch before it; built from the last one backwards, so a long ladder needs no recursion."""
    ladder = [node, *(child for child in node.children if child.type == "elif_clause")]
    rungs = [(rung, lo.expr(rung.child_by_field_name("condition")), lo.block(rung.child_by_field_name("consequence"))) for rung in ladder]
    orelse = _else_suite(lo, node)
    for rung, test, body in reversed(rungs):
        orelse = [_closed(lo, ir.If(test, body, orelse), rung, body, orelse)]
    return orelse[0]


def while_statement(lo: Lowering, node: SyntaxNode) -> Any:
    test, body = lo.expr(node.child_by_field_name("condition")), lo.block(node.child_by_field_name("body"))
    orelse = _else_suite(lo, node)
    return _closed(lo, ir.While(test, body, orelse), node, body, orelse)


def _is_async(node: SyntaxNode) -> bool:
    return bool(node.children) and node.children[0].type == "async"


def for_statement(lo: Lowering, node: SyntaxNode) -> Any:
    target, iterated = lo.expr(node.child_by_field_name("left")), lo.expr(node.child_by_field_name("right"))
    body = lo.block(node.child_by_field_name("body"))
    orelse = _else_suite(lo, node)
    return _closed(lo, ir.For(target, iterated, body, orelse, _is_async(node)), node, body, orelse)


def _suite_of(lo: Lowering, clause: Any) -> list[Any]:
    return lo.block(next((child for child in clause.children if child.type == "block"), None))


_HANDLERS = ("except_clause", "except_group_clause")


def try_statement(lo: Lowering, node: SyntaxNode) -> Any:
    body = lo.block(node.child_by_field_name("body"))
    clauses = [child for child in node.children if child.type in _HANDLERS]
    handlers = [_handler(lo, clause) for clause in clauses]
    orelse = _else_suite(lo, node)
    final = next((child for child in node.children if child.type == "finally_clause"), None)
    finalbody = _suite_of(lo, final) if final is not None else []
    is_star = any(clause.type == "except_group_clause" or any(child.type == "*" for child in clause.children) for clause in clauses)
    return _closed(lo, ir.Try(body, handlers, orelse, finalbody, is_star), node, body, handlers, orelse, finalbody)


def _handler(lo: Lowering, node: SyntaxNode) -> ir.Handler:
    """``except A, B:`` (3.14) is a tuple; Python 2 meant ``as`` and no running interpreter does."""
    listed = [child for child in lo.named(node) if child.type != "block"]
    caught, name = None, None
    if len(listed) == 1 and listed[0].type == "as_pattern":
        value, target = lo.named(listed[0])
        caught, name = lo.expr(value), lo.word(target)
    elif listed and any(child.type == "as" for child in node.children):
        caught, name = lo.expr(listed[0]), lo.word(listed[1])
    elif len(listed) == 1:
        caught = lo.expr(listed[0])
    elif listed:
        caught = lo.place(ir.TupleExpr([lo.expr(child) for child in listed]), listed[0])
        caught.end, caught.end_byte = caught.items[-1].end, caught.items[-1].end_byte
    body = _suite_of(lo, node)
    return _closed(lo, ir.Handler(caught, name, body), node, body)  # type: ignore[no-any-return]


def with_statement(lo: Lowering, node: SyntaxNode) -> Any:
    clause = next(child for child in node.children if child.type == "with_clause")
    items = [_with_item(lo, value) for value in _contexts(lo, clause)]
    body = lo.block(node.child_by_field_name("body"))
    return _closed(lo, ir.With(items, body, _is_async(node)), node, body)


_NO_CONTEXT = ("list_splat", "named_expression", "yield")


def _contexts(lo: Lowering, clause: SyntaxNode) -> list[Any]:
    """Python reads ``with (a, b):`` as two items and ``with (*a, b):`` as one tuple; the grammar decides otherwise at times."""
    values = [lo.named(item)[0] for item in lo.named(clause)]
    if len(values) == 1 and values[0].type == "tuple":
        inside = lo.named(values[0])
        return inside if inside and not any(child.type in _NO_CONTEXT for child in inside) else values
    if any(value.type in _NO_CONTEXT for value in values):
        lo.misreading(clause)
    return values


def _with_item(lo: Lowering, value: Any) -> ir.WithItem:
    """``(open(x) as f)`` is a bracketed item list to Python and a bracketed expression to the grammar."""
    target = None
    wrapped = lo.named(value)[0] if value.type == "parenthesized_expression" else value
    if wrapped.type == "as_pattern":
        context, bound = (lo.expr(child) for child in lo.named(wrapped))
        target = bound
    else:
        context = lo.expr(value)
    last = context if target is None else target
    item = ir.WithItem(context, target)
    item.line, item.start_byte, item.end, item.end_byte = context.line, context.start_byte, last.end, last.end_byte
    return item


def match_statement(lo: Lowering, node: SyntaxNode) -> Any:
    inside = [child for child in lo.named(node) if child.type != "block"]
    subject = lo.expr(inside[0])
    commas = [child for child in node.children if child.type == ","]
    if commas:
        subject = lo.place(ir.TupleExpr([subject, *(lo.expr(child) for child in inside[1:])]), inside[0])
        last = max(commas[-1], inside[-1], key=lambda child: child.end_byte)
        subject.end, subject.end_byte = last.end_point[0] + 1, last.end_byte
    body = node.child_by_field_name("body")
    cases = [_case(lo, clause) for clause in (lo.named(body) if body is not None else [])]
    return _closed(lo, ir.Match(subject, cases), node, cases)


def _case(lo: Lowering, node: SyntaxNode) -> ir.Case:
    patterns = [child for child in lo.named(node) if child.type == "case_pattern"]
    commas = [child for child in node.children if child.type == ","]
    pattern = lo.pattern(patterns[0])
    if commas:
        pattern = lo.place(ir.MatchSequence([pattern, *(lo.pattern(child) for child in patterns[1:])]), patterns[0])
        last = max(commas[-1], patterns[-1], key=lambda child: child.end_byte)
        pattern.end, pattern.end_byte = last.end_point[0] + 1, last.end_byte
    guard = node.child_by_field_name("guard")
    test = lo.expr(lo.named(guard)[0]) if guard is not None else None
    body = lo.block(node.child_by_field_name("consequence"))
    return _closed(lo, ir.Case(pattern, test, body), node, body)  # type: ignore[no-any-return]


# --- definitions -------------------------------------------------------------------------------------------------------------


def function_definition(lo: Lowering, node: SyntaxNode) -> Any:
    if lo.later is not None and b"yield" not in lo.utf8[node.start_byte : node.end_byte]:
        last = _last_statement(lo, node)
        if last is not None:
            return _put_off(lo, node, last, lo.later)
    params = parameters(lo, node.child_by_field_name("parameters"))
    returns = lo.optional(node.child_by_field_name("return_type"))
    outer, lo.saw_yield = lo.saw_yield, False
    later, lo.later = lo.later, None
    body = lo.block(node.child_by_field_name("body"))
    is_generator, lo.saw_yield = lo.saw_yield, outer
    lo.later = later
    name = lo.word(node.child_by_field_name("name"))
    return _closed(lo, ir.FunctionDef(name, params, body, [], returns, _is_async(node), is_generator), node, body)


_COMPOUND = frozenset(
    {
        "block", "case_clause", "class_definition", "decorated_definition", "elif_clause", "else_clause",
        "except_clause", "except_group_clause", "finally_clause", "for_statement", "function_definition", "if_statement",
        "match_statement", "try_statement", "while_statement", "with_statement",
    }
)  # fmt: skip


def _last_statement(lo: Lowering, node: SyntaxNode) -> Any:
    """The simple statement that a definition ends with; None where a suite has none."""
    last: Any = node
    while last.type in _COMPOUND:
        below = lo.named(last)
        if not below:
            return None
        last = below[-1]
    return last


def _put_off(lo: Lowering, node: SyntaxNode, last: Any, later: Later) -> ir.FunctionDef:
    """A function without a yield whose body is lowered when it is read; of the body only its last statement is, for where it ends."""
    params = parameters(lo, node.child_by_field_name("parameters"))
    returns = lo.optional(node.child_by_field_name("return_type"))
    name = lo.word(node.child_by_field_name("name"))
    made: ir.FunctionDef = _closed(lo, ir.FunctionDef(name, params, [], [], returns, _is_async(node), False), node, [lo.statement(last)])
    made.put_off(later(made.start_byte, made.end_byte))
    return made


def class_definition(lo: Lowering, node: SyntaxNode) -> Any:
    listed = node.child_by_field_name("superclasses")
    bases, keywords = arguments(lo, listed) if listed is not None else ([], [])
    body = lo.block(node.child_by_field_name("body"))
    return _closed(lo, ir.ClassDef(lo.word(node.child_by_field_name("name")), bases, keywords, body, []), node, body)


def decorated_definition(lo: Lowering, node: SyntaxNode) -> Any:
    *decorators, definition = lo.named(node)
    listed = [lo.expr(lo.named(decorator)[0]) for decorator in decorators]
    made = lo.statement(definition)
    if isinstance(made, (ir.FunctionDef, ir.ClassDef)):
        made.decorators = listed
    return made


_PRIMARY = frozenset({"identifier", "attribute", "call", "subscript", "parenthesized_expression"})


def print_statement(lo: Lowering, node: SyntaxNode) -> Any:
    """``print >> f, x`` is a tuple to Python 3, which fails when run; ``print x`` is Python 2."""
    chevron, *rest = lo.named(node)
    if chevron.type != "chevron":
        return lo.unsupported(node)
    (stream,) = lo.named(chevron)
    if stream.type not in _PRIMARY:
        return lo.misreading(node)
    name = lo.place(ir.Name("print"), node.children[0])
    shifted: Any = lo.place(ir.BinOp(name, ">>", lo.expr(stream)), chevron)
    shifted.start_byte, shifted.line = name.start_byte, name.line
    if not any(child.type == "," for child in node.children):
        return ir.ExprStmt(shifted)
    return ir.ExprStmt(lo.place(ir.TupleExpr([shifted, *(lo.expr(child) for child in rest)]), node))


STATEMENTS: dict[str, Row] = {
    "assert_statement": assert_statement,
    "break_statement": lambda lo, node: ir.Break(),
    "class_definition": class_definition,
    "continue_statement": lambda lo, node: ir.Continue(),
    "decorated_definition": decorated_definition,
    "delete_statement": delete_statement,
    "exec_statement": lambda lo, node: lo.unsupported(node),
    "expression_statement": expression_statement,
    "for_statement": for_statement,
    "function_definition": function_definition,
    "future_import_statement": future_import_statement,
    "global_statement": global_statement,
    "if_statement": if_statement,
    "import_from_statement": import_from_statement,
    "import_statement": import_statement,
    "match_statement": match_statement,
    "nonlocal_statement": nonlocal_statement,
    "pass_statement": lambda lo, node: ir.Pass(),
    "print_statement": print_statement,
    "raise_statement": raise_statement,
    "return_statement": return_statement,
    "try_statement": try_statement,
    "type_alias_statement": type_alias_statement,
    "while_statement": while_statement,
    "with_statement": with_statement,
}
