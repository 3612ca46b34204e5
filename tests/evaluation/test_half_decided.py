"""``a and False`` is never true, whatever ``a`` is: a condition is decided by the operand that is known."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import argparse
import external
from dataclasses import dataclass


@dataclass
class Args:
    device: str = "auto"
    size: int = 1
    depth: int = 1

    def __post_init__(self):
        {statement}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--depth", type=int, default=1)
    args = parser.parse_args()
    Args(args.device, args.size, args.depth)


main()
"""
CUDA = 'self.device == "cuda"'


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        (f"if external.u and {CUDA}: self.size = 2", 1),
        (f"if {CUDA} and external.u: self.size = 2", 1),
        (f"if external.u and ({CUDA} and external.v): self.size = 2", 1),
        (f"if (external.u and {CUDA}) or external.v and False: self.size = 2", 1),
        (f"if not (external.u and {CUDA}): self.size = 2", 2),
        (f"if external.u or not {CUDA}: self.size = 2", 2),
        (f"self.size = 2 if external.u and {CUDA} else 3", 3),
        (f"self.size = len([n for n in (1, 2) if external.u or not {CUDA}])", 2),
        (f"while external.u and {CUDA}: self.size = 2", 1),
        ("if external.u and external.v: self.size = 2", None),
        (f"if external.u or {CUDA}: self.size = 2", None),
        ("if external.u and external.v or False: self.size = 2", None),
    ],
)
def test_the_known_operand_decides(statement: str, value: int | None) -> None:
    launch = Launch(argv=("python3", "-m", "program", "--device", "cpu"))
    engine = open_engine(MemoryTree({"program.py": PROGRAM.format(statement=statement)}), launch, files=NoFiles())
    found = next(row.effective for row in engine.audit().settings if row.name == "size")
    assert (found.status, found.value) == (("known", value) if value is not None else ("candidates", None))


def test_the_value_itself_stays_what_it_is() -> None:
    """``x = a and False`` may be any false value of ``a``."""
    launch = Launch(argv=("python3", "-m", "program", "--device", "cpu"))
    source = PROGRAM.format(statement=f"self.size = external.u and {CUDA}")
    found = next(
        row.effective
        for row in open_engine(MemoryTree({"program.py": source}), launch, files=NoFiles()).audit().settings
        if row.name == "size"
    )
    assert found.status != "known"
