with a:
    b
with a as b:
    c
with a as b, c as d, e:
    f
with (a as b, c as d,):
    e
with (a, b):
    c
with (a):
    b
with (a, b) as c:
    d
with (a as b):
    c
with (yield_):
    b
with a() as (b, c):
    d
with a() as b.c, d() as e[0]:
    f
with a if b else c as d:
    e
with (
    a(b) as c,  # one
    d,
):
    e
#= 1-2 With([WithItem(a, -)], [ExprStmt(b)])
#= 3-4 With([WithItem(a, b)], [ExprStmt(c)])
#= 5-6 With([WithItem(a, b), WithItem(c, d), WithItem(e, -)], [ExprStmt(f)])
#= 7-8 With([WithItem(a, b), WithItem(c, d)], [ExprStmt(e)])
#= 9-10 With([WithItem(a, -), WithItem(b, -)], [ExprStmt(c)])
#= 11-12 With([WithItem(a, -)], [ExprStmt(b)])
#= 13-14 With([WithItem(TupleExpr([a, b]), c)], [ExprStmt(d)])
#= 15-16 With([WithItem(a, b)], [ExprStmt(c)])
#= 17-18 With([WithItem(yield_, -)], [ExprStmt(b)])
#= 19-20 With([WithItem(Call(a, [], []), TupleExpr([b, c]))], [ExprStmt(d)])
#= 21-22 With([WithItem(Call(a, [], []), Attribute(b, c)), WithItem(Call(d, [], []), Subscript(e, 0))], [ExprStmt(f)])
#= 23-24 With([WithItem(IfExp(b, a, c), d)], [ExprStmt(e)])
#= 25-29 With([WithItem(Call(a, [b], []), c), WithItem(d, -)], [ExprStmt(e)])
