if a:

    b

def f():
    pass
#= 1-3 If(a, [ExprStmt(b)], [])
#= 5-6 FunctionDef(f, [], [Pass()], [], -)
