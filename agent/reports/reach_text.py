"""The answer of ``rca reach``: the file with a mark in its margin, its dead lines dimmed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.domain.verdict import ReachAnswer
from agent.domain.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

_MARKS = {"always": "+", "never": "-", "may": "?", "unknown": "~"}
_STYLES = {"always": "", "never": "dim", "may": "yellow", "unknown": "cyan", "": "dim"}


def show_reach(answer: ReachAnswer, lines: list[str], console: Console) -> None:
    """Prints one heading, then every line of the file: ``MARK NUMBER | TEXT``; a line without a statement has no mark."""
    from rich.text import Text

    verdicts = dict(line_verdicts(answer))
    console.print(Text(heading(answer), style="bold"), soft_wrap=True)
    width = len(str(len(lines)))
    for number, line in enumerate(lines, 1):
        verdict = verdicts.get(number, "")
        text = Text(f"{_MARKS.get(verdict, ' ')} {number:>{width}} | {visible(line)}".rstrip(), style=_STYLES[verdict])
        console.print(text, soft_wrap=True)


def heading(answer: ReachAnswer) -> str:
    """The file, how many lines have which verdict, and what the marks mean."""
    counts = {name: sum(last - first + 1 for first, last in getattr(answer, name)) for name in _MARKS}
    return f"{answer.file}: " + ", ".join(f"{mark} {name} {counts[name]}" for name, mark in _MARKS.items())


def line_verdicts(answer: ReachAnswer) -> Iterator[tuple[int, str]]:
    """Line number and verdict."""
    for name in _MARKS:
        for first, last in getattr(answer, name):
            yield from ((number, name) for number in range(first, last + 1))
