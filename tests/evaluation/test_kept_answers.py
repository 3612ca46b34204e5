"""Answers that are kept between processes: the same ones, and only as long as everything they rest on is the same."""

from __future__ import annotations

import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from agent import api, wiring
from agent.domain.errors import TargetNotFound
from agent.domain.launch import Launch
from agent.domain.source import Absent
from agent.domain.values import Known
from agent.domain.verdict import Change
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.evaluation.kept_answers import NotedFiles
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
            IrCache(world.home / "kept").put(path.parent.name + path.name, zlib.compress(content))
    assert world.engine().why(LINE).verdict == "always"


def test_a_file_that_changes_between_two_questions_is_kept_with_neither(world: World) -> None:
    """The engine read it before it changed, the next process reads it after."""
    assert world.engine().why(LINE).verdict == "always"
    engine = world.engine()
    assert engine.why("server.py:10").verdict == "may"
    world.size(4)
    assert engine.why(LINE).verdict == "always"
    assert world.engine().why(LINE).verdict == "never"


def test_a_file_that_gives_two_things_is_seen(tmp_path: Path) -> None:
    files = NotedFiles(LocalFiles(tmp_path))
    assert isinstance(files.read("a"), Absent)
    assert not files.moved
    (tmp_path / "a").write_text("now")
    assert files.still({("read", "b"): repr(Absent(path="b"))})
    assert files.read("a") == b"now"
    assert files.moved


def test_facts_of_other_types_are_other_facts(world: World) -> None:
    def verdict(value: object) -> str:
        world.facts = {"outside.has_room": value}
        return world.engine().why("server.py:10").verdict

    assert [verdict(value) for value in (True, 0, "0", False, 1, "", True)] == [
        "always",
        "never",
        "always",
        "never",
        "always",
        "never",
        "always",
    ]


def test_start_scripts_that_cannot_be_read_start_nothing(world: World) -> None:
    world.sources["broken-1.dist-info/entry_points.txt"] = "serve = server:run\n[console_scripts]\nserve = a\nserve = b\n"
    assert world.engine().why(LINE).verdict == "always"


SECRETS = ("sup3r-s3cret-PW99x", "plainpass77q", "hf_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef12")
ASKS_SECRETS = """\
import argparse
import json
import os
from outside import service


def run(x):
    pass


parser = argparse.ArgumentParser()
parser.add_argument("--api-key")
args = parser.parse_args()
with open("config.json") as file:
    config = json.load(file)
if args.api_key == "other":
    run(args.api_key)
if config["password"] == "other":
    run(config)
if os.environ["HF_TOKEN"] == "other":
    run(os.environ)
if service.password == "other":
    run(service.password)
if args.api_key and config["password"]:
    run(1)
"""


def test_no_secret_is_written_and_none_is_taken_for_its_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the command line, the environment, a file, and a fact."""
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))
    wiring._parsed.cache_clear()
    (tmp_path / "config.json").write_text(f'{{"password": "{SECRETS[0]}"}}')
    engine = api.engine(
        MemoryTree({"server.py": ASKS_SECRETS}),
        launch=("python3", "server.py", "--api-key", SECRETS[1]),
        env={"HF_TOKEN": SECRETS[2]},
        cwd=tmp_path,
        assume={"outside.service.password": SECRETS[1]},
    )
    answers = [engine.why(f"server.py:{line}") for line in (17, 19, 21, 23, 25)]
    engine.audit()
    engine.reach("server.py")
    wiring._parsed.cache_clear()
    assert [answer.verdict for answer in answers] == ["may", "may", "may", "may", "always"]
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    texts = [zlib.decompress(path.read_bytes()[32:]) for path in kept] + [repr(answers).encode()]
    assert len(texts) > 7
    assert not [secret for secret in SECRETS for text in texts if secret.encode() in text]
