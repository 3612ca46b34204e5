"""Branches, loops and calls that leave before the place."""
import os
import sys


def returns(a, b):
    if a:
        return 1
    x = 1  #@ early_exit: not a
    if b:
        raise ValueError
    return x  #@ early_exit: not a; early_exit: not b


def else_leaves(a):
    if a:
        x = 1
    else:
        return 0
    return x  #@ early_exit: a


def ladder(a, b, c):
    if a:
        return 1
    elif b:
        x = 2
    elif c:
        return 3
    return x  #@ early_exit: not a; early_exit: not c unless b


def whole_ladder(a, b):
    if a:
        return 1
    elif b:
        return 2
    else:
        return 3
    return 4  #@ early_exit: never


def after_return():
    return 1
    return 2  #@ early_exit: never


def nested(a, b):
    if a:
        if b:
            return 1
    return 2  #@ early_exit: not b unless not a


def nested_deep(a, b, c):
    if a:
        if b:
            if c:
                return 1
    return 2  #@ early_exit: not c unless not b unless not a


def exits(a, b, c):
    if a:
        sys.exit(1)
    if b:
        os._exit(0)
    if c:
        exit()
    return 1  #@ early_exit: not a; early_exit: not b; early_exit: not c


def in_a_loop(xs, a, b):
    for x in xs:
        if x:
            continue
        y = 1  #@ for: nonempty xs; early_exit: not x
        if a:
            break
        y = 2  #@ for: nonempty xs; early_exit: not x; early_exit: not a
        if b:
            return y
        y = 3  #@ for: nonempty xs; early_exit: not x; early_exit: not a; early_exit: not b
    return 1  #@ early_exit: not b unless not nonempty xs unless unknown


def returning_loop(xs):
    for x in xs:
        return x
    return None  #@ early_exit: not nonempty xs


def conditional_in_loop(xs):
    for x in xs:
        if x:
            return x
    return None  #@ early_exit: not x unless not nonempty xs


def endless(a):
    while True:
        if a:
            return 1
    return 2  #@ early_exit: never


def endless_with_break(a, b):
    while True:
        if a:
            break
        if b:
            return 1
    return 2  #@ early_exit: not b unless unknown


def while_returns(a):
    while a:
        return 1
    return 2  #@ early_exit: not a


def inner_break(xs, ys):
    while True:
        for y in ys:
            break
    return 2  #@ early_exit: never


def asserts(a, b):
    assert a
    if b:
        assert not a
    return 1  #@ assert: a; assert: not a unless not b


def code_of_function_below(a):
    def inner():
        return 1
    return inner  #@


def else_of_a_loop(xs, a, b):
    for x in xs:
        if a:
            return 1
    else:
        x = 1  #@ early_exit: not a unless not nonempty xs
    while a:
        if b:
            return 2
        if x:
            break
    else:
        x = 2  #@ early_exit: not a unless not nonempty xs; early_exit: not b unless not a; while: unknown; while: not a
    return x


def break_in_a_handler(xs):
    for x in xs:
        try:
            f()
        except ValueError:
            break
        return x
    return 1  #@ early_exit: not nonempty xs unless unknown


def break_in_finally(xs):
    for x in xs:
        try:
            return x
        finally:
            break
    return 1  #@
