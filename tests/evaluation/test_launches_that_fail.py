"""A launch that fails for certain runs nothing beyond the line that raises: what would have called the rest is not waited for."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.domain.verdict import ReachAnswer
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

OPTIONS = """\
import argparse
import dataclasses


@dataclasses.dataclass
class Options:
    size: int = 1

    def __post_init__(self):
        if self.size > 4:
            raise ValueError("too large")
        self.later()

    def later(self):
        print("resolved")

    @classmethod
    def from_args(cls, args):
        return cls(size=args.size)


class Engine:
    options_class = Options

    def __init__(self, **kwargs):
        self.options = self.options_class(**kwargs)


def describe(options: "Options"):
    return isinstance(options, Options) and Options.size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=Options.size)
    options = Options.from_args(parser.parse_args())
    print(options)


if __name__ == "__main__":
    main()
"""
RAISES = 11
LATER = (12, 15)
"""The call after the check, and the method it calls."""


def reach(source: str, *flags: str) -> ReachAnswer:
    tree = MemoryTree({"serving.py": source})
    return open_engine(tree, Launch(argv=("python3", "-m", "serving", *flags)), files=NoFiles()).reach("serving.py")


def lines(ranges: tuple[tuple[int, int], ...]) -> set[int]:
    return {line for first, last in ranges for line in range(first, last + 1)}


def test_nothing_runs_after_the_line_that_raises() -> None:
    answer = reach(OPTIONS, "--size", "8")
    assert RAISES in lines(answer.always)
    assert lines(answer.never).issuperset(LATER)


def test_a_launch_that_does_not_fail_leaves_it_open_who_else_makes_one() -> None:
    answer = reach(OPTIONS, "--size", "2")
    assert lines(answer.always).issuperset(LATER)
    assert RAISES not in lines(answer.always)
    assert RAISES not in lines(answer.never), "Engine(size=8) may be made by whoever imports it"


def test_a_thread_that_was_started_before_goes_on() -> None:
    started = OPTIONS.replace(
        "def main():\n", "def work():\n    Options(size=2)\n\n\ndef main():\n    threading.Thread(target=work).start()\n"
    )
    answer = reach("import threading\n" + started, "--size", "8")
    assert not lines(answer.never).intersection(line + 1 for line in LATER)


def test_a_failure_that_is_caught_is_none() -> None:
    caught = OPTIONS.replace("    main()\n", "    try:\n        main()\n    except ValueError:\n        Engine(size=2)\n")
    answer = reach(caught, "--size", "8")
    assert not lines(answer.never).intersection(LATER)


def test_a_program_that_exits_has_not_failed() -> None:
    """``main`` ends by sys.exit; what is registered to run at the end runs after it."""
    leaving = OPTIONS.replace('raise ValueError("too large")', "sys.exit(1)").replace(
        "    print(options)\n", "    print(options)\n    Engine(size=2)\n"
    )
    answer = reach("import sys\n" + leaving, "--size", "8")
    assert not lines(answer.never).intersection(line + 1 for line in LATER)


def test_who_is_told_of_failures_runs_after_one() -> None:
    """A function given to ``atexit`` or ``sys.excepthook`` is called when the launch has failed."""
    for told in ("atexit.register(ending)", "sys.excepthook = ending"):
        hooked = OPTIONS.replace("def main():\n", f"def ending(*_):\n    Options(size=2)\n\n\ndef main():\n    {told}\n")
        answer = reach("import atexit, sys\n" + hooked, "--size", "8")
        assert not lines(answer.never).intersection(line + 1 for line in LATER), told


def test_a_class_that_an_import_takes_from_another_class() -> None:
    """``Engine.options_class(...)`` outside functions runs when the module is imported, before anything fails."""
    early = OPTIONS.replace("def describe(", "DEFAULTS = Engine.options_class(size=2)\n\n\ndef describe(")
    answer = reach(early, "--size", "8")
    assert not lines(answer.never).intersection(LATER)


@pytest.mark.parametrize(("code", "raised"), [("", False), ("0", False), ("main()", False), ("3", True)])
def test_a_program_that_ends_well_raises_nothing(code: str, raised: bool) -> None:
    source = f"import sys\n\n\ndef main():\n    return 0\n\n\nsys.exit({code})\n"
    engine = open_engine(MemoryTree({"server.py": source}), Launch(argv=("python3", "server.py")), files=NoFiles())
    assert bool(engine.audit().raises) is raised
