match a:
    case 1:
        b
    case -1 | 2.5 | -3j:
        c
    case 1 + 2j:
        d
    case "a" "b":
        e
    case None | True | False:
        f
    case A.B:
        g
    case x:
        h
match a, b:
    case [x, *rest]:
        c
    case (x, *_):
        d
    case x, y:
        e
    case x,:
        f
    case []:
        g
    case ():
        h
    case (x):
        i
match a:
    case {"k": v, 1: _, A.B: [x], **rest}:
        b
    case {}:
        c
    case C():
        d
    case C(x, y=D(z), w=1):
        e
    case a.C(x=-1):
        f
    case [1 | 2 as x, (3 | 4) as y]:
        g
    case str(x) if x:
        h
    case _:
        i
match = case = type = 1
match(a)
match[a] = b
#= 1-15 Match(a, [Case(MatchValue(1), -, [ExprStmt(b)]), Case(MatchOr([MatchValue(UnaryOp(-, 1)), MatchValue(2.5), MatchValue(UnaryOp(-, 3j))]), -, [ExprStmt(c)]), Case(MatchValue(BinOp(1, +, 2j)), -, [ExprStmt(d)]), Case(MatchValue('ab'), -, [ExprStmt(e)]), Case(MatchOr([MatchValue(None), MatchValue(True), MatchValue(False)]), -, [ExprStmt(f)]), Case(MatchValue(Attribute(A, B)), -, [ExprStmt(g)]), Case(MatchAs(-, x), -, [ExprStmt(h)])])
#= 16-30 Match(TupleExpr([a, b]), [Case(MatchSequence([MatchAs(-, x), MatchStar(rest)]), -, [ExprStmt(c)]), Case(MatchSequence([MatchAs(-, x), MatchStar(-)]), -, [ExprStmt(d)]), Case(MatchSequence([MatchAs(-, x), MatchAs(-, y)]), -, [ExprStmt(e)]), Case(MatchSequence([MatchAs(-, x)]), -, [ExprStmt(f)]), Case(MatchSequence([]), -, [ExprStmt(g)]), Case(MatchSequence([]), -, [ExprStmt(h)]), Case(MatchAs(-, x), -, [ExprStmt(i)])])
#= 31-47 Match(a, [Case(MatchMapping(['k', 1, Attribute(A, B)], [MatchAs(-, v), MatchAs(-, -), MatchSequence([MatchAs(-, x)])], rest), -, [ExprStmt(b)]), Case(MatchMapping([], [], -), -, [ExprStmt(c)]), Case(MatchClass(C, [], [], []), -, [ExprStmt(d)]), Case(MatchClass(C, [MatchAs(-, x)], [y, w], [MatchClass(D, [MatchAs(-, z)], [], []), MatchValue(1)]), -, [ExprStmt(e)]), Case(MatchClass(Attribute(a, C), [], [x], [MatchValue(UnaryOp(-, 1))]), -, [ExprStmt(f)]), Case(MatchSequence([MatchAs(MatchOr([MatchValue(1), MatchValue(2)]), x), MatchAs(MatchOr([MatchValue(3), MatchValue(4)]), y)]), -, [ExprStmt(g)]), Case(MatchClass(str, [MatchAs(-, x)], [], []), x, [ExprStmt(h)]), Case(MatchAs(-, -), -, [ExprStmt(i)])])
#= 48-48 Assign([match, case, type], 1)
#= 49-49 ExprStmt(Call(match, [a], []))
#= 50-50 Assign([Subscript(match, a)], b)
