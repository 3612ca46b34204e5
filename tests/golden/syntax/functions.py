def f(): pass
def f(a, b=1, *c, d, e: int = 2, **g): pass
def f(a, /, b, *, c) -> int: pass
def f(a: int, *args: str, **kw: "K") -> None:
    return a
def f(*args: *Ts): pass
def f():
    """doc"""
    def g():
        yield
    return g
def f():
    yield
def f():
    return (x for x in y)
@a
@b.c(d)
def f(): pass
async def f():
    yield 1
def f(
    a,  # one
    b=(1, 2),
):
    return
def f(a=lambda: (yield)): pass
#= 1-1 FunctionDef(f, [], [Pass()], [], -)
#= 2-2 FunctionDef(f, [Param(a, normal, -, -), Param(b, normal, 1, -), Param(c, vararg, -, -), Param(d, kwonly, -, -), Param(e, kwonly, 2, int), Param(g, kwarg, -, -)], [Pass()], [], -)
#= 3-3 FunctionDef(f, [Param(a, posonly, -, -), Param(b, normal, -, -), Param(c, kwonly, -, -)], [Pass()], [], int)
#= 4-5 FunctionDef(f, [Param(a, normal, -, int), Param(args, vararg, -, str), Param(kw, kwarg, -, 'K')], [Return(a)], [], None)
#= 6-6 FunctionDef(f, [Param(args, vararg, -, Starred(Ts))], [Pass()], [], -)
#= 7-11 FunctionDef(f, [], [ExprStmt('doc'), FunctionDef(g, [], [ExprStmt(Yield(-))], [], -, is_generator), Return(g)], [], -)
#= 12-13 FunctionDef(f, [], [ExprStmt(Yield(-))], [], -, is_generator)
#= 14-15 FunctionDef(f, [], [Return(Comprehension(generator, x, -, [Clause(x, y, [])]))], [], -)
#= 18-18 FunctionDef(f, [], [Pass()], [a, Call(Attribute(b, c), [d], [])], -)
#= 19-20 FunctionDef(f, [], [ExprStmt(Yield(1))], [], -, is_async, is_generator)
#= 21-25 FunctionDef(f, [Param(a, normal, -, -), Param(b, normal, TupleExpr([1, 2]), -)], [Return(-)], [], -)
#= 26-26 FunctionDef(f, [Param(a, normal, Lambda([], Yield(-)), -)], [Pass()], [], -)
