"""Calls of the standard library with keywords, flags and bounds: each value is the one that Python gives, or is not known."""

from __future__ import annotations

import collections
import functools
import itertools
import json
import operator
import re
import shlex
import types

import pytest

from tests.evaluation.test_reach_law import wrong

MODULES = (collections, functools, itertools, json, operator, re, shlex, types)
EXPRESSIONS = """\
operator.itemgetter("a", "b")({"a": 1, "b": 2})
operator.attrgetter("x.y")(types.SimpleNamespace(x=types.SimpleNamespace(y=3)))
operator.attrgetter("x", "z")(types.SimpleNamespace(x=1, z=2))
re.compile("A", re.I).match("a") is not None
re.compile("^b$", re.M).search("a\\nb") is not None
re.sub("a", "b", "aaa", count=1)
re.split(",", "a,b,c", maxsplit=1)
shlex.split("a # b", comments=True)
list(collections.deque([1, 2, 3], maxlen=2))
json.dumps({"b": 1, "a": 2}, sort_keys=True)
functools.partial(int, base=2)("101")
list(itertools.product([1, 2], repeat=2))
isinstance(None, type(None))
type("").__name__
dict(b=1, a=2).keys() == {"a", "b"}
str(b"a", "ascii")
sum([1, 2], start=3)
[1, 2, 3, 4][slice(1, 3)]
bool(iter([]))
{1, 2}.symmetric_difference({2, 3})
""".splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_value_is_that_of_python(expression: str) -> None:
    value = eval(expression)
    imports = "".join(f"import {module.__name__}\n" for module in MODULES)
    source = f"""{imports}
def main():
    value = {expression}
    if value == {value!r}:
        print("equal")
    else:
        print("another")
    print("after")


if __name__ == "__main__":
    main()
"""
    assert not wrong(source, ())
