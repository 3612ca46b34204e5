"""Launches that a program's command line refuses, and changes that are given instead of searched for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.domain.errors import LaunchRejected
from agent.domain.launch import Launch
from agent.domain.source import Absent
from agent.domain.values import Known
from agent.domain.verdict import Change, Place
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree

PROGRAM = """\
import argparse
from dataclasses import dataclass


@dataclass
class Limits:
    size: int = 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["a", "b", "c"], default="a")
    parser.add_argument("--size", type=int, default=1)
    args = parser.parse_args()
    if args.size > 8:
        parser.error("--size is at most 8")
    run(args, Limits(args.size))


def run(args, limits):
    if args.kind == "b":
        print("captured")
    if args.kind == "c":
        raise ValueError("c is not ready")
    print("done")


main()
"""
PARSES, REFUSES, GUARD, CAPTURES, RAISES = 14, 16, 21, 22, 24


TWICE = """\
import argparse
import json

early = argparse.ArgumentParser()
early.add_argument("--model")
known, rest = early.parse_known_args()
parser = argparse.ArgumentParser()
parser.add_argument("--model")
args = parser.parse_args()
with open(args.model + "/config.json") as file:
    depth = json.load(file)["layers"]
"""


class Model:
    """One model's config.json and nothing else."""

    def read(self, path: str) -> bytes | Absent:
        return b'{"layers": 2}' if path == "model/config.json" else Absent(path=path)

    def is_dir(self, path: str) -> bool:
        return path == "model"


def engine(*arguments: str, program: str = PROGRAM) -> LaunchEngine:
    launch = Launch(argv=("python3", "-m", "program", *arguments))
    return open_engine(MemoryTree({"program.py": program}), launch, files=Model())


def kind(value: str) -> list[Change]:
    return [Change(name="--kind", from_="a", to=value)]


@pytest.mark.parametrize(
    ("arguments", "words", "line"),
    [
        (["--kind", "d"], "argument --kind: invalid choice: 'd'", PARSES),
        (["--size", "many"], "argument --size: invalid int value: 'many'", PARSES),
        (["--colour", "red"], "unrecognized arguments: --colour red", PARSES),
        (["--size", "9"], "--size is at most 8", REFUSES),
    ],
)
@pytest.mark.parametrize(
    "question",
    [lambda e: e.why(f"program.py:{CAPTURES}"), lambda e: e.reach("program.py"), lambda e: e.setting("kind"), lambda e: e.after("run", [])],
    ids=["why", "reach", "setting", "after"],
)
def test_a_refused_launch_has_no_answers(arguments: list[str], words: str, line: int, question: Callable[[LaunchEngine], Any]) -> None:
    with pytest.raises(LaunchRejected) as refused:
        question(engine(*arguments))
    assert words in refused.value.what
    assert (refused.value.path, refused.value.line) == ("program.py", line)


def test_the_audit_lists_the_refusal() -> None:
    (raised,) = engine("--kind", "d").audit().raises
    assert (raised.line, raised.type, raised.certainty) == (PARSES, "SystemExit", "always")
    assert "invalid choice" in raised.message


def test_keys_are_not_dead_because_the_launch_is_refused() -> None:
    """The first of two parsers has taken the model's directory, the second refuses the rest."""
    audit = engine("--model", "model", "--colour", "red", program=TWICE).audit()
    assert [raised.certainty for raised in audit.raises] == ["always"]
    assert (audit.dead_config, audit.unread_keys) == ((), ())


def test_the_default_is_what_a_change_changes() -> None:
    """No record takes ``kind`` over: the parsed command line alone knows it."""
    (found,) = engine().why(f"program.py:{CAPTURES}").counterfactuals
    assert found.change == (Change(name="--kind", from_="a", to="b"),)
    assert engine().setting("kind") == Known(value="a")


def test_a_given_change_opens_the_place() -> None:
    found = engine().after(f"program.py:{CAPTURES}", kind("b"))
    assert found is not None
    assert found.change == tuple(kind("b"))
    assert found.opens == (Place(path="program.py", line=CAPTURES), Place(path="program.py", line=GUARD))
    assert found.next == ()


def test_a_given_change_that_leaves_the_place_closed() -> None:
    found = engine().after(f"program.py:{CAPTURES}", [Change(name="--size", from_=1, to=2)])
    assert found is not None and (found.opens, found.next) == ((), ())


def test_what_a_given_change_raises_next() -> None:
    """Asked about a line that runs already: nothing opens, and what comes next counts."""
    found = engine().after(f"program.py:{GUARD}", kind("c"))
    assert found is not None and found.opens == ()
    (event,) = found.next
    assert (event.kind, event.line) == ("raises", RAISES) and "not ready" in event.text


@pytest.mark.parametrize("changes", [kind("d"), [Change(name="--size", from_=1, to=9)]], ids=["argparse", "program"])
def test_a_given_change_that_is_refused(changes: list[Change]) -> None:
    assert engine().after(f"program.py:{CAPTURES}", changes) is None
