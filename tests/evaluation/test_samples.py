"""Golden samples, one construct each: the verdict of a line stands behind it; what is left unsaid is only held against a real run.

A sample may begin with comments: ``# launch: ARGUMENTS``, ``# env: NAME=VALUE ...``, ``# file: PATH CONTENT``, ``# children`` (a part
runs in other processes, where the tracer does not see it). ``outside`` is a package that
is not in the tree: whatever comes from it is unknown. A line expected "may" may be "unknown" too; the run decides all others.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.domain.launch import Launch
from agent.domain.source import Absent
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.evaluation.tracing import contradictions, judged, verdicts
from tests.evaluation.worlds import in_worlds

SAMPLES = Path(__file__).parents[1] / "golden" / "evaluation"
NAMES = sorted(str(path.relative_to(SAMPLES)) for path in SAMPLES.glob("*/*.py"))
_EXPECTED = re.compile(r"#\s*(always|never|may)\s*$")
_MEANT = ("Left", "SystemExit")
"""Exceptions that samples end with on purpose; "always" speaks of a launch that raises nothing."""
_UNDECIDED = frozenset({"may", "unknown"})


@dataclass(frozen=True)
class Sample:
    """A program with how it is started and what it may read."""

    source: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    children: bool = False

    def read(self, path: str) -> bytes | Absent:
        return self.files[path].encode() if path in self.files else Absent(path=path)

    def is_dir(self, path: str) -> bool:
        return any(name.startswith(path.rstrip("/") + "/") for name in self.files)


def load(name: str) -> Sample:
    source = (SAMPLES / name).read_text(encoding="utf-8")
    said: dict[str, list[str]] = {"launch": [], "env": [], "file": []}
    for kind, rest in re.findall(r"^# (launch|env|file): (.*)$", source, re.M):
        said[kind].append(rest)
    files = dict(line.split(" ", 1) for line in said["file"])
    env = dict(word.split("=", 1) for line in said["env"] for word in line.split())
    return Sample(source, tuple(shlex.split(" ".join(said["launch"]))), env, files, "\n# children\n" in f"\n{source}")


def expectations(source: str) -> dict[int, str]:
    found = {number: _EXPECTED.search(line) for number, line in enumerate(source.splitlines(), 1)}
    return {number: match[1] for number, match in found.items() if match}


@pytest.mark.parametrize("name", NAMES)
def test_each_line_as_its_comment_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = load(name)
    launch = Launch(argv=("python3", "-m", "sample", *sample.argv), env=sample.env)
    engine = open_engine(MemoryTree({"sample.py": sample.source}), launch, files=sample)
    answer = engine.reach("sample.py")
    found, lines = verdicts(answer), sample.source.splitlines()
    expected = expectations(sample.source)
    assert expected
    wrong = [
        f"line {number}: expected {word}, is {found.get(number)}: {lines[number - 1].strip()}"
        for number, word in expected.items()
        if found.get(number) != word and not (word == "may" and found.get(number) in _UNDECIDED)
    ]
    for path, content in sample.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    statements = judged(engine.index, answer)
    for world, trace in in_worlds(sample.source, sample.argv, sample.env):
        assert trace.ended is None or type(trace.ended).__name__ in _MEANT, f"the sample itself fails: {trace.ended!r}"
        complete = trace.ended is None and not sample.children
        wrong += [f"{world}: {text}" for text in contradictions(statements, trace.lines["sample.py"], complete=complete)]
        wrong += [f"{world}: expectation {text}" for text in _mistaken(expected, trace.lines["sample.py"], complete)]
    assert not wrong, "\n".join(wrong)


def _mistaken(expected: Mapping[int, str], ran: set[int], complete: bool) -> list[str]:
    """Expectations that the run itself refutes."""
    return [
        f"{word} at line {number}"
        for number, word in expected.items()
        if (word == "never" and number in ran) or (complete and word == "always" and number not in ran)
    ]
