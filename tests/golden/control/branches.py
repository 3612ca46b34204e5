"""The mark at the end of a line names the guards of its statement, or of the call ``here()`` in it."""


def if_else(a, b, c):
    if a:
        x = 1  #@ if: a
        if b:
            x = 2  #@ if: a; if: b
        else:
            x = 3  #@ if: a; if: not b
    elif b:
        x = 4  #@ if: not a; if: b
    elif c:
        x = 5  #@ if: not a; if: not b; if: c
    else:
        x = 6  #@ if: not a; if: not b; if: not c
    return x  #@


def one_line(a):
    if a: x = 1  #@ if: a
    x = 2; y = here()  #@
    return x, y


def condition_of_elif(a):
    if a:
        pass
    elif here():  #@ if: not a
        pass


def loops(xs, a):
    for x in xs:
        y = x  #@ for: nonempty xs
    else:
        y = 0  #@
    while a:
        a = y  #@ while: a
    else:
        a = 1  #@ while: not a
    for x in xs:
        if x:
            break
    else:
        y = 2  #@ for: unknown


def with_(f, g):
    with open(f) as one, open(here()) as two:  #@ with: enters open(f)
        return one, two  #@ with: enters open(f); with: enters open(here())


def nested_function(a):
    if a:
        def inner(b):
            if b:
                return 1  #@ if: b
            return 2  #@ early_exit: not b

        class Inner:
            x = 1  #@ if: a
            if x:
                y = 2  #@ if: a; if: x

        return inner, Inner


def defaults(a):
    if a:
        def inner(b=here()):  #@ if: a
            return b
        return inner


def statement(a):
    assert a, here()  #@ assert: not a
    return a  #@ assert: a
