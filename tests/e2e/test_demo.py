"""`rca demo`: needs nothing but this Python, ends with the report, leaves nothing behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.terminals import on_terminal
from tests.e2e.servers import rca
from tests.house.test_recording import quoted
from tests.wheels import WheelTree

RUNNER = "sglang/srt/model_executor/model_runner.py"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, wheel_tree: WheelTree) -> Path:
    """The wheel is fetched on first use; without a package index ``wheel_tree`` has skipped the test before."""
    wheel_tree("sglang", "0.5.9")
    return tmp_path_factory.mktemp("home")


def test_the_demonstration_confirms_the_founding_case(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = rca(home, "demo", "--format", "json")
    assert found.code == 0, found.err
    report = found.json
    assert report["outcome"] == "cause_confirmed"
    guard = report["findings"][0]["guard"]
    assert (guard["path"], guard["line"]) == (RUNNER, 345)
    assert "rca report show" in found.err and "rca demo --model kimi" in found.err
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"
    code, shown = on_terminal(["report", "show", report["run"]["id"]], {"RCA_HOME": str(home), "NO_COLOR": "1"})
    assert code == 0
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).split("\n")]
    assert [line for line in quoted() if line not in lines] == [], "the README shows what it prints: python -m tests.house.recording"


def test_behind_the_first_fault_waits_a_second_one(home: Path) -> None:
    found = rca(home, "demo", "--model", "kimi")
    assert found.code == 0, found.err
    assert f"{RUNNER}:345" in found.out
    assert "set_eagle3_layers_to_capture" in found.out
