"""The fix of a confirmed playbook: its changes with their values, what the engine makes of them, the whole corrected command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.changes import command_line
from agent.domain.errors import RcaError
from agent.domain.investigation import Fix
from agent.domain.playbook import CodeTarget, FixTemplate, PlaybookHypothesis, SettingTarget, ValueClaim
from agent.domain.reached import NEVER, OPEN, RUNS, reading
from agent.domain.values import Known
from agent.domain.verdict import Change, Counterfactual, NextEvent, Place
from agent.subagents.playbook.case import Case
from agent.subagents.playbook.targets import FAULT, TargetAnswer


def changes_of(case: Case, fix: FixTemplate) -> Iterator[Change]:
    """The fix's changes with their calculated values; one whose formula has no value is left out."""
    for template in fix.changes:
        value = template.formula.value(case.facts) if template.formula is not None else Known(value=template.to)
        if isinstance(value, Known):
            yield Change(name=_located(case, template.name), from_=_present_value(case, template.name), to=value.value)


def _located(case: Case, name: str) -> str:
    """``config:draft:KEY`` becomes ``config:FILE:KEY``."""
    kind, _, rest = name.partition(":")
    role, _, key = rest.partition(":")
    return f"config:{case.facts.config_paths.get(role, role)}:{key}" if kind == "config" else name


def _present_value(case: Case, name: str) -> Any:
    kind, _, rest = name.partition(":")
    fact = {"env": f"launch.env.{rest}", "config": f"config.{rest.replace(':', '.')}"}.get(kind)
    value = case.facts.get(fact or f"launch.flags.{name.removeprefix('--').replace('-', '_')}")
    return value.value if isinstance(value, Known) else None


def evaluated(
    case: Case, targets: Sequence[TargetAnswer], confirmed: PlaybookHypothesis, changes: tuple[Change, ...]
) -> Counterfactual | None:
    """What the changes make of the lines and settings at fault; None where there are no changes, or nothing that could be asked about."""
    code = [answer for answer in targets if answer.target.role == "required" and answer.answers and answer.state == FAULT]
    settings = _settings(targets, confirmed)
    if not changes or not (code or settings):
        return None
    try:
        return Counterfactual(
            change=changes,
            opens=tuple(_becoming(case, changes, code, "runs", RUNS)),
            closes=tuple(_becoming(case, changes, code, "rests", NEVER)),
            sets=tuple(_sets(case, changes, settings)),
            may=tuple(dict.fromkeys(place for expect in ("runs", "rests") for place in _becoming(case, changes, code, expect, OPEN))),
            next=tuple(dict.fromkeys(event for answer in code for event in _next(case, changes, answer))),
        )
    except RcaError as problem:
        refused = NextEvent(kind="raises", path="", line=0, text=f"the changed launch is refused: {problem.what}")
        return Counterfactual(change=changes, opens=(), next=(refused,))


def _expects(answer: TargetAnswer) -> str:
    return answer.target.expect if isinstance(answer.target, CodeTarget) else ""


def _settings(targets: Sequence[TargetAnswer], confirmed: PlaybookHypothesis) -> list[str]:
    """Settings whose value is the fault, or part of what the confirmed cause claims."""
    judged = [answer.target.setting for answer in targets if isinstance(answer.target, SettingTarget) and answer.state == FAULT]
    claimed = [claim.setting for claim in confirmed.checks if isinstance(claim, ValueClaim)]
    return [name for name in dict.fromkeys([*judged, *claimed]) if not name.startswith("env:")]


def _becoming(case: Case, changes: tuple[Change, ...], code: Sequence[TargetAnswer], expect: str, wanted: str) -> Iterator[Place]:
    """Places of the targets that expect this and that are read so under the changes, and not before.

    A place that may run under the changes, or may not, is neither said to open nor to close: it is told apart.
    """
    changed = case.engine.under(changes)
    for why in (why for answer in code if _expects(answer) == expect for why in answer.answers):
        place = Place(path=why.target.path, line=why.target.line)
        if reading(why) != wanted == reading(changed.why(f"{place.path}:{place.line}", counterfactuals=False)):
            yield place


def _next(case: Case, changes: tuple[Change, ...], answer: TargetAnswer) -> tuple[NextEvent, ...]:
    """What the changed launch raises, swallows or lacks on the way to a target."""
    assert answer.first is not None
    place = answer.first.target
    found = case.engine.after(f"{place.path}:{place.line}", changes)
    return found.next if found else (NextEvent(kind="raises", path="", line=0, text="the changed launch does not start"),)


def _sets(case: Case, changes: tuple[Change, ...], names: Sequence[str]) -> Iterator[Change]:
    for name in names:
        before, after = case.effective(name), case.engine.under(changes).setting(name)
        if isinstance(before, Known) and isinstance(after, Known) and before != after:
            yield Change(name=name, from_=before.value, to=after.value)


def build_fix(case: Case, template: FixTemplate, changes: tuple[Change, ...], obstacles: tuple[str, ...]) -> Fix:
    """``obstacles`` become warnings; the command is there where the launch is known and the changes are inputs of it."""
    launch = case.facts.launch
    fix = Fix(summary=case.text(template.summary), warnings=(*(case.text(text) for text in template.warnings), *obstacles))
    inputs = [change for change in changes if not change.name.startswith("config:")]
    return replace(fix, command=command_line(launch, inputs)) if launch is not None and inputs else fix
