x = lambda: a
x = lambda a, b=1, *c, d, e=2, **f: a
x = lambda a, /, b: a
x = lambda *, a: a
x = lambda: (yield)
x = lambda a: a if b else c
x = lambda: lambda: a
x = a if b else lambda: c
#= 1-1 Assign([x], Lambda([], a))
#= 2-2 Assign([x], Lambda([Param(a, normal, -, -), Param(b, normal, 1, -), Param(c, vararg, -, -), Param(d, kwonly, -, -), Param(e, kwonly, 2, -), Param(f, kwarg, -, -)], a))
#= 3-3 Assign([x], Lambda([Param(a, posonly, -, -), Param(b, normal, -, -)], a))
#= 4-4 Assign([x], Lambda([Param(a, kwonly, -, -)], a))
#= 5-5 Assign([x], Lambda([], Yield(-)))
#= 6-6 Assign([x], Lambda([Param(a, normal, -, -)], IfExp(b, a, c)))
#= 7-7 Assign([x], Lambda([], Lambda([], a)))
#= 8-8 Assign([x], IfExp(b, a, Lambda([], c)))
