"""Special methods are looked up in the class; hooks of attribute access run for the name that is meant, and for no other."""

from __future__ import annotations

import pytest

from tests.evaluation.test_reach_law import wrong

PROGRAM = """\
from outside import u0, u1

x = 0


class Strict:
    def __init__(self):
        object.__setattr__(self, "fields", {"a": 1})

    def __getattr__(self, name):
        if name in object.__getattribute__(self, "fields"):
            return object.__getattribute__(self, "fields")[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if name == "forbidden":
            raise AttributeError(name)
        object.__setattr__(self, name, value)


def main():
    global x
    thing = Strict()
"""
BODIES = {
    "truth": "if thing:\n    x = 1\nelse:\n    x = 2",
    "a container": "try:\n    if 'a' in thing:\n        x = 1\n    x = 2\nexcept TypeError:\n    x = 3",
    "a loop": "try:\n    for each in thing:\n        x = 1\n    x = 2\nexcept TypeError:\n    x = 3",
    "equality": "if thing == 3:\n    x = 1\nelse:\n    x = 2",
    "one of two names": "name = 'forbidden' if u0 else 'b'\n"
    "try:\n    setattr(thing, name, 2)\n    x = 1\nexcept AttributeError:\n    x = 2\nx = 3",
    "one of two names, past the hook": "name = 'forbidden' if u0 else 'b'\nobject.__setattr__(thing, name, 2)\nx = 1",
    "what is left of one of two names": "name = 'b' if u0 else 'c'\nsetattr(thing, name, 2)\n"
    "if hasattr(thing, 'b'):\n    x = 1\nelse:\n    x = 2",
    "names of object": "if object.__dict__.get('_none') is None:\n    x = 1\nelse:\n    x = 2",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_no_run_contradicts(body: str) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    assert not wrong(f'{PROGRAM}{indented}\n\nif __name__ == "__main__":\n    main()\n', ())
