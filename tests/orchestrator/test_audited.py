"""Findings without a playbook: only what the symptom names, only what the engine knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.domain.verdict import Asked, AuditAnswer, Change, ChangedBy, Counterfactual, DeadKey, Effective, Guard, Place, Reader, Setting
from agent.orchestrator.audited import audit_findings, audit_unknowns

GUARD = Guard(path="pkg/args.py", line=10, condition="self.use_mla", truth="true", function="Args.check")
CACHE = Setting(
    name="enable_prefix_caching",
    flag="--enable-prefix-caching",
    asked=Asked(value=True, source="flag"),
    effective=Effective(status="known", value=False),
    changed_by=(ChangedBy(path="pkg/args.py", line=11, text="self.enable_prefix_caching = False", guards=(GUARD,)),),
    verdict="overridden",
)
CLOSED = Guard(path="pkg/run.py", line=4, condition="kind.is_b()", truth="false", function="run", decisive_operand="kind.is_b()")
DEAD = DeadKey(
    file="/m/config.json",
    key="eagle_config.layer_ids",
    value=[1],
    readers=(Reader(path="pkg/run.py", line=5, verdict="never", decisive=CLOSED),),
    counterfactuals=(Counterfactual(change=(Change(name="--kind", from_="A", to="B"),), opens=(Place(path="pkg/run.py", line=5),)),),
)
LAUNCH = Launch(argv=("python3", "-m", "pkg", "--kind", "A"))


def findings(audit: AuditAnswer, symptom: str) -> list[str]:
    found = audit_findings(audit, Symptom.parse(symptom), LAUNCH, lambda path, line: f"line {line}")
    return [one.title for one in found]


def test_an_overridden_setting_that_the_symptom_names() -> None:
    (found,) = audit_findings(AuditAnswer(settings=(CACHE,)), Symptom.parse("prefix caching is off"), LAUNCH, lambda path, line: "")
    assert found.title == "enable_prefix_caching is False where True was asked"
    assert found.guard is not None and (found.guard.path, found.guard.line) == ("pkg/args.py", 10)
    assert (found.cause.kind, found.cause.name, found.cause.actual, found.cause.required) == (
        "flag",
        "enable_prefix_caching",
        False,
        (True,),
    )
    assert [(step.line, step.role) for step in found.chain] == [(10, "guard"), (11, "effect")]
    assert found.confidence == "assuming"
    assert found.summary == "`pkg/args.py:11` changes `enable_prefix_caching` from `True` to `False`."


def test_what_the_server_logs_of_it_is_told_and_nothing_is_said_of_silence() -> None:
    logged = replace(CACHE, changed_by=(replace(CACHE.changed_by[0], logged="warning: off `here`"),))
    (found,) = audit_findings(AuditAnswer(settings=(logged,)), Symptom.parse("prefix caching is off"), LAUNCH, lambda path, line: "")
    assert found.summary.endswith("to `False`; it logs `` warning: off `here` ``.")


def test_a_default_was_not_asked_for() -> None:
    default = replace(CACHE, asked=replace(CACHE.asked, source="default"))
    (found,) = audit_findings(AuditAnswer(settings=(default,)), Symptom.parse("prefix caching is off"), LAUNCH, lambda path, line: "")
    assert found.title == "enable_prefix_caching is False where True is the default"


@pytest.mark.parametrize("symptom", ["the server is slow", "the cache misses", "caching", ""])
def test_what_the_symptom_does_not_name_is_not_accused(symptom: str) -> None:
    assert findings(AuditAnswer(settings=(CACHE,)), symptom) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "as_asked"},
        {"verdict": "unknown"},
        {"effective": Effective(status="unknown", why="needs x")},
        {"effective": Effective(status="candidates", values=(True, False))},
        {"changed_by": ()},
    ],
    ids=str,
)
def test_what_is_not_known_is_not_accused(changes: dict[str, object]) -> None:
    assert findings(AuditAnswer(settings=(replace(CACHE, **changes),)), "prefix caching is off") == []  # type: ignore[arg-type]


def test_a_key_that_nobody_reads() -> None:
    (found,) = audit_findings(
        AuditAnswer(settings=(), dead_config=(DEAD,)), Symptom.parse("layer_ids are ignored"), LAUNCH, lambda path, line: "x"
    )
    assert found.guard is not None and found.guard.line == 4
    assert (found.cause.name, found.cause.actual, found.cause.required) == ("--kind", "A", ("B",))
    assert found.fix is not None and found.fix.command == "python3 -m pkg --kind B"


def test_a_key_that_somebody_may_read_is_not_dead() -> None:
    alive = replace(DEAD, readers=(*DEAD.readers, Reader(path="pkg/other.py", line=1, verdict="may")))
    nobody = replace(DEAD, readers=())
    assert findings(AuditAnswer(settings=(), dead_config=(alive, nobody)), "layer_ids are ignored") == []


def test_what_is_unknown_of_a_named_setting_is_said() -> None:
    unknown = replace(CACHE, verdict="unknown", effective=Effective(status="unknown", why="torch is not known"))
    candidates = replace(CACHE, verdict="unknown", effective=Effective(status="candidates", values=(True, False)))
    told = [one.why for one in audit_unknowns(AuditAnswer(settings=(unknown, candidates)), Symptom.parse("prefix caching is off"))]
    assert told == ["torch is not known", "it is True or False"]
    assert list(audit_unknowns(AuditAnswer(settings=(unknown,)), Symptom.parse("slow"))) == []
