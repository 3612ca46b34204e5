"""Checks a hypothesis's claims, each in three-valued logic with the reason in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.domain.facts import ABSENT, config_value
from agent.domain.playbook import (
    Claim,
    ConfigClaim,
    FactClaim,
    FileClaim,
    GuardClaim,
    LogClaim,
    MethodClaim,
    TextClaim,
    ValueClaim,
    VerdictClaim,
)
from agent.domain.reached import OPEN, RUNS, reading
from agent.domain.source import Absent, Unreadable
from agent.domain.truth import Truth
from agent.domain.values import Known, OneOf, Unknown
from agent.domain.verdict import Guard
from agent.domain.visible import in_backticks
from agent.subagents.playbook.case import Case
from agent.subagents.playbook.classes import find_method
from agent.subagents.playbook.targets import HEALTHY, TargetAnswer, path_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One claim's truth and why."""

    truth: Truth
    why: str


Answers = Mapping[str, TargetAnswer]


def check(case: Case, claim: Claim, answers: Answers) -> Checked:
    """``answers``: the playbook's targets by id, those of other versions left out."""
    return _CHECKS[type(claim)](case, claim, answers)


def _guard(case: Case, claim: GuardClaim, answers: Answers) -> Checked:
    """True if such a guard decides some place of the target; false if it stands otherwise on a path, or another one decides."""
    target = answers.get(claim.target)
    if target is None or not (target.answers or target.setting):
        return Checked(truth=Truth.UNKNOWN, why=f"this release has no target {claim.target}")
    passed = [guard for answer in target.answers for path in answer.paths for guard in path.guards]
    meant = [guard for guard in (*target.guards, *passed) if re.search(claim.condition, guard.condition)]
    deciding = [guard for guard in target.guards if guard in meant and guard.truth == claim.truth]
    if deciding:
        return Checked(truth=Truth.TRUE, why=_said(deciding[0]))
    for truth, otherwise in ((Truth.FALSE, ("true", "false")), (Truth.UNKNOWN, ("unknown",))):
        found = next((guard for guard in meant if guard.truth in otherwise and guard.truth != claim.truth), None)
        if found is not None:
            return Checked(truth=truth, why=_said(found))
    if target.guards:
        return Checked(truth=Truth.FALSE, why=f"another guard decides: {_said(target.guards[0])}")
    return Checked(truth=Truth.FALSE if target.state == HEALTHY else Truth.UNKNOWN, why=target.why)


def _said(guard: Guard) -> str:
    return f"{guard.path}:{guard.line} `{guard.condition}` is {guard.truth}"


def _verdict(case: Case, claim: VerdictClaim, answers: Answers) -> Checked:
    """``never`` is about every place of the target, ``runs`` about some."""
    target = answers.get(claim.target)
    if target is None or not target.answers:
        return Checked(truth=Truth.UNKNOWN, why=f"this release has no target {claim.target}")
    readings = {reading(answer) for answer in target.answers}
    runs = Truth.TRUE if RUNS in readings else Truth.UNKNOWN if OPEN in readings else Truth.FALSE
    return Checked(truth=~runs if claim.verdict == "never" else runs, why=target.why)


def _value(case: Case, claim: ValueClaim, answers: Answers) -> Checked:
    value = case.effective(claim.setting)
    if isinstance(value, OneOf):
        truths = {claim.is_.truth(case.facts, {"effective": Known(value=item)}) for item in value.values}
        shown = f"one of {', '.join(map(repr, value.values))}"
        return Checked(truth=truths.pop() if len(truths) == 1 else Truth.UNKNOWN, why=f"{claim.setting} is {shown}")
    why = f"{claim.setting}: {value.reason}" if isinstance(value, Unknown) else f"{claim.setting} is {value.value!r}"
    return Checked(truth=claim.is_.truth(case.facts, {"effective": value}), why=why)


def _method(case: Case, claim: MethodClaim, answers: Answers) -> Checked:
    name = claim.class_.value(case.facts)
    if not isinstance(name, Known):
        return Checked(truth=Truth.UNKNOWN, why=name.reason if isinstance(name, Unknown) else f"{claim.class_.text} is absent")
    found = find_method(case.engine.tree, str(name.value), claim.method)
    return Checked(truth=found.present if claim.present else ~found.present, why=found.why)


def _file(case: Case, claim: FileClaim, answers: Answers) -> Checked:
    pattern = path_pattern(claim.path)
    path = next((path for path in case.engine.tree.files() if pattern.fullmatch(path)), None)
    return Checked(
        truth=Truth.of((path is not None) == claim.present), why=f"{path} is there" if path else f"no file {claim.path} in the tree"
    )


def _text(case: Case, claim: TextClaim, answers: Answers) -> Checked:
    """An unreadable file leaves an absence unknown."""
    wanted, unread = re.compile(claim.pattern), ""
    for path in filter(path_pattern(claim.path).fullmatch, case.engine.tree.files()):
        content = case.engine.tree.read(path)
        if isinstance(content, (Absent, Unreadable)):
            unread = path
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if wanted.search(line):
                return Checked(truth=Truth.of(claim.present), why=f"{path}:{number} `{line.strip()}`")
    if unread:
        return Checked(truth=Truth.UNKNOWN, why=f"{unread} could not be read")
    return Checked(truth=Truth.of(not claim.present), why=f"no line in {claim.path} matches {claim.pattern!r}")


def _log(case: Case, claim: LogClaim, answers: Answers) -> Checked:
    if case.facts.log is None:
        return Checked(truth=Truth.UNKNOWN, why="the log was not read")
    line = next((line for line in case.facts.log if re.search(claim.pattern, line)), None)
    why = f"the log says {in_backticks(line)}" if line is not None else f"no line of the log matches {in_backticks(claim.pattern)}"
    return Checked(truth=Truth.of((line is not None) == claim.present), why=why)


def _config(case: Case, claim: ConfigClaim, answers: Answers) -> Checked:
    role, _, key = claim.key.partition(".")
    config = case.facts.configs.get(role)
    if not isinstance(config, Mapping):
        reason = config.reason if isinstance(config, Unknown) else "there is no such model" if config is ABSENT else "it was not read"
        return Checked(truth=Truth.UNKNOWN, why=f"the {role} model's config.json: {reason}")
    value = config_value(config, key)
    why = f"{role} config.json has {key} = {value.value!r}" if isinstance(value, Known) else f"{role} config.json has no {key}"
    return Checked(truth=Truth.of(isinstance(value, Known) == claim.present), why=why)


def _fact(case: Case, claim: FactClaim, answers: Answers) -> Checked:
    truth, value = claim.formula.truth(case.facts), claim.formula.value(case.facts)
    words = {Truth.TRUE: "holds", Truth.FALSE: "does not hold"}.get(truth, "is undecided")
    reason = f": {value.reason}" if isinstance(value, Unknown) else f" ({_shown_facts(case, claim)})"
    return Checked(truth=truth, why=f"`{claim.formula.text}` {words}{reason}")


def _shown_facts(case: Case, claim: FactClaim) -> str:
    values = [(name, case.facts.get(name)) for name in claim.formula.names if name != "log.lines"]
    return ", ".join(f"{name} = {value.value!r}" if isinstance(value, Known) else f"{name} is absent" for name, value in values)


_CHECKS: dict[type[Any], Callable[[Case, Any, Answers], Checked]] = {
    GuardClaim: _guard,
    VerdictClaim: _verdict,
    ValueClaim: _value,
    MethodClaim: _method,
    FileClaim: _file,
    TextClaim: _text,
    LogClaim: _log,
    ConfigClaim: _config,
    FactClaim: _fact,
}
