"""How many statements the machine runs: a bound where a real program repeats itself and the machine need not."""

from __future__ import annotations

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

CACHED = """\
from functools import lru_cache


class Options:
    pass


@lru_cache(maxsize=None)
def names(cls):
    found = []
    for number in range(100):
        found.append(str(number))
    return found


for turn in range(50):
    last = names(Options)
"""


def steps(program: str) -> int:
    engine = open_engine(MemoryTree({"program.py": program}), Launch(argv=("python3", "-m", "program")), files=NoFiles())
    return engine.machine.steps


def test_a_cached_function_is_followed_once() -> None:
    assert steps(CACHED.replace("@lru_cache(maxsize=None)\n", "")) > 5000
    assert steps(CACHED) < 500
