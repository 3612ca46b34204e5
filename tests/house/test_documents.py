"""The documents say what the program does: ``--help`` blocks are the program's own, links and paths exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(?:console|text)\n\$ (?P<command>rca [^\n]*--help)\n(?P<output>.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


def blocks() -> list[tuple[str, str, str]]:
    return [
        (path.name, found["command"], found["output"]) for path in DOCUMENTS for found in _BLOCK.finditer(path.read_text(encoding="utf-8"))
    ]


def test_there_are_help_blocks_to_check() -> None:
    assert any(command == "rca --help" for _, command, _ in blocks())


@pytest.mark.parametrize(("document", "command", "output"), blocks())
def test_help_block_is_what_the_program_prints(document: str, command: str, output: str) -> None:
    words = command.split()[1:]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "agent.cli.main", *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert output == done.stdout


def test_the_table_of_what_is_found_is_that_of_the_playbooks() -> None:
    from tests.house.help_blocks import found

    assert f"\n\n{found()}\n\n" in (ROOT / "README.md").read_text(encoding="utf-8"), "python -m tests.house.help_blocks writes it"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_somewhere(document: Path) -> None:
    targets = [found["target"] for found in _LINK.finditer(document.read_text(encoding="utf-8"))]
    broken = [
        target for target in targets if "://" not in target and not target.startswith("mailto:") and not (document.parent / target).exists()
    ]
    assert not broken


def test_the_test_command_of_the_readme_is_what_ci_runs() -> None:
    readme, ci = (ROOT / "README.md").read_text(encoding="utf-8"), (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    command = "python -m pip install -e '.[test]' && python -m pytest -n auto"
    assert command in readme
    assert command in ci
