"""A finished investigation as a playbook draft: lines become code queries, what was read becomes conditions and a test."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agent.domain.errors import TargetNotFound, UsageError
from agent.domain.facts import parse_flags
from agent.domain.formula import Formula, FormulaError
from agent.domain.investigation import Finding, Investigation, TargetVerdict
from agent.domain.playbook import SCHEMA, CodeTarget
from agent.evaluation.interface import Engine
from agent.subagents.playbook.draft_tests import Remembered, own_tests
from agent.subagents.playbook.origin import Origin, asked_again, fault_of, formulas_of
from agent.subagents.playbook.targets import fits

_ASSIGN = re.compile(r"^(?:[\w.\[\]'\"]+\.)?(\w+)\s*(?::[^=]+)?=(?!=)\s*(.*)$")
_CALL = re.compile(r"(\w+)\($|(\w+)\(.*\)?$")
_CONSTANT = re.compile(r"^(?:True|False|None|-?\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\")$")
_TEXT = re.compile(r"'([^']{4,})'|\"([^\"]{4,})\"")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{4,}")
_COMMON: Final = frozenset(
    "about after again always before between cannot every exactly never nothing other should their there where which while".split()
)


def draft(run: Investigation, id: str, remembered: Remembered, engine: Engine | None, origin: Origin | None = None) -> dict[str, Any]:
    """The draft as plain data in the order of the schema; ``engine`` (for the run's own tree and launch) sharpens the queries.

    A finding that rests on configuration, log or text alone has no line to make a query of: what ``origin``, its playbook, asks is then
    asked again, with the run as its test. Raises UsageError for a run that gives no playbook, and says why.
    """
    finding = next((finding for finding in run.findings if finding.touched and finding.confidence != "suspected"), None)
    if run.subject is None or run.launch is None or not run.findings:
        raise UsageError(
            f"run {run.run.id} found no cause ({run.outcome.replace('_', ' ')}), so there is nothing that a playbook could find again",
            hint="`rca runs list` shows which runs have a finding",
        )
    if not run.subject.version:
        raise UsageError(
            f"the release that run {run.run.id} read is not known, and a playbook's test names one",
            hint="run it again where the package's metadata stands beside it",
        )
    if finding is not None:
        return _generalised(run, finding, id, remembered, engine, origin)
    return asked_again(run, id, remembered, origin)


def _generalised(
    run: Investigation, finding: Finding, id: str, remembered: Remembered, engine: Engine | None, origin: Origin | None
) -> dict[str, Any]:
    assert run.subject is not None
    targets = list(_targets(finding, engine, origin))
    return {
        "schema": SCHEMA,
        "id": id,
        "title": _one_line(finding.title),
        "summary": _one_line(finding.summary),
        "applies_to": [{"package": run.subject.package, "versions": f"=={run.subject.version}"}],
        "match": _match(run, finding),
        "targets": targets,
        "hypotheses": [_hypothesis(finding, targets)],
        "numbers": [{"formula": formula.text, "means": means} for formula, means in _numbers(run)],
        "cause": _cause(run, finding),
        "explanation": _literal(finding.summary),
        "fix": _fix(finding, remembered, origin),
        "tests": list(own_tests(run, finding, remembered)),
    }


def _targets(finding: Finding, engine: Engine | None, origin: Origin | None) -> Iterator[dict[str, Any]]:
    """One target per setting and per kind of line; lines that one query already covers add nothing."""
    made: dict[tuple[str, str], str] = {}
    for verdict in finding.touched:
        query, text = (f"setting:{verdict.setting}", "") if verdict.setting else query_of(verdict)
        file = posixpath.dirname(verdict.path) + "/**"
        if (query, text) in made:
            continue
        name = made[query, text] = _identifier(query, made.values())
        if verdict.setting:
            yield {"id": name, "setting": verdict.setting, "fault": fault_of(verdict.setting, origin)}
            continue
        target = _sharpened(CodeTarget(id=name, query=query, file=file, text=text), verdict, engine)
        expect = {"expect": "rests"} if verdict.verdict == "always" else {}
        yield {"id": name, "query": target.query, "file": target.file, **({"text": target.text} if target.text else {}), **expect}


def query_of(target: TargetVerdict) -> tuple[str, str]:
    """The query that means this line in other releases, and a pattern for its text; the line itself where it has nothing to hold on to."""
    text = target.text.strip().split("\n")[0]
    assigned = _ASSIGN.match(text)
    if assigned:
        value = assigned.group(2)
        return f"assign:{assigned.group(1)}", f"= {re.escape(value)}$" if _CONSTANT.match(value) else ""
    called = _CALL.search(text)
    if called:
        return f"call:{called.group(1) or called.group(2)}", ""
    quoted = _TEXT.search(text)
    return (f"string:{quoted.group(1) or quoted.group(2)}" if quoted else f"{target.path}:{target.line}"), ""


def _sharpened(target: CodeTarget, verdict: TargetVerdict, engine: Engine | None) -> CodeTarget:
    """The widest hints under which every place has the verdict that the run saw: the directory, else the file alone."""
    if engine is None:
        return target
    for candidate in (target, replace(target, file=verdict.path)):
        places = _places(engine, candidate)
        if places and all(engine.why(place, counterfactuals=False).verdict == verdict.verdict for place in places):
            return candidate
    return replace(target, query=f"{verdict.path}:{verdict.line}", file="", text="")


def _places(engine: Engine, target: CodeTarget) -> list[str]:
    try:
        return [f"{place.path}:{place.line}" for place in engine.targets(target.query) if fits(place, target)]
    except TargetNotFound:
        return []


def _identifier(query: str, taken: Iterable[str]) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", query.partition(":")[2].lower()).strip("-")[:40] or "target"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 100))]
    return next(name for name in names if name not in set(taken))


def _match(run: Investigation, finding: Finding) -> dict[str, Any]:
    words = [word for word in _WORD.findall(run.symptom.text) if word.lower() not in _COMMON]
    formulas = [formula for formula, _ in _numbers(run)]
    named = dict.fromkeys(name for formula in formulas for name in formula.names if name.startswith("config."))
    return {
        "symptom": [rf"(?i)\b{re.escape(word)}" for word in dict.fromkeys(word.lower() for word in words)],
        "numbers": [formula.text for formula in formulas],
        "when": [*_cause_condition(run, finding), *(f"present({name})" for name in named)],
    }


def _numbers(run: Investigation) -> Iterator[tuple[Formula, str]]:
    """The formulas behind the explained numbers that this version of the language can read."""
    for number in run.numbers:
        text, _, means = number.formula.partition(": ")
        try:
            yield Formula.parse(text.partition(" = ")[0]), means or "explains a number of the symptom"
        except FormulaError:
            continue


def _cause_condition(run: Investigation, finding: Finding) -> list[str]:
    """The launch's own words for the flag or variable that was found guilty; a cause in code, config or platform gives no condition."""
    fact, _, key = _fact_of(finding).rpartition(".")
    if not fact or run.launch is None:
        return []
    given: Mapping[str, Any] = parse_flags(run.launch.argv) if fact == "launch.flags" else run.launch.env
    return [f"{fact}.{key} == {given[key]!r}"] if key in given else [f"absent({fact}.{key})"]


def _fact_of(finding: Finding) -> str:
    """Empty for what no flag and no variable says."""
    cause = finding.cause
    flag = cause.name.removeprefix("--").replace("-", "_")
    if cause.kind == "flag" and flag.isidentifier():
        return f"launch.flags.{flag}"
    return f"launch.env.{cause.name.removeprefix('env:')}" if cause.kind == "env" else ""


def _hypothesis(finding: Finding, targets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    checks: list[dict[str, Any]] = [
        {"verdict": {"target": t["id"], "is": "runs" if "expect" in t else "never"}} for t in targets if "query" in t
    ]
    checks += [{"value": {"setting": name, "is": f"effective == {value!r}"}} for name, value in _values(finding, targets)]
    guard = finding.guard
    if guard is not None and targets:
        condition = _held_by(guard.decisive_operand or guard.condition)
        checks.append({"guard": {"target": targets[0]["id"], "condition": condition, "truth": guard.truth}})
    return {"id": "cause", "claim": _literal(_one_line(finding.summary)), "role": "cause", "checks": checks}


def _values(finding: Finding, targets: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """What the settings at fault were seen to be: as the fix changes them, or as the cause says."""
    seen = {change.name: change.from_ for change in (finding.counterfactual.sets if finding.counterfactual else ())}
    for target in targets:
        name = target.get("setting", "")
        if name in seen:
            yield name, seen[name]
        elif name and finding.cause.name in (name, f"--{name.replace('_', '-')}"):
            yield name, finding.cause.actual


def _held_by(condition: str) -> str:
    """The last name of a condition is what stays when lines and receivers move."""
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", condition))
    kept = [name for name in names if name not in ("self", "not", "and", "or", "is", "None", "True", "False", "in")]
    return rf"\b{re.escape(kept[-1])}\b" if kept else re.escape(condition)


def _cause(run: Investigation, finding: Finding) -> dict[str, Any]:
    """A finding about a setting's value tells that value; any other what the launch says."""
    cause = finding.cause
    setting = next((target.setting for target in finding.touched if target.setting), "")
    named = setting and cause.name in (setting, f"--{setting.replace('_', '-')}")
    fact = f"setting.{setting}" if named else _fact_of(finding)
    return {"kind": cause.kind, "name": cause.name, **({"actual": fact} if fact else {}), "required": list(cause.required)}


def _fix(finding: Finding, remembered: Remembered, origin: Origin | None) -> dict[str, Any]:
    changes = finding.counterfactual.change if finding.counterfactual else ()
    summary = finding.fix.summary if finding.fix else "Make the change below."
    return {
        "summary": _literal(_one_line(summary)),
        "changes": [_change(_by_role(change.name, remembered), change.to, formulas_of(origin, finding)) for change in changes],
        "warnings": [_literal(_one_line(text)) for text in (finding.fix.warnings if finding.fix else ())],
    }


def _change(name: str, value: Any, formulas: Mapping[str, str]) -> dict[str, Any]:
    """A value that was calculated for this launch is calculated again for the next."""
    return {"name": name, "formula": formulas[name]} if name in formulas else {"name": name, "to": value}


def _by_role(name: str, remembered: Remembered) -> str:
    """``config:FILE:KEY`` becomes ``config:ROLE:KEY``."""
    for role, (path, _) in remembered.configs.items():
        if name.startswith(f"config:{path}:"):
            return f"config:{role}:{name.removeprefix(f'config:{path}:')}"
    return name


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _literal(text: str) -> str:
    """Text as a template that renders to itself: without an opening brace there is no template."""
    return text.replace("{", "{{ '{' }}")
