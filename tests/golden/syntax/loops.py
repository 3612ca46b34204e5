for a in b:
    c
for a, b in c:
    break
else:
    d
for a.b in c:
    continue
for a, in b: c
for a in b, c:
    d
for a in *b, c:
    d
while a:
    b
else:
    c
while True: break
for (a, b), c in d:
    e
#= 1-2 For(a, b, [ExprStmt(c)], [])
#= 3-6 For(TupleExpr([a, b]), c, [Break()], [ExprStmt(d)])
#= 7-8 For(Attribute(a, b), c, [Continue()], [])
#= 9-9 For(TupleExpr([a]), b, [ExprStmt(c)], [])
#= 10-11 For(a, TupleExpr([b, c]), [ExprStmt(d)], [])
#= 12-13 For(a, TupleExpr([Starred(b), c]), [ExprStmt(d)], [])
#= 14-17 While(a, [ExprStmt(b)], [ExprStmt(c)])
#= 18-18 While(True, [Break()], [])
#= 19-20 For(TupleExpr([TupleExpr([a, b]), c]), d, [ExprStmt(e)], [])
