"""The standard library's tree to the same IR: for valid files that the grammar reads wrongly, such as ``return a, *((None,)*2)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from agent.analysis import ir
from agent.analysis.walk import SUITE_FIELDS

_COMPOUND = frozenset(kind for kind, suites in SUITE_FIELDS.items() if suites and not issubclass(kind, ir.Expr))
StringLowering = Callable[[bytes, int, int], Any]
"""(text, start, end) to the IR of the string literal there, or None when it cannot be read that way."""

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_KEYWORD = re.compile(rb"(?:[\s;,:)\]}\\]|#[^\n]*)*(async\b|for\b|case\b)")
_NEWLINE = re.compile(rb"\n")


def lower_stdlib(utf8: bytes, strings: StringLowering | None = None) -> list[ir.Stmt]:
    """Raises what ``ast.parse`` raises: SyntaxError, ValueError, RecursionError or MemoryError.

    ``strings`` lowers f-strings, whose inside the library places wrongly before Python 3.12; None takes them as the library has them.
    """
    tree = ast.parse(utf8.decode("utf-8"))
    return _Stdlib(utf8, strings).block(tree.body)


class _Stdlib:
    """One file on its way from the library's tree to the IR."""

    def __init__(self, utf8: bytes, strings: StringLowering | None) -> None:
        self.utf8 = utf8
        self.strings = strings
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(utf8))]
        self.saw_yield = False

    def lower(self, node: Any) -> Any:
        row = _ROWS.get(type(node))
        made = row(self, node) if row is not None else ir.Unsupported(type(node).__name__, self.text(node))
        if not made.end_byte:
            self.place(made, node)
        return self.close(made) if type(made) in _COMPOUND else made

    def close(self, made: Any) -> Any:
        """Ends a compound statement at its last statement; the library's end takes in a last semicolon."""
        last = next(suite[-1] for name in reversed(SUITE_FIELDS[type(made)]) if (suite := getattr(made, name)))
        made.end, made.end_byte = last.end, last.end_byte
        return made

    def place(self, made: Any, node: Any) -> Any:
        made.line, made.end = node.lineno, node.end_lineno
        made.start_byte = self.starts[node.lineno - 1] + node.col_offset
        made.end_byte = self.starts[node.end_lineno - 1] + node.end_col_offset
        return made

    def text(self, node: Any) -> str:
        start = self.starts[node.lineno - 1] + node.col_offset
        return self.utf8[start : self.starts[node.end_lineno - 1] + node.end_col_offset].decode("utf-8", "replace")

    def optional(self, node: Any) -> Any:
        return None if node is None else self.lower(node)

    def many(self, nodes: list[Any]) -> list[Any]:
        return [None if node is None else self.lower(node) for node in nodes]

    def block(self, nodes: list[Any]) -> list[Any]:
        return [self.lower(node) for node in nodes]

    def from_keyword(self, made: Any, after: int, last: ir.Node) -> Any:
        """Places what the library leaves without a place: from the keyword next after ``after`` to the end of ``last``."""
        match = _KEYWORD.match(self.utf8, after)
        start = match.start(1) if match else after
        made.start_byte, made.line = start, self.utf8.count(b"\n", 0, start) + 1
        made.end_byte, made.end = last.end_byte, last.end
        return made


# --- expressions -------------------------------------------------------------------------------------------------------------


def _binary(lo: _Stdlib, node: Any) -> Any:
    """A loop down the left side: a long sum nests as deep as it has terms."""
    links = [node]
    while isinstance(links[-1].left, ast.BinOp):
        links.append(links[-1].left)
    made = lo.lower(links[-1].left)
    for link in reversed(links):
        made = lo.place(ir.BinOp(made, _BINARY[type(link.op)], lo.lower(link.right)), link)
    return made


def _primary(lo: _Stdlib, node: Any) -> Any:
    links = [node]
    while type(inner := getattr(links[-1], _INNER[type(links[-1])])) in _INNER:
        links.append(inner)
    made = lo.lower(inner)
    for link in reversed(links):
        made = lo.place(_LINKS[type(link)](lo, link, made), link)
    return made


_INNER = {ast.Attribute: "value", ast.Call: "func", ast.Subscript: "value"}
_LINKS: dict[type[Any], Callable[[_Stdlib, Any, Any], Any]] = {
    ast.Attribute: lambda lo, node, value: ir.Attribute(value, node.attr),
    ast.Call: lambda lo, node, func: ir.Call(func, lo.many(node.args), lo.many(node.keywords)),
    ast.Subscript: lambda lo, node, value: ir.Subscript(value, lo.lower(node.slice)),
}


def _yield(lo: _Stdlib, node: Any) -> Any:
    lo.saw_yield = True
    return ir.Yield(lo.optional(node.value), isinstance(node, ast.YieldFrom))


def _lambda(lo: _Stdlib, node: Any) -> Any:
    params = _params(lo, node.args)
    outer, lo.saw_yield = lo.saw_yield, False
    body = lo.lower(node.body)
    lo.saw_yield = outer
    return ir.Lambda(params, body)


def _params(lo: _Stdlib, listed: ast.arguments) -> list[ir.Param]:
    positional = [*((one, "posonly") for one in listed.posonlyargs), *((one, "normal") for one in listed.args)]
    defaults: list[Any] = [None] * (len(positional) - len(listed.defaults)) + list(listed.defaults)
    rows = [(one, kind, default) for (one, kind), default in zip(positional, defaults, strict=True)]
    if listed.vararg:
        rows.append((listed.vararg, "vararg", None))
    rows.extend((one, "kwonly", default) for one, default in zip(listed.kwonlyargs, listed.kw_defaults, strict=True))
    if listed.kwarg:
        rows.append((listed.kwarg, "kwarg", None))
    return [lo.place(ir.Param(one.arg, kind, lo.optional(default), lo.optional(one.annotation)), one) for one, kind, default in rows]


def _comprehension(kind: str) -> Callable[[_Stdlib, Any], Any]:
    def row(lo: _Stdlib, node: Any) -> Any:
        element = lo.lower(node.key if kind == "dict" else node.elt)
        value = lo.lower(node.value) if kind == "dict" else None
        clauses: list[ir.Clause] = []
        last: Any = value or element
        for one in node.generators:
            made = ir.Clause(lo.lower(one.target), lo.lower(one.iter), lo.many(one.ifs), bool(one.is_async))
            after, last = last.end_byte, (made.ifs or [made.iter])[-1]
            clauses.append(lo.from_keyword(made, after, last))
        return ir.Comprehension(kind, element, value, clauses)

    return row


def _joined(lo: _Stdlib, node: Any) -> Any:
    if lo.strings is not None:
        place = lo.place(ir.FString([]), node)
        made = lo.strings(lo.utf8, place.start_byte, place.end_byte)
        if made is not None:
            lo.saw_yield = lo.saw_yield or any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
            return made
    return ir.FString(lo.many(node.values))


def _formatted(lo: _Stdlib, node: Any) -> Any:
    conversion = "" if node.conversion < 0 else chr(node.conversion)
    return ir.FormattedValue(lo.lower(node.value), conversion, lo.optional(node.format_spec), "")


# --- statements --------------------------------------------------------------------------------------------------------------


def _function(is_async: bool) -> Callable[[_Stdlib, Any], Any]:
    def row(lo: _Stdlib, node: Any) -> Any:
        decorators = lo.many(node.decorator_list)
        params, returns = _params(lo, node.args), lo.optional(node.returns)
        outer, lo.saw_yield = lo.saw_yield, False
        body = lo.block(node.body)
        is_generator, lo.saw_yield = lo.saw_yield, outer
        return ir.FunctionDef(node.name, params, body, decorators, returns, is_async, is_generator)

    return row


def _class(lo: _Stdlib, node: Any) -> Any:
    return ir.ClassDef(node.name, lo.many(node.bases), lo.many(node.keywords), lo.block(node.body), lo.many(node.decorator_list))


def _if(lo: _Stdlib, node: Any) -> Any:
    """The library nests an ``elif`` like the IR does; a long ladder is taken apart first."""
    ladder = [node]
    while len(rest := ladder[-1].orelse) == 1 and isinstance(rest[0], ast.If):
        ladder.append(rest[0])
    rungs = [(one, lo.lower(one.test), lo.block(one.body)) for one in ladder]
    orelse = lo.block(ladder[-1].orelse)
    for one, test, body in reversed(rungs):
        orelse = [lo.close(lo.place(ir.If(test, body, orelse), one))]
    return orelse[0]


def _for(is_async: bool) -> Callable[[_Stdlib, Any], Any]:
    return lambda lo, node: ir.For(lo.lower(node.target), lo.lower(node.iter), lo.block(node.body), lo.block(node.orelse), is_async)


def _try(is_star: bool) -> Callable[[_Stdlib, Any], Any]:
    return lambda lo, node: ir.Try(lo.block(node.body), lo.block(node.handlers), lo.block(node.orelse), lo.block(node.finalbody), is_star)


def _handler(lo: _Stdlib, node: Any) -> Any:
    return ir.Handler(lo.optional(node.type), node.name, lo.block(node.body))


def _with(is_async: bool) -> Callable[[_Stdlib, Any], Any]:
    return lambda lo, node: ir.With([_with_item(lo, item) for item in node.items], lo.block(node.body), is_async)


def _with_item(lo: _Stdlib, node: Any) -> ir.WithItem:
    context, target = lo.lower(node.context_expr), lo.optional(node.optional_vars)
    last = target or context
    return ir.WithItem(context, target, line=context.line, end=last.end, start_byte=context.start_byte, end_byte=last.end_byte)


def _match(lo: _Stdlib, node: Any) -> Any:
    subject = lo.lower(node.subject)
    after = subject.end_byte
    cases = []
    for one in node.cases:
        made = ir.Case(lo.lower(one.pattern), lo.optional(one.guard), lo.block(one.body))
        cases.append(lo.from_keyword(made, after, made.body[-1]))
        after = made.body[-1].end_byte
    return ir.Match(subject, cases)


def _alias(lo: _Stdlib, node: Any) -> Any:
    return ir.Alias(node.name, node.asname)


def _type_alias(lo: _Stdlib, node: Any) -> Any:
    return ir.Assign([lo.lower(node.name)], lo.place(ir.Unsupported("type_alias_statement", lo.text(node.value)), node.value))


_ROWS: dict[type[Any], Callable[[_Stdlib, Any], Any]] = {
    ast.Constant: lambda lo, node: ir.Constant(node.value),
    ast.Name: lambda lo, node: ir.Name(node.id),
    ast.Attribute: _primary,
    ast.Call: _primary,
    ast.Subscript: _primary,
    ast.Slice: lambda lo, node: ir.Slice(lo.optional(node.lower), lo.optional(node.upper), lo.optional(node.step)),
    ast.keyword: lambda lo, node: ir.Keyword(node.arg, lo.lower(node.value)),
    ast.Starred: lambda lo, node: ir.Starred(lo.lower(node.value)),
    ast.UnaryOp: lambda lo, node: ir.UnaryOp(_UNARY[type(node.op)], lo.lower(node.operand)),
    ast.BinOp: _binary,
    ast.BoolOp: lambda lo, node: ir.BoolOp("and" if isinstance(node.op, ast.And) else "or", lo.many(node.values)),
    ast.Compare: lambda lo, node: ir.Compare(lo.lower(node.left), [_COMPARE[type(op)] for op in node.ops], lo.many(node.comparators)),
    ast.IfExp: lambda lo, node: ir.IfExp(lo.lower(node.test), lo.lower(node.body), lo.lower(node.orelse)),
    ast.Lambda: _lambda,
    ast.List: lambda lo, node: ir.ListExpr(lo.many(node.elts)),
    ast.Tuple: lambda lo, node: ir.TupleExpr(lo.many(node.elts)),
    ast.Set: lambda lo, node: ir.SetExpr(lo.many(node.elts)),
    ast.Dict: lambda lo, node: ir.DictExpr(lo.many(node.keys), lo.many(node.values)),
    ast.ListComp: _comprehension("list"),
    ast.SetComp: _comprehension("set"),
    ast.DictComp: _comprehension("dict"),
    ast.GeneratorExp: _comprehension("generator"),
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.NamedExpr: lambda lo, node: ir.NamedExpr(lo.lower(node.target), lo.lower(node.value)),
    ast.Await: lambda lo, node: ir.Await(lo.lower(node.value)),
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Assign: lambda lo, node: ir.Assign(lo.many(node.targets), lo.lower(node.value)),
    ast.AugAssign: lambda lo, node: ir.AugAssign(lo.lower(node.target), _BINARY[type(node.op)], lo.lower(node.value)),
    ast.AnnAssign: lambda lo, node: ir.AnnAssign(lo.lower(node.target), lo.lower(node.annotation), lo.optional(node.value)),
    ast.Expr: lambda lo, node: ir.ExprStmt(lo.lower(node.value)),
    ast.Return: lambda lo, node: ir.Return(lo.optional(node.value)),
    ast.Raise: lambda lo, node: ir.Raise(lo.optional(node.exc), lo.optional(node.cause)),
    ast.Assert: lambda lo, node: ir.Assert(lo.lower(node.test), lo.optional(node.msg)),
    ast.Delete: lambda lo, node: ir.Delete(lo.many(node.targets)),
    ast.Pass: lambda lo, node: ir.Pass(),
    ast.Break: lambda lo, node: ir.Break(),
    ast.Continue: lambda lo, node: ir.Continue(),
    ast.Global: lambda lo, node: ir.Global(list(node.names)),
    ast.Nonlocal: lambda lo, node: ir.Nonlocal(list(node.names)),
    ast.alias: _alias,
    ast.Import: lambda lo, node: ir.Import(lo.many(node.names)),
    ast.ImportFrom: lambda lo, node: ir.ImportFrom(node.module or "", node.level, lo.many(node.names)),
    ast.If: _if,
    ast.While: lambda lo, node: ir.While(lo.lower(node.test), lo.block(node.body), lo.block(node.orelse)),
    ast.For: _for(False),
    ast.AsyncFor: _for(True),
    ast.Try: _try(False),
    ast.TryStar: _try(True),
    ast.ExceptHandler: _handler,
    ast.With: _with(False),
    ast.AsyncWith: _with(True),
    ast.Match: _match,
    ast.FunctionDef: _function(False),
    ast.AsyncFunctionDef: _function(True),
    ast.ClassDef: _class,
    ast.MatchValue: lambda lo, node: ir.MatchValue(lo.lower(node.value)),
    ast.MatchSingleton: lambda lo, node: ir.MatchValue(lo.place(ir.Constant(node.value), node)),
    ast.MatchSequence: lambda lo, node: ir.MatchSequence(lo.many(node.patterns)),
    ast.MatchStar: lambda lo, node: ir.MatchStar(node.name),
    ast.MatchMapping: lambda lo, node: ir.MatchMapping(lo.many(node.keys), lo.many(node.patterns), node.rest),
    ast.MatchClass: lambda lo, node: ir.MatchClass(
        lo.lower(node.cls), lo.many(node.patterns), list(node.kwd_attrs), lo.many(node.kwd_patterns)
    ),
    ast.MatchAs: lambda lo, node: ir.MatchAs(lo.optional(node.pattern), node.name),
    ast.MatchOr: lambda lo, node: ir.MatchOr(lo.many(node.patterns)),
}
if hasattr(ast, "TypeAlias"):  # Python 3.12
    _ROWS[ast.TypeAlias] = _type_alias
