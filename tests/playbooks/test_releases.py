"""Every shipped playbook on real releases: it finds its failure, its golden report is what it finds, and it keeps silent on a
healthy launch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from agent.config import shipped_directory
from agent.domain.playbook import Playbook, PlaybookTest
from agent.domain.source import SourceTree
from agent.hosts.local_tree import DirectoryTree, MemoryTree
from agent.library import Library
from agent.library.samples import resolve
from agent.reports.json import JsonReport
from agent.subagents.playbook.rehearsal import rehearse
from agent.wiring import open_engine
from benchmarks.sweep import expected_guard, sweep
from tests.reports.playbook_reports import DIRECTORY, investigation, shown_test
from tests.wheels import WheelTree

LIBRARY = Library(shipped_directory("playbooks"))
CASES = [(playbook, test) for playbook in LIBRARY.all() for test in playbook.tests]
SAMPLE = ("0.4.4.post2", "0.4.9", "0.5.2", "0.5.8", "0.5.10.post1", "0.5.15", "0.5.19", "0.5.23")
"""Releases between which the code of the founding case moved."""

Trees = Callable[[str, str], SourceTree]


@pytest.fixture(scope="session")
def trees(wheel_tree: WheelTree) -> Trees:
    """One tree object per release and test process."""

    @cache
    def tree(package: str, version: str) -> SourceTree:
        return DirectoryTree(wheel_tree(package, version), (package,))

    return tree


@pytest.mark.parametrize(("playbook", "test"), CASES, ids=[f"{playbook.id}: {test.name}" for playbook, test in CASES])
def test_a_playbook_says_what_its_own_test_expects(playbook: Playbook, test: PlaybookTest, trees: Trees) -> None:
    tree = MemoryTree(test.tree) if test.tree else trees(test.package, test.version)
    whole = resolve(playbook, test)
    found = rehearse(playbook, whole, tree, open_engine)
    assert not found.problems
    if test == shown_test(playbook):
        assert found.answer is not None
        golden = (DIRECTORY / f"{playbook.id}.json").read_text(encoding="utf-8")
        assert JsonReport().render(investigation(playbook, whole, found.answer, tree)) == golden, (
            f"python -m tests.reports.playbook_reports {playbook.id}"
        )


@pytest.mark.parametrize("version", SAMPLE)
def test_the_founding_case_is_found_wherever_its_code_has_moved(version: str, trees: Trees) -> None:
    class Given:
        def tree(self, package: str, wanted: str) -> SourceTree:
            return trees(package, wanted)

    (row,) = sweep(LIBRARY.get("eagle-vs-eagle3"), Given(), [version])
    assert row.right, row


def test_the_expected_guard_is_found_without_the_engine() -> None:
    source = (
        "class Runner:\n    def __init__(self):\n        if self.on:\n            if spec.is_eagle3() and not draft:\n"
        '                config = getattr(hf, "eagle_config", None)\n'
    )
    assert (
        expected_guard(MemoryTree({"sglang/srt/model_executor/model_runner.py": source})) == "sglang/srt/model_executor/model_runner.py:4"
    )
    assert expected_guard(MemoryTree({"sglang/srt/model_executor/model_runner.py": "pass\n"})) == ""


def test_every_named_config_is_there() -> None:
    for playbook, test in CASES:
        assert all(isinstance(config, dict) for config in resolve(playbook, test).models.values())
    assert Path(LIBRARY.get("eagle-vs-eagle3").origin).parent == shipped_directory("playbooks")
