"""What a question passes over may still change what it asks about: each method below comes to its last line, and may not be called dead.

The engine sees the class handed to a library, so that every method is asked about by itself, as a slice.
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import outside


class Sub:
    def __init__(self):
        self.x = 0
        self.items = []


class Config:
    kind = 0

    def __init__(self):
        self.sub = Sub()


HELD = []
MODE = 0


def register(cfg):
    HELD.append(cfg)


def go():
    for cfg in HELD:
        cfg.sub.x = 5


def set_mode():
    global MODE
    MODE = 5


def helper(thing):
    thing.number = 1


class Holder:
    def __init__(self, items):
        self.items = items

    def grow(self):
        self.items.append(1)


class Thing:
    def __init__(self):
        self.number = 0

    def fill(self, cfg):
        cfg.sub.x = 5

    def fill_own(self):
        self.sub.x = 5

    def setup(self):
        self.sub = Sub()

    def nine(self):
        self.other.x = 6

    def put_kind(self, thing):
        thing.kind = 5

    def put(self, s):
        s.x = 5

    def fill_items(self, items):
        items.append(3)

    def change(self):
        self.cfg.sub.x = 5

    def count(self):
        self.number += 1

    def grow(self):
        self.items.append(1)

    def written_below_an_attribute(self):
        self.sub = Sub()
        self.sub.x = 5
        if self.sub.x == 5:
            print("hit")

    def written_below_a_local(self):
        cfg = Config()
        cfg.sub.x = 5
        if cfg.sub.x == 5:
            print("hit")

    def by_a_method_given_it(self):
        cfg = Config()
        self.fill(cfg)
        if cfg.sub.x == 5:
            print("hit")

    def by_a_method_of_its_own(self):
        self.sub = Sub()
        self.fill_own()
        if self.sub.x == 5:
            print("hit")

    def made_by_a_method_of_its_own(self):
        self.setup()
        self.sub.x = 5
        if self.sub.x == 5:
            print("hit")

    def through_a_second_name(self):
        cfg = Config()
        s = cfg.sub
        s.x = 5
        if cfg.sub.x == 5:
            print("hit")

    def list_below_a_local(self):
        cfg = Config()
        cfg.sub.items.append(1)
        if cfg.sub.items:
            print("hit")

    def through_a_table(self):
        cfg = Config()
        table = {"a": cfg.sub}
        table["a"].x = 5
        if cfg.sub.x == 5:
            print("hit")

    def through_a_loop(self):
        cfg = Config()
        for s in [cfg.sub]:
            s.x = 5
        if cfg.sub.x == 5:
            print("hit")

    def second_name_of_an_attribute(self):
        self.cfg = Config()
        s = self.cfg.sub
        s.x = 5
        if self.cfg.sub.x == 5:
            print("hit")

    def setattr_below_a_local(self):
        cfg = Config()
        setattr(cfg.sub, "x", 5)
        if cfg.sub.x == 5:
            print("hit")

    def setattr_below_an_attribute(self):
        self.cfg = Config()
        setattr(self.cfg.sub, "x", 5)
        if self.cfg.sub.x == 5:
            print("hit")

    def through_its_dict(self):
        cfg = Config()
        cfg.sub.__dict__["x"] = 5
        if cfg.sub.x == 5:
            print("hit")

    def augmented(self):
        cfg = Config()
        cfg.sub.x += 5
        if cfg.sub.x == 5:
            print("hit")

    def as_a_loop_target(self):
        cfg = Config()
        for cfg.sub.x in (5,):
            pass
        if cfg.sub.x == 5:
            print("hit")

    def in_an_unpacking(self):
        cfg = Config()
        (cfg.sub.x, y) = 5, 6
        if cfg.sub.x == 5:
            print("hit")

    def given_to_a_method(self):
        cfg = Config()
        cfg.sub, cfg.z = Sub(), 5
        self.put(cfg.sub)
        if cfg.sub.x == 5:
            print("hit")

    def attribute_given_to_a_method(self):
        self.cfg = Config()
        self.put(self.cfg.sub)
        if self.cfg.sub.x == 5:
            print("hit")

    def own_list(self):
        self.items = []
        self.items.append(1)
        if self.items:
            print("hit")

    def list_below_an_attribute(self):
        self.sub = Sub()
        self.sub.items.append(1)
        if self.sub.items:
            print("hit")

    def second_name_of_a_list(self):
        self.items = []
        alias = self.items
        alias.append(1)
        if self.items:
            print("hit")

    def list_given_outside(self):
        self.items = []
        outside.fill(self.items)
        if self.items:
            print("hit")

    def list_given_to_a_method(self):
        self.items = []
        self.fill_items(self.items)
        if self.items:
            print("hit")

    def nonlocal_name(self):
        x = None
        def inner():
            nonlocal x
            x = 5
        inner()
        if x == 5:
            print("hit")

    def function_inside(self):
        cfg = Config()
        def inner():
            cfg.sub.x = 5
        inner()
        if cfg.sub.x == 5:
            print("hit")

    def lambda_inside(self):
        cfg = Config()
        fn = lambda: setattr(cfg.sub, "x", 5)
        fn()
        if cfg.sub.x == 5:
            print("hit")

    def kept_in_a_global(self):
        cfg = Config()
        register(cfg)
        go()
        if cfg.sub.x == 5:
            print("hit")

    def own_method_below_an_attribute(self):
        self.cfg = Config()
        self.change()
        if self.cfg.sub.x == 5:
            print("hit")

    def walrus_in_a_test(self):
        x = 0
        if (x := 5) and outside.flag:
            pass
        if x == 5:
            print("hit")

    def default_of_the_class(self):
        cfg = Config()
        cfg.kind = 5
        if cfg.kind == 5:
            print("hit")

    def default_through_a_second_name(self):
        cfg = Config()
        other = cfg
        other.kind = 5
        if cfg.kind == 5:
            print("hit")

    def bound_method_in_a_name(self):
        cfg = Config()
        fn = self.put_kind
        fn(cfg)
        if cfg.kind == 5:
            print("hit")

    def annotated_name(self):
        cfg: Config = Config()
        c = cfg.sub
        c.x = 5
        if cfg.sub.x == 5:
            print("hit")

    def made_in_an_or(self):
        cfg = Config() or None
        self.put_kind(cfg)
        if cfg.kind == 5:
            print("hit")

    def loop_over_a_tuple(self):
        with outside.lock():
            cfg = Config()
        for c in (cfg, cfg):
            self.put_kind(c)
        if cfg.kind == 5:
            print("hit")

    def own_counter(self):
        self.number = 0
        self.count()
        if self.number == 1:
            print("hit")

    def function_given_self(self):
        self.number = 0
        helper(self)
        if self.number == 1:
            print("hit")

    def callback_given_outside(self):
        self.number = 0
        outside.each(self.count)
        if self.number == 1:
            print("hit")

    def second_name_of_self(self):
        self.number = 0
        me = self
        me.number = 1
        if self.number == 1:
            print("hit")

    def walrus_in_a_loop(self):
        x = 0
        while (x := x + 1) < 5:
            pass
        if x == 5:
            print("hit")

    def walrus_in_an_argument(self):
        x = 0
        print([x := 5])
        if x == 5:
            print("hit")

    def counted_in_a_loop(self):
        x = 0
        for i in range(3):
            x += 1
        if x == 3:
            print("hit")

    def list_grown_inside(self):
        items = [0]
        def add():
            items.append(1)
        for i in range(3):
            add()
        if len(items) > 1:
            print("hit")

    def dict_filled_outside(self):
        table = {}
        outside.fill(table)
        if "a" in table:
            print("hit")

    def setdefault(self):
        table = {}
        inner = table.setdefault("a", [])
        inner.append(4)
        if table["a"]:
            print("hit")

    def two_names_at_once(self):
        a = b = []
        b.append(1)
        if a:
            print("hit")

    def in_a_tuple(self):
        a = []
        t = (a, 1)
        t[0].append(1)
        if a:
            print("hit")

    def kept_by_self(self):
        a = []
        self.items = a
        self.grow()
        if a:
            print("hit")

    def kept_by_another(self):
        a = []
        thing = Holder(a)
        thing.grow()
        if a:
            print("hit")

    def method_of_a_list(self):
        a = []
        add = a.append
        add(1)
        if a:
            print("hit")

    def item_in_an_unpacking(self):
        a = [0]
        a[0], b = 1, 2
        if a[0] == 1:
            print("hit")

    def item_deleted(self):
        a = [0]
        del a[0]
        if not a:
            print("hit")

    def list_extended(self):
        a = [0]
        a += [1]
        if len(a) == 2:
            print("hit")

    def second_name_extended(self):
        a = [0]
        b = a
        b += [1]
        if len(a) == 2:
            print("hit")

    def lists_in_a_dict(self):
        a = {"k": [0]}
        for v in a.values():
            v.append(1)
        if len(a["k"]) == 2:
            print("hit")

    def dict_merged(self):
        a = {"k": 0}
        a |= {"j": 1}
        if "j" in a:
            print("hit")

    def in_a_comprehension(self):
        a = [3]
        [a.append(i) for i in range(3)]
        if len(a) == 4:
            print("hit")

    def in_a_generator(self):
        def gen():
            nonlocal seen
            seen = True
            yield 1
        seen = False
        for _ in gen():
            pass
        if seen:
            print("hit")

    def a_global(self):
        global MODE
        MODE = 0
        set_mode()
        if MODE == 5:
            print("hit")


if __name__ == "__main__":
    outside.run(Thing())
"""

LINES = PROGRAM.splitlines()


def hit_lines() -> dict[str, int]:
    """The line of each method that prints, for those that do."""
    found: dict[str, int] = {}
    method = ""
    for number, line in enumerate(LINES, 1):
        if line.startswith("    def "):
            method = line.split("def ")[1].split("(")[0]
        if line.strip() == 'print("hit")':
            found[method] = number
    return found


@pytest.fixture(scope="module")
def engine() -> LaunchEngine:
    return open_engine(MemoryTree({"program.py": PROGRAM}), Launch(argv=("python3", "-m", "program")), files=NoFiles())


@pytest.mark.parametrize("method", hit_lines())
def test_a_line_that_runs_is_not_called_dead(engine: LaunchEngine, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    outside: Any = types.ModuleType("outside")
    outside.flag = True
    outside.fill = lambda given: given.update(a=1) if isinstance(given, dict) else given.append(1)
    outside.each = lambda function: function()
    outside.lock = contextlib.nullcontext
    monkeypatch.setitem(sys.modules, "outside", outside)
    namespace: dict[str, Any] = {"__name__": "program", "print": lambda text: printed.append(text)}
    exec(compile(PROGRAM, "program.py", "exec"), namespace)
    getattr(namespace["Thing"](), method)()
    assert "hit" in printed, "the sample itself: this line runs"
    assert engine.why(f"program.py:{hit_lines()[method]}", counterfactuals=False).verdict != "never"


def test_what_nothing_changes_stays_known(engine: LaunchEngine) -> None:
    source = PROGRAM.replace("class Thing:", QUIET)
    quiet = open_engine(MemoryTree({"program.py": source}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    dead = source.splitlines().index("            dead()") + 1
    assert quiet.why(f"program.py:{dead}", counterfactuals=False).verdict == "never"


QUIET = """\
import logging

logger = logging.getLogger(__name__)


class Thing:
    def quiet(self):
        config = Config()
        names = ["a"]
        logger.info(f"made {config} of {names}")
        shown = str(config) + repr(names)
        if len(names) > 1 or config.sub.items:
            dead()
"""
