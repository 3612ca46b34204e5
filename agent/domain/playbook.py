"""A playbook: one recurring failure, how to recognise it, which lines to judge, what to conclude (schema in docs/playbooks.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from agent.domain.formula import Formula
from agent.domain.serialize import Plain

_EMPTY: Mapping[str, Any] = MappingProxyType({})

SCHEMA: Final = "rca.playbook/1"
CAUSES: Final = ("cause", "otherwise")
"""Roles of hypotheses that can make a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliesTo(Plain):
    """A package and the versions of it as a PEP 440 specifier; empty is every version."""

    package: str
    versions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """How the failure is recognised.

    ``symptom``: patterns of the report's words. ``numbers``: formulas; a number of the symptom that equals one speaks for the playbook.
    ``log``: patterns of log lines. ``when``: conditions that all have to hold; one that is false rules the playbook out.
    ``by_launch``: together they describe a combination that is wrong whatever the report says, so they alone make a match.
    """

    symptom: tuple[str, ...] = ()
    numbers: tuple[Formula, ...] = ()
    log: tuple[str, ...] = ()
    when: tuple[Formula, ...] = ()
    by_launch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTarget(Plain):
    """Places in the code, named by a query that survives releases and narrowed by hints.

    ``query``: as for ``rca why``. ``file``: a path pattern (``*`` within a directory, ``**`` across). ``function``: a pattern of the
    qualified name (``ModelRunner.*``). ``text``: a regular expression on the statement.
    ``expect``: "runs" (the feature lives here) or "rests" (a line that must not run: a fallback, an override).
    ``role``: "required" targets make the finding, "supporting" ones are judged and shown, "definition" and "effect" are only quoted
    in the chain of the report (what a guard calls; what hides the failure). ``query``, ``file`` and ``text`` may be templates.
    ``versions``: where the target exists at all.
    ``why``: what the line does, for people.
    """

    id: str
    query: str
    file: str = ""
    function: str = ""
    text: str = ""
    expect: str = "runs"
    role: str = "required"
    versions: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingTarget:
    """A setting whose effective value should be what was asked for.

    ``fault``: a condition over ``asked`` and ``effective`` (and facts) that is true in the fault; by default ``asked != effective``.
    """

    id: str
    setting: str
    fault: Formula
    role: str = "required"
    versions: str = ""
    why: str = ""


PlaybookTarget = CodeTarget | SettingTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardClaim(Plain):
    """The decisive guard of ``target`` matches ``condition`` (a regular expression; empty is any) and has this ``truth``."""

    target: str
    condition: str = ""
    truth: str = "false"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictClaim(Plain):
    """``target`` "never" runs at any of its places, or it "runs": nothing stands in the way of one of them."""

    target: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueClaim:
    """The effective value of ``setting`` makes ``is_`` true; the formula reads it as ``effective``."""

    setting: str
    is_: Formula


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodClaim:
    """The class named by ``class_`` (a formula that gives its name) has ``method``, its own or inherited."""

    class_: Formula
    method: str
    present: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FileClaim(Plain):
    """A file whose path matches the pattern is in the tree."""

    path: str
    present: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TextClaim(Plain):
    """A line that matches ``pattern`` is in a file whose path matches ``path``."""

    pattern: str
    path: str
    present: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LogClaim(Plain):
    """A line of the log matches ``pattern``."""

    pattern: str
    present: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigClaim(Plain):
    """``key`` (like ``draft.eagle_config.use_aux_hidden_state``) stands in the config.json of that role."""

    key: str
    present: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FactClaim:
    """A condition over facts holds."""

    formula: Formula


Claim = GuardClaim | VerdictClaim | ValueClaim | MethodClaim | FileClaim | TextClaim | LogClaim | ConfigClaim | FactClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedNumber:
    """A number that the failure shows (``formula``), what it means, and the number a healthy server shows (``instead``)."""

    formula: Formula
    means: str
    instead: Formula | None = None
    instead_means: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseTemplate:
    """``kind``: flag, env, config, code, platform. ``name``: the flag, variable or key. ``required``: values that would do."""

    kind: str
    name: str
    actual: Formula | None = None
    required: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTemplate:
    """One changed input of the fix: ``to`` is a value or a formula; both None removes it."""

    name: str
    to: Any = None
    formula: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixTemplate:
    """``changes`` empty: there is no launch that helps, and ``summary`` says what does."""

    summary: str
    changes: tuple[ChangeTemplate, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookHypothesis:
    """An explanation and the claims that must all hold for it.

    ``role``: "cause" (confirmed together with the required targets it makes the finding), "alternative" (another explanation, ruled
    out when refuted), "otherwise" (a cause that counts, and is told, only where no other holds), "obstacle" (what will stand in the way of
    the fix; confirmed, it becomes a warning of the fix). ``because``: template, what follows: of an alternative where it is ruled out, of
    any other where it holds. ``cause`` and ``fix`` of a cause take the place of the playbook's where it is the confirmed one.
    """

    id: str
    claim: str
    role: str
    checks: tuple[Claim, ...]
    because: str = ""
    cause: CauseTemplate | None = None
    fix: FixTemplate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExpectation(Plain):
    """After the fix a line matching ``pattern`` is there, or is not."""

    pattern: str
    present: bool
    means: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """After the fix ``formula`` holds; it reads ``before`` and ``after`` of one ``metric`` (accept_length, throughput, ...)."""

    metric: str
    formula: Formula
    means: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What shows that the fix works."""

    log: tuple[LogExpectation, ...] = ()
    metrics: tuple[Threshold, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedGuard(Plain):
    """``line`` 0 is any line, ``condition`` a regular expression."""

    path: str = ""
    line: int = 0
    condition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookTest(Plain):
    """A launch and what the playbook has to say of it.

    ``package`` and ``version`` name a release, or ``tree`` gives files by path. ``models``: model directory to its config.json, as a
    mapping or as the name of a file in ``playbooks/configs``; ``target`` and ``draft`` say which is which. ``expect``: "confirmed",
    "undecided" or "silent". ``values``: settings and their effective values.
    """

    name: str
    argv: tuple[str, ...]
    expect: str
    package: str = ""
    version: str = ""
    tree: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    env: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    models: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    files: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    target: str = ""
    draft: str = ""
    assume: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    log: tuple[str, ...] | None = None
    symptom: str = ""
    guard: ExpectedGuard | None = None
    values: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """One recurring failure. Text fields are Jinja2 templates over facts; ``origin`` is the file it was read from."""

    id: str
    title: str
    summary: str
    applies_to: tuple[AppliesTo, ...]
    match: Signature
    facts: tuple[str, ...] = ()
    targets: tuple[PlaybookTarget, ...] = ()
    hypotheses: tuple[PlaybookHypothesis, ...] = ()
    numbers: tuple[ExpectedNumber, ...] = ()
    cause: CauseTemplate
    explanation: str = ""
    fix: FixTemplate
    verify: Verification = field(default_factory=Verification)
    references: tuple[str, ...] = ()
    tests: tuple[PlaybookTest, ...] = ()
    origin: str = ""

    def target(self, id: str) -> PlaybookTarget:
        """The target of that id; a KeyError names the playbook."""
        for target in self.targets:
            if target.id == id:
                return target
        raise KeyError(f"{self.id}: no target {id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Why a playbook is taken: ``because`` in words, a higher ``score`` first; ``direct``: the report's own words or numbers speak for it.

    ``open_questions``: conditions that could not be decided, with the missing fact.
    """

    playbook: Playbook
    because: tuple[str, ...]
    score: int
    direct: bool
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """Why a playbook was not taken."""

    playbook: Playbook
    why: str
