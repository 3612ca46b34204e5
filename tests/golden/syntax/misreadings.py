x = a ^ b & c
x = await a ** b
with a if b else c as d: pass
with lambda: a as b: pass
type(a).b = c
return a, *((None,) * 2)
a: list[int] | b or c
x = f'{a:=10}'
with (a,): pass
with (*a, b): pass
y[*-a,]
v: a[b::c]
#= 1-1 Assign([x], BinOp(a, ^, BinOp(b, &, c)))
#= 2-2 Assign([x], BinOp(Await(a), **, b))
#= 3-3 With([WithItem(IfExp(b, a, c), d)], [Pass()])
#= 4-4 With([WithItem(Lambda([], a), b)], [Pass()])
#= 5-5 Assign([Attribute(Call(type, [a], []), b)], c)
#= 6-6 Return(TupleExpr([a, Starred(BinOp(TupleExpr([None]), *, 2))]))
#= 7-7 AnnAssign(a, BoolOp(or, [BinOp(Subscript(list, int), |, b), c]), -)
#= 8-8 Assign([x], FString([FormattedValue(a, '', FString(['=10']), '')]))
#= 9-9 With([WithItem(a, -)], [Pass()])
#= 10-10 With([WithItem(TupleExpr([Starred(a), b]), -)], [Pass()])
#= 11-11 ExprStmt(Subscript(y, TupleExpr([Starred(UnaryOp(-, a))])))
#= 12-12 AnnAssign(v, Subscript(a, Slice(b, -, c)), -)
