"""The playbook that confirmed a run: what a draft of that run takes over from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent.domain.errors import UsageError
from agent.domain.investigation import Finding, Investigation
from agent.domain.playbook import SCHEMA, FactClaim, LogClaim, Playbook, SettingTarget
from agent.subagents.playbook.draft_tests import Remembered, own_tests

_LINES: Final = 40
"""Lines of a log that a test keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The playbook that confirmed the run: as it is understood, and as plain data."""

    playbook: Playbook
    content: Mapping[str, Any]


def asked_again(run: Investigation, id: str, remembered: Remembered, origin: Origin | None) -> dict[str, Any]:
    """The run's own playbook under another name, with the run's launch, configs and log lines as its tests."""
    finding = run.findings[0]
    if origin is None or origin.playbook.title != finding.title:
        missing = f"its playbook {run.playbook} is not at hand" if run.playbook else "no playbook stands behind it"
        weak = "is only suspected" if finding.touched else "names no line of code and no setting"
        raise UsageError(
            f"the finding of run {run.run.id} {weak}, and {missing}: a draft of it would prove nothing",
            hint="docs/playbooks.md says how to write one by hand",
        )
    assert run.subject is not None
    tests = [{**test, **_log_of(origin.playbook, remembered)} for test in own_tests(run, finding, remembered)]
    own = {"applies_to": [{"package": run.subject.package, "versions": f"=={run.subject.version}"}], "tests": tests}
    return {**origin.content, "schema": SCHEMA, "id": id, **own}


def fault_of(setting: str, origin: Origin | None) -> str:
    """When it is at fault: as the run's playbook says, else when it is not what was asked."""
    known = [target for target in (origin.playbook.targets if origin else ()) if isinstance(target, SettingTarget)]
    return next((target.fault.text for target in known if target.setting == setting), "asked != effective")


def formulas_of(origin: Origin | None, finding: Finding) -> dict[str, str]:
    """How the run's playbook calculates the values of its fix, by what they change."""
    if origin is None or origin.playbook.title != finding.title:
        return {}
    fixes = [origin.playbook.fix, *(hypothesis.fix for hypothesis in origin.playbook.hypotheses if hypothesis.fix)]
    return {change.name: change.formula.text for fix in reversed(fixes) for change in fix.changes if change.formula is not None}


def _log_of(playbook: Playbook, remembered: Remembered) -> dict[str, Any]:
    """The lines of the log that the playbook's patterns find, where it asks the log at all; its end where they find none."""
    patterns = [re.compile(text) for text in _log_patterns(playbook)]
    if remembered.log is None or not patterns:
        return {}
    said = [line for line in remembered.log if any(pattern.search(line) for pattern in patterns)]
    return {"log": list(dict.fromkeys(said))[:_LINES] or list(remembered.log[-1:])}


def _log_patterns(playbook: Playbook) -> Iterator[str]:
    yield from playbook.match.log
    for hypothesis in playbook.hypotheses:
        for claim in hypothesis.checks:
            if isinstance(claim, LogClaim):
                yield claim.pattern
            elif isinstance(claim, FactClaim):
                yield from claim.formula.log_patterns
