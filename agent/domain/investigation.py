"""One symptom's investigation and its result: contract ``rca.report/1``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from agent.domain.serialize import Plain, to_plain
from agent.domain.source import Evidence
from agent.domain.verdict import Counterfactual, PathCondition

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom(Plain):
    """The failure as reported; its numbers are kept, integers as int."""

    text: str
    numbers: tuple[float, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Symptom:
        found = _NUMBER.findall(text)
        return cls(text=text, numbers=tuple(float(n) if "." in n else int(n) for n in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo(Plain):
    """Identity and circumstances of a run: the only part, with ``observed_at``, that differs between two runs."""

    id: str
    started_at: str
    duration_s: float
    host: str
    transport: str
    rca_version: str
    llm: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Plain):
    """The software that runs: package, version, source root; files newer than the process."""

    package: str
    version: str
    root: str
    modified_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause(Plain):
    """``kind``: flag, env, config, code, platform."""

    kind: str
    name: str
    actual: Any
    required: tuple[Any, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisiveGuard(Plain):
    """The guard that switched the feature off."""

    path: str
    line: int
    condition: str
    truth: str
    decisive_operand: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetVerdict(Plain):
    """A line that was expected to run, or to rest; or the line that changed ``setting``, where the finding is about its value."""

    path: str
    line: int
    text: str
    verdict: str
    setting: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainStep(Plain):
    """One hop from configuration to effect; ``role``: config, call, definition, guard, effect."""

    path: str
    line: int
    text: str
    role: str
    value: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix(Plain):
    """What to change; ``command`` is the complete corrected launch command, never executed here."""

    summary: str
    command: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Plain):
    """A cause with its proof. ``confidence``: proved, assuming, suspected."""

    id: str
    title: str
    summary: str
    confidence: str
    assumptions: tuple[str, ...] = ()
    cause: Cause
    guard: DecisiveGuard | None
    targets: tuple[TargetVerdict, ...] = ()
    chain: tuple[ChainStep, ...] = ()
    counterfactual: Counterfactual | None = None
    fix: Fix | None = None
    paths: tuple[PathCondition, ...] = ()
    """The call paths behind ``targets`` with all their guards, for the foldable tree; what was proved, not a sample."""

    @property
    def touched(self) -> tuple[TargetVerdict, ...]:
        """The decided targets that the fix was seen to open or to close; all that are decided where it was not evaluated."""
        decided = tuple(target for target in self.targets if target.verdict in ("never", "always"))
        found = self.counterfactual
        places = {(place.path, place.line) for place in (*found.opens, *found.closes)} if found else set()
        return tuple(target for target in decided if (target.path, target.line) in places) or decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis(Plain):
    """``status``: confirmed, refuted, undecided."""

    id: str
    claim: str
    status: str
    why: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownThing(Plain):
    """Something that could not be determined, and the probe or fact that would settle it."""

    what: str
    why: str
    settle_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Plain):
    """What the run cost; ``bytes`` of answers as they came over the wire.

    ``seconds`` holds nothing in new reports: what a clock measures differs between two runs on the same input, so it stands in
    ``run.duration_s`` alone.
    """

    commands: int = 0
    round_trips: int = 0
    bytes: int = 0
    files: int = 0
    seconds: float | None = None
    llm_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberExplained(Plain):
    """A number of the symptom, the formula over collected facts that gives it, and the number expected instead."""

    number: float
    formula: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord(Plain):
    """What one subagent did: ``status`` is "done", "failed" or "skipped"; never-look-alike values."""

    name: str
    task: str
    status: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchInfo(Plain):
    """The launch as reported (secrets masked)."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    pid: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Investigation(Plain):
    """Everything one run found. ``outcome``: cause_confirmed, undecided, no_fault_found, failed."""

    schema: str = "rca.report/1"
    run: RunInfo
    symptom: Symptom
    outcome: str
    subject: Subject | None
    launch: LaunchInfo | None
    findings: tuple[Finding, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    unknowns: tuple[UnknownThing, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    numbers: tuple[NumberExplained, ...] = ()
    agents: tuple[AgentRecord, ...] = ()
    reproduce: tuple[str, ...] = ()
    """Read commands that a person can paste to see the same."""
    playbook: str = ""
    matched_because: str = ""
    cost: Cost = field(default_factory=Cost)

    def as_dict(self) -> dict[str, Any]:
        """The stable JSON; a cost's seconds move to ``run`` so that the rest is reproducible byte for byte."""
        plain: dict[str, Any] = to_plain(self)
        return plain
