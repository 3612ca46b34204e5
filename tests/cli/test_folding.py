"""Lines on a terminal of 60 to 200 columns: folded between words, no word lost; a pipe gets each line whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.folding import folded
from agent.cli.main import run
from agent.store import RunStore
from tests.cli.terminals import ROOT, on_terminal
from tests.reports import samples

COMMANDS: tuple[Sequence[str], ...] = (
    ("runs", "list"),
    ("runs", "show", "run-1", "--agents"),
    ("runs", "diff", "run-1", "run-2"),
    ("playbook", "list"),
    ("playbook", "list", "--symptom", "accept length stays at 1.0"),
    ("playbook", "show", "radix-cache-off"),
    ("playbook", "validate"),
    ("doctor",),
    ("report", "show", "run-2"),
    ("run", "--help"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stored runs."""
    home = tmp_path_factory.mktemp("home")
    store = RunStore(home / "data")
    store.save(samples.founding(run=samples.run(id="run-1", host="gpu-03")))
    store.save(replace(samples.nothing_found(), run=samples.run(id="run-2")))
    store.close()
    return home


@pytest.mark.parametrize("columns", [60, 200])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_a_command_prints_fits_its_terminal(command: Sequence[str], columns: int, home: Path) -> None:
    code, shown = on_terminal(command, {"RCA_HOME": str(home), "NO_COLOR": "1"}, columns=columns)
    assert code in (0, 1) and shown
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).split("\n")
    assert [line for line in lines if len(line) > columns and len(line.split()) > 1] == []
    assert columns == 60 or max(map(len, lines)) > 60, "the room is used"


def test_a_pipe_gets_each_line_whole(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RCA_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "60")
    assert run(["playbook", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list((ROOT / "playbooks").glob("*.yaml"))) and max(map(len, lines)) > 60


@given(st.lists(st.text("ab-/.", min_size=1, max_size=90), min_size=1, max_size=30), st.integers(60, 200), st.integers(0, 30))
def test_no_word_is_lost_or_cut(words: list[str], width: int, indent: int) -> None:
    line = " " * indent + " ".join(words)
    parts = folded(line, width)
    assert " ".join(parts).split() == words
    assert all(len(part) <= width or len(part.split()) == 1 for part in parts)


def test_what_follows_stands_below_the_text() -> None:
    assert folded("  ok      libraries  all of them are there", 30) == [
        "  ok      libraries  all of",
        " " * 15 + "them are there",
    ], "never further in than half of the width"
    assert folded("name  " + "word " * 4, 14) == ["name  word", "      word", "      word", "      word"]
