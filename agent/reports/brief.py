"""Draws up the brief of an investigation: cause, guard, confidence, fix, and what is open."""

from __future__ import annotations

from collections.abc import Iterator

from agent.domain.brief import Brief, Row
from agent.domain.counting import counted, size
from agent.domain.investigation import Finding, Investigation
from agent.reports import wording

_NAMED = 3
"""Places, warnings or unknowns shown before the rest is counted."""


def brief(x: Investigation) -> Brief:
    """The first finding in full, the others by title."""
    first = x.findings[0] if x.findings else None
    return Brief(
        outcome=wording.OUTCOMES.get(x.outcome, x.outcome),
        headline=wording.headline(x),
        summary=first.summary if first else "",
        rows=tuple(_rows(x)),
        command=first.fix.command if first and first.fix else "",
    )


def _rows(x: Investigation) -> Iterator[Row]:
    for finding in x.findings[:1]:
        yield from _finding_rows(finding)
    if len(x.findings) > 1:
        yield _sentence("Also", "; ".join(finding.title for finding in x.findings[1 : 1 + _NAMED]) + _rest(len(x.findings) - 1))
    refuted = sum(hypothesis.status == "refuted" for hypothesis in x.hypotheses)
    if refuted:
        yield _sentence("Ruled out", f"{refuted} other explanation{'s' if refuted > 1 else ''}")
    for unknown in x.unknowns[:_NAMED]:
        settle = f"; to settle it: {unknown.settle_by}" if unknown.settle_by else ""
        yield _sentence("Open", f"{_short(unknown.what)}: {_short(unknown.why)}{settle}")
    if len(x.unknowns) > _NAMED:
        yield _sentence("Open", f"and {len(x.unknowns) - _NAMED} more")
    trips = counted(x.cost.round_trips, "round trip")
    spent = f"{counted(x.cost.commands, 'command')} in {trips}, {size(x.cost.bytes)}, {x.run.duration_s:.1f} s"
    yield _sentence("Cost", spent)


def _finding_rows(finding: Finding) -> Iterator[Row]:
    cause, guard = finding.cause, finding.guard
    needed = f", needed {wording.required(cause)}" if cause.required else ""
    yield Row(label="Cause", text=f"{wording.plainly(cause.name)} is {wording.shown(cause.actual)}{needed}", code=True)
    if guard:
        yield Row(label="Guard", text=wording.place(guard.path, guard.line), code=True)
        yield Row(label="", text=f"{guard.condition} is {guard.truth}", code=True)
    never = [wording.place(target.path, target.line) for target in finding.targets if target.verdict == "never"]
    if never:
        yield Row(label="Never runs", text=", ".join(never[:_NAMED]) + _rest(len(never)), code=True)
    yield _sentence("Confidence", wording.CONFIDENCE.get(finding.confidence, finding.confidence))
    if finding.assumptions:
        yield _sentence("Assumed", "; ".join(finding.assumptions[:_NAMED]) + _rest(len(finding.assumptions)))
    if finding.fix:
        yield _sentence("Fix", finding.fix.summary + (" The whole command stands below." if finding.fix.command else ""))
        for warning in finding.fix.warnings[:_NAMED]:
            yield _sentence("Careful", warning)
    for event in (finding.counterfactual.next if finding.counterfactual else ())[:_NAMED]:
        text = f"{wording.NEXT.get(event.kind, event.kind)}: {wording.place(event.path, event.line)} {event.text}"
        yield Row(label="Then", text=text, code=True)


def _sentence(label: str, text: str) -> Row:
    return Row(label=label, text=text)


def _short(text: str, limit: int = 200) -> str:
    """The report has all of it."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def _rest(count: int) -> str:
    return f" and {count - _NAMED} more" if count > _NAMED else ""
