"""``Class.attribute`` of an object that is no configuration: its value, the line that writes it, and what is not known of it."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.domain.values import Known, Unknown
from agent.domain.verdict import Setting
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

SERVER = """\
import argparse

import outside


class Manager:
    def __init__(self, length=None, extra=0, seed=None):
        self.length = length or 2048
        self.extra = extra
        self.seed = seed
        self.token = "sk-0123456789abcdef0123456789abcdef"

    def reload(self, message):
        self.seed = message.seed


def serve(args, more):
    first = {}
    second = {"extra": 3} if more else {"extra": 3, "seed": 1}
    return Manager(args.length, **first, **second)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int)
    args = parser.parse_args()
    serve(args, outside.more())


if __name__ == "__main__":
    main()
"""


def engine(*flags: str) -> LaunchEngine:
    launch = Launch(argv=("python3", "-m", "server", *flags))
    return open_engine(MemoryTree({"server.py": SERVER}), launch, files=NoFiles())


def row(name: str, *flags: str) -> Setting:
    found = engine(*flags).attribute(name)
    assert found is not None
    return found


def test_the_value_and_the_line_that_writes_it() -> None:
    found = row("Manager.length")
    assert (found.effective.status, found.effective.value) == ("known", 2048)
    assert [(change.path, change.line) for change in found.changed_by] == [("server.py", 8)]
    assert engine().setting("Manager.length") == Known(value=2048)


def test_the_second_dictionary_that_is_spread_counts() -> None:
    assert engine().setting("Manager.extra") == Known(value=3)


def test_what_any_method_may_write_is_not_known() -> None:
    assert isinstance(engine().setting("Manager.seed"), Unknown)


def test_a_secret_is_masked() -> None:
    assert "0123456789" not in repr(row("Manager.token"))


def test_names_that_mean_nothing() -> None:
    for name in ("Manager.nothing", "Nobody.length", "length", ""):
        assert engine().attribute(name) is None, name
