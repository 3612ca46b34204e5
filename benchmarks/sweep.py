"""The founding case on every SGLang release: does the one playbook find the guard, wherever the code has moved to?

    python benchmarks/sweep.py                    every release on the package index from 0.4.4.post2 on (about 70, 6 MB each, fetched once)
    python benchmarks/sweep.py 0.5.9 0.5.23       these releases
    python benchmarks/sweep.py --format json      one object per release

The expected guard is found without the engine, by the standard library's ast: the innermost `if` with a call of `is_eagle3` around the line
that the case is about. Exit code 1 if a release is wrong.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent.cli.releases import Releases
from agent.config import load_settings, shipped_directory
from agent.domain.playbook import Playbook, PlaybookTest
from agent.domain.source import SourceTree
from agent.library import Library
from agent.library.samples import resolve
from agent.subagents.playbook.rehearsal import Rehearsal, rehearse
from agent.wiring import open_engine

PLAYBOOK = "eagle-vs-eagle3"
FIRST = "0.4.4.post2"
"""The first release with ``is_eagle3``."""
_RUNNER = "sglang/srt/model_executor/"


@dataclass(frozen=True, slots=True)
class Row:
    """One release. ``verdict``: under EAGLE; ``healthy``: under EAGLE3; ``right``: both are, the guard is the expected line, and no other
    explanation is said to hold as well (``others``).
    """

    release: str
    guard: str
    expected: str
    verdict: str
    healthy: str
    others: tuple[str, ...]
    right: bool
    seconds: float


def expected_guard(tree: SourceTree) -> str:
    """``path:line`` of the innermost ``if`` that calls ``is_eagle3`` around the line which reads the draft's config (or, before there was
    one, around the call that turns the capture on); empty where the release has none.
    """
    for marker in ('"eagle_config"', "set_eagle3_layers_to_capture("):
        found = [place for path in sorted(tree.files()) if path.startswith(_RUNNER) for place in _guards(tree, path, marker)]
        if found:
            return min(found, key=lambda place: ("graph" in place, place))
    return ""


def _guards(tree: SourceTree, path: str, marker: str) -> Iterator[str]:
    content = tree.read(path) if path.endswith(".py") else None
    if not isinstance(content, bytes) or marker.encode() not in content or b"is_eagle3" not in content:
        return
    lines = [number for number, line in enumerate(content.decode().splitlines(), 1) if marker in line]
    tests = [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.If) and "is_eagle3" in ast.unparse(node.test)]
    for line in lines:
        around = [node for node in tests if node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)]
        if around:
            yield f"{path}:{max(around, key=lambda node: node.lineno).lineno}"


class Trees(Protocol):
    """Where releases come from; None is one that is not at hand."""

    def tree(self, package: str, version: str) -> SourceTree | None: ...


def sweep(playbook: Playbook, releases: Trees, versions: Sequence[str]) -> Iterator[Row]:
    """One row per release, in the order given."""
    faulty, healthy = (_test(playbook, word) for word in ("confirmed", "silent"))
    for version in versions:
        tree = releases.tree("sglang", version)
        if tree is not None:
            yield _row(playbook, tree, replace(faulty, version=version), replace(healthy, version=version))


def _test(playbook: Playbook, expect: str) -> PlaybookTest:
    """The first test of the playbook that expects this, without the guard of its own release."""
    test = next(test for test in playbook.tests if test.expect == expect)
    return replace(resolve(playbook, test, (shipped_directory("playbooks") / "configs",)), guard=None, values={})


def _row(playbook: Playbook, tree: SourceTree, faulty: PlaybookTest, healthy: PlaybookTest) -> Row:
    began = time.perf_counter()
    found = rehearse(playbook, faulty, tree, open_engine)
    seconds = time.perf_counter() - began
    silent = rehearse(playbook, healthy, tree, open_engine)
    named = found.answer.finding.guard if found.answer and found.answer.finding else None
    others = _also_confirmed(playbook, found)
    guard, expected = f"{named.path}:{named.line}" if named else "", expected_guard(tree)
    return Row(
        release=faulty.version,
        guard=guard,
        expected=expected,
        verdict=found.said if not found.problems else f"{found.said}: {found.problems[0]}",
        healthy="silent" if not silent.problems else silent.problems[0],
        others=others,
        right=not found.problems and not silent.problems and not others and guard == expected != "",
        seconds=round(seconds, 2),
    )


def _also_confirmed(playbook: Playbook, found: Rehearsal) -> tuple[str, ...]:
    alternatives = {f"{playbook.id}/{one.id}" for one in playbook.hypotheses if one.role == "alternative"}
    said = found.answer.hypotheses if found.answer else ()
    return tuple(one.id for one in said if one.id in alternatives and one.status == "confirmed")


def published() -> list[str]:
    """Every release on the index from the first in question on, oldest first."""
    from packaging.version import Version

    command = [sys.executable, "-m", "pip", "index", "versions", "sglang"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    listed = re.search(r"Available versions: (.*)", said)
    found = [Version(text) for text in listed.group(1).split(", ")] if listed else []
    return [str(version) for version in sorted(found) if version >= Version(FIRST)]


def _line(row: Row) -> str:
    mark = "ok   " if row.right else "WRONG"
    return f"{row.release:<14} {mark} {row.guard or '-':<90} {row.verdict}; EAGLE3: {row.healthy}  {row.seconds:.1f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("versions", nargs="*", help="releases; default: all on the index")
    parser.add_argument("--trees", default="", help="folder of unpacked releases, named sglang-VERSION")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    given = parser.parse_args()
    playbook = Library(shipped_directory("playbooks")).get(PLAYBOOK)
    releases = Releases(load_settings(), given.trees, fetch=True)
    rows = []
    for row in sweep(playbook, releases, given.versions or published()):
        rows.append(row)
        if given.format == "text":
            print(_line(row), flush=True)
    if given.format == "json":
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        print(f"{sum(row.right for row in rows)} of {len(rows)} releases right")
    return 0 if rows and all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
