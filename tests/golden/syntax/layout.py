if a:
	b
	if c:
		d
x = a + \
    b
x = (a  # comment
     # another
     + b)

class A:
    def f(self):
        x

        # at the end of f

    # at the end of A


def g(): return 1
x = 1; y = 2 ; z = 3;
#= 1-4 If(a, [ExprStmt(b), If(c, [ExprStmt(d)], [])], [])
#= 5-6 Assign([x], BinOp(a, +, b))
#= 7-9 Assign([x], BinOp(a, +, b))
#= 11-13 ClassDef(A, [], [], [FunctionDef(f, [Param(self, normal, -, -)], [ExprStmt(x)], [], -)], [])
#= 20-20 FunctionDef(g, [], [Return(1)], [], -)
#= 21-21 Assign([x], 1)
#= 21-21 Assign([y], 2)
#= 21-21 Assign([z], 3)
