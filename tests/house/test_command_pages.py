"""Every command has its page, and the index leads to all of them."""

from __future__ import annotations

import importlib.util

import pytest

from agent.cli.main import COMMANDS
from tests.house.test_documents import ROOT

PAGES = ROOT / "docs" / "commands"


@pytest.mark.parametrize("name", [name for name in COMMANDS if importlib.util.find_spec(f"agent.cli.{name}")])
def test_a_command_has_a_page_with_its_help(name: str) -> None:
    assert f"$ rca {name} --help\n" in (PAGES / f"{name}.md").read_text(encoding="utf-8"), "then: python -m tests.house.help_blocks"
    assert f"({name}.md)" in (PAGES / "README.md").read_text(encoding="utf-8")
