"""A tree too large to be kept parsed: answers are the same, byte for byte, as with all of it at hand."""

from __future__ import annotations

import json

from agent.analysis.index import Index
from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = {
    "serving/__init__.py": "",
    "serving/__main__.py": """\
import sys

from serving.scheduler import Scheduler

Scheduler("--draft" in sys.argv, sys.argv[1:]).start()
""",
    "serving/scheduler.py": """\
from serving.draft import DraftWorker
from serving.runner import Runner


class Scheduler:
    def __init__(self, draft, rest):
        self.draft = draft
        self.rest = rest

    def start(self):
        for _ in range(len(self.rest)):
            self.target = Runner(False, self.draft)
        if self.draft:
            self.worker = DraftWorker(self.target)
""",
    "serving/draft.py": """\
from serving.runner import Runner


class DraftWorker:
    def __init__(self, target):
        self.target = target
        self.runner = Runner(is_draft=True, speculates=target.speculates)


class OtherWorker:
    def __init__(self, target):
        self.runner = Runner(is_draft=True, speculates=True)
""",
    "serving/runner.py": """\
class Runner:
    def __init__(self, is_draft, speculates):
        self.is_draft = is_draft
        self.speculates = speculates
        self.layers = None
        self.load()

    def load(self):
        if self.speculates and not self.is_draft:
            self.layers = [1, 2]
        self.report()

    def report(self):
        if self.layers is None:
            print("one hidden state")
        else:
            print("several")
""",
}


def answers(flags: tuple[str, ...], held_bytes: int) -> list[str]:
    launch = Launch(argv=("python3", "-m", "serving", *flags))
    engine = LaunchEngine(Index(MemoryTree(PROGRAM), held_bytes=held_bytes), launch, NoFiles(), {})
    targets = ("serving/runner.py:10", "serving/runner.py:11", "serving/runner.py:15", "serving/runner.py:17", "serving/scheduler.py:13")
    return [json.dumps(engine.why(target, counterfactuals=False).as_dict(), sort_keys=True) for target in targets]


def test_what_is_kept_in_memory_changes_no_answer() -> None:
    for flags in ((), ("--draft",), ("--draft", "--more")):
        assert answers(flags, held_bytes=1) == answers(flags, held_bytes=10_000_000), flags
