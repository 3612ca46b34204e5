"""A confirmed playbook as a finding of the report: cause, guard, verdicts, chain, counterfactual and fix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agent.domain.investigation import Cause, DecisiveGuard, Finding, TargetVerdict
from agent.domain.playbook import CauseTemplate, ConfigClaim, FactClaim, GuardClaim, LogClaim, PlaybookHypothesis, SettingTarget, TextClaim
from agent.domain.values import Known
from agent.domain.verdict import Guard
from agent.subagents.playbook.case import Case
from agent.subagents.playbook.chain import build_chain
from agent.subagents.playbook.remedy import build_fix, changes_of, evaluated
from agent.subagents.playbook.targets import FAULT, UNDECIDED, TargetAnswer


def build_finding(case: Case, targets: Sequence[TargetAnswer], confirmed: PlaybookHypothesis, obstacles: tuple[str, ...]) -> Finding:
    """``confirmed``: the cause that holds; its own cause and fix go before the playbook's. ``obstacles`` become warnings of the fix."""
    fix, cause = confirmed.fix or case.playbook.fix, _cause(case, confirmed.cause or case.playbook.cause)
    required = [answer for answer in targets if answer.target.role == "required"]
    assumptions = tuple(dict.fromkeys(_assumptions(case, targets, confirmed)))
    changes = tuple(changes_of(case, fix))
    return Finding(
        id=case.playbook.id,
        title=case.playbook.title,
        summary=case.text(case.playbook.explanation or case.playbook.summary),
        confidence=_confidence(required, confirmed, assumptions),
        assumptions=assumptions,
        cause=cause,
        guard=_guard(confirmed, targets),
        targets=tuple(_verdicts(case, targets)),
        chain=tuple(build_chain(case, targets, cause)),
        counterfactual=evaluated(case, targets, confirmed, changes),
        fix=build_fix(case, fix, changes, obstacles),
        paths=tuple(path for answer in required for why in answer.answers[:1] for path in why.paths),
    )


def _confidence(required: Sequence[TargetAnswer], confirmed: PlaybookHypothesis, assumptions: Sequence[str]) -> str:
    """Nothing that only a log line, a flag or a config key says is called proved: the code itself has to have been asked."""
    asked_the_code = required or any(not isinstance(claim, (LogClaim, FactClaim, ConfigClaim)) for claim in confirmed.checks)
    return "assuming" if asked_the_code and assumptions else "proved" if asked_the_code else "suspected"


def _assumptions(case: Case, targets: Sequence[TargetAnswer], confirmed: PlaybookHypothesis) -> Iterator[str]:
    """The engine's own; where no target has to be at fault, also what it could not decide, and that words alone were read."""
    required = [answer for answer in targets if answer.target.role == "required"]
    for answer in required:
        yield from (text for why in answer.answers for text in why.assumptions)
    if required:
        return
    for answer in targets:
        if answer.target.role == "supporting" and answer.state == UNDECIDED:
            yield f"that it {answer.target.why}, which is not decided: {answer.why}"
    if any(answer.state == FAULT for answer in targets):
        return
    if any(isinstance(claim, TextClaim) for claim in confirmed.checks):
        yield "that the lines which were found by their words run: no guard on the way to them was evaluated"
    if any(isinstance(claim, LogClaim) for claim in confirmed.checks):
        yield "that the line of the log is about this start of the server"


def _cause(case: Case, template: CauseTemplate) -> Cause:
    value = template.actual.value(case.facts) if template.actual is not None else None
    actual = value.value if isinstance(value, Known) else None
    return Cause(kind=template.kind, name=case.text(template.name), actual=actual, required=template.required)


def _guard(confirmed: PlaybookHypothesis, targets: Sequence[TargetAnswer]) -> DecisiveGuard | None:
    """The guard that the cause claims; else the decisive one of the first target, or the innermost of the line that changed a setting."""
    required = [answer for answer in targets if answer.target.role == "required"]
    faulty = [answer for answer in targets if answer.state == FAULT]
    found = [*_claimed(confirmed, targets), *(guard for answer in (*required, *faulty) for guard in _deciding(answer))]
    if not found:
        return None
    guard = found[0]
    return DecisiveGuard(
        path=guard.path,
        line=guard.line,
        condition=guard.condition,
        truth=guard.truth,
        decisive_operand=guard.decisive_operand,
        function=guard.function,
    )


def _claimed(confirmed: PlaybookHypothesis, targets: Sequence[TargetAnswer]) -> Iterator[Guard]:
    for claim in confirmed.checks:
        if isinstance(claim, GuardClaim):
            guards = [guard for answer in targets if answer.target.id == claim.target for guard in answer.guards]
            yield from (guard for guard in guards if guard.truth == claim.truth and re.search(claim.condition, guard.condition))


def _deciding(answer: TargetAnswer) -> tuple[Guard, ...]:
    """Of several places, the guard of the one that shows the state best."""
    first = answer.first
    return (first.decisive,) if first is not None and first.decisive is not None else answer.guards


def _verdicts(case: Case, targets: Iterable[TargetAnswer]) -> Iterator[TargetVerdict]:
    for answer in targets:
        for why in answer.answers:
            target = why.target
            yield TargetVerdict(path=target.path, line=target.line, text=target.text, verdict=why.verdict)
        for changed in answer.setting.changed_by if answer.setting else ():
            text = changed.text or case.line(changed.path, changed.line)
            verdict = "always" if answer.state == FAULT else "may"
            yield TargetVerdict(path=changed.path, line=changed.line, text=text, verdict=verdict, setting=_name(answer))


def _name(answer: TargetAnswer) -> str:
    return answer.target.setting if isinstance(answer.target, SettingTarget) else ""
