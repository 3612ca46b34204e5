"""The JSON report and the published schemas."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from agent.domain.audit_difference import AuditDifference
from agent.domain.errors import StoreError
from agent.domain.investigation import Cause, Investigation
from agent.domain.verdict import (
    Asked,
    AuditAnswer,
    ChangedBy,
    DeadKey,
    Effective,
    Guard,
    Observed,
    Raise,
    ReachAnswer,
    Reader,
    Setting,
    Smell,
    Target,
    WhyAnswer,
)
from agent.reports.json import JsonReport, dump, from_dict
from tests.reports import samples
from tests.reports.schema import assert_valid, validator

ALL = [samples.founding(), samples.nothing_found(), samples.failed(), *map(samples.hostile, samples.HOSTILE)]
DOCUMENTS = {"report": Investigation, "why": WhyAnswer, "audit": AuditAnswer, "audit-diff": AuditDifference, "reach": ReachAnswer}


@pytest.mark.parametrize("investigation", ALL)
def test_the_report_fits_its_schema_and_comes_back(investigation: Investigation) -> None:
    text = JsonReport().render(investigation)
    document = json.loads(text)
    assert_valid(document)
    assert from_dict(document) == investigation
    assert document == json.loads(json.dumps(investigation.as_dict()))


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_the_text_is_safe_on_a_terminal(text: str) -> None:
    written = JsonReport().render(samples.hostile(text))
    written.encode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e0fff]", written)


def test_other_languages_stay_readable() -> None:
    assert "隐藏维度" in JsonReport().render(samples.founding(symptom=samples.Symptom(text="隐藏维度 7168")))


def test_numbers_that_json_does_not_have() -> None:
    finding = samples.founding().findings[0]
    odd = replace(finding, cause=Cause(kind="config", name="x", actual=float("nan"), required=(float("inf"), {"a": (1, -float("inf"))})))
    document = json.loads(JsonReport().render(samples.founding(findings=(odd,))))
    assert document["findings"][0]["cause"]["actual"] == "nan"
    assert document["findings"][0]["cause"]["required"] == ["inf", {"a": [1, "-inf"]}]


@pytest.mark.parametrize(
    "plain", [None, [], {}, {"schema": "rca.report/2"}, {"schema": "rca.report/1"}, {"schema": "rca.report/1", "run": 7}]
)
def test_what_is_no_report_is_refused(plain: Any) -> None:
    with pytest.raises(StoreError):
        from_dict(plain)


def test_a_later_release_may_add_keys() -> None:
    document = samples.founding().as_dict()
    document["later"] = 1
    document["findings"][0]["later"] = {"x": 1}
    assert_valid(document)
    assert from_dict(document) == samples.founding()


def test_the_contract_s_keys_stand_in_its_order() -> None:
    document = json.loads(JsonReport().render(samples.founding()))
    contract = "schema run symptom outcome subject launch findings hypotheses unknowns evidence cost"
    assert [key for key in document if key in contract.split()] == contract.split()
    finding = "id title summary confidence assumptions cause guard targets chain counterfactual fix"
    assert list(document["findings"][0])[:11] == finding.split()
    assert list(document["findings"][0]["counterfactual"]["change"][0]) == ["name", "from", "to"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schema_and_dataclasses_have_the_same_keys(name: str) -> None:
    schema = validator(name).schema
    assert isinstance(schema, dict)
    compare(DOCUMENTS[name], schema, schema["$defs"], name)


def compare(kind: Any, schema: dict[str, Any], definitions: dict[str, Any], where: str) -> None:
    """Every dataclass field is a property in the same order, all the way down."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
        if is_dataclass(kind):
            compare(kind, schema["anyOf"][0], definitions, where)
    elif get_origin(kind) is tuple and is_dataclass(get_args(kind)[0]):
        compare(get_args(kind)[0], schema["items"], definitions, where + "[]")
    elif is_dataclass(kind):
        names = {field.name.rstrip("_"): field.name for field in fields(kind)}
        order = sorted if where in ("report", "why", "audit", "audit-diff") else list
        assert order(schema["properties"]) == order(names), where
        hints = get_type_hints(kind)
        for key, field in names.items():
            compare(hints[field], schema["properties"][key], definitions, f"{where}.{key}")


def _guard() -> Guard:
    return samples.founding().findings[0].paths[0].guards[1]


def test_an_answer_to_why_fits() -> None:
    finding = samples.founding().findings[0]
    assert finding.counterfactual
    answer = WhyAnswer(
        target=Target(path="a.py", line=3, text="x()", function="f"),
        verdict="never",
        decisive=_guard(),
        assumptions=("no plugin",),
        paths=finding.paths,
        counterfactuals=(finding.counterfactual,),
    )
    assert_valid(answer.as_dict())
    assert_valid(replace(answer, verdict="unknown", decisive=None, paths=(), reason="env.X").as_dict())
    with pytest.raises(AssertionError, match=r"\$.verdict"):
        assert_valid(replace(answer, verdict="perhaps").as_dict())


def test_an_audit_fits() -> None:
    finding = samples.founding().findings[0]
    assert finding.counterfactual
    dead = DeadKey(
        file="config.json",
        key="eagle_config",
        value={"a": 1},
        readers=(Reader(path="a.py", line=1, verdict="never", decisive=_guard()),),
        counterfactuals=(finding.counterfactual,),
    )
    setting = Setting(
        name="disable_cuda_graph",
        flag="--disable-cuda-graph",
        asked=Asked(value=False, source="default"),
        effective=Effective(status="known", value=True),
        observed=Observed(value=True, source="log"),
        changed_by=(ChangedBy(path="a.py", line=2, text="self.x = True", guards=(_guard(),)),),
        verdict="overridden",
    )
    answer = AuditAnswer(
        settings=(setting, replace(setting, observed=None, effective=Effective(status="candidates", values=(1, 2)))),
        dead_config=(dead,),
        raises=(Raise(path="a.py", line=9, type="ValueError", message="no", guards=(), certainty="always"),),
        smells=(Smell(kind="hasattr gate", path="a.py", line=4, text="if hasattr", why="skips"),),
        unread_keys=(replace(dead, readers=()),),
    )
    assert_valid(json.loads(dump(answer.as_dict())))


def test_a_reach_fits() -> None:
    answer = ReachAnswer(file="a.py", always=((1, 2),), never=((3, 3),), may=(), unknown=((5, 9),))
    assert_valid(json.loads(dump(answer.as_dict())))
    with pytest.raises(AssertionError, match="always"):
        assert_valid({**answer.as_dict(), "always": [[1, 2, 3]]})
