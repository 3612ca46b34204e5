import functools
@functools.singledispatch
def f(x):
    return 0
@f.register
def _(x: int):
    print("int")
    return 1
@f.register(str)
def _s(x):
    print("str")
    return 2
@functools.lru_cache(None)
def g(x):
    if x == 2:
        print("g2")
    return x
def use(x):
    if f(x) == 1:
        print("is int")
    if f("a") == 2:
        print("is str")
    if g(2) == 2:
        print("g is 2")


def run():
    use(1)
