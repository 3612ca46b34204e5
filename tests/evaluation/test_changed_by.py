"""Which line is told to have changed a setting, where the statement that writes it runs more than once, or writes whatever it is given."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.domain.verdict import Setting
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import argparse
import os
from dataclasses import dataclass


class Variable:
    def __init__(self, name):
        self.name = name

    def set(self, value):
        os.environ[self.name] = str(value)


FAST, SLOW, LAST = Variable("SHOP_FAST"), Variable("SHOP_SLOW"), Variable("SHOP_LAST")


@dataclass
class Args:
    size: int = 1
    depth: int = 1
    width: int = 1

    def __post_init__(self):
        SLOW.set(2)
        if self.depth > 1:
            FAST.set(False)
        LAST.set(3)
        for _ in range(2):
            self.size = self.size * 2
        self.plain()

    def plain(self):
        os.environ["SHOP_PLAIN"] = "4"


def main():
    parser = argparse.ArgumentParser()
    for name in ("size", "depth", "width"):
        parser.add_argument("--" + name, type=int, default=1)
    args = parser.parse_args()
    Args(args.size, args.depth, args.width)


main()
"""


def rows() -> dict[str, Setting]:
    launch = Launch(argv=("python3", "-m", "program", "--size", "3", "--depth", "2"), env={"SHOP_FAST": "1", "SHOP_PLAIN": "1"})
    return {row.name: row for row in open_engine(MemoryTree({"program.py": PROGRAM}), launch, files=NoFiles()).audit().settings}


def test_a_setter_is_told_by_its_call() -> None:
    row = rows()["env:SHOP_FAST"]
    assert (row.asked.value, row.effective.value, row.verdict) == ("1", "False", "overridden")
    (change,) = row.changed_by
    assert (change.line, change.text) == (26, "FAST.set(False)")
    assert [(guard.line, guard.truth) for guard in change.guards] == [(25, "true")]


def test_a_statement_that_names_the_variable_is_told_itself() -> None:
    assert [change.line for change in rows()["env:SHOP_PLAIN"].changed_by] == [33]


def test_each_of_several_variables_by_one_setter() -> None:
    assert [change.line for name in ("env:SHOP_SLOW", "env:SHOP_LAST") for change in rows()[name].changed_by] == [24, 27]


def test_a_statement_that_runs_twice() -> None:
    row = rows()["size"]
    assert (row.effective.value, row.verdict, [change.line for change in row.changed_by]) == (12, "overridden", [29])
