import functools
from functools import partial

LEVEL = 0
REGISTRY = {}


def register(name):
    def wrap(function):
        REGISTRY[name] = function
        return function

    return wrap


@register("one")
def one():
    return 1  # always


@register("two")
def two():
    return 2


def loud(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) + 1  # always

    return inner


@loud
def base(a, *, b=0):
    return a + b  # always


def counter():
    n = 0

    def step():
        nonlocal n
        n += 1  # always
        return n

    step()
    step()
    return n


def raised():
    global LEVEL
    LEVEL = 3  # always


def pairs(*args, **kwargs):
    if kwargs.get("k") == 1 and args == (1, 2):
        return True  # always
    return False  # never


def numbers():
    yield 1
    yield 2


def main():
    if counter() != 2:
        x = 1  # never
    raised()
    if LEVEL == 3:
        x = 2  # always
    if REGISTRY["one"]() == 1:
        x = 3  # always
    if base(1, b=2) == 4:
        x = 4  # always
    add = partial(lambda a, b: a - b, 5)
    if add(b=2) != 3:
        x = 5  # never
    table = {"a": lambda: "A", "b": lambda: "B"}
    if table["b"]() == "A":
        x = 6  # never
    pairs(1, 2, k=1)
    if list(numbers()) == [1, 2]:
        x = 7  # always
    if sum(i for i in numbers()) != 3:
        x = 8  # never
    return x


def start():
    main()


start()
