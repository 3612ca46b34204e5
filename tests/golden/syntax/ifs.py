if a:
    b
if a: b
if a:
    b
elif c:
    d
elif e:
    f
else:
    g
if (a and
        b):
    c
if a:
    if b:
        c
    # a comment at the end
# another
if a:
    # first a comment

    b
if a: b; c
else: d
#= 1-2 If(a, [ExprStmt(b)], [])
#= 3-3 If(a, [ExprStmt(b)], [])
#= 4-11 If(a, [ExprStmt(b)], [If(c, [ExprStmt(d)], [If(e, [ExprStmt(f)], [ExprStmt(g)])])])
#= 12-14 If(BoolOp(and, [a, b]), [ExprStmt(c)], [])
#= 15-17 If(a, [If(b, [ExprStmt(c)], [])], [])
#= 20-23 If(a, [ExprStmt(b)], [])
#= 24-25 If(a, [ExprStmt(b), ExprStmt(c)], [ExprStmt(d)])
