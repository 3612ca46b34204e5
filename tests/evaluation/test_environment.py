"""An environment variable that was not read: absent only where the names of all that are set are known."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

SERVER = """\
import os


def main():
    if os.environ.get("TURBO", "0") == "1":
        print("fast")
    if "PLAIN" in os.environ:
        print(os.environ["PLAIN"])


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("hidden", "turbo", "plain"),
    [(("PATH",), "never", "never"), (("PATH", "TURBO", "PLAIN"), "may", "always"), (None, "may", "may")],
)
def test_a_variable_that_was_not_read(hidden: tuple[str, ...] | None, turbo: str, plain: str) -> None:
    launch = Launch(argv=("python3", "-m", "server"), env_complete=False, env_hidden=hidden)
    engine = open_engine(MemoryTree({"server.py": SERVER}), launch, files=NoFiles())
    assert engine.why("server.py:6").verdict == turbo
    assert engine.why("server.py:8").verdict == plain


LATER = """\
import os
import outside


class Server(outside.Base):
    def handle(self):
        os.environ["SET_LATER"] = "1"

    def look(self):
        if os.environ.get("SET_LATER"):
            print("set by another method")
        if os.environ.get("NEVER_SET"):
            print("set by nobody")
        if "NEVER_SET" in os.environ:
            print("nor there")
        if os.environ.get("SET_LATER", "1") == "2":
            print("no such value")


Server().serve()
"""


def test_a_variable_is_joined_with_its_own_setters_alone() -> None:
    engine = open_engine(MemoryTree({"server.py": LATER}), Launch(argv=("python3", "server.py")), files=NoFiles())
    said = {line: engine.why(f"server.py:{line}", counterfactuals=False).verdict for line in (11, 13, 15, 17)}
    assert said == {11: "may", 13: "never", 15: "never", 17: "never"}


def test_names_that_are_worked_out_are_an_assumption_of_every_reader() -> None:
    source = LATER.replace('os.environ["SET_LATER"] = "1"', "os.environ[self.name] = '1'")
    engine = open_engine(MemoryTree({"server.py": source}), Launch(argv=("python3", "server.py")), files=NoFiles())
    for line in (13, 15):
        answer = engine.why(f"server.py:{line}", counterfactuals=False)
        assert answer.verdict == "never"
        assert any("its name is worked out (server.py:7 would)" in each for each in answer.assumptions), answer.assumptions
