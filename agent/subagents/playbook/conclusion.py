"""From judged targets and checked claims to what a playbook says: confirmed, silent or undecided, and the pieces of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.domain.facts import Facts
from agent.domain.investigation import Finding, Hypothesis, NumberExplained, UnknownThing
from agent.domain.playbook import CAUSES, Claim, Playbook, PlaybookHypothesis
from agent.domain.truth import Truth
from agent.domain.values import Known
from agent.evaluation.interface import Engine
from agent.library.templates import TemplateProblem, render
from agent.library.versions import in_range
from agent.subagents.playbook.case import Case
from agent.subagents.playbook.claims import Checked, check
from agent.subagents.playbook.finding import build_finding
from agent.subagents.playbook.targets import FAULT, HEALTHY, MISSING, TargetAnswer, judge_target

CONFIRMED, SILENT, UNDECIDED = "confirmed", "silent", "undecided"
_GIVE = "give the missing fact with --assume or --facts"
_STATUS = {Truth.TRUE: "confirmed", Truth.FALSE: "refuted", Truth.UNKNOWN: "undecided"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookAnswer:
    """``outcome``: confirmed (there is a ``finding``), silent (this failure is not here), undecided (``unknowns`` say what is missing)."""

    playbook: Playbook
    outcome: str
    finding: Finding | None
    targets: tuple[TargetAnswer, ...]
    hypotheses: tuple[Hypothesis, ...]
    numbers: tuple[NumberExplained, ...]
    unknowns: tuple[UnknownThing, ...]


def investigate(playbook: Playbook, engine: Engine, facts: Facts) -> PlaybookAnswer:
    """Judges the whole playbook; pure, and the same for the same input."""
    case = Case(playbook, engine, facts)
    targets = tuple(answer for target in playbook.targets if (answer := judge_target(case, target)) is not None)
    by_id = {answer.target.id: answer for answer in targets}
    hypotheses = _told([(template, _check_all(case, template, by_id)) for template in playbook.hypotheses])
    outcome = _outcome(targets, hypotheses)
    confirmed = next((template for template, checked in hypotheses if _is_cause(template, checked)), None)
    return PlaybookAnswer(
        playbook=playbook,
        outcome=outcome,
        finding=build_finding(case, targets, confirmed, _obstacles(case, hypotheses)) if outcome == CONFIRMED and confirmed else None,
        targets=targets,
        hypotheses=tuple(_report(case, template, checked) for template, checked in hypotheses),
        numbers=tuple(_numbers(case)),
        unknowns=tuple(_unknowns(playbook, targets, hypotheses)) if outcome == UNDECIDED else (),
    )


Judged = Sequence[tuple[PlaybookHypothesis, Checked]]


def _told(hypotheses: Judged) -> Judged:
    """Where a cause holds, nothing needs to be said of what would count otherwise."""
    known = any(template.role == "cause" and checked.truth is Truth.TRUE for template, checked in hypotheses)
    return [(template, checked) for template, checked in hypotheses if not (known and template.role == "otherwise")]


def _check_all(case: Case, hypothesis: PlaybookHypothesis, answers: Mapping[str, TargetAnswer]) -> Checked:
    """All claims together; the reason is that of the claim that decided. Claims about targets of other versions are left out."""
    checked = [check(case, claim, answers) for claim in hypothesis.checks if _applies(case, claim)]
    if not checked:
        return Checked(truth=Truth.UNKNOWN, why="none of its claims is about this version")
    truth = Truth.TRUE
    for one in checked:
        truth = truth & one.truth
    deciding = [one.why for one in checked if one.truth is truth]
    return Checked(truth=truth, why="; ".join(dict.fromkeys(deciding if truth is Truth.TRUE else deciding[:1])))


def _applies(case: Case, claim: Claim) -> bool:
    name = getattr(claim, "target", "")
    return not name or in_range(case.facts.version, case.playbook.target(name).versions) is not Truth.FALSE


def _outcome(targets: Iterable[TargetAnswer], hypotheses: Judged) -> str:
    """Confirmed: every required target is in the fault's state and some cause holds. Silent: one target, or every cause, is not."""
    states = {answer.state for answer in targets if answer.target.role == "required"}
    causes = {checked.truth for hypothesis, checked in hypotheses if hypothesis.role in CAUSES}
    if HEALTHY in states or causes == {Truth.FALSE}:
        return SILENT
    return CONFIRMED if states <= {FAULT} and Truth.TRUE in causes else UNDECIDED


def _is_cause(hypothesis: PlaybookHypothesis, checked: Checked) -> bool:
    return hypothesis.role in CAUSES and checked.truth is Truth.TRUE


def _obstacles(case: Case, hypotheses: Judged) -> tuple[str, ...]:
    """What will stand in the way of the fix, as warnings."""
    return tuple(
        f"{_text(case, hypothesis.claim)} {_text(case, hypothesis.because)}".strip() + f" ({checked.why})"
        for hypothesis, checked in hypotheses
        if hypothesis.role == "obstacle" and checked.truth is Truth.TRUE
    )


def _report(case: Case, template: PlaybookHypothesis, checked: Checked) -> Hypothesis:
    follows = checked.truth is (Truth.FALSE if template.role == "alternative" else Truth.TRUE)
    because = _text(case, template.because) if follows else ""
    why = f"{checked.why}; {because}" if because else checked.why
    return Hypothesis(id=f"{case.playbook.id}/{template.id}", claim=_text(case, template.claim), status=_STATUS[checked.truth], why=why)


def _numbers(case: Case) -> Iterable[NumberExplained]:
    """The failure's numbers and the healthy ones, each with its meaning; one that cannot be calculated is left out."""
    for expected in case.playbook.numbers:
        for formula, means in ((expected.formula, expected.means), (expected.instead, expected.instead_means)):
            value = formula.value(case.facts) if formula is not None else None
            if formula is not None and isinstance(value, Known) and isinstance(value.value, (int, float)):
                steps = formula.worked(case.facts)
                yield NumberExplained(number=value.value, formula=f"{formula.text}{f' = {steps}' if steps else ''}: {means}")


def _unknowns(playbook: Playbook, targets: Iterable[TargetAnswer], hypotheses: Judged) -> Iterable[UnknownThing]:
    for answer in targets:
        if answer.target.role == "required" and answer.state not in (FAULT, HEALTHY):
            settle = "read this release's code by hand" if answer.state == MISSING else _GIVE
            yield UnknownThing(what=f"{playbook.id}: target {answer.target.id}", why=answer.why, settle_by=settle)
    for hypothesis, checked in hypotheses:
        if hypothesis.role in CAUSES and checked.truth is Truth.UNKNOWN:
            yield UnknownThing(what=f"{playbook.id}: {hypothesis.id}", why=checked.why, settle_by=_GIVE)


def _text(case: Case, template: str) -> str:
    """The rendered text; one that asks for something that was not collected says so instead of leaving a hole."""
    try:
        return " ".join(render(template, case.names).split())
    except TemplateProblem as problem:
        return f"{case.playbook.title} (text not complete: {problem})"
