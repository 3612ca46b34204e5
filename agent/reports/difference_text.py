"""Two audits side by side, for people: settings that differ, then lines that run on one side alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from agent.domain.audit_difference import AuditDifference, LineDifference, SettingDifference
from agent.domain.counting import counted
from agent.domain.verdict import DeadKey, Raise, Setting
from agent.reports.audit_text import by, condition, effective, print_rows, raised, told

if TYPE_CHECKING:
    from rich.console import Console

Rows = Iterable[tuple[str, ...]]
_LINES = 20


def show(answer: AuditDifference, console: Console, *, everything: bool = False) -> None:
    """Prints every section that has rows."""
    print_rows(console, heading(answer), _shown(answer, everything), _hidden(answer, everything))


def difference_markdown(answer: AuditDifference, *, everything: bool = False) -> str:
    """The same sections in Markdown."""
    from agent.reports.markup import prose

    parts = [prose(line) for line in heading(answer).split("\n")]
    for title, rows in _shown(answer, everything):
        parts.append("\n".join([f"## {title}", "", *("- " + ": ".join(prose(part) for part in row if part) for row in rows)]))
    if hidden := _hidden(answer, everything):
        parts.append(prose(hidden))
    return "\n\n".join(parts) + "\n"


def heading(answer: AuditDifference) -> str:
    """What the sides are called, and how much differs."""
    alone = [sum(line.b == "never" for line in answer.lines), sum(line.a == "never" for line in answer.lines)]
    count = len(answer.settings)
    names = "\n".join(f"{side}: {name}" for side, name in zip("AB", _names(answer.a, answer.b), strict=True))
    lines = f"groups of lines that run on one side alone: {alone[0]} on A, {alone[1]} on B"
    return f"{names}\n{counted(count, 'setting')} {'differs' if count == 1 else 'differ'}; {lines}"


def _names(a: str, b: str) -> tuple[str, str]:
    """Of two commands only what tells them apart."""
    flags = [re.split(r" (?=--)", name.strip()) for name in (a, b)]
    rest = [[each for each in these if each not in those] for these, those in (flags, flags[::-1])]
    if not all(" " in name.strip() for name in (a, b)) or flags[0][0] != flags[1][0]:
        return a, b
    first, second = (" ".join(["...", *words]) if words else "the same without that" for words in rest)
    return first, second


def _shown(answer: AuditDifference, everything: bool) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    for title, rows in _SECTIONS:
        if found := list(rows(answer)):
            yield title, found if everything else found[: _LINES if title in _LONG else None]


def _hidden(answer: AuditDifference, everything: bool) -> str:
    if everything:
        return ""
    counts = [(title, max(0, len(list(rows(answer))) - _LINES)) for title, rows in _SECTIONS if title in _LONG]
    parts = [f"{count} more under {title!r}" for title, count in counts if count]
    return f"Not shown: {', '.join(parts)}; `--all` shows them" if parts else ""


def _settings(answer: AuditDifference) -> Rows:
    return (_setting(each) for each in answer.settings)


def _setting(each: SettingDifference) -> tuple[str, ...]:
    return each.name, f"A {_side(each.a)}", f"B {_side(each.b)}"


def _side(row: Setting | None) -> str:
    """What it is; what was asked only where that is something else."""
    if row is None:
        return "has no such setting"
    asked = f" ({row.asked.source})" if row.verdict == "as_asked" else ""
    changed = f", asked {told(row.name, row.asked.value)}" if row.verdict == "overridden" else ""
    seen = f", observed {told(row.name, row.observed.value)} ({row.observed.source})" if row.observed is not None else ""
    return f"{effective(row)}{asked}{changed}{by(row.changed_by) if row.verdict == 'overridden' else ''}{seen}"


def _lines(answer: AuditDifference, closed: Callable[[LineDifference], str], runs: Callable[[LineDifference], str]) -> Rows:
    return (_line(line, runs(line)) for line in answer.lines if closed(line) == "never")


def _line(line: LineDifference, verdict: str) -> tuple[str, ...]:
    place = f"{line.path}:{line.first}" + (f"-{line.last}" if line.last > line.first else "")
    guard = f"{line.guard.path}:{line.guard.line} {condition(line.guard)} there" if line.guard is not None else "nothing comes to it there"
    because = f" ({', '.join(line.settings)})" if line.settings else ""
    return place, f"{'may run here; ' if verdict != 'always' else ''}{guard}{because}"


def _a_alone(answer: AuditDifference) -> Rows:
    return _lines(answer, lambda line: line.b, lambda line: line.a)


def _b_alone(answer: AuditDifference) -> Rows:
    return _lines(answer, lambda line: line.a, lambda line: line.b)


def _dead(keys: Iterable[DeadKey]) -> Rows:
    return ((key.key, f"{told(key.key, key.value)} in {key.file}") for key in keys)


def _certain(found: Iterable[Raise]) -> Rows:
    return (raised(each) for each in found if each.certainty == "always")


_A_ALONE, _B_ALONE = "Never run with B, and run with A", "Never run with A, and run with B"
_LONG = (_A_ALONE, _B_ALONE)
_SECTIONS: tuple[tuple[str, Callable[[AuditDifference], Rows]], ...] = (
    ("Settings that differ", _settings),
    ("A will fail", lambda answer: _certain(answer.raises_a)),
    ("B will fail", lambda answer: _certain(answer.raises_b)),
    ("Dead config of A alone", lambda answer: _dead(answer.dead_a)),
    ("Dead config of B alone", lambda answer: _dead(answer.dead_b)),
    (_A_ALONE, _a_alone),
    (_B_ALONE, _b_alone),
    ("Not compared", lambda answer: ((text,) for text in answer.not_compared)),
    ("Assuming", lambda answer: ((text,) for text in answer.assumptions)),
)
