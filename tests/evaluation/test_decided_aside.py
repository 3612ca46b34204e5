"""Decisions that a record collects beside its fields: what a field still holds is not what the program will use."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.domain.values import Known, Unknown, Value
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import argparse
from dataclasses import dataclass

from deciding import decide


@dataclass
class Args:
    stages: int = 1
    overlap: bool = True
    level: str = "info"

    def __post_init__(self):
        self._decided = []
        decide(self)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stages", type=int, default=1)
    parser.add_argument("--overlap", default=True)
    parser.add_argument("--level", default="info")
    args = parser.parse_args()
    return Args(args.stages, args.overlap, args.level)


if __name__ == "__main__":
    main()
"""
FOLLOWED = """\
def put_aside(args, source, **fields):
    args._decided.append((source, dict(fields)))


def decide(args):
    if args.stages > 1:
        put_aside(args, "stages", overlap=False)
"""
UNFOLLOWED = """\
import elsewhere


def put_aside(args, source, **fields):
    args._decided.append((source, dict(fields)))


def by_stages(args):
    return {"overlap": False}


def decide(args):
    elsewhere.run(put_aside, args._decided)
"""
COUNTED = """\
def decide(args):
    args._seen = {}
    args._seen.update(args.__dict__)
"""


def setting(deciding: str, name: str, *argv: str) -> Value:
    tree = MemoryTree({"main.py": PROGRAM.encode(), "deciding.py": deciding.encode()})
    return open_engine(tree, Launch(argv=("python", "main.py", *argv), cwd="/"), files=NoFiles()).setting(name)


def test_a_decision_put_aside_leaves_the_field_open() -> None:
    found = setting(FOLLOWED, "overlap", "--stages", "2")
    assert isinstance(found, Unknown)
    assert found.reason == "Args._decided holds False for it, which is to be taken over later"


def test_without_a_decision_the_field_tells() -> None:
    assert setting(FOLLOWED, "overlap") == Known(value=True)
    assert setting(FOLLOWED, "level", "--stages", "2") == Known(value="info")


def test_decisions_that_were_not_followed_are_named() -> None:
    found = setting(UNFOLLOWED, "overlap")
    assert isinstance(found, Unknown)
    assert found.reason == "decisions are collected in Args._decided, and not all of them were followed: deciding.py:9 may decide it"
    assert setting(UNFOLLOWED, "level") == Known(value="info")


@pytest.mark.parametrize("name", ["overlap", "level"])
def test_a_container_that_nobody_fills_by_keywords_decides_nothing(name: str) -> None:
    assert isinstance(setting(COUNTED, name), Known)


def test_a_secret_that_is_put_aside_is_not_told() -> None:
    deciding = FOLLOWED.replace("overlap=False", 'api_key="hunter2plain"')
    program = PROGRAM.replace("level", "api_key").replace("--api_key", "--api-key")
    tree = MemoryTree({"main.py": program.encode(), "deciding.py": deciding.encode()})
    found = open_engine(tree, Launch(argv=("python", "main.py", "--stages", "2"), cwd="/"), files=NoFiles()).setting("api_key")
    assert isinstance(found, Unknown)
    assert "hunter2plain" not in found.reason and found.reason.startswith("Args._decided holds ")
