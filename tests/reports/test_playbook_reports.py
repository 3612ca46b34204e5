"""One golden report per shipped playbook: it is there, it is a published document, and its Markdown is what it renders to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.reports.json import from_dict
from agent.reports.markdown import MarkdownReport
from tests.reports.gfm import render
from tests.reports.playbook_reports import DIRECTORY, LIBRARY, shown_test
from tests.reports.schema import assert_valid
from tests.reports.test_markup import assert_inert

REPORTS = sorted(DIRECTORY.glob("*.json"))


def test_every_playbook_has_one() -> None:
    wanted = {playbook.id for playbook in LIBRARY.all() if shown_test(playbook)}
    assert {path.stem for path in REPORTS} == wanted, "python -m tests.reports.playbook_reports plays and writes them"


@pytest.mark.parametrize("place", REPORTS, ids=lambda place: place.stem)
def test_it_renders_as_it_stands_there(place: Path) -> None:
    document = json.loads(place.read_text(encoding="utf-8"))
    assert_valid(document)
    text = MarkdownReport().render(from_dict(document))
    assert text == place.with_suffix(".md").read_text(encoding="utf-8")
    assert_inert(render(text))
    assert document["playbook"] == place.stem
    assert document["findings"]


@pytest.mark.parametrize("place", REPORTS, ids=lambda place: place.stem)
def test_its_first_screen_has_what_matters(place: Path) -> None:
    finding = json.loads(place.read_text(encoding="utf-8"))["findings"][0]
    first = place.with_suffix(".md").read_text(encoding="utf-8").split("\n## ")[0]
    for word in ("**Cause**", "**Confidence**", *(["**Guard**"] if finding["guard"] else []), *(["**Fix**"] if finding["fix"] else [])):
        assert word in first
