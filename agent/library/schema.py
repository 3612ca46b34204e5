"""The playbook file format: pydantic models of the YAML, and their turning into the domain's dataclasses.

Imported only when a playbook is read; ``docs/schema/playbook.json`` is generated from here.
"""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, WithJsonSchema, model_validator

from agent.domain import playbook as domain
from agent.domain.formula import Formula
from agent.domain.patterns import problem_with
from agent.library import templates, versions


def _pattern(text: str) -> str:
    problem = problem_with(text)
    if problem:
        raise ValueError(f"{text[:80]!r} is no regular expression to search with: {problem}")
    return text


def _formula(text: str) -> str:
    Formula.parse(text)
    return text


def _fault(text: str) -> str:
    Formula.parse(text, local=("asked", "effective"))
    return text


def _value_test(text: str) -> str:
    Formula.parse(text, local=("effective",))
    return text


def _threshold(text: str) -> str:
    Formula.parse(text, local=("before", "after"))
    return text


def _template(text: str) -> str:
    templates.check(text)
    return text


def _template_of_pattern(text: str) -> str:
    """With its placeholders filled in it has to be a pattern: they hold names alone."""
    _pattern(_PLACEHOLDER.sub("x", _template(text)))
    return text


def _range(text: str) -> str:
    versions.in_range("0", text)
    return text


def _number_to_text(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _words(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


def _lines(value: Any) -> Any:
    return value.splitlines() if isinstance(value, str) else value


def _glob(text: str) -> str:
    if len(re.findall(r"\*+", text)) > _MOST_STARS:
        raise ValueError(f"more than {_MOST_STARS} stars")
    return text


def _model_config(value: Any) -> Any:
    """One error for the entry, where a union of types would give one for each."""
    if isinstance(value, dict) or (isinstance(value, str) and re.fullmatch(_CONFIG_NAME, value)):
        return value
    raise ValueError("the name of a file in configs/, or the content of a config.json")


_CONFIG_NAME = r"^\w[\w.-]*$"
_MOST_STARS = 4
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_QUERY = r"^((call|assign|define|string):.+|[\w./-]+:\d+|[A-Za-z_][\w.]*)$"
_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"

PatternText = Annotated[str, AfterValidator(_pattern)]
TextOrNumber = Annotated[str, BeforeValidator(_number_to_text), WithJsonSchema({"type": ["string", "number"]})]
Words = Annotated[list[str], BeforeValidator(_words), WithJsonSchema({"type": ["string", "array"], "items": {"type": "string"}})]
Lines = Annotated[list[str], BeforeValidator(_lines), WithJsonSchema({"type": ["string", "array"], "items": {"type": "string"}})]
FormulaText = Annotated[str, BeforeValidator(_number_to_text), AfterValidator(_formula), WithJsonSchema({"type": ["string", "number"]})]
FaultText = Annotated[str, AfterValidator(_fault)]
ValueTestText = Annotated[str, AfterValidator(_value_test)]
ThresholdText = Annotated[str, AfterValidator(_threshold)]
TemplateText = Annotated[str, AfterValidator(_template)]
GlobText = Annotated[str, AfterValidator(_glob)]
RangeText = Annotated[str, AfterValidator(_range)]
ModelConfig = Annotated[
    Any, AfterValidator(_model_config), WithJsonSchema({"anyOf": [{"type": "string", "pattern": _CONFIG_NAME}, {"type": "object"}]})
]
Identifier = Annotated[str, Field(pattern=_ID, max_length=80)]


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


_NOT_GIVEN: Any = Field(default=None, json_schema_extra=_without_default)
"""A key that may be left out, but not left empty."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class AppliesTo(_Strict):
    package: str
    versions: RangeText = ""

    def build(self) -> domain.AppliesTo:
        return domain.AppliesTo(package=self.package, versions=self.versions)


class Signature(_Strict):
    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [key]} for key in ("symptom", "numbers", "log", "when")]})

    symptom: list[PatternText] = []
    numbers: list[FormulaText] = []
    log: list[PatternText] = []
    when: list[FormulaText] = []
    by_launch: StrictBool = False

    @model_validator(mode="after")
    def _recognisable(self) -> Signature:
        if not (self.symptom or self.numbers or self.log or (self.when and self.by_launch)):
            raise ValueError("nothing by which the failure could be recognised: give symptom, numbers, log, or when with by_launch")
        return self

    def build(self) -> domain.Signature:
        return domain.Signature(
            symptom=tuple(self.symptom),
            numbers=tuple(map(Formula.parse, self.numbers)),
            log=tuple(self.log),
            when=tuple(map(Formula.parse, self.when)),
            by_launch=self.by_launch,
        )


class Target(_Strict):
    """Either ``query`` (places in the code) or ``setting`` (an effective value)."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["query"]}, {"required": ["setting"]}]})

    id: Identifier
    query: Annotated[str, Field(pattern=_QUERY), AfterValidator(_template)] = _NOT_GIVEN
    setting: str = _NOT_GIVEN
    file: Annotated[TemplateText, AfterValidator(_glob)] = ""
    function: GlobText = ""
    text: Annotated[str, AfterValidator(_template_of_pattern)] = ""
    expect: Literal["runs", "rests"] = "runs"
    fault: FaultText = "asked != effective"
    role: Literal["required", "supporting", "definition", "effect"] = "required"
    versions: RangeText = ""
    why: str = ""

    @model_validator(mode="after")
    def _one_kind(self) -> Target:
        if len({"query", "setting"} & self.model_fields_set) != 1:
            raise ValueError("give exactly one of query and setting")
        if self.setting and (self.file or self.function or self.text):
            raise ValueError("file, function and text narrow a query, not a setting")
        return self

    def build(self) -> domain.PlaybookTarget:
        common = {"id": self.id, "role": self.role, "versions": self.versions, "why": self.why}
        if "setting" in self.model_fields_set:
            return domain.SettingTarget(setting=self.setting, fault=Formula.parse(self.fault, local=("asked", "effective")), **common)
        return domain.CodeTarget(query=self.query, file=self.file, function=self.function, text=self.text, expect=self.expect, **common)


class GuardCheck(_Strict):
    target: Identifier
    condition: PatternText = ""
    truth: Literal["true", "false", "unknown"] = "false"

    def build(self) -> domain.Claim:
        return domain.GuardClaim(target=self.target, condition=self.condition, truth=self.truth)


class VerdictCheck(_Strict):
    target: Identifier
    is_: Literal["never", "runs"] = Field(alias="is")

    def build(self) -> domain.Claim:
        return domain.VerdictClaim(target=self.target, verdict=self.is_)


class ValueCheck(_Strict):
    setting: str
    is_: ValueTestText = Field(alias="is")

    def build(self) -> domain.Claim:
        return domain.ValueClaim(setting=self.setting, is_=Formula.parse(self.is_, local=("effective",)))


class MethodCheck(_Strict):
    class_: FormulaText = Field(alias="class")
    name: str
    present: StrictBool = True

    def build(self) -> domain.Claim:
        return domain.MethodClaim(class_=Formula.parse(self.class_), method=self.name, present=self.present)


class FileCheck(_Strict):
    path: GlobText
    present: StrictBool = True

    def build(self) -> domain.Claim:
        return domain.FileClaim(path=self.path, present=self.present)


class TextCheck(_Strict):
    pattern: PatternText
    path: GlobText
    present: StrictBool = True

    def build(self) -> domain.Claim:
        return domain.TextClaim(pattern=self.pattern, path=self.path, present=self.present)


class LogCheck(_Strict):
    pattern: PatternText
    present: StrictBool = True

    def build(self) -> domain.Claim:
        return domain.LogClaim(pattern=self.pattern, present=self.present)


class ConfigCheck(_Strict):
    key: str = Field(pattern=r"^(target|draft)\.[\w.]+$")
    present: StrictBool = True

    def build(self) -> domain.Claim:
        return domain.ConfigClaim(key=self.key, present=self.present)


class Check(_Strict):
    """One machine-checkable claim: exactly one of the keys, and something in it."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    guard: GuardCheck = _NOT_GIVEN
    verdict: VerdictCheck = _NOT_GIVEN
    value: ValueCheck = _NOT_GIVEN
    method: MethodCheck = _NOT_GIVEN
    file: FileCheck = _NOT_GIVEN
    text: TextCheck = _NOT_GIVEN
    log: LogCheck = _NOT_GIVEN
    config: ConfigCheck = _NOT_GIVEN
    fact: FormulaText = _NOT_GIVEN

    @model_validator(mode="after")
    def _exactly_one(self) -> Check:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"exactly one of {', '.join(type(self).model_fields)}")
        return self

    def build(self) -> domain.Claim:
        (name,) = self.model_fields_set
        if name == "fact":
            return domain.FactClaim(formula=Formula.parse(self.fact))
        claim: domain.Claim = getattr(self, name).build()
        return claim


class Number(_Strict):
    formula: FormulaText
    means: str
    instead: FormulaText | None = None
    instead_means: str = ""

    def build(self) -> domain.ExpectedNumber:
        return domain.ExpectedNumber(
            formula=Formula.parse(self.formula),
            means=self.means,
            instead=Formula.parse(self.instead) if self.instead else None,
            instead_means=self.instead_means,
        )


class Cause(_Strict):
    kind: Literal["flag", "env", "config", "code", "platform"]
    name: TemplateText
    actual: FormulaText | None = None
    required: list[Any] = []

    def build(self) -> domain.CauseTemplate:
        actual = Formula.parse(self.actual) if self.actual else None
        return domain.CauseTemplate(kind=self.kind, name=self.name, actual=actual, required=tuple(self.required))


class FixChange(_Strict):
    """``to`` is a value, ``formula`` calculates it; neither removes the input."""

    name: str
    to: Any = None
    formula: FormulaText | None = None

    def build(self) -> domain.ChangeTemplate:
        return domain.ChangeTemplate(name=self.name, to=self.to, formula=Formula.parse(self.formula) if self.formula else None)


class Fix(_Strict):
    summary: TemplateText
    changes: list[FixChange] = []
    warnings: list[TemplateText] = []

    def build(self) -> domain.FixTemplate:
        changes = tuple(change.build() for change in self.changes)
        return domain.FixTemplate(summary=self.summary, changes=changes, warnings=tuple(self.warnings))


class Hypothesis(_Strict):
    id: Identifier
    claim: TemplateText
    role: Literal["cause", "otherwise", "alternative", "obstacle"] = "alternative"
    checks: list[Check] = Field(min_length=1)
    because: TemplateText = ""
    cause: Cause | None = None
    fix: Fix | None = None

    def build(self) -> domain.PlaybookHypothesis:
        return domain.PlaybookHypothesis(
            id=self.id,
            claim=self.claim,
            role=self.role,
            checks=tuple(check.build() for check in self.checks),
            because=self.because,
            cause=self.cause.build() if self.cause else None,
            fix=self.fix.build() if self.fix else None,
        )


class LogExpectation(_Strict):
    pattern: PatternText
    present: StrictBool = True
    means: str = ""

    def build(self) -> domain.LogExpectation:
        return domain.LogExpectation(pattern=self.pattern, present=self.present, means=self.means)


class Threshold(_Strict):
    metric: str
    holds: ThresholdText
    means: str = ""

    def build(self) -> domain.Threshold:
        return domain.Threshold(metric=self.metric, formula=Formula.parse(self.holds, local=("before", "after")), means=self.means)


class Verification(_Strict):
    log: list[LogExpectation] = []
    metrics: list[Threshold] = []

    def build(self) -> domain.Verification:
        return domain.Verification(log=tuple(item.build() for item in self.log), metrics=tuple(item.build() for item in self.metrics))


class Release(_Strict):
    package: str
    version: TextOrNumber


class ExpectedGuard(_Strict):
    path: str = ""
    line: StrictInt = 0
    condition: PatternText = ""

    def build(self) -> domain.ExpectedGuard:
        return domain.ExpectedGuard(path=self.path, line=self.line, condition=self.condition)


class Test(_Strict):
    """Either ``release`` or ``tree``."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["release"]}, {"required": ["tree"]}]})

    name: str
    release: Release = _NOT_GIVEN
    tree: dict[str, str] = {}
    launch: Words
    env: dict[str, TextOrNumber] = {}
    models: dict[str, ModelConfig] = {}
    files: dict[str, str] = {}
    target: str = ""
    draft: str = ""
    assume: dict[str, Any] = {}
    log: Lines | None = None
    symptom: str = ""
    expect: Literal["confirmed", "undecided", "silent"]
    guard: ExpectedGuard | None = None
    values: dict[str, Any] = {}

    @model_validator(mode="after")
    def _one_tree(self) -> Test:
        if len({"release", "tree"} & self.model_fields_set) != 1 or ("tree" in self.model_fields_set and not self.tree):
            raise ValueError("give exactly one of release and tree")
        return self

    def build(self) -> domain.PlaybookTest:
        return domain.PlaybookTest(
            name=self.name,
            argv=tuple(self.launch),
            expect=self.expect,
            package=self.release.package if self.release else "",
            version=self.release.version if self.release else "",
            log=None if self.log is None else tuple(self.log),
            guard=self.guard.build() if self.guard else None,
            **{key: getattr(self, key) for key in _TEST_AS_IS},
        )


_TEST_AS_IS = ("tree", "env", "models", "files", "target", "draft", "assume", "symptom", "values")


class Playbook(_Strict):
    """One recurring failure of a program: how to recognise it, which lines to judge, what to conclude."""

    schema_: Literal["rca.playbook/1"] = Field(alias="schema")
    id: Identifier
    title: str
    summary: str
    applies_to: list[AppliesTo] = Field(min_length=1)
    match: Signature
    facts: list[FormulaText] = []
    targets: list[Target] = []
    hypotheses: list[Hypothesis] = Field(min_length=1)
    numbers: list[Number] = []
    cause: Cause
    explanation: TemplateText = ""
    fix: Fix
    verify: Verification = Verification()
    references: list[str] = []
    tests: list[Test] = []

    def build(self, origin: str) -> domain.Playbook:
        return domain.Playbook(
            id=self.id,
            title=self.title,
            summary=self.summary.strip(),
            match=self.match.build(),
            facts=tuple(self.facts),
            cause=self.cause.build(),
            explanation=self.explanation,
            fix=self.fix.build(),
            verify=self.verify.build(),
            references=tuple(self.references),
            origin=origin,
            **{key: tuple(item.build() for item in getattr(self, key)) for key in _BUILT_LISTS},
        )


_BUILT_LISTS = ("applies_to", "targets", "hypotheses", "numbers", "tests")


def json_schema() -> dict[str, Any]:
    """The JSON Schema for editors, as published in ``docs/schema/playbook.json``."""
    schema = Playbook.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "rca.playbook/1", **schema}
