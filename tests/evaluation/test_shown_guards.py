"""How a guard is told."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.domain.verdict import WhyAnswer
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
def run(tokens, mark):
    if (
        mark
        # Checks that `tokens[i]` will exist.
        and tokens > 0  # at least one
        and mark != "# two  spaces"
    ):
        print("counted")


run(0, "m")
"""


def test_a_condition_over_several_lines_is_told_without_its_comments() -> None:
    engine = open_engine(MemoryTree({"program.py": PROGRAM}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    guard = engine.why("program.py:8").decisive
    assert guard is not None
    assert guard.condition == 'mark and tokens > 0 and mark != "# two  spaces"'
    assert guard.decisive_operand == "tokens > 0"


CHOSEN = """\
import outside


class Reader:
    def __init__(self, inside):
        self.inside = inside

    def read(self, text):
        assert text
        if self.ready(text):
            within = self.inside or "start" in text
            if not within:
                return "plain"
        return "within"

    def ready(self, text):
        return outside.ready(text)


class Eager(Reader):
    def __init__(self, inside=True):
        super().__init__(True)


class Lazy(Reader):
    def __init__(self, inside=False):
        super().__init__(inside)


def serve():
    for kind in (KINDS):
        reader = kind()
        outside.on_request(reader.read)


serve()
"""


def chosen(kinds: str) -> WhyAnswer:
    source = CHOSEN.replace("KINDS", kinds)
    engine = open_engine(MemoryTree({"program.py": source}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    line = 1 + source.splitlines().index('                return "plain"')
    return engine.why(f"program.py:{line}", counterfactuals=False)


def test_a_line_that_may_run_names_the_nearest_guard_that_is_not_decided() -> None:
    """Not the assertion, nor the guard further out, which is not decided either."""
    answer = chosen("Eager, Lazy")
    assert (answer.verdict, answer.decisive) == ("may", None)
    assert answer.depends_on is not None
    assert (answer.depends_on.condition, answer.depends_on.truth) == ("not within", "unknown")


def test_a_line_that_never_runs_is_decided() -> None:
    answer = chosen("Eager,")
    assert answer.verdict == "never"
    assert answer.depends_on is None
    assert answer.decisive is not None
    assert answer.decisive.condition == "not within"


TWO_OF_ONE_NAME = """\
class Scheduler:
    steps = 1


class Arguments:
    def __init__(self, steps):
        self.steps = steps


def run(arguments):
    if arguments.steps != Scheduler.steps:
        print("changed")


run(Arguments(8))
"""


def test_two_operands_of_one_name_each_have_their_own_value() -> None:
    engine = open_engine(MemoryTree({"program.py": TWO_OF_ONE_NAME}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    guard = engine.why("program.py:12").paths[0].guards[-1]
    assert {operand.text: operand.value for operand in guard.operands if operand.text.endswith(".steps")} == {
        "arguments.steps": "8",
        "Scheduler.steps": "1",
    }
