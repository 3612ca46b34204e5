"""Objects that no call by the name of their class makes, and values that last as long as a call: what they let run is not never."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.domain.values import Known
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

MAIN = """\
import functools
import importlib
import operator
import outside
import work


class Handler(outside.Base):
    def handle(self, r):
        {use}


outside.serve()
"""
THING = """\
import copy
import dataclasses
import enum


class Root:
    def twin(self):
        return type(self)(2)

    @classmethod
    def create(cls, text):
        return cls(**dict(p.split("=") for p in text.split(",")))


{head}class Thing{bases}:
    def __init__(self, n=0):
        self.n = n

    def go(self):
        if self.n != 1:
            print("another")


{tail}
"""


def engine(use: str, work: str) -> LaunchEngine:
    files = {"main.py": MAIN.replace("{use}", use.replace("\n", "\n        ")), "work.py": work}
    return open_engine(MemoryTree(files), Launch(argv=("python3", "main.py")), files=NoFiles())


def verdict(use: str, work: str, text: str) -> str:
    found = engine(use, work)
    line = next(number for number, each in enumerate(work.splitlines(), 1) if text in each)
    return found.why(f"work.py:{line}").verdict


def thing(head: str = "", bases: str = "", tail: str = "") -> str:
    return THING.replace("{head}", head).replace("{bases}", bases).replace("{tail}", tail)


WAYS = {
    "registry": ("work.Thing(1).go()\nwork.REG['x'](2).go()", thing("REG = {}\ndef reg(c):\n    REG['x'] = c\n    return c\n\n@reg\n")),
    "own class": ("work.Thing(1).twin().go()", thing(bases="(Root)")),
    "class method of a base": ("work.Thing(1).go()\nwork.Thing.create('n=2').go()", thing(bases="(Root)")),
    "partial": ("work.Thing(1).go()\nfunctools.partial(work.Thing, 2)().go()", thing()),
    "by its global name": ("work.Thing(1).go()\nwork.make('Thing').go()", thing(tail="def make(n):\n    return globals()[n](2)")),
    "from the module by name": ("work.Thing(1).go()\ngetattr(work, 'Thing' if r else 'Root')(2).go()", thing()),
    "from the imported module": ("work.Thing(1).go()\ngetattr(importlib.import_module('work'), f'{\"Thing\"}')(2).go()", thing()),
    "told when it is defined": (
        "work.Thing(1).go()\nwork.ALL[0](2).go()",
        thing("ALL = []\nclass Base:\n    def __init_subclass__(cls):\n        ALL.append(cls)\n\n", "(Base)"),
    ),
    "listed by its base": ("work.Thing(1).go()\nwork.Root.__subclasses__()[0](2).go()", thing(bases="(Root)")),
    "under another name": ("work.Thing(1).go()\nwork.Other(2).go()", thing(tail="Other = Thing")),
    "as a default": ("work.Thing(1).go()\nwork.make().go()", thing(tail="def make(cls=Thing):\n    return cls(2)")),
    "chosen": ("work.Thing(1).go()\nwork.pick(r)(2).go()", thing(tail="def pick(r):\n    return Thing if r else Root")),
    "a class below": (
        "work.Thing(1).go()\nwork.Low().go()",
        thing(tail="class Mid(Thing):\n    pass\nclass Low(Mid):\n    def __init__(self):\n        super().__init__(2)"),
    ),
    "an __init__ beside it": (
        "work.Thing(1).go()\nwork.Both(1).go()",
        thing(tail="class Beside:\n    def __init__(self, n):\n        super().__init__(2)\nclass Both(Beside, Thing):\n    pass"),
    ),
    "attributes by update": ("t = work.Thing(1)\nt.__dict__.update(n=r)\nt.go()", thing()),
    "attributes by update inside": (
        "t = work.Own(1)\nt.more(n=2)\nt.go()",
        thing(tail="class Own(Thing):\n    def more(self, **kw):\n        self.__dict__.update(kw)"),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_object_that_is_made_without_its_name_counts(way: str) -> None:
    use, work = WAYS[way]
    assert verdict(use, work, 'print("another")') != "never"


def test_a_class_that_only_calls_by_its_name_make_is_known() -> None:
    assert verdict("if isinstance(r, work.Thing):\n    work.Thing(1).go()\nwork.Thing(n=1).go()", thing(), 'print("another")') == "never"
    assert engine("work.Thing(1).go()", thing()).setting("Thing.n") == Known(value=1)


FIELDS = """\
import dataclasses


@dataclasses.dataclass
class Row:
    n: int = 1

    def go(self):
        if self.n != 1:
            print('x')
"""


def test_a_record_that_is_made_from_another_counts() -> None:
    assert verdict("work.Row().go()", FIELDS, "print('x')") == "never"
    replacing = FIELDS + "\n\ndef other(row):\n    return dataclasses.replace(row, n=2)\n"
    assert verdict("work.Row().go()\nwork.other(work.Row()).go()", replacing, "print('x')") != "never"


CALLED = """\
class Mixin:
    def start(self):
        self.run(True)


class Base:
    def run(self, flag=False):
        if flag:
            print("flag")
        else:
            print("none")

    def dispatch(self, name):
        {dispatch}


class Both(Mixin, Base):
    pass


def go(flag=False):
    if flag:
        print("set")
    else:
        print("missing")
"""
CALLS = {
    "a mixin": ("work.Both().start()\nwork.Both().run()", "pass", 'print("flag")'),
    "a method that is called by its name": ("operator.methodcaller('run', True)(work.Base())\nwork.Base().run()", "pass", 'print("flag")'),
    "a name that is worked out": ("work.Base().dispatch('run')\nwork.Base().run()", "getattr(self, name)(True)", 'print("flag")'),
    "an argument that may be missing": ("kw = {'flag': True}\nif r:\n    kw.pop('flag')\nwork.go(**kw)", "pass", 'print("missing")'),
}


@pytest.mark.parametrize("way", CALLS)
def test_every_caller_of_a_method_counts(way: str) -> None:
    use, dispatch, line = CALLS[way]
    assert verdict(use, CALLED.replace("{dispatch}", dispatch), line) != "never"


STATES = """\
import enum


class Engine:
    def __init__(self):
        self.warming = False

    def warm_up(self):
        self.warming = True
        self.run()
        self.warming = False

    def run(self):
        if self.warming:
            print("warming")


class Kind(enum.Enum):
    A = "a"
    B = "b"

    def go(self):
        if self is Kind.A:
            print("a")
"""


def test_what_an_attribute_is_while_a_method_calls_another() -> None:
    assert verdict("work.Engine().warm_up()\nwork.Engine().run()", STATES, 'print("warming")') != "never"


def test_a_method_of_an_enumeration_runs_on_its_members() -> None:
    assert verdict("work.Kind['A'].go()", STATES, 'print("a")') != "never"


WRITTEN = """\
class Thing:
    n = 1


def use():
    t = Thing()
    held = vars(t)
    held.update(n=2)
    if t.n == 2:
        print('x')
"""


def test_writing_to_the_dictionary_of_an_object_is_writing_to_the_object() -> None:
    work = WRITTEN
    assert verdict("work.use()", work, "print('x')") != "never"
    assert verdict("work.use()", work + "    else:\n        print('y')\n", "print('y')") == "never"


FLAGS = "FAST = True\n\n\nclass Slow:\n    def __init__(self, n=0):\n        pass\n\n    def go(self):\n        pass\n\n\n"
ALIASES = {
    "an alias that holds the other class": ("work.use()", "    kind = Slow if FAST else Thing\n    kind(2).go()", "never"),
    "an alias bound in branches": (
        "work.use()",
        "    if FAST:\n        kind = Slow\n    else:\n        kind = Thing\n    kind(2).go()",
        "never",
    ),
    "an alias that holds the class": ("work.use()", "    kind = Thing if FAST else Slow\n    kind(2).go()", "may"),
    "an alias of which nothing is known": ("work.use()", "    kind = Thing if outside.flag() else Slow\n    kind(2).go()", "may"),
    "an alias that is handed on": ("work.use()", "    kind = Slow if FAST else Thing\n    kind(2).go()\n    outside.take(kind)", "may"),
    "an alias that is returned": ("work.use()(2).go()", "    kind = Slow if FAST else Thing\n    kind(2).go()\n    return kind", "may"),
    "an alias called inside a function": (
        "work.use()",
        "    kind = Slow if FAST else Thing\n    def inner():\n        kind(2).go()\n    inner()",
        "may",
    ),
}


@pytest.mark.parametrize("way", ALIASES)
def test_a_class_in_a_variable(way: str) -> None:
    use, body, expected = ALIASES[way]
    work = thing(head=f"import outside\n\n{FLAGS}", tail=f"def use():\n    Thing(1).go()\n{body}")
    assert verdict(use, work, "another") == expected
