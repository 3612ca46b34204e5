"""Every twentieth recorded launch: nothing wrong, and most of it decided."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from agent.hosts.local_tree import DirectoryTree
from tests.oracle.scoring import RELEASE, Score, host_facts, rows, score_launch
from tests.wheels import WheelTree

EVERY = 20
PARTS = 2


@functools.cache
def tree_at(root: Path) -> DirectoryTree:
    return DirectoryTree(root, ["sglang"])


@pytest.mark.parametrize("part", range(PARTS))
def test_the_recorded_launches(wheel_tree: WheelTree, part: int) -> None:
    tree, facts, total = tree_at(wheel_tree("sglang", RELEASE)), host_facts(), Score()
    for number in range(part * EVERY, 260, EVERY * PARTS):
        score = score_launch(tree, rows()[number], facts)
        assert not score.wrong, f"launch {number}: {score.wrong}"
        total.add(score)
    assert total.share("exact", "fields") >= 0.85, total.open.most_common(20)
    assert total.share("decided", "lines") >= 0.90, total.open.most_common(20)
    assert total.share("predicted", "raised") >= 0.80 or not total.counts["raised"]


def test_without_facts_of_the_host_nothing_is_guessed(wheel_tree: WheelTree) -> None:
    tree, total = tree_at(wheel_tree("sglang", RELEASE)), Score()
    for number in (0, 130):
        score = score_launch(tree, rows()[number], {})
        assert not score.wrong, f"launch {number}: {score.wrong}"
        total.add(score)
    assert total.share("exact", "fields") >= 0.30
