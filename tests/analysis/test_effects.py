"""Which attributes a statement may write, with all that it calls."""

from __future__ import annotations

import pytest

from agent.analysis import ir
from agent.analysis.effects import attributes_written
from tests.analysis.trees import index_of

LIBRARY = """\
import outside

log = outside.logger()
alias = outside.call
other = helper


def helper(x):
    x.first = 1


def further(x):
    helper(x)
    x.second = 2


def by_name(x):
    setattr(x, "third", 3)


def any_name(x, name):
    setattr(x, name, 3)


def whole(x):
    x.__dict__.update({})


def counted():
    global total
    total = 1


def given(f):
    f()


class Made:
    def __init__(self, x):
        self.own = x
        x.fourth = 4

    def method(self):
        self.fifth = 5


class Held:
    def __init__(self, run):
        self.run = run


def recursive(x):
    x.sixth = 6
    recursive(x)


def inside(x):
    def put():
        x.seventh = 7
    put()


def unpacked(x):
    (x.eighth, y), *x.ninth = 1, 2


def waits(x):
    with outside.lock() as x.tenth:
        for x.eleventh in ():
            pass


@outside.timed
def decorated(x):
    x.twelfth = 12


@wrap
def wrapped(x):
    pass


def wrap(f):
    f.thirteenth = 13
    return f
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("pass", ""),
        ("helper(x)", "first"),
        ("further(x)", "first second"),
        ("by_name(x)", "third"),
        ("any_name(x, 'third')", None),
        ("whole(x)", None),
        ("counted()", "total"),
        ("given(helper)", None),
        ("Made(x)", "fourth"),
        ("x.method()", "fifth"),
        ("x.run()", None),
        ("recursive(x)", "sixth"),
        ("inside(x)", "seventh"),
        ("unpacked(x)", "eighth ninth"),
        ("waits(x)", "eleventh tenth"),
        ("decorated(x)", "twelfth"),
        ("wrapped(x)", "thirteenth"),
        ("outside.call(x)", ""),
        ("outside.call(helper)", "first"),
        ("outside.call(lambda: helper(x))", "first"),
        ("outside.call(x.method)", "fifth"),
        ("log.warning(x)", ""),
        ("alias(x)", ""),
        ("other(x)", "first"),
        ("y()", None),
        ("table['a']()", None),
        ("exec('x.a = 1')", None),
        ("isinstance(x, Made)", ""),
        ("print(len(x))", ""),
        ("x.here: int = 1", "here"),
        ("if y:\n        x.here = 1\n    else:\n        helper(x)", "first here"),
        ("from outside import thing\n    thing(x)", ""),
    ],
)
def test_attributes_written(statement: str, expected: str | None) -> None:
    index = index_of({"lib.py": f"{LIBRARY}\n\ndef asked(x, y):\n    {statement}\n"})
    function = next(each.node for each in index.outline("lib.py").definitions if each.name == "asked")
    assert isinstance(function, ir.FunctionDef)
    found = attributes_written(index, "lib.py", function.body[-1], function)
    assert (None if found is None else " ".join(sorted(found))) == expected
