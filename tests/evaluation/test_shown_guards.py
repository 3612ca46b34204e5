"""How a guard is told."""

from __future__ import annotations

from agent.domain.launch import Launch
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
