"""Flags and variables that were given, and whose every reader is guarded off."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.domain.verdict import AuditAnswer
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import argparse
import os


def run(args):
    if args.kind == "b":
        print(args.depth)
        if os.environ.get("SHOP_FAST"):
            print("fast")
    if args.kind != "b":
        print(args.width)
    print(args.size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["a", "b"], default="a")
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--width", type=int, default=1)
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--unnamed", type=int, default=1)
    parser.add_argument("--token", default="")
    args = parser.parse_args()
    run(args)
    if args.kind == "b":
        print(args.token)


main()
"""


def audit(*words: str, **env: str) -> AuditAnswer:
    launch = Launch(argv=("python3", "-m", "program", *words), env=env)
    return open_engine(MemoryTree({"program.py": PROGRAM}), launch, files=NoFiles()).audit()


def verdicts(answer: AuditAnswer) -> dict[str, str]:
    return {row.name: row.verdict for row in answer.settings}


def test_a_flag_whose_every_reader_is_guarded_off() -> None:
    found = audit("--depth", "4", "--width", "4", "--size", "4", "--unnamed", "4")
    (key,) = found.dead_config
    assert (key.file, key.key, key.value) == ("command line", "--depth", 4)
    (reader,) = key.readers
    assert (reader.line, reader.verdict) == (7, "never")
    assert reader.decisive is not None and (reader.decisive.line, reader.decisive.condition) == (6, 'args.kind == "b"')
    changes = [(change.name, change.to) for each in key.counterfactuals for change in each.change]
    assert changes == [("--kind", "b")]
    assert {name for name, verdict in verdicts(found).items() if verdict == "never_read"} == {"depth"}


def test_a_variable_whose_every_reader_is_guarded_off() -> None:
    found = audit(SHOP_FAST="1", ANOTHER="1")
    assert [(key.file, key.key) for key in found.dead_config] == [("environment", "SHOP_FAST")]
    assert verdicts(found)["env:SHOP_FAST"] == "never_read" and verdicts(found)["env:ANOTHER"] == "as_asked"


@pytest.mark.parametrize("words", [("--depth", "4", "--kind", "b"), ("--width", "4"), ()])
def test_what_is_read_is_not_accused(words: tuple[str, ...]) -> None:
    """Nor is a default that nobody gave."""
    found = audit(*words, SHOP_FAST="1") if "b" in words else audit(*words)
    assert found.dead_config == ()
    assert "never_read" not in verdicts(found).values()


def test_a_secret_stays_one() -> None:
    found = audit("--token", "givenword")
    assert [key.key for key in found.dead_config] == ["--token"]
    assert "givenword" not in repr(found)


def test_what_nothing_names_is_told_apart() -> None:
    """A variable that is spelt wrong, or meant for another library: no setting that is never read."""
    found = audit("--size", "2", SHOP_FSAT="1", ANOTHER_TOKEN="givenword", LANG="C", LD_LIBRARY_PATH="/l", HOME="/h")
    assert [(key.file, key.key, key.readers) for key in found.unread_keys] == [
        ("environment", "SHOP_FSAT", ()),
        ("environment", "ANOTHER_TOKEN", ()),
    ]
    assert found.dead_config == () and "never_read" not in verdicts(found).values()
    assert "givenword" not in repr(found)


PASSES_ON = PROGRAM.replace("args = parser.parse_args()", "args, rest = parser.parse_known_args()")


def test_a_flag_that_no_parser_declares() -> None:
    """Where the program lets it pass; shortened flags are declared ones."""
    words = ("--dep", "4", "--dpeth", "4", "--un-known=5", "--depth_x", "--quick")
    launch = Launch(argv=("python3", "-m", "program", *words))
    found = open_engine(MemoryTree({"program.py": PASSES_ON + "# quick: depth_x\n"}), launch, files=NoFiles()).audit()
    assert [(key.file, key.key, key.value) for key in found.unread_keys] == [
        ("command line", "--dpeth", "4"),
        ("command line", "--un-known", "5"),
    ]
    refused = audit("--dpeth", "4", SHOP_FSAT="1")
    assert refused.unread_keys == () and [each.certainty for each in refused.raises] == ["always"]
