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


KINDS = """\
class Kind:
    _by_name = {}
    _flags = {"DRAFT": set(), "WIDE": set()}

    def __init__(self, name):
        self.name = name

    @classmethod
    def register(cls, name):
        kind = cls(name)
        cls._by_name[name] = kind
        return kind

    @classmethod
    def from_string(cls, name):
        return cls._by_name[name.upper()]

    def has(self, flag):
        return self.name in self._flags[flag]


def register_kind(name, flags=()):
    kind = Kind.register(name)
    for flag in flags:
        Kind._flags[flag].add(kind.name)


def register_all(names):
    for name in names:
        register_kind(name)


Kind.register("NONE")

register_kind("EAGLE", flags=("DRAFT",))

register_kind(
    "EAGLE3",
    flags=("DRAFT", "WIDE"),
)

register_all(["NGRAM"])
"""
ASKS = """\
import argparse

from kinds import Kind


def start(options):
    kind = Kind.from_string(options.kind)
    if kind.has("DRAFT"):
        print("a draft")
    if kind.has("WIDE"):
        print("wide")
    print("started")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="NONE")
    start(parser.parse_args())


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("kind", "draft", "wide"),
    [("none", "never", "never"), ("eagle", "always", "never"), ("eagle3", "always", "always"), ("ngram", "never", "never")],
)
def test_a_class_that_functions_fill_when_their_module_is_imported(kind: str, draft: str, wide: str) -> None:
    launch = Launch(argv=("python3", "-m", "server", "--kind", kind))
    engine = open_engine(MemoryTree({"server.py": ASKS, "kinds.py": KINDS}), launch, files=NoFiles())
    assert [engine.why(f"server.py:{line}", counterfactuals=False).verdict for line in (9, 11, 12)] == [draft, wide, "always"]


def test_what_the_program_itself_does_is_not_done_at_an_import() -> None:
    kinds = KINDS.replace("\nregister_all([", "\ndef main(names):\n    register_all(names)\n\n\nregister_all([")
    server = ASKS.replace("    main()\n", "    register_all(['MINE'])\n    main()\n").replace(
        "import Kind\n", "import Kind, register_all\n"
    )
    launch = Launch(argv=("python3", "-m", "server", "--kind", "mine"))
    engine = open_engine(MemoryTree({"server.py": server, "kinds.py": kinds}), launch, files=NoFiles())
    assert engine.why("server.py:12", counterfactuals=False).verdict == "always"
