"""Foreign text in Markdown, judged by GitHub's own renderer: it is text or code, whatever it says."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.domain.visible import visible
from agent.reports import markup
from tests.reports import samples
from tests.reports.gfm import Page, render

_NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("`@#!$~%&|\\<>[](){}*_-+=/:.\"'^ \n\t0aAfF")),
        st.characters(codec="utf-8"),
        st.sampled_from("\x1b\x9b\u202e\u200b\r\0"),
    ),
    max_size=60,
)
ACTIVE = re.compile(
    r"(?<!\w)@\w|#\d|(?<!\w)![\d\[]|\bGH-\d|://|www\.|:\w+:|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|[~%&$]\w", re.IGNORECASE
)
"""What GitHub or GitLab would act on outside of code."""


def assert_inert(page: Page) -> None:
    """Only the tags that the report itself uses, and no active word outside of code."""
    assert page.tags <= {"p", "code", "pre", "ul", "ol", "li", "strong", "h1", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td"}, (
        page.tags
    )
    found = [ACTIVE.search(text) for text in page.texts]
    assert not any(found), found


@given(_NASTY)
@example("`a``b`@x")
@example("1. x")
@example("\\`@x`")
@example("a `b")
@example("0%0")
@example("`x`: y [1, 2, 3] z")
@example("[`x`] [y [z")
def test_prose_is_one_inert_paragraph(text: str) -> None:
    written = markup.prose(text)
    assert "\n" not in written
    page = render("Said: " + written)
    assert_inert(page)
    assert page.tags <= {"p", "code"}
    alone = render(written)
    assert alone.tags <= {"p", "code"}, "also at the start of a line"


@given(_NASTY)
def test_a_code_span_shows_exactly_the_text(text: str) -> None:
    page = render("x " + markup.code(text) + " y")
    expected = " ".join(visible(text).split()) or None
    assert page.codes == ([expected] if expected else [])
    assert_inert(page)


@given(_NASTY, _NASTY)
@example("a\\|b", "a|b\\")
@example("www.evil.example | evil@example.com", "|||")
def test_a_table_keeps_its_columns(left: str, right: str) -> None:
    row = f"| {markup.cell(markup.code(left))} | {markup.cell(markup.prose(right))} |"
    page = render(f"| a | b |\n|---|---|\n{row}")
    assert page.cells == 4
    assert_inert(page)
    flat = " ".join(visible(left).split())
    assert not flat or flat in page.codes


@given(_NASTY)
@pytest.mark.parametrize("opener", ["", "```\n", "````text\n", "~~~\n", "</pre>", "/close\n"])
def test_a_fence_holds(opener: str, text: str) -> None:
    lines = [(str(at), line) for at, line in enumerate((opener + text + "\n" + opener).split("\n"), 1)]
    page = render(markup.fence(markup.gutter(lines)) + "\n\nafter")
    assert page.tags == {"pre", "code", "p"}
    assert "".join(page.texts).strip() == "after"


@given(_NASTY)
def test_no_line_of_a_gutter_is_an_order_or_a_fence(text: str) -> None:
    for line in markup.gutter([("7", text), ("", text)]).split("\n"):
        assert re.match(r" *7? *\| ", line)


@given(_NASTY)
def test_a_command_to_paste_is_one_line_or_a_comment(text: str) -> None:
    shown = markup.command(text)
    assert shown == text or shown.startswith("# ")
    assert "\n" not in shown
    assert visible(shown) == shown


@given(_NASTY)
def test_a_mermaid_label_cannot_end_its_quotes(text: str) -> None:
    assert not set('"<>`{}|@&\n') & set(markup.mermaid_text(text))


@given(st.one_of(_NASTY, st.text()))
def test_visible_text_cannot_act(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    shown.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", shown)


def test_escape_sequences_go_and_the_rest_is_spelled_out() -> None:
    assert visible("\x1b[1;31mred\x1b[0m \x1b]8;;https://x\x07link\x1b]8;;\x1b\\") == "red link"
    assert visible("abc\u202edef") == "abc<U+202E>def"
    assert visible("a\r\nb\rc\0") == "a\nb<U+000D>c<U+0000>"
    assert visible("\x1b\x1b[m[31mx") == "<U+001B>[31mx", "what is left over cannot form a new one"


def test_readable_text_stays_readable() -> None:
    assert (
        markup.prose("The block at model.py (line 3) never runs; 3 x 7168 = 21504.")
        == "The block at model.py (line 3) never runs; 3 x 7168 = 21504."
    )
    assert markup.prose("is_eagle3() is false (see spec_info.py:41).") == "`is_eagle3()` is false (see `spec_info.py:41`)."
    assert markup.prose("set by `--flag`: the ids are [2, 30, 58].") == "set by `--flag`: the ids are `[2, 30, 58]`."
    assert markup.prose("use `--flag x` with __init__") == "use `--flag x` with `__init__`"


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_the_list_of_known_tricks(text: str) -> None:
    assert_inert(render("Said: " + markup.prose(text)))
