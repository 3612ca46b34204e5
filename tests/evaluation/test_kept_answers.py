"""Answers that are kept between processes: the same ones, and only as long as everything they rest on is the same."""

from __future__ import annotations

import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from agent.domain.errors import TargetNotFound
from agent.domain.launch import Launch
from agent.domain.values import Known
from agent.domain.verdict import Change
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.ir_cache import IrCache
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import MemoryTree

PROGRAM = """\
import argparse
import json
from outside import has_room


def serve(mode, size):
    if mode == "fast" and size > 8:
        run()
    if has_room():
        run()


def run():
    pass


parser = argparse.ArgumentParser()
parser.add_argument("--mode", default="slow")
parser.add_argument("--config", default="config.json")
args = parser.parse_args()
with open(args.config) as file:
    serve(args.mode, json.load(file)["size"])
"""
LINE = "server.py:8"


class World:
    """A program, its launch and its files, which can be changed; every engine is as new as one of another process."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.sources = {"server.py": PROGRAM}
        self.argv = ("python3", "server.py", "--mode", "fast")
        self.facts: dict[str, Any] = {}
        self.pid = 11
        self.size(16)

    def size(self, number: int) -> None:
        (self.home / "config.json").write_text(f'{{"size": {number}}}')

    def engine(self) -> LaunchEngine:
        launch = Launch(argv=self.argv, cwd=str(self.home), pid=self.pid)
        return open_engine(
            MemoryTree(self.sources), launch, files=LocalFiles(str(self.home)), facts=self.facts, cache=IrCache(self.home / "kept")
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def worked_out(engine: LaunchEngine) -> bool:
    return "_ran" in vars(engine)


def test_every_question_is_answered_as_before_without_a_run(world: World) -> None:
    def ask(engine: LaunchEngine) -> list[object]:
        change = (Change(name="--mode", from_="fast", to="slow"),)
        return [engine.why(LINE), engine.after(LINE, change), engine.reach("server.py"), engine.audit(), engine.setting("mode")]

    first = world.engine()
    answers = ask(first)
    assert worked_out(first)
    assert answers[4] == Known(value="fast")
    again = world.engine()
    assert ask(again) == answers
    assert not worked_out(again)


def test_a_server_that_was_started_again_in_the_same_way_is_the_same(world: World) -> None:
    assert world.engine().why(LINE).verdict == "always"
    world.pid = 12
    again = world.engine()
    assert again.why(LINE).verdict == "always"
    assert not worked_out(again)


@pytest.mark.parametrize("what", ["flag", "file", "source", "fact", "question"])
def test_whatever_it_rests_on_may_not_change(world: World, what: str) -> None:
    assert world.engine().why(LINE).verdict == "always"
    line = LINE
    if what == "flag":
        world.argv = (*world.argv[:-1], "slow")
    elif what == "file":
        world.size(4)
    elif what == "source":
        world.sources = {"server.py": PROGRAM.replace("size > 8", "size > 80")}
    elif what == "fact":
        world.facts, line = {"outside.has_room": False}, "server.py:10"
    else:
        line = "server.py:10"
    engine = world.engine()
    assert engine.why(line).verdict == ("may" if what == "question" else "never")
    assert worked_out(engine)


def test_a_file_that_has_gone_is_noticed(world: World) -> None:
    assert world.engine().why(LINE).verdict == "always"
    (world.home / "config.json").unlink()
    assert world.engine().why(LINE).verdict != "always"


def test_a_question_that_has_no_answer_is_asked_again(world: World) -> None:
    for _ in range(2):
        engine = world.engine()
        with pytest.raises(TargetNotFound):
            engine.why("server.py:400")


class Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps(({}, Harm())), pickle.dumps(1)])
def test_bytes_that_no_engine_wrote_are_no_answer(world: World, content: bytes) -> None:
    world.engine().why(LINE)
    for path in (world.home / "kept").rglob("*"):
        if path.is_file():
            path.write_bytes(zlib.compress(content))
    assert world.engine().why(LINE).verdict == "always"
