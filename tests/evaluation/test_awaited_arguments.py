"""What a parameter is at the call that gives it: through a dictionary that is spread, inside contexts, and only where the call fits."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import outside


class Runner:
    def __init__(self, draft, port):
        self.draft = draft
        self.port = port

    def go(self):
        if not self.draft:
            print("target")


def load(kind, port, rank):
    if kind == "draft":
        print("draft")
    if kind == "target":
        print("another")


class Scheduler:
    def __init__(self):
        self.port = outside.port()

    def start(self):
        options = dict(port=self.port, draft=True)
        with outside.scope(self.port), around(self):
            self.runner = Runner(**options)

    def more(self):
        thing = outside.thing()
        thing.load("target")
        load("draft", 1, 2)


def around(scheduler):
    return outside.context(scheduler)


outside.run(Scheduler())
"""


def verdict(source: str, text: str) -> str:
    line = next(number for number, each in enumerate(source.splitlines(), 1) if text in each)
    engine = open_engine(MemoryTree({"program.py": source}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    return engine.why(f"program.py:{line}", counterfactuals=False).verdict


def test_a_dictionary_that_is_only_spread_gives_the_argument() -> None:
    assert verdict(PROGRAM, 'print("target")') == "never"


def test_a_dictionary_that_is_changed_before_does_not() -> None:
    changed = PROGRAM.replace("            self.runner = Runner", '            options["draft"] = False\n            self.runner = Runner')
    handed_on = PROGRAM.replace("            self.runner = Runner", "            around(options)\n            self.runner = Runner")
    for source in (changed, handed_on):
        assert verdict(source, 'print("target")') != "never"


def test_one_of_two_dictionaries_is_enough_to_run() -> None:
    second = PROGRAM.replace(
        "        with outside", "        if outside.flag:\n            options = dict(port=1, draft=False)\n        with outside"
    )
    assert verdict(second, 'print("target")') != "never"


def test_a_call_that_does_not_fit_is_no_call() -> None:
    assert verdict(PROGRAM, 'print("draft")') != "never"
    assert verdict(PROGRAM, 'print("another")') == "never"


def test_a_call_that_may_fit_is_one() -> None:
    for call in (
        'thing.load("target", 1, 2)',
        'thing.load("target", *[1, 2])',
        "thing.load(**outside.options())",
        'thing.load("target", rank=1, port=2)',
    ):
        assert verdict(PROGRAM.replace('thing.load("target")', call), 'print("another")') != "never", call


def test_a_decorated_function_may_be_called_with_anything() -> None:
    source = PROGRAM.replace("def load(", "@outside.filled\ndef load(")
    assert verdict(source, 'print("another")') != "never"


SCOPED = """\
import contextlib

import outside

MODE = "plain"


@contextlib.contextmanager
def use(mode):
    global MODE
    before, MODE = MODE, mode
    try:
        yield
    finally:
        MODE = before


class Worker:
    def step(self):
        if MODE == "other":
            print("switched")

    def inside(self):
        with use(outside.mode()):
            outside.work(self)


outside.run(Worker())
"""


def answer(source: str, text: str) -> tuple[str, tuple[str, ...]]:
    line = next(number for number, each in enumerate(source.splitlines(), 1) if text in each)
    engine = open_engine(MemoryTree({"program.py": source}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    found = engine.why(f"program.py:{line}", counterfactuals=False)
    return found.verdict, found.assumptions


def test_what_a_context_puts_back_is_an_assumption_that_is_named() -> None:
    verdict, assumptions = answer(SCOPED, 'print("switched")')
    assert verdict == "never"
    assert any("use(...)" in each for each in assumptions)


def test_what_is_not_put_back_counts() -> None:
    kept = SCOPED.replace("        MODE = before", "        print(before)")
    assert answer(kept, 'print("switched")')[0] != "never"


def test_a_context_that_the_launch_is_in_counts() -> None:
    entered = SCOPED.replace(
        "outside.run(Worker())", "def main():\n    with use(outside.mode()):\n        outside.run(Worker())\n\n\nmain()"
    )
    assert answer(entered, 'print("switched")')[0] != "never"
