"""Places where settings get lost without a word, as far as the launch comes to them."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.domain.verdict import Smell
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import enum


class Kind(enum.Enum):
    EAGLE = "eagle"
    EAGLE3 = "eagle3"

    def is_eagle(self):
        return self in (Kind.EAGLE, Kind.EAGLE3)

    def is_eagle3(self):
        return self == Kind.EAGLE3


class Inner:
    def window(self):
        return 4


class Wrapper:
    def __init__(self):
        self.inner = Inner()
        self.limit = 1


def main(model):
    if hasattr(model, "window"):
        print(model.window())
    if hasattr(model, "limit"):
        model.limit = 2
    if not hasattr(model, "window"):
        model.limit = 3
    if hasattr(model, "depth"):
        print(model.depth)
    else:
        print("no depth")
    try:
        model.limit = int("4")
    except Exception:
        pass


main({model}())
"""


def found(model: str) -> list[tuple[str, int]]:
    tree = MemoryTree({"program.py": PROGRAM.format(model=model)})
    smells: tuple[Smell, ...] = open_engine(tree, Launch(argv=("python3", "-m", "program")), files=NoFiles()).audit().smells
    return [(smell.kind, smell.line) for smell in smells]


def test_each_kind_at_its_line() -> None:
    assert found("Wrapper") == [("uneven_predicates", 11), ("hasattr_gate", 27), ("swallowed_write", 39)]


def test_a_gate_that_opens_is_none() -> None:
    """``limit`` is no method: configurations are asked for keys that they may lack all the time."""
    assert "hasattr_gate" not in [kind for kind, _ in found("Inner")]
