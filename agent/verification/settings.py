"""Has a setting that was the fault the value now that it should have?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent.domain.investigation import Finding
from agent.domain.verdict import AuditAnswer, Setting
from agent.verification.check import FAILED, OPEN, PASSED, Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A setting of a finding: what it was, and what it should be; either None where the run does not say."""

    name: str
    was: tuple[Any] | None
    should_be: tuple[Any] | None


def wanted(finding: Finding) -> Iterator[Wanted]:
    """The settings that the finding is about, each once: as its fix was evaluated to change them, else as its cause says."""
    cause = finding.cause
    changed = {one.name: one for one in (finding.counterfactual.sets if finding.counterfactual else ())}
    for name in dict.fromkeys(target.setting for target in finding.touched if target.setting):
        if name in changed:
            yield Wanted(name=name, was=(changed[name].from_,), should_be=(changed[name].to,))
        elif cause.name == name:
            yield Wanted(name=name, was=(cause.actual,), should_be=tuple(cause.required[:1]) or None)
        else:
            yield Wanted(name=name, was=None, should_be=None)


def check_setting(one: Wanted, audit: AuditAnswer) -> Check:
    """Passed: as the fix was to make it, or as this launch asks for it. Failed: as it was. Anything else is for a person to judge."""
    row = next((row for row in audit.settings if row.name == one.name), None)
    before = repr(one.was[0]) if one.was else "not as asked"
    if row is None:
        return Check(kind="setting", name=one.name, before=before, after="unknown", status=OPEN, why="this release has no such setting")
    if row.effective.status != "known":
        why = row.effective.why or f"it is one of {', '.join(map(repr, row.effective.values))}"
        return Check(kind="setting", name=one.name, before=before, after="unknown", status=OPEN, why=why)
    status, why = _judged(one, row)
    return Check(kind="setting", name=one.name, before=before, after=repr(row.effective.value), status=status, why=why)


def _judged(one: Wanted, row: Setting) -> tuple[str, str]:
    value = row.effective.value
    if one.should_be is not None and value == one.should_be[0]:
        return PASSED, ""
    if one.was is not None and value == one.was[0]:
        return FAILED, f"it should be {one.should_be[0]!r}" if one.should_be else "it is as it was"
    if value == row.asked.value:
        return PASSED, "" if row.asked.source == "default" else "it is what this launch asks for"
    if one.was is None:
        return FAILED, f"this launch asks for {row.asked.value!r}"
    return OPEN, f"neither as before nor {one.should_be[0]!r}" if one.should_be else "neither as before nor as asked"
