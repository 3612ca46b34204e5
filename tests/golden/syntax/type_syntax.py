type X = int
type X[T: int, *Ts, **P] = list[T]
def f[T](a: T) -> T: return a
class A[T: (int, str)](B[T]): pass
type = 1
#= 1-1 Assign([X], Unsupported(type_alias_statement, int))
#= 2-2 Assign([X], Unsupported(type_alias_statement, list[T]))
#= 3-3 FunctionDef(f, [Param(a, normal, -, T)], [Return(a)], [], T)
#= 4-4 ClassDef(A, [Subscript(B, T)], [], [Pass()], [])
#= 5-5 Assign([type], 1)
