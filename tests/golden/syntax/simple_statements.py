pass
a
a; b; c
a;
assert a
assert a, "b"
assert (a, b)
del a
del a, b[c], d.e
del (a, b)
raise
raise A
raise A("b") from c
global a, b
#= 1-1 Pass()
#= 2-2 ExprStmt(a)
#= 3-3 ExprStmt(a)
#= 3-3 ExprStmt(b)
#= 3-3 ExprStmt(c)
#= 4-4 ExprStmt(a)
#= 5-5 Assert(a, -)
#= 6-6 Assert(a, 'b')
#= 7-7 Assert(TupleExpr([a, b]), -)
#= 8-8 Delete([a])
#= 9-9 Delete([a, Subscript(b, c), Attribute(d, e)])
#= 10-10 Delete([TupleExpr([a, b])])
#= 11-11 Raise(-, -)
#= 12-12 Raise(A, -)
#= 13-13 Raise(Call(A, ['b'], []), c)
#= 14-14 Global([a, b])
