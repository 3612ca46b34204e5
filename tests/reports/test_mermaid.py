"""The graph in the Markdown report, drawn by Mermaid itself in a browser: it parses, and foreign text stays text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.domain.visible import one_line
from agent.reports.markdown import mermaid
from tests.npm import PackageUnavailable, npm_file
from tests.reports import samples
from tests.reports.browser import Browser, BrowserMissing, chromium

_DRAW = """
(async () => {
  mermaid.initialize({startOnLoad: false, securityLevel: "loose"});
  const drawn = await mermaid.render("graph" + (window.count = (window.count || 0) + 1), %s);
  document.body.innerHTML = drawn.svg;
  return {labels: [...document.querySelectorAll(".nodeLabel")].map(node => node.innerText),
          active: document.querySelectorAll("svg script, svg a, svg img").length};
})()
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    try:
        script = npm_file("mermaid@11.17.2", "dist/mermaid.min.js")
        with chromium() as browser:
            page = tmp_path_factory.mktemp("mermaid") / "board.html"
            page.write_text(f'<!doctype html><meta charset="utf-8"><body></body><script src="{script.as_uri()}"></script>')
            browser.open(page)
            yield browser
    except (BrowserMissing, PackageUnavailable) as missing:
        pytest.skip(str(missing))


def drawn(board: Browser, investigation: samples.Investigation) -> dict[str, Any]:
    block = mermaid(investigation.findings[0])
    source = "\n".join(block.split("\n")[1:-1])
    answer: dict[str, Any] = board.evaluate(_DRAW % json.dumps(source))
    return answer


def test_the_founding_chain(board: Browser, tmp_path: Path) -> None:
    graph = drawn(board, samples.founding())
    assert len(graph["labels"]) == 8
    assert graph["labels"][0] == "launch command\n--speculative-algorithm EAGLE\n'EAGLE'"
    assert graph["labels"][4] == f"✗ model_runner.py:345\nif {samples.GUARD}:\nFalse"
    board.screenshot(tmp_path / "graph.png")


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_text_is_drawn_as_text(board: Browser, text: str) -> None:
    graph = drawn(board, samples.hostile(text))
    assert graph["active"] == 0
    assert len(graph["labels"]) == 1
    shown = " ".join(graph["labels"][0].split())
    assert one_line(text)[:80] in shown
