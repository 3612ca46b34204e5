class A: pass
class A(): pass
class A(B, c.D, metaclass=M, **k): pass
class A(Generic[T], B[int, str]):
    """doc"""
    a: int
    b: int = 1
    c = 2
    def f(self): pass
    class D: pass
@dataclass(frozen=True)
class A:
    a: list[int] = field(default_factory=list)
class A(*bases): pass
#= 1-1 ClassDef(A, [], [], [Pass()], [])
#= 2-2 ClassDef(A, [], [], [Pass()], [])
#= 3-3 ClassDef(A, [B, Attribute(c, D)], [Keyword(metaclass, M), Keyword(-, k)], [Pass()], [])
#= 4-10 ClassDef(A, [Subscript(Generic, T), Subscript(B, TupleExpr([int, str]))], [], [ExprStmt('doc'), AnnAssign(a, int, -), AnnAssign(b, int, 1), Assign([c], 2), FunctionDef(f, [Param(self, normal, -, -)], [Pass()], [], -), ClassDef(D, [], [], [Pass()], [])], [])
#= 12-13 ClassDef(A, [], [], [AnnAssign(a, Subscript(list, int), Call(field, [], [Keyword(default_factory, list)]))], [Call(dataclass, [], [Keyword(frozen, True)])])
#= 14-14 ClassDef(A, [Starred(bases)], [], [Pass()], [])
