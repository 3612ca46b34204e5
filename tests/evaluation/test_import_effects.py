"""What modules do to each other while they are imported counts: registrations, settings, the environment."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

REG = """\
import os


class Plug:
    names = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Plug.names.append(cls.__name__)


class Table:
    items = {}

    @classmethod
    def register(cls, name):
        def deco(fn):
            cls.items[name] = fn
            return fn
        return deco


class Bus:
    def __init__(self):
        self.handlers = {}
        self.mode = "plain"

    def on(self, name):
        def deco(fn):
            self.handlers.setdefault(name, []).append(fn)
            return fn
        return deco


bus = Bus()
HOOKS = {"start": []}


def hook(fn):
    HOOKS["start"].append(fn)
    return fn
"""
PLUGS = """\
import os
from reg import Plug, Table, bus, hook

os.environ["SET_AT_IMPORT"] = "1"
os.environ.setdefault("GIVEN", "other")


class Fast(Plug):
    pass


@Table.register("fast")
def fast():
    return "fast"


@bus.on("go")
def on_go(value):
    return value + 1


@hook
def first():
    return 1


bus.mode = "changed"
"""
SERVER = """\
import os
import plugs
from reg import HOOKS, Plug, Table, bus


def main():
    if "Fast" in Plug.names:
        print("a class below")
    if "fast" in Table.items:
        print("by a method of a class")
    for handler in bus.handlers.get("go", ()):
        print("by a method of an object")
    if bus.mode == "changed":
        print("written to")
    if len(HOOKS["start"]) == 1:
        print("by a function")
    if os.environ.get("SET_AT_IMPORT") == "1":
        print("in the environment")
    if os.environ.get("GIVEN") == "other":
        print("given already")
    if "slow" in Table.items:
        print("nobody registers it")


if __name__ == "__main__":
    main()
"""
LINES = {line.split('"')[1]: number for number, line in enumerate(SERVER.splitlines(), 1) if "print(" in line}
NOT = ("given already", "nobody registers it")


@pytest.fixture
def engine() -> LaunchEngine:
    files = {"reg.py": REG, "plugs.py": PLUGS, "server.py": SERVER}
    return open_engine(MemoryTree(files), Launch(argv=("python3", "server.py"), env={"GIVEN": "this"}), files=NoFiles())


@pytest.mark.parametrize("words", [words for words in LINES if words not in NOT])
def test_what_an_import_does_counts(engine: LaunchEngine, words: str) -> None:
    assert engine.why(f"server.py:{LINES[words]}").verdict != "never"
    assert not any(first <= LINES[words] <= last for first, last in engine.reach("server.py").never)


@pytest.mark.parametrize("words", NOT)
def test_what_no_import_does_stays_closed(engine: LaunchEngine, words: str) -> None:
    assert engine.why(f"server.py:{LINES[words]}").verdict == "never"


def test_asking_about_a_registered_function_does_not_register_it_twice(engine: LaunchEngine) -> None:
    line = PLUGS.splitlines().index("    return 1") + 1
    engine.why(f"plugs.py:{line}")
    assert engine.why(f"server.py:{LINES['by a function']}").verdict != "never"
