"""A long Markdown report in pieces that a comment can hold, cut between sections and never inside a fence."""

from __future__ import annotations

import re

_SECTION = re.compile(r"^(?=#{2,3} )", re.MULTILINE)


def split(report: str, limit: int) -> list[str]:
    """Pieces of at most ``limit`` characters. A single section longer than that is cut by its lines and says so."""
    pieces = [""]
    for section in filter(None, _sections(report)):
        for part in _bounded(section, limit):
            if len(pieces[-1]) + len(part) > limit:
                pieces.append("")
            pieces[-1] += part
    return [piece.strip("\n") + "\n" for piece in pieces if piece.strip()]


def _sections(report: str) -> list[str]:
    """The gutter inside fences keeps a quoted line from looking like a heading."""
    return _SECTION.split(report)


def _bounded(section: str, limit: int) -> list[str]:
    if len(section) <= limit:
        return [section]
    note = f"\n(cut: {len(section)} characters are too many for a comment; `rca report show` has all of it)\n\n"
    kept = section[: limit - len(note) - 100]
    kept = kept[: kept.rfind("\n") + 1]
    return [kept + _closing_fence(kept) + note]


def _closing_fence(text: str) -> str:
    """The fence that is still open at the end of ``text``, if any."""
    fence = ""
    for line in text.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if ticks and not fence:
            fence = ticks.group()
        elif fence and line == fence:
            fence = ""
    return f"{fence}\n" if fence else ""
