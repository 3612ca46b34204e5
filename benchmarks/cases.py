"""Twenty real faults and their healthy controls: is the right guard named first, and is nobody accused who should not be?

    python benchmarks/cases.py             all cases
    python benchmarks/cases.py S01 V01     these

A case is found when ``why`` names the guard (or a line that is equally right) as decisive, when ``audit`` shows the setting with its right
value, changed at that line, or when ``why`` tells the value that the line reads, given at that line. It is named where the answer is
"may" and depends on that guard.
Exit code 1 if a healthy control is accused or a value is wrong.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent.domain.errors import RcaError
from agent.domain.verdict import Setting, Used, WhyAnswer
from agent.evaluation.engine import LaunchEngine
from agent.evaluation.used_values import with_uses
from tests.oracle.cases import Case, cases, engine_for, right_places
from tests.wheels import WheelUnavailable


@dataclass(slots=True)
class Finding:
    """What was said of one launch: ``found`` the guard, ``named`` it in an answer of "may", ``wrong`` claims, all of it in words."""

    found: bool = False
    named: bool = False
    wrong: bool = False
    words: list[str] = field(default_factory=list)


def judge_case(case: Case) -> Finding:
    """The launch that is at fault."""
    engine, finding, places = engine_for(case, case), Finding(), right_places(case)
    wanted = case["expect"].get("value") or {}
    for setting in asked_for(case, engine):
        changed = {(c.path, c.line) for c in setting.changed_by} | {(g.path, g.line) for c in setting.changed_by for g in c.guards}
        known = setting.effective.status == "known"
        finding.wrong |= known and "effective" in wanted and setting.effective.value != wanted["effective"]
        finding.found |= known and setting.effective.value == wanted.get("effective") and bool(changed & places)
        finding.words.append(setting_words(setting))
    for target in (each for each in case["targets"] if each["verdict"] != "needs_runtime"):
        answer = engine.why(f"{target['file']}:{target['line']}", counterfactuals=False)
        decisive = answer.decisive
        dead = target["verdict"] == answer.verdict == "never"
        named = decisive is not None and (decisive.path, decisive.line) in places
        finding.found |= named and (bool(target.get("primary")) or "value" in (case["expect"]["verdict"], target["verdict"]) or dead)
        hinge = answer.depends_on
        finding.named |= bool(target.get("primary")) and hinge is not None and (hinge.path, hinge.line) in places
        finding.words.append(f"{answer_words(answer)} (expected {target['verdict']})")
        for used in used_at(case, engine, answer):
            given = {(place.path, place.line) for place in used.from_[:1]} | {(guard.path, guard.line) for guard in used.guards}
            right = used.effective.status == "known" and used.effective.value == wanted.get("effective")
            finding.found |= right and bool(given & places)
            judge_value(finding, used, wanted)
    return finding


def judge_control(case: Case) -> Finding:
    """The healthy launch: the target must not be called dead, the value must be as asked."""
    control, finding = case["negative_control"], Finding()
    engine = engine_for(case, control)
    target = case["targets"][control.get("target") or 0]
    answer = engine.why(f"{target['file']}:{target['line']}", counterfactuals=False)
    overriding = target["verdict"] == "always"  # the line of the fault itself: a healthy launch need not come to it
    finding.wrong = answer.verdict == "never" and not overriding
    finding.words.append(f"{answer_words(answer)} (expected {control.get('expect')})")
    wanted = control.get("value") or {}
    for used in used_at(case, engine, answer):
        judge_value(finding, used, wanted)
    for setting in asked_for(case, engine):
        finding.wrong |= setting.effective.status == "known" and "effective" in wanted and setting.effective.value != wanted["effective"]
        finding.words.append(setting_words(setting))
    return finding


def asked_for(case: Case, engine: LaunchEngine) -> Iterable[Setting]:
    """The setting that the case asks about."""
    if not case["query"]:
        return []
    name, owner = case["query"]["field"], case["query"].get("object")
    row = engine.attribute(f"{owner}.{name}") if owner else None
    if row is not None:
        return [row]
    return [setting for setting in engine.audit().settings if setting.name in (name, name.removeprefix("env:"))]


def used_at(case: Case, engine: LaunchEngine, answer: WhyAnswer) -> list[Used]:
    """What the line reads of that name, where the case asks about a value."""
    field = case["query"]["field"] if case["query"] else ""
    return [used for used in with_uses(engine.demand, answer).uses if field and used.text.rpartition(".")[2] == field]


def judge_value(finding: Finding, used: Used, wanted: Mapping[str, Any]) -> None:
    """A value that is told must be the right one."""
    effective = used.effective
    finding.wrong |= effective.status == "known" and "effective" in wanted and effective.value != wanted["effective"]
    lines = " < ".join(f"{place.path.rsplit('/', 1)[-1]}:{place.line}" for place in used.from_)
    finding.words.append(f"{used.text} is {effective.value if effective.status == 'known' else effective}, given at {lines}")


def setting_words(setting: Setting) -> str:
    effective = setting.effective
    value = repr(effective.value) if effective.status == "known" else effective.why or f"one of {effective.values!r}"
    lines = ", ".join(f"{change.path.rsplit('/', 1)[-1]}:{change.line}" for change in setting.changed_by)
    return f"{setting.name}: asked {setting.asked.value!r}, is {value}, {setting.verdict}" + (f", changed at {lines}" if lines else "")


def answer_words(answer: WhyAnswer) -> str:
    decisive = answer.decisive
    place = f"{answer.target.path.rsplit('/', 1)[-1]}:{answer.target.line}"
    if decisive is None:
        hinge = answer.depends_on
        named = f", depends on {hinge.path.rsplit('/', 1)[-1]}:{hinge.line}" if hinge is not None else ""
        return f"{place} {answer.verdict}{named}: {answer.reason[:100]}"
    return f"{place} {answer.verdict}, decided by {decisive.path.rsplit('/', 1)[-1]}:{decisive.line} {decisive.condition[:60]}"


def show(title: str, mark: str, finding: Finding, seconds: float) -> None:
    print(f"{title:14} {mark:10} {seconds:5.1f} s", *(f"    {words}" for words in finding.words), sep="\n", flush=True)


def main() -> int:
    wanted = sys.argv[1:]
    static = found = named = wrong = 0
    for case in cases():
        if wanted and case["id"] not in wanted:
            continue
        for title, judge in ((case["id"], judge_case), (f"  {case['id']} control", judge_control)):
            start = time.process_time()
            try:
                finding = judge(case)
            except (WheelUnavailable, RcaError) as problem:
                finding = Finding(words=[f"not judged: {problem}"])
            control = judge is judge_control
            mark = (
                "WRONG"
                if finding.wrong
                else "not accused"
                if control
                else "found"
                if finding.found
                else "named"
                if finding.named
                else "open"
            )
            show(title, mark, finding, time.process_time() - start)
            wrong += finding.wrong
            told = not control and case["decidable"] == "static"
            found += told and finding.found
            named += told and finding.named and not finding.found
        static += case["decidable"] == "static"
    print(f"{found} of {static} static cases found, {named} more named by an answer of 'may', {wrong} wrong claims")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
