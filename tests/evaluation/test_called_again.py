"""A function that the start-up has been through and that other code calls once more: what it passed by then may run."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import argparse
import os
import fastapi
import uvicorn

app = fastapi.FastAPI()


class Model:
    def __init__(self, limit):
        self.derive(limit)

    def derive(self, limit):
        if limit is not None:
            if os.environ.get("SHOP_LONGER"):
                print("longer")


def made(limit):
    return Model(limit)


@app.get("/again")
def again():
    {again}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1)
    parser.parse_args()
    made(None)
    uvicorn.run(app)


main()
"""
ENTERED, READER = 15, 16


def engine(again: str) -> LaunchEngine:
    launch = Launch(argv=("python3", "-m", "program"), env={"SHOP_LONGER": "1"})
    return open_engine(MemoryTree({"program.py": PROGRAM.replace("{again}", again)}), launch, files=NoFiles())


def verdicts(engine: LaunchEngine) -> set[str]:
    found = engine.reach("program.py")
    return {word for word in ("always", "never", "may", "unknown") for first, last in getattr(found, word) if first <= READER <= last}


@pytest.mark.parametrize("again", ["made(8)", "Model(8)", "Model.derive(object(), 8)"])
def test_called_again_with_another_value(again: str) -> None:
    """One, two and three calls away."""
    asked = engine(again)
    assert asked.why(f"program.py:{READER}", counterfactuals=False).verdict == "may"
    assert verdicts(asked) == {"unknown"}
    assert asked.audit().dead_config == ()


def test_called_once() -> None:
    asked = engine("print(1)")
    answer = asked.why(f"program.py:{READER}", counterfactuals=False)
    assert (answer.verdict, answer.decisive and answer.decisive.line) == ("never", ENTERED - 1)
    assert verdicts(asked) == {"never"}
    assert [(key.key, [reader.line for reader in key.readers]) for key in asked.audit().dead_config] == [("SHOP_LONGER", [ENTERED])]
