x = 1
def f(:
    pass
y = 2
class A:
    def g(self):
        x = = 1
        return 2
    def h(self):
        return 3
z = 3
if a b:
    c
w = 4
#= 1-1 Assign([x], 1)
#= 2-3 Unsupported(syntax error, 'def f(:\n    pass')
#= 4-4 Assign([y], 2)
#= 5-10 ClassDef(A, [], [], [FunctionDef(g, [Param(self, normal, -, -)], [Unsupported(syntax error, x = = 1), Return(2)], [], -), FunctionDef(h, [Param(self, normal, -, -)], [Return(3)], [], -)], [])
#= 11-11 Assign([z], 3)
#= 12-13 Unsupported(syntax error, 'if a b:\n    c')
#= 14-14 Assign([w], 4)
#= 2-2 error: ') is missing'
#= 7-7 error: '='
#= 12-12 error: 'b'
