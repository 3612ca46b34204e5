"""Places where settings get lost without a word, as far as the launch comes to them."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.domain.source import Absent, Files
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


# --- a field that is read before it is settled -----------------------------------------------------------------------------------

ORDER = """\
import argparse
from dataclasses import dataclass


@dataclass
class Args:
    size: int = 1
    kind: str = "auto"
    fast: bool = False

    def __post_init__(self):
        self.check()
        self.settle()

    def check(self):
        if self.size > 4:
            self.fast = True
        if self.kind == "auto" and self.size == {asked}:
            self.fast = True

    def settle(self):
        if self.kind == "auto":
            self.kind = "b"
        self.size = {final}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--kind", default="auto")
    parser.add_argument("--fast", action="store_true")
    args = parser.parse_args()
    Args(args.size, args.kind, args.fast)


main()
"""


def of_kind(text: str, kind: str, files: Files | None = None, *words: str) -> list[Smell]:
    engine = open_engine(MemoryTree({"program.py": text}), Launch(argv=("python3", "-m", "program", *words)), files=files or NoFiles())
    return [smell for smell in engine.audit().smells if smell.kind == kind]


def test_a_field_that_is_read_before_it_is_settled() -> None:
    """Not the one that settles the field itself."""
    found = of_kind(ORDER.format(asked=64, final=64), "read_before_write")
    assert [(smell.line, smell.text) for smell in found] == [(16, "self.size > 4"), (18, 'self.kind == "auto"')]
    assert "false while size is 1; program.py:24 makes it 64 later, with which it would be true" in found[0].why


def test_a_value_that_answers_alike_is_none() -> None:
    found = of_kind(ORDER.format(asked=9, final=2), "read_before_write", None, "--kind", "c")
    assert found == []


SWITCH = """\
import argparse
from dataclasses import dataclass


@dataclass
class Args:
    graphs: bool = True
    pieces: bool = True
    host: str = ""
    size: int = 1

    def __post_init__(self):
        self.check()
        if self.size > 1:
            self.pieces = False
        if not self.host:
            self.host = "127.0.0.1"

    def check(self):
        if not self.pieces:
            self.graphs = False
        if self.host:
            self.size = 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", action="store_false")
    parser.add_argument("--pieces", action="store_false")
    parser.add_argument("--host", default="")
    parser.add_argument("--size", type=int, default=1)
    args = parser.parse_args()
    Args(args.graphs, args.pieces, args.host, args.size)


main()
"""


def test_a_switch_that_is_read_before_it_is_thrown() -> None:
    """A bare test of any other field asks whether it was given."""
    (smell,) = of_kind(SWITCH, "read_before_write", None, "--size", "4")
    assert (smell.line, smell.text) == (20, "self.pieces")
    assert "true while pieces is True; program.py:15 makes it False later, with which it would be false" in smell.why
    assert of_kind(SWITCH, "read_before_write") == [] == of_kind(SWITCH, "read_before_write", None, "--size", "4", "--pieces")


# --- a wrapper that lacks what it is around --------------------------------------------------------------------------------------

MODEL = """\
class Inner:
    def capture(self, layers):
        return layers

    def head(self):
        return 1

    def plain(self):
        return 2


class Wrapper:
    def __init__(self):
        self.inner = Inner()
{more}
"""
RUNNER = """\
import argparse
from models import wrapper


class Runner:
    def __init__(self, model):
        self.model = model

    def run(self):
        self.model.capture([1])
        if hasattr(self.model, "head"):
            print(self.model.head())
        self.draft_runner.model.plain()
        self.runner(0).model.plain()
        self.runners[0].model.plain()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    parser.add_argument("--draft-model")
    args = parser.parse_args()
    Runner(wrapper.Wrapper()).run()


main()
"""


class Configs:
    """A model whose architecture is the wrapper, and a draft that is something else."""

    def read(self, path: str) -> bytes | Absent:
        found = {"model/config.json": b'{"architectures": ["Wrapper"]}', "draft/config.json": b'{"architectures": ["Draft"]}'}
        return found.get(path) or Absent(path=path)

    def is_dir(self, path: str) -> bool:
        return path in ("model", "draft")


def wrapped(more: str) -> list[tuple[str, int, bool]]:
    tree = MemoryTree({"models/wrapper.py": MODEL.format(more=more), "program.py": RUNNER})
    launch = Launch(argv=("python3", "-m", "program", "--model", "model", "--draft-model", "draft"))
    smells = open_engine(tree, launch, files=Configs()).audit().smells
    return [(smell.path, smell.line, "raises" in smell.why) for smell in smells if smell.kind == "wrapper_lacks_method"]


def test_a_wrapper_that_lacks_a_method_of_its_model() -> None:
    """Called, or asked for; what is called on another model is none of its own, nor what is called on one of several."""
    assert wrapped("") == [("program.py", 10, True), ("program.py", 11, False)]


def test_a_wrapper_that_hands_them_on_is_none() -> None:
    assert wrapped("    def capture(self, layers):\n        return self.inner.capture(layers)\n\n    head = property(lambda self: 1)") == []
    assert wrapped("    def __getattr__(self, name):\n        return getattr(self.inner, name)") == []


# --- negative samples of the others ----------------------------------------------------------------------------------------------

NARROW = """\
import enum


class Kind(enum.Enum):
    A = 1
    B = 2

    def is_a(self):
        return self == Kind.A

    def is_a_only(self):
        return self == Kind.A


def main(x):
    try:
        x.limit = int("4")
    except Exception:
        raise
    try:
        value = int("5")
    except Exception:
        value = 6
    try:
        x.limit = int("7")
    except ValueError:
        pass
    print(Kind.A.is_a(), value)


class Box:
    limit = 1


main(Box())
"""


def test_equal_predicates_and_handlers_that_say_something_are_none() -> None:
    """A handler that raises again, one around no write, one for the very exception."""
    tree = MemoryTree({"program.py": NARROW})
    assert open_engine(tree, Launch(argv=("python3", "-m", "program")), files=NoFiles()).audit().smells == ()
