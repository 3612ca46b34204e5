print "a"
print >> f, "a"
print >> f
exec "a" in b
exec "a"
print("a")
exec("a")
x = 0777
x = 10L
x = `a`
x = a <> b
raise A, "b"
#= 1-1 Unsupported(print_statement, print "a")
#= 2-2 ExprStmt(TupleExpr([BinOp(print, >>, f), 'a']))
#= 3-3 ExprStmt(BinOp(print, >>, f))
#= 4-4 Unsupported(exec_statement, exec "a" in b)
#= 5-5 Unsupported(exec_statement, exec "a")
#= 6-6 ExprStmt(Call(print, ['a'], []))
#= 7-7 ExprStmt(Call(exec, ['a'], []))
#= 8-8 Assign([x], Unsupported(integer, 0777))
#= 9-9 Assign([x], Unsupported(integer, 10L))
#= 10-10 Assign([x], Unsupported(string, `a`))
#= 11-11 Assign([x], Unsupported(comparison_operator, a <> b))
#= 12-12 Unsupported(raise_statement, raise A, "b")
