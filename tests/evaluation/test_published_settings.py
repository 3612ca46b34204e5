"""Settings that a method publishes into an object of a module, after the configuration is complete: worked out by running that method."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

SERVER = """\
import argparse
import dataclasses
import multiprocessing

from settings import CONTEXT, Options


class Worker:
    def __init__(self):
        self.mode = CONTEXT.bag("run").mode

    def start(self):
        if self.mode == "fast":
            print("fast")
        else:
            print("slow")


def work(options: Options):
    CONTEXT.publish(options)
    Worker().start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="slow")
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--name", default="")
    args = parser.parse_args()
    options = Options(mode=args.mode, size=args.size, name=args.name)
    multiprocessing.Process(target=work, args=(options,)).start()


if __name__ == "__main__":
    main()
"""
SETTINGS = """\
import dataclasses


@dataclasses.dataclass
class Options:
    mode: str = "slow"
    size: int = 1
    name: str = ""


class Bag:
    def __init__(self):
        object.__setattr__(self, "fields", {})

    def __getattr__(self, name):
        if name in self.fields:
            return self.fields[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        raise AttributeError("read-only")

    def put(self, name, value):
        self.fields[name] = value
        object.__setattr__(self, name, value)


class Context:
    def __init__(self):
        self.bags = None

    def publish(self, options):
        bags = {}
        for name in ("mode", "size", "name"):
            bag = bags.get("run")
            if bag is None:
                bag = bags["run"] = Bag()
            if bag and hasattr(options, name):
                bag.put(name, getattr(options, name))
        self.bags = bags

    def bag(self, name):
        if not self.bags or name not in self.bags:
            raise ValueError(name)
        return self.bags[name]


class Kept:
    def install(self, options):
        self.before = CONTEXT.bags
        CONTEXT.publish(options)

    def restore(self):
        CONTEXT.bags = self.before
        self.before = None


CONTEXT = Context()
"""
FAST, SLOW = 14, 16


def engine(*flags: str, settings: str = SETTINGS) -> LaunchEngine:
    tree = MemoryTree({"server.py": SERVER, "settings.py": settings})
    return open_engine(tree, Launch(argv=("python3", "-m", "server", *flags)), files=NoFiles())


def verdict(line: int, *flags: str, settings: str = SETTINGS) -> str:
    return engine(*flags, settings=settings).why(f"server.py:{line}", counterfactuals=False).verdict


def test_the_published_value_decides() -> None:
    assert verdict(FAST) == "never"
    assert verdict(SLOW) != "never"
    assert verdict(SLOW, "--mode", "fast") == "never"
    assert verdict(FAST, "--mode", "fast") != "never"


LATER = SERVER.replace('if self.mode == "fast"', 'if CONTEXT.bag("run").mode == "fast"').replace(
    "    Worker().start()", "    outside.run(Worker().start)"
)
"""Who reads the published value is called from outside, at any time."""


@pytest.mark.parametrize(
    "more",
    [
        "\n\ndef change():\n    CONTEXT.bags = {'run': outside.bag()}\n\n\noutside.register(change)\n",
        "\n\nclass Other(Context):\n    def publish(self, options):\n        self.bags = outside.bags()\n\n\nCONTEXT = Other()\n",
    ],
)
def test_another_writer_leaves_it_open(more: str) -> None:
    settings = "import outside\n" + SETTINGS + more
    tree = MemoryTree({"server.py": "import outside\n" + LATER, "settings.py": settings})
    asked = open_engine(tree, Launch(argv=("python3", "-m", "server")), files=NoFiles())
    assert {asked.why(f"server.py:{line + 1}", counterfactuals=False).verdict for line in (FAST, SLOW)}.isdisjoint({"never", "always"})


ATTEMPT = """\


def attempt(given):
    saved = CONTEXT.bags
    try:
        outside.check(CONTEXT)
    except Exception:
        CONTEXT.bags = saved
        raise


outside.register(attempt)
"""


def verdicts(more: str) -> set[str]:
    tree = MemoryTree({"server.py": "import outside\n" + LATER, "settings.py": "import outside\n" + SETTINGS + more})
    asked = open_engine(tree, Launch(argv=("python3", "-m", "server")), files=NoFiles())
    return {asked.why(f"server.py:{line + 1}", counterfactuals=False).verdict for line in (FAST, SLOW)}


@pytest.mark.parametrize("copied", ["CONTEXT.bags", "dict(CONTEXT.bags)", "CONTEXT.bags.copy()"])
def test_what_is_put_back_from_a_variable_adds_nothing(copied: str) -> None:
    assert verdicts("") == {"never", "may"}
    assert verdicts(ATTEMPT.replace("saved = CONTEXT.bags", f"saved = {copied}")) == {"never", "may"}


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ("saved = CONTEXT.bags", "saved = outside.bags()"),
        ("saved = CONTEXT.bags", "saved = CONTEXT.others"),
        ("saved = CONTEXT.bags", "saved = given.bags"),
        ("saved = CONTEXT.bags", "saved = dict(CONTEXT.bags, run=given)"),
        ("    try:", "    if given:\n        saved = given\n    try:"),
        ("    try:", "    saved['run'] = given\n    try:"),
        ("    try:", "    outside.fill(saved)\n    try:"),
        ("CONTEXT.bags = saved", "CONTEXT.bags = given"),
    ],
)
def test_what_is_another_value_does(change: str, to: str) -> None:
    assert change in ATTEMPT
    assert verdicts(ATTEMPT.replace(change, to, 1)).isdisjoint({"never", "always"})
