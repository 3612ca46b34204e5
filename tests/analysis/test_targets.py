"""What a target query means."""

from __future__ import annotations

import pytest

from agent.analysis.index import Index
from agent.analysis.targets import resolve
from agent.domain.errors import TargetNotFound
from tests.analysis.trees import index_of

ENGINE = '''"""The engine."""
import sys

MODE = "fast"


class Runner:
    """Runs."""

    limit: int = 4
    flag = False

    def __init__(self, mode):
        """Sets up."""
        self.flag = mode == "fast"
        self.limit = 5

    def start(self):
        if self.flag:
            self.warm_up(
                1,
            )
        # a comment
        return ("the runner "
                "has started")

    def warm_up(self, n): ...


class Other:
    flag = True

    def start(self):
        self.flag = False
        runner.flag = True
        local_flag = 1
        super().start()


def start():
    Runner("x").start()
'''
FILES = {"pkg/engine.py": ENGINE, "pkg/sub/engine.py": "def only_here():\n    pass\n", "pkg/model_runner.py": "x = 1\n"}


@pytest.fixture(scope="module")
def index() -> Index:
    return index_of(FILES)


def places(index: Index, query: str) -> list[str]:
    return [f"{each.path}:{each.line} {each.function}" for each in resolve(index, query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("pkg/engine.py:19", ["pkg/engine.py:19 Runner.start"]),
        ("./pkg/engine.py:2", ["pkg/engine.py:2 "]),
        ("model_runner.py:1", ["pkg/model_runner.py:1 "]),
        ("sub/engine.py:2", ["pkg/sub/engine.py:2 only_here"]),
        ("only_here", ["pkg/sub/engine.py:2 only_here"]),
        ("Runner.start", ["pkg/engine.py:19 Runner.start"]),
        ("pkg.engine.Runner.start", ["pkg/engine.py:19 Runner.start"]),
        ("pkg.engine.start", ["pkg/engine.py:41 start"]),
        ("start", ["pkg/engine.py:19 Runner.start", "pkg/engine.py:34 Other.start", "pkg/engine.py:41 start"]),
        ("Runner", ["pkg/engine.py:15 Runner.__init__"]),
        ("Other", ["pkg/engine.py:30 Other"]),
        ("define:start", ["pkg/engine.py:18 Runner.start", "pkg/engine.py:33 Other.start", "pkg/engine.py:40 start"]),
        ("define:Other", ["pkg/engine.py:30 Other"]),
        ("call:warm_up", ["pkg/engine.py:20 Runner.start"]),
        ("call:start", ["pkg/engine.py:37 Other.start", "pkg/engine.py:41 start"]),
        ("call:self.warm_up", ["pkg/engine.py:20 Runner.start"]),
        ("assign:MODE", ["pkg/engine.py:4 "]),
        ("assign:local_flag", ["pkg/engine.py:36 Other.start"]),
        ("assign:limit", ["pkg/engine.py:10 Runner", "pkg/engine.py:16 Runner.__init__"]),
        ("assign:Runner.flag", ["pkg/engine.py:11 Runner", "pkg/engine.py:15 Runner.__init__"]),
        ("assign:self.flag", ["pkg/engine.py:15 Runner.__init__", "pkg/engine.py:34 Other.start"]),
        ("assign:runner.flag", ["pkg/engine.py:35 Other.start"]),
        ("string:runner has started", ["pkg/engine.py:24 Runner.start"]),
    ],
)
def test_queries(index: Index, query: str, expected: list[str]) -> None:
    assert places(index, query) == expected


def test_the_text_of_a_target(index: Index) -> None:
    assert [each.text for each in resolve(index, "pkg/engine.py:19")] == ["if self.flag:"]
    assert [each.text for each in resolve(index, "pkg/engine.py:22")] == ["self.warm_up("]


@pytest.mark.parametrize(
    ("query", "message", "suggestion"),
    [
        ("pkg/engine.py:3", "pkg/engine.py:3 holds no statement", "pkg/engine.py:2"),
        ("pkg/engine.py:23", "'# a comment'", "pkg/engine.py:24"),
        ("pkg/engine.py:999", "holds no statement", "pkg/engine.py:41"),
        ("engine.py:1", "is the end of 2 paths", "pkg/engine.py"),
        ("pkg/engin.py:1", "there is no file pkg/engin.py", "pkg/engine.py"),
        ("other/model_runner.py:1", "there is no file", "pkg/model_runner.py"),
        ("Runner.strat", "there is no function or class Runner.strat", "Runner.start"),
        ("Runer", "there is no function or class Runer", "Runner"),
        ("call:warmup", "there is no call of warmup", "warm_up"),
        ("assign:limt", "there is no assignment to limt", "limit"),
        ("assign:local", "there is no assignment to local", "local_flag"),
        ("define:strt", "there is no definition strt", "start"),
        ("string:never said", "no string of the tree contains 'never said'", ""),
        ("string:", "no string of the tree contains ''", ""),
        ("", "there is no function or class", ""),
        ("no such thing at all", "there is no function or class", ""),
    ],
)
def test_near_misses(index: Index, query: str, message: str, suggestion: str) -> None:
    with pytest.raises(TargetNotFound) as caught:
        resolve(index, query)
    assert message in caught.value.what
    assert not suggestion or suggestion in caught.value.suggestions
    assert suggestion or not caught.value.suggestions


def test_a_file_without_statements_has_nothing_near() -> None:
    with pytest.raises(TargetNotFound, match="the file has no statement at all"):
        resolve(index_of({"a.py": "# empty\n"}), "a.py:1")
