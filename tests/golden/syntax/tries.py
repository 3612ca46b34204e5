try:
    a
except:
    b
try:
    a
except A:
    b
except (B, C) as d:
    e
except e.F as g:
    h
else:
    i
finally:
    j
try:
    a
finally:
    b
try:
    a
except* A as b:
    c
except* (B, C):
    d
#= 1-4 Try([ExprStmt(a)], [Handler(-, -, [ExprStmt(b)])], [], [])
#= 5-16 Try([ExprStmt(a)], [Handler(A, -, [ExprStmt(b)]), Handler(TupleExpr([B, C]), d, [ExprStmt(e)]), Handler(Attribute(e, F), g, [ExprStmt(h)])], [ExprStmt(i)], [ExprStmt(j)])
#= 17-20 Try([ExprStmt(a)], [], [], [ExprStmt(b)])
#= 21-26 Try([ExprStmt(a)], [Handler(A, b, [ExprStmt(c)]), Handler(TupleExpr([B, C]), -, [ExprStmt(d)])], [], [], is_star)
