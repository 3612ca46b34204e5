"""Lines for a person: a terminal gets them folded between words, below the column where their text begins; a pipe gets them whole."""

from __future__ import annotations

import re
import sys
import textwrap
from shutil import get_terminal_size

import click

_NARROWEST, _WIDEST = 60, 200
_LABELS = 42
"""Labels stand before this column; gaps behind it are part of the text."""
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


def say(text: str) -> None:
    """Prints lines on standard output."""
    if sys.stdout.isatty():
        width = min(max(get_terminal_size().columns, _NARROWEST), _WIDEST)
        text = "\n".join(part for line in text.split("\n") for part in folded(line, width))
    click.echo(text)


def folded(line: str, width: int) -> list[str]:
    """The line in parts of at most ``width`` columns; a word that is longer, like a path, stays whole, so that it can be copied."""
    if len(line) <= width:
        return [line]
    below = " " * min(_text_begins(line), width // 2)
    return textwrap.wrap(line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)


def _text_begins(line: str) -> int:
    """Behind the last gap between labels; two columns in, where there is none."""
    gaps = [gap.end() for gap in _GAP.finditer(line[:_LABELS])]
    return gaps[-1] if gaps else len(line) - len(line.lstrip()) + 2
