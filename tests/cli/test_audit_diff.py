"""``rca audit --diff A B``: which settings differ, and which lines run on one side alone because of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli.main import run
from agent.domain.audit_difference import AuditDifference
from tests.reports.schema import assert_valid

TREE = {
    "shop/serve.py": """\
import argparse
import enum
from dataclasses import dataclass

from shop.worker import Worker


class Kind(enum.Enum):
    A = "a"
    B = "b"

    @staticmethod
    def of(text):
        return Kind[text.upper()]

    def is_b(self):
        return self == Kind.B


@dataclass
class Args:
    kind: str
    size: int
    api_key: str

    def __post_init__(self):
        if self.kind == "b":
            self.size = 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["a", "b"], default="a")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--api-key")
    parsed = parser.parse_args()
    args = Args(parsed.kind, parsed.size, parsed.api_key)
    Worker(args).run()


if __name__ == "__main__":
    main()
""",
    "shop/worker.py": """\
from shop import serve


class Worker:
    def __init__(self, args):
        self.args = args
        self.kind = serve.Kind.of(args.kind)
        self.hurried = False

    def run(self):
        if self.kind.is_b():
            self.hurried = True
            print("b")
        else:
            print("not b")
        if self.hurried:
            print("hurry")
        if self.args.size > 100:
            print("never on either side")
        if self.args.size > 4:
            print("large")
""",
    "shop/__init__.py": "",
}
COMMAND = "python3 -m shop.serve --api-key plainword"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))
    for path, text in TREE.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_text(text)
    return tmp_path / "tree"


def answer(tree: Path, capsys: pytest.CaptureFixture[str], a: str, b: str) -> Any:
    assert run(["audit", "--tree", str(tree), "--diff", a, b, "-q", "--format", "json"]) == 0
    shown = capsys.readouterr().out
    assert "plainword" not in shown
    found = json.loads(shown)
    assert_valid(found)
    return found


def test_settings_and_the_lines_they_decide(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(tree, capsys, COMMAND, f"{COMMAND} --kind b")
    assert [each["name"] for each in found["settings"]] == ["kind", "size"]
    rows = {(row["path"], row["first"], row["last"]): (row["a"], row["b"]) for row in found["lines"]}
    assert rows == {
        ("shop/serve.py", 28, 28): ("never", "always"),
        ("shop/worker.py", 12, 13): ("never", "always"),
        ("shop/worker.py", 15, 15): ("always", "never"),
        ("shop/worker.py", 17, 17): ("never", "always"),
        ("shop/worker.py", 21, 21): ("always", "never"),
    }
    guards = {row["first"]: row["guard"]["line"] for row in found["lines"]}
    assert guards == {28: 27, 12: 11, 15: 11, 17: 16, 21: 20}


def test_two_equal_launches_differ_in_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(tree, capsys, COMMAND, f"{COMMAND} --kind a")
    assert (found["lines"], found["raises_a"], found["dead_a"]) == ([], [], [])
    assert [each["name"] for each in found["settings"]] == ["kind"], "it was asked for on one side alone"


def test_as_text_and_markdown(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for format in ("text", "md"):
        assert run(["audit", "--tree", str(tree), "--diff", COMMAND, f"{COMMAND} --kind b", "-q", "--format", format]) == 0
        shown = capsys.readouterr().out
        assert "A: the same without that" in shown and "2 settings differ" in shown
        assert "B: ... --kind b" in shown.replace("`", "")
        assert "shop/worker.py:12-13" in shown and "self.kind.is_b()" in shown
        assert shown.index("Settings that differ") < shown.index("Never run with A, and run with B")
        assert "plainword" not in shown


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--diff", "", "host"], "is no host, bundle or command"),
        (["--diff", "--kind", "host"], "is no host, bundle or command"),
        (["--diff", COMMAND, COMMAND], "a command is judged with a source tree"),
        (["kind", "--diff", "a", "b"], "--diff compares whole audits"),
    ],
)
def test_what_is_no_side(tree: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str) -> None:
    assert run(["audit", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_a_side_that_the_program_refuses(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(tree, capsys, COMMAND, f"{COMMAND} --kind c")
    assert found["lines"] == [] and "B's launch is refused" in found["not_compared"][0]
    assert [each["certainty"] for each in found["raises_b"]] == ["always"]


def test_the_schema_has_the_keys_of_the_answer() -> None:
    empty = AuditDifference(a="a", b="b", settings=()).as_dict()
    assert_valid(empty)
