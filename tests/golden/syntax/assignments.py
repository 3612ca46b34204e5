a = 1
a = b = c = 1
a, b = b, a
a, (b, *c) = d
[a, b] = c
(a, b) = (c)
(a) = b
a.b = c[d] = e
a += 1
a.b -= 1
a[b] **= c
a //= b
a >>= b
a: int
a: int = 1
a.b: int = 1
a[b]: "C" = d
(a): int = 1
a: list[int] | None = None
a: Dict[str, List[int]] | int | "X"
a: Callable[[int], str] = f
a: Literal["a", "b"] = "a"
a: Annotated[int, Field(gt=0)]
a = yield_
x = (
    a
) = b
a: tuple = 1, 2
a = *b, c
#= 1-1 Assign([a], 1)
#= 2-2 Assign([a, b, c], 1)
#= 3-3 Assign([TupleExpr([a, b])], TupleExpr([b, a]))
#= 4-4 Assign([TupleExpr([a, TupleExpr([b, Starred(c)])])], d)
#= 5-5 Assign([ListExpr([a, b])], c)
#= 6-6 Assign([TupleExpr([a, b])], c)
#= 7-7 Assign([a], b)
#= 8-8 Assign([Attribute(a, b), Subscript(c, d)], e)
#= 9-9 AugAssign(a, +, 1)
#= 10-10 AugAssign(Attribute(a, b), -, 1)
#= 11-11 AugAssign(Subscript(a, b), **, c)
#= 12-12 AugAssign(a, //, b)
#= 13-13 AugAssign(a, >>, b)
#= 14-14 AnnAssign(a, int, -)
#= 15-15 AnnAssign(a, int, 1)
#= 16-16 AnnAssign(Attribute(a, b), int, 1)
#= 17-17 AnnAssign(Subscript(a, b), 'C', d)
#= 18-18 AnnAssign(a, int, 1)
#= 19-19 AnnAssign(a, BinOp(Subscript(list, int), |, None), None)
#= 20-20 AnnAssign(a, BinOp(BinOp(Subscript(Dict, TupleExpr([str, Subscript(List, int)])), |, int), |, 'X'), -)
#= 21-21 AnnAssign(a, Subscript(Callable, TupleExpr([ListExpr([int]), str])), f)
#= 22-22 AnnAssign(a, Subscript(Literal, TupleExpr(['a', 'b'])), 'a')
#= 23-23 AnnAssign(a, Subscript(Annotated, TupleExpr([int, Call(Field, [], [Keyword(gt, 0)])])), -)
#= 24-24 Assign([a], yield_)
#= 25-27 Assign([x, a], b)
#= 28-28 AnnAssign(a, tuple, TupleExpr([1, 2]))
#= 29-29 Assign([a], TupleExpr([Starred(b), c]))
