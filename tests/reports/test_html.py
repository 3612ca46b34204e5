"""The HTML report in a real browser: no console error, no request, usable by keyboard, readable in both schemes and in print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from agent.domain.source import Evidence
from agent.reports.html import HtmlReport, highlighted
from tests.reports import samples
from tests.reports.browser import Browser, BrowserMissing, chromium

_CONTRAST = """
(() => {
  const channel = c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4 };
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const back = node => { for (; node; node = node.parentElement) {
    const c = parse(getComputedStyle(node).backgroundColor); if (c.length < 4 || c[3] > 0) return c } return [255, 255, 255] };
  const low = [];
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !node.checkVisibility()) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(back(node))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) low.push(node.className + ": " + node.textContent.slice(0, 40));
  }
  return low;
})()
"""
"""Text whose contrast is below 4.5 : 1 (WCAG 2.1, 1.4.3)."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with chromium() as started:
            yield started
    except BrowserMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    shown(browser, tmp_path, HtmlReport().render(samples.founding()))
    browser.media()
    return browser


def shown(browser: Browser, directory: Path, html: str, **size: int) -> None:
    file = directory / "report.html"
    file.write_text(html, encoding="utf-8")
    browser.problems.clear()
    browser.open(file, **size)


def test_no_error_and_no_request(page: Browser, tmp_path: Path) -> None:
    assert page.problems == []
    assert page.requests == [(tmp_path / "report.html").as_uri()]
    assert page.evaluate("document.compatMode") == "CSS1Compat"


def test_a_screenshot_shows_something(page: Browser, tmp_path: Path) -> None:
    """Whoever changes the page looks at this picture (kept under pytest's --basetemp)."""
    page.screenshot(tmp_path / "report.png", whole=True)
    assert (tmp_path / "report.png").stat().st_size > 50_000


def test_the_first_screen_has_cause_guard_fix_and_confidence(page: Browser) -> None:
    above = page.evaluate(
        "[...document.querySelectorAll('dt')].filter(n => n.getBoundingClientRect().bottom < innerHeight).map(n => n.textContent)"
    )
    assert above == ["Cause", "Guard", "Confidence", "Fix"]
    assert page.evaluate("document.querySelector('.command').getBoundingClientRect().bottom < innerHeight")


def test_a_condition_has_one_colour_wherever_it_stands() -> None:
    """A guard that lets an override through is true, and true is green in the chain too."""
    finding = samples.founding().findings[0]
    assert finding.guard
    held = replace(finding, guard=replace(finding.guard, truth="true"))
    assert '<code class="open">true</code>' in HtmlReport().render(samples.founding(findings=(held,)))
    assert '<code class="closed">false</code>' in HtmlReport().render(samples.founding())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_schemes(page: Browser, scheme: str) -> None:
    page.media(scheme=scheme)
    assert page.evaluate(_CONTRAST) == []
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("width", [320, 600, 1400])
def test_the_page_never_scrolls_sideways(page: Browser, tmp_path: Path, width: int) -> None:
    shown(page, tmp_path, HtmlReport().render(samples.founding()), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_tree_folds_by_keyboard(page: Browser) -> None:
    assert page.evaluate("document.querySelectorAll('details').length") > 10
    page.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(60):
        page.press("Tab")
        if page.evaluate("document.activeElement.matches('details.guard.closed > summary')"):
            break
    assert page.evaluate("document.activeElement.matches('details.guard.closed > summary')"), "reached by Tab alone"
    assert page.evaluate("document.activeElement.parentElement.open"), "closed guards are unfolded"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", "focus is seen"
    page.press("Enter")
    assert not page.evaluate("document.activeElement.parentElement.open")
    page.press("Space")
    assert page.evaluate("document.activeElement.parentElement.open")


def test_links_lead_to_their_evidence(page: Browser) -> None:
    assert page.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].every(a => document.getElementById(a.hash.slice(1)))")
    assert page.evaluate("document.querySelectorAll('main a').length") > 10


def test_everything_is_printed_even_when_folded(page: Browser) -> None:
    page.media(media="print")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = false)")
    assert page.evaluate("[...document.querySelectorAll('details dl, details ul')].every(one => one.getClientRects().length > 0)")


def test_headings_and_landmarks(page: Browser) -> None:
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    assert page.evaluate("['header', 'main', 'footer'].every(name => document.querySelector(name))")
    assert page.evaluate("document.documentElement.lang") == "en"
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(one => +one.tagName[1])")
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_content_neither_runs_nor_loads(browser: Browser, tmp_path: Path, text: str) -> None:
    shown(browser, tmp_path, HtmlReport().render(samples.hostile(text)))
    assert browser.problems == []
    assert browser.requests == [(tmp_path / "report.html").as_uri()]
    assert browser.evaluate("document.querySelectorAll('script, img, iframe, main a:not([href^=\"#\"])').length") == 0


@pytest.mark.parametrize("investigation", [samples.nothing_found(), samples.failed()])
def test_runs_without_a_finding(browser: Browser, tmp_path: Path, investigation: samples.Investigation) -> None:
    shown(browser, tmp_path, HtmlReport().render(investigation))
    assert browser.problems == []
    assert "undefined" not in browser.evaluate("document.body.innerText")


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes |= {name for name, _ in attributes}


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_content_adds_no_tag(text: str) -> None:
    """Needs no browser: the page has the same tags as with plain words in their place (highlighting aside)."""
    plain, hostile = _Tags(HtmlReport().render(samples.hostile("plain\nwords"))), _Tags(HtmlReport().render(samples.hostile(text)))
    for counts in (plain.tags, hostile.tags):
        counts.pop("span"), counts.pop("code")
    assert hostile.tags == plain.tags
    assert hostile.attributes <= plain.attributes
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", HtmlReport().render(samples.hostile(text)))


@pytest.mark.parametrize(
    "excerpt",
    ["", "x", "\n\nx\n", 'a = """one\ntwo\n\nthree"""\n', "def f(:\n\t€ '", "<b>&amp;</b>\r\nif x:\n    'unclosed", *samples.HOSTILE],
)
@pytest.mark.parametrize("kind", ["source", "config", "log"])
def test_highlighting_keeps_lines_and_text(excerpt: str, kind: str) -> None:
    from markupsafe import Markup

    from agent.domain.visible import visible

    evidence = Evidence(id="E1", kind=kind, host="h", path="a.py", start=7, end=9, excerpt=excerpt)
    lines = highlighted(evidence)
    assert [number for number, _ in lines] == [str(7 + at) for at in range(excerpt.count("\n") + 1)]
    text = "\n".join(Markup(re.sub("<[^>]*>", "", line)).unescape() for _, line in lines)
    assert text == "\n".join(visible(line) for line in excerpt.split("\n"))
