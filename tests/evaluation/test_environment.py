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
