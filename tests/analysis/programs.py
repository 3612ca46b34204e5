"""Random valid programs, made as trees of the standard library and written out by it with as few brackets as it can."""

from __future__ import annotations

import ast
from random import Random
from typing import Any

BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift)
COMPARE = (ast.Eq, ast.NotEq, ast.Lt, ast.Is, ast.IsNot, ast.In, ast.NotIn)
CONSTANTS: tuple[Any, ...] = (1, 2.5, "s", None, True, ..., b"q", 3j)
NAMES = "abcxyz"


class Programs:
    """One stream of random programs."""

    def __init__(self, random: Random) -> None:
        self.r = random

    def source(self) -> str:
        module = ast.Module([self.statement() for _ in range(self.r.randrange(1, 4))], [])
        return ast.unparse(ast.fix_missing_locations(module)) + "\n"

    # --- expressions -----------------------------------------------------------------------------------------------------

    def expr(self, depth: int) -> Any:
        if depth <= 0:
            return self.name() if self.r.random() < 0.6 else ast.Constant(self.r.choice(CONSTANTS))
        return self.r.choice(EXPRESSIONS)(self, depth - 1 - self.r.randrange(2))

    def name(self, context: Any = None) -> ast.Name:
        return ast.Name(self.r.choice(NAMES), context or ast.Load())

    def some(self, depth: int, least: int = 0, most: int = 3) -> list[Any]:
        return [self.expr(depth) for _ in range(self.r.randrange(least, most))]

    def maybe(self, depth: int) -> Any:
        return self.expr(depth) if self.r.random() < 0.5 else None

    def starrable(self, depth: int, least: int = 0) -> list[Any]:
        return [ast.Starred(each, ast.Load()) if self.r.random() < 0.3 else each for each in self.some(depth, least, 4)]

    def logic(self, depth: int) -> Any:
        return ast.BoolOp(self.r.choice((ast.And, ast.Or))(), self.some(depth, 2, 4))

    def binary(self, depth: int) -> Any:
        return ast.BinOp(self.expr(depth), self.r.choice(BINARY)(), self.expr(depth))

    def unary(self, depth: int) -> Any:
        return ast.UnaryOp(self.r.choice((ast.Not, ast.USub, ast.Invert))(), self.expr(depth))

    def compare(self, depth: int) -> Any:
        others = self.some(depth, 1, 3)
        return ast.Compare(self.expr(depth), [self.r.choice(COMPARE)() for _ in others], others)

    def ternary(self, depth: int) -> Any:
        return ast.IfExp(self.expr(depth), self.expr(depth), self.expr(depth))

    def lambda_(self, depth: int) -> Any:
        default = self.maybe(depth)
        arguments = ast.arguments([], [ast.arg("a")], None, [], [], None, [] if default is None else [default])
        return ast.Lambda(arguments, self.expr(depth))

    def call(self, depth: int) -> Any:
        keywords = [ast.keyword(self.r.choice(("k", None)), each) for each in self.some(depth, 0, 2)]
        return ast.Call(self.expr(depth), self.starrable(depth), keywords)

    def attribute(self, depth: int) -> Any:
        return ast.Attribute(self.expr(depth), self.r.choice(("print", "match", "type", "q", "case", "_")), ast.Load())

    def subscript(self, depth: int) -> Any:
        return ast.Subscript(self.expr(depth), self.index(depth), ast.Load())

    def index(self, depth: int) -> Any:
        cut = ast.Slice(self.maybe(depth), self.maybe(depth), self.maybe(depth))
        pair = ast.Tuple([self.expr(depth), ast.Slice(None, self.maybe(depth), None)], ast.Load())
        star = ast.Tuple([ast.Starred(self.expr(depth), ast.Load())], ast.Load())
        return self.r.choice((self.expr(depth), cut, pair, star))

    def tuple_(self, depth: int) -> Any:
        return ast.Tuple(self.starrable(depth), ast.Load())

    def list_(self, depth: int) -> Any:
        return ast.List(self.starrable(depth), ast.Load())

    def set_(self, depth: int) -> Any:
        return ast.Set(self.some(depth, 1, 4))

    def dict_(self, depth: int) -> Any:
        values = self.some(depth)
        return ast.Dict([self.maybe(depth) for _ in values], values)

    def clauses(self, depth: int) -> list[Any]:
        made = range(self.r.randrange(1, 3))
        return [ast.comprehension(ast.Name("i", ast.Store()), self.expr(depth), self.some(depth, 0, 2), 0) for _ in made]

    def comprehension(self, depth: int) -> Any:
        if self.r.random() < 0.3:
            return ast.DictComp(self.expr(depth), self.expr(depth), self.clauses(depth))
        return self.r.choice((ast.ListComp, ast.SetComp, ast.GeneratorExp))(self.expr(depth), self.clauses(depth))

    def fstring(self, depth: int) -> Any:
        spec = ast.JoinedStr([ast.Constant(">10")])
        field = ast.FormattedValue(self.expr(1), self.r.choice((-1, 114)), self.r.choice((None, spec)))
        return ast.JoinedStr([ast.Constant(self.r.choice(("t", "{", "\n", "}"))), field])

    def walrus(self, depth: int) -> Any:
        return ast.NamedExpr(ast.Name("w", ast.Store()), self.expr(depth))

    def await_(self, depth: int) -> Any:
        return ast.Await(self.expr(depth))

    def yield_(self, depth: int) -> Any:
        return ast.Yield(self.maybe(depth))

    # --- statements ------------------------------------------------------------------------------------------------------

    def target(self) -> Any:
        return self.r.choice(
            (
                ast.Name("v", ast.Store()),
                ast.Attribute(self.expr(1), "q", ast.Store()),
                ast.Subscript(self.expr(1), self.expr(1), ast.Store()),
                ast.Tuple([ast.Name("v", ast.Store()), ast.Starred(ast.Name("r", ast.Store()), ast.Store())], ast.Store()),
            )
        )

    def statement(self) -> Any:
        depth = self.r.randrange(5)
        test, other, body = self.expr(depth), self.expr(depth), [ast.Expr(self.expr(1))]
        variable = ast.Name("v", ast.Store())
        return self.r.choice(
            (
                ast.Expr(test),
                ast.Assign([self.target() for _ in range(self.r.randrange(1, 3))], test),
                ast.AugAssign(variable, self.r.choice(BINARY)(), test),
                ast.AnnAssign(variable, test, self.maybe(depth), 1),
                ast.Return(test),
                ast.If(test, body, [ast.If(other, body, [])]),
                ast.With([ast.withitem(test, self.r.choice((None, self.target()))), ast.withitem(other, None)], body),
                ast.With([ast.withitem(test, self.r.choice((None, self.target())))], body),
                ast.For(self.target(), test, body, []),
                ast.While(test, body, body),
                ast.Assert(test, other),
                ast.Raise(test, other),
                ast.Match(test, [ast.match_case(ast.MatchAs(None, "x"), other, body)]),
                ast.Try(body, [ast.ExceptHandler(test, "e", body)], [], body),
                ast.Delete([self.target()]),
            )
        )


EXPRESSIONS = (
    Programs.logic, Programs.binary, Programs.binary, Programs.binary, Programs.unary, Programs.compare, Programs.ternary,
    Programs.lambda_, Programs.call, Programs.attribute, Programs.subscript, Programs.tuple_, Programs.list_, Programs.set_,
    Programs.dict_, Programs.comprehension, Programs.fstring, Programs.walrus, Programs.await_, Programs.yield_,
)  # fmt: skip
