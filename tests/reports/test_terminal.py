"""The summary: one screen, any width, no colour where none is wanted, nothing foreign acts."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console

from agent.domain.counting import are, counted, size
from agent.reports.terminal import TerminalReport, show_summary
from tests.reports import samples

ALL = {"founding": samples.founding(), "nothing": samples.nothing_found(), "failed": samples.failed()}


def shown(name: str, *, width: int, terminal: bool = False) -> str:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color"} if terminal else {})
    show_summary(ALL[name], console, more=[("Seen", "seen 3 times since May 2026, on gpu-03"), ("Next", "rca report show last")])
    return out.getvalue()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [60, 80, 100, 132, 200])
def test_it_fits_the_screen(name: str, width: int) -> None:
    text = shown(name, width=width)
    *lines, command = text.rstrip("\n").split("\n") if name == "founding" else [*text.rstrip("\n").split("\n"), ""]
    assert max(map(len, lines)) <= width
    rows = len(lines) + -(-len(command) // width)
    assert rows <= {60: 44, 80: 34}.get(width, 26), "one screen of the usual height for that width"


def test_a_screen_narrower_or_wider_than_that_is_treated_as_the_nearest() -> None:
    assert shown("nothing", width=20) == shown("nothing", width=60)
    assert shown("nothing", width=900) == shown("nothing", width=200)


def test_the_command_is_one_line_to_paste() -> None:
    assert samples.launch_command("EAGLE3") in shown("founding", width=60).split("\n")


def test_what_matters_is_there() -> None:
    text = " ".join(shown("founding", width=100).split())
    for word in (
        "cause confirmed",
        "is EAGLE, needed EAGLE3",
        "model_runner.py:345",
        "proved",
        "4 other explanations",
        "486.1 kB",
        "seen 3 times",
    ):
        assert word in text


def test_colours_only_on_a_terminal_and_never_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in shown("founding", width=80, terminal=True)
    assert "\x1b[" not in shown("founding", width=80)
    out = StringIO()
    console = Console(file=out, width=80, force_terminal=True, _environ={"NO_COLOR": "1", "TERM": "xterm-256color"})
    show_summary(samples.founding(), console)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", out.getvalue()), "bold may stay, colours may not"


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_text_does_nothing(text: str) -> None:
    written = TerminalReport().render(samples.hostile(text))
    written.encode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", written)
    assert "[bold]" in TerminalReport().render(samples.hostile("[bold]x[/bold] [link=https://evil]y[/link]"))


def test_numbers_of_things() -> None:
    assert [counted(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [counted(n, "hypothesis", "hypotheses") for n in (1, 2)] == ["1 hypothesis", "2 hypotheses"]
    assert [are(n) for n in (1, 2)] == ["is", "are"]


def test_bytes_as_people_read_them() -> None:
    assert [size(n) for n in (0, 999, 1000, 486_120, 2_500_000, 3_000_000_000)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "486.1 kB",
        "2.5 MB",
        "3.0 GB",
    ]
