def f():
    x = yield
    x = yield a
    x = yield a, b
    x = yield from a
    yield
    (yield)
    if (n := len(a)) > 1:
        pass
    while chunk := a.read():
        pass


async def g():
    x = await a
    x = await a.b(c)
    x = (await a) ** b
    x = await a ** b
    async with a as b, c:
        pass
    async for a in b:
        pass
    else:
        pass
    return [x async for x in y]
#= 1-11 FunctionDef(f, [], [Assign([x], Yield(-)), Assign([x], Yield(a)), Assign([x], Yield(TupleExpr([a, b]))), Assign([x], Yield(a, is_from)), ExprStmt(Yield(-)), ExprStmt(Yield(-)), If(Compare(NamedExpr(n, Call(len, [a], [])), [>], [1]), [Pass()], []), While(NamedExpr(chunk, Call(Attribute(a, read), [], [])), [Pass()], [])], [], -, is_generator)
#= 14-25 FunctionDef(g, [], [Assign([x], Await(a)), Assign([x], Await(Call(Attribute(a, b), [c], []))), Assign([x], BinOp(Await(a), **, b)), Assign([x], BinOp(Await(a), **, b)), With([WithItem(a, b), WithItem(c, -)], [Pass()], is_async), For(a, b, [Pass()], [Pass()], is_async), Return(Comprehension(list, x, -, [Clause(x, y, [], is_async)]))], [], -, is_async)
