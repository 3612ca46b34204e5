"""Lines of functions and classes that this launch does not choose are dead, by the place that chooses, unless another may choose them."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.domain.verdict import WhyAnswer
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

BACKENDS = """\
TABLE = {}


def register(name):
    def put(fn):
        TABLE[name] = fn
        return fn

    return put


class Slow:
    def go(self, pool):
        pool.put("item")


class Quick:
    def go(self, pool):
        pool.put("item", 2)


@register("slow")
def make_slow(runner):
    return Slow()


@register("quick")
def make_quick(runner):
    return Quick()
"""

PROGRAM = """\
import argparse

import outside
from backends import TABLE, Quick


class Pool:
    def put(self, item, scale=None):
        if scale is not None:
            item = item * scale
        outside.keep(item)


class Runner:
    def __init__(self, args):
        self.args = args

    def start(self):
        backend = self.choose(self.args.backend)
        backend.go(Pool())
        self.more()

    def choose(self, name):
        return TABLE[name](self)
{more}

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="slow")
    outside.later(Runner(parser.parse_args()).start)


if __name__ == "__main__":
    main()
"""

OTHER_WAYS = {
    "all of the table": "    def more(self):\n        return [make(self) for make in TABLE.values()]\n",
    "the table given away": "    def more(self):\n        outside.look(TABLE)\n",
    "another name": "    def more(self):\n        return TABLE[outside.name()](self)\n",
    "the class itself": "    def more(self):\n        return Quick()\n",
    "the class handed on": "    def more(self):\n        outside.make(Quick)\n",
    "a default": "    def more(self):\n        return TABLE.get(outside.name(), TABLE['quick'])(self)\n",
}


def why(place: str, more: str = "", *launch: str, backends: str = BACKENDS) -> WhyAnswer:
    tree = MemoryTree({"main.py": PROGRAM.replace("{more}", more), "backends.py": backends})
    engine = open_engine(tree, Launch(argv=("python3", "main.py", *launch)), files=NoFiles())
    path, _, text = place.partition(": ")
    source = {"main.py": PROGRAM.replace("{more}", more), "backends.py": backends}[path]
    return engine.why(f"{path}:{source[: source.index(text)].count(chr(10)) + 1}", counterfactuals=False)


def test_another_entry_of_the_table_is_taken() -> None:
    answer = why('backends.py: pool.put("item", 2)')
    assert answer.verdict == "never", answer.reason
    assert answer.decisive is not None
    assert (answer.decisive.path, answer.decisive.kind, answer.decisive.condition) == ("main.py", "dispatch", "TABLE[name]")
    assert "make_slow" in answer.decisive.operands[0].value


def test_the_entry_that_is_taken_is_not_dead() -> None:
    assert why('backends.py: pool.put("item")').verdict == "may"
    assert why('backends.py: pool.put("item", 2)', "", "--backend", "quick").verdict == "may"


@pytest.mark.parametrize("way", OTHER_WAYS)
def test_what_may_be_taken_elsewhere_is_not_dead(way: str) -> None:
    assert why('backends.py: pool.put("item", 2)', OTHER_WAYS[way]).verdict == "may"


def test_a_decorator_that_keeps_more_than_the_table() -> None:
    told = BACKENDS.replace("        TABLE[name] = fn\n", "        TABLE[name] = fn\n        HEARD.append(fn)\n") + "\nHEARD = []\n"
    assert why('backends.py: pool.put("item", 2)', backends=told).verdict == "may"


def test_calls_that_leave_an_argument_out_are_not_asked_about_one_by_one() -> None:
    """Thirty calls without the argument add nothing to what it is by default; one among a hundred that gives it is not lost."""
    quiet = "".join(f"    def put_{each}(self):\n        Pool().put({each})\n" for each in range(30))
    unmade = BACKENDS.replace('pool.put("item", 2)', 'pool.put("item")')
    assert why("main.py: item = item * scale", quiet, backends=unmade).verdict == "never"
    many = "".join(f"    def put_{each}(self):\n        Pool().put({each})\n" for each in range(120))
    assert why("main.py: item = item * scale", many + "    def last(self):\n        Pool().put(1, 2)\n", backends=unmade).verdict == "may"
