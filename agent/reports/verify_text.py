"""``rca verify`` as a person reads it: the sentence first, then what was checked, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.domain.visible import one_line

if TYPE_CHECKING:
    from agent.verification import Verification

_MARKS = {"passed": "ok    ", "failed": "FAILED", "undecided": "open  "}


def verify_lines(found: Verification) -> Iterator[str]:
    """Plain text, one thing a line, whatever a host wrote into it."""
    yield f"{found.conclusion.replace('_', ' ')}: run {found.run}"
    yield one_line(found.words)
    yield ""
    for check in found.checks:
        change = f"{check.before} -> {check.after}" if check.before else check.after
        shown = "changed" if check.kind == "launch" and check.before != check.after else "unchanged" if check.kind == "launch" else change
        yield f"{_MARKS[check.status]} {check.kind:<8} " + one_line(f"{check.name}: {shown}{f' ({check.why})' if check.why else ''}")
    if found.numbers:
        yield ""
    for one in found.numbers:
        before, after = (f"{value:.2f}" if value is not None else "-" for value in (one.before, one.after))
        note = f" at {one.at} running requests" if one.at else ""
        yield f"{one.metric:<14} {before} -> {after}{note}" + ("" if one.comparable else f" ({one_line(f'not comparable: {one.why}')})")
    if found.payoff is not None:
        yield f"break-even     accept length {found.payoff.break_even:.2f}"
