"""Conditions inside expressions; ``here()`` is the place asked about."""


def short_circuits(a, b, c):
    x = a and here()  #@ short_circuit: a
    x = a or here()  #@ short_circuit: not a
    x = a and b and here()  #@ short_circuit: a; short_circuit: b
    x = a or b and here()  #@ short_circuit: not a; short_circuit: b
    x = (a or b) and here()  #@ short_circuit: a or b
    x = a and (b or here())  #@ short_circuit: a; short_circuit: not b
    x = here() and a  #@
    x = not (a and here())  #@ short_circuit: a
    x = f(a and here(), b)  #@ short_circuit: a
    if a and here():  #@ short_circuit: a
        x = 1  #@ if: a and here()
    return x or c


def ternaries(a, b):
    x = here() if a else b  #@ ternary: a
    x = b if a else here()  #@ ternary: not a
    x = a if here() else b  #@
    x = (b if a else here()) if b else 0  #@ ternary: b; ternary: not a
    return x


def comparisons(a, b, c):
    x = a < here()  #@
    x = a < b < here()  #@ short_circuit: a < b
    x = a < b < c < here()  #@ short_circuit: a < b < c
    return x


def comprehensions(xs, ys, a):
    x = [here() for x in xs]  #@ comprehension: nonempty xs
    x = [here() for x in xs if x if a]  #@ comprehension: nonempty xs; comprehension: x; comprehension: a
    x = [x for x in here()]  #@
    x = [x for x in xs if here()]  #@ comprehension: nonempty xs
    x = [x for x in xs if a if here()]  #@ comprehension: nonempty xs; comprehension: a
    x = [y for x in xs if x for y in here()]  #@ comprehension: nonempty xs; comprehension: x
    x = {here(): y for x in xs for y in ys}  #@ comprehension: nonempty xs; comprehension: nonempty ys
    x = {x: here() for x in xs}  #@ comprehension: nonempty xs
    x = any(here() for x in xs)  #@ comprehension: unknown; comprehension: nonempty xs
    return x


def lambdas(a, b):
    x = a and (lambda: b and here())  #@ short_circuit: b
    x = a and (lambda c=here(): c)  #@ short_circuit: a
    return x


def strings(a):
    return f"{a and here()}"  #@ short_circuit: a


def walrus(a):
    return a and (b := here())  #@ short_circuit: a
