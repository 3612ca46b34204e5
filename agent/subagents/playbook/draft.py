"""A finished investigation as a playbook draft: lines become code queries, what was read becomes conditions and a test."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agent.domain.changes import changed_launch
from agent.domain.errors import TargetNotFound, UsageError
from agent.domain.facts import ROLES
from agent.domain.formula import Formula, FormulaError
from agent.domain.investigation import Finding, Investigation, TargetVerdict
from agent.domain.launch import Launch
from agent.domain.playbook import SCHEMA, CodeTarget
from agent.domain.verdict import Change
from agent.evaluation.interface import Engine
from agent.subagents.playbook.targets import fits

_ASSIGN = re.compile(r"^(?:[\w.\[\]'\"]+\.)?(\w+)\s*(?::[^=]+)?=(?!=)\s*(.*)$")
_CALL = re.compile(r"(\w+)\($|(\w+)\(.*\)?$")
_CONSTANT = re.compile(r"^(?:True|False|None|-?\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\")$")
_TEXT = re.compile(r"'([^']{4,})'|\"([^\"]{4,})\"")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{4,}")
_COMMON: Final = frozenset(
    "about after again always before between cannot every exactly never nothing other should their there where which while".split()
)
_OF_THE_MACHINE: Final = frozenset(("PATH", "HOME", "PWD", "LANG", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "XDG_CACHE_HOME"))
"""Variables that say where things lie on one machine: no part of what reproduces a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a run left behind beside its report. ``configs``: role to (path of config.json, content)."""

    configs: Mapping[str, tuple[str, Mapping[str, Any]]]
    facts: Mapping[str, Any]


def draft(run: Investigation, id: str, remembered: Remembered, engine: Engine | None) -> dict[str, Any]:
    """The draft as plain data in the order of the schema; ``engine`` (for the run's own tree and launch) sharpens the queries.

    Raises UsageError for a run without a confirmed finding with targets.
    """
    finding = next((finding for finding in run.findings if finding.targets and finding.confidence != "suspected"), None)
    if finding is None or run.subject is None or run.launch is None:
        raise UsageError(f"run {run.run.id} has no confirmed finding with a line of code", hint="`rca runs list` shows which runs have")
    targets = list(_targets(finding, engine))
    return {
        "schema": SCHEMA,
        "id": id,
        "title": finding.title,
        "summary": _one_line(finding.summary),
        "applies_to": [{"package": run.subject.package, "versions": f"=={run.subject.version}"}],
        "match": _match(run, finding),
        "targets": targets,
        "hypotheses": [_hypothesis(finding, targets)],
        "numbers": [{"formula": formula.text, "means": means} for formula, means in _numbers(run)],
        "cause": _cause(finding),
        "explanation": _literal(finding.summary),
        "fix": _fix(finding, remembered),
        "tests": list(own_tests(run, finding, remembered)),
    }


def _targets(finding: Finding, engine: Engine | None) -> Iterator[dict[str, Any]]:
    """One target per kind of line; lines that one query already covers add nothing."""
    made: dict[tuple[str, str], str] = {}
    for verdict in finding.touched:
        query, text = query_of(verdict)
        file = posixpath.dirname(verdict.path) + "/**"
        if (query, text) in made:
            continue
        target = _sharpened(CodeTarget(id=_identifier(query, made.values()), query=query, file=file, text=text), verdict, engine)
        made[query, text] = target.id
        expect = {"expect": "rests"} if verdict.verdict == "always" else {}
        yield {"id": target.id, "query": target.query, "file": target.file, **({"text": target.text} if target.text else {}), **expect}


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
        "when": [*_cause_condition(finding), *(f"present({name})" for name in named)],
    }


def _numbers(run: Investigation) -> Iterator[tuple[Formula, str]]:
    """The formulas behind the explained numbers that this version of the language can read."""
    for number in run.numbers:
        text, _, means = number.formula.partition(": ")
        try:
            yield Formula.parse(text.partition(" = ")[0]), means or "explains a number of the symptom"
        except FormulaError:
            continue


def _cause_condition(finding: Finding) -> list[str]:
    """The launch has the value that was found guilty; a cause in code or platform gives no condition."""
    cause = finding.cause
    fact = {
        "flag": f"launch.flags.{cause.name.removeprefix('--').replace('-', '_')}",
        "env": f"launch.env.{cause.name.removeprefix('env:')}",
    }
    if cause.kind not in fact:
        return []
    if cause.actual is None:
        return [f"absent({fact[cause.kind]})"]
    return [f"{fact[cause.kind]} == {cause.actual!r}"]


def _hypothesis(finding: Finding, targets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    checks: list[dict[str, Any]] = [{"verdict": {"target": t["id"], "is": "runs" if "expect" in t else "never"}} for t in targets]
    guard = finding.guard
    if guard is not None and targets:
        condition = _held_by(guard.decisive_operand or guard.condition)
        checks.append({"guard": {"target": targets[0]["id"], "condition": condition, "truth": guard.truth}})
    return {"id": "cause", "claim": _literal(_one_line(finding.summary)), "role": "cause", "checks": checks}


def _held_by(condition: str) -> str:
    """The last name of a condition is what stays when lines and receivers move."""
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", condition))
    kept = [name for name in names if name not in ("self", "not", "and", "or", "is", "None", "True", "False", "in")]
    return rf"\b{re.escape(kept[-1])}\b" if kept else re.escape(condition)


def _cause(finding: Finding) -> dict[str, Any]:
    cause = finding.cause
    fact = _cause_condition(finding)
    actual = {"actual": re.split(r" == |\(|\)", fact[0])[1 if fact[0].startswith("absent") else 0]} if fact else {}
    return {"kind": cause.kind, "name": cause.name, **actual, "required": list(cause.required)}


def _fix(finding: Finding, remembered: Remembered) -> dict[str, Any]:
    changes = finding.counterfactual.change if finding.counterfactual else ()
    summary = finding.fix.summary if finding.fix else "Make the change below."
    return {
        "summary": _literal(_one_line(summary)),
        "changes": [{"name": _by_role(change.name, remembered), "to": change.to} for change in changes],
        "warnings": [_literal(_one_line(text)) for text in (finding.fix.warnings if finding.fix else ())],
    }


def _by_role(name: str, remembered: Remembered) -> str:
    """``config:FILE:KEY`` becomes ``config:ROLE:KEY``."""
    for role, (path, _) in remembered.configs.items():
        if name.startswith(f"config:{path}:"):
            return f"config:{role}:{name.removeprefix(f'config:{path}:')}"
    return name


def own_tests(run: Investigation, finding: Finding, remembered: Remembered) -> Iterator[dict[str, Any]]:
    """The run's own launch, where the playbook has to confirm, and the launch under the fix, where it has to be silent."""
    assert run.launch is not None and run.subject is not None
    env = {name: value for name, value in run.launch.env.items() if name not in _OF_THE_MACHINE}
    launch = Launch(argv=run.launch.argv, env=env)
    base = {
        "release": {"package": run.subject.package, "version": run.subject.version},
        "symptom": run.symptom.text,
        "models": {folder_of(run, path): dict(config) for path, config in remembered.configs.values()},
        **{role: folder_of(run, path) for role, (path, _) in remembered.configs.items() if role in ROLES},
        **({"assume": dict(remembered.facts)} if remembered.facts else {}),
    }
    guard = {"guard": {"path": finding.guard.path, "line": finding.guard.line}} if finding.guard else {}
    yield {"name": "as it was found", **base, **_launch(launch), "expect": "confirmed", **guard}
    changes = _inputs(finding)
    if changes:
        yield {"name": "healthy under the fix", **base, **_launch(changed_launch(launch, changes)), "expect": "silent"}


def folder_of(run: Investigation, path: str) -> str:
    """The model's directory as the launch names it: relative, absolute, or as the name of a repository in the download cache."""
    folder = posixpath.dirname(path)
    if run.launch is None:
        return folder
    for word in run.launch.argv:
        value = word.partition("=")[2] if word.startswith("--") else word
        if value and (
            posixpath.normpath(posixpath.join(run.launch.cwd, value)) == folder or f"/models--{value.replace('/', '--')}/" in path
        ):
            return posixpath.normpath(value)
    return folder


def _inputs(finding: Finding) -> tuple[Change, ...]:
    """The fix's changes, if flags and variables are all that it changes."""
    changes = finding.counterfactual.change if finding.counterfactual else ()
    return changes if all(change.name.startswith(("--", "env:")) for change in changes) else ()


def _launch(launch: Launch) -> dict[str, Any]:
    return {"launch": list(launch.argv), **({"env": dict(launch.env)} if launch.env else {})}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _literal(text: str) -> str:
    """Text as a template that renders to itself: without an opening brace there is no template."""
    return text.replace("{", "{{ '{' }}")
