"""What becomes of a conclusion: confirmed where the engine agrees and the symptom fits, ruled out by counter-evidence, or undecided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.domain.investigation import Finding, Hypothesis, Symptom
from agent.domain.verdict import Guard, Setting, WhyAnswer
from agent.domain.visible import one_line
from agent.subagents.model.claims import DECIDING, REFUTED, SUPPORTED, Checked, Claim
from agent.subagents.model.finding import finding_of_guard, finding_of_setting
from agent.subagents.model.investigator import Conclusion
from agent.subagents.model.relevance import setting_is_meant, shared_phrase, shared_word
from agent.tools.effective_value import in_audit
from agent.tools.interface import Sources
from agent.tools.reading import NotRead, lines_of

_QUOTED = 200
_GUARDS = ("guard_false", "guard_true")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """``hypotheses`` for the report, ``facts`` that hold, a ``finding`` where one is confirmed; ``cut``: bytes that stand for nothing."""

    hypotheses: tuple[Hypothesis, ...] = ()
    facts: tuple[Checked, ...] = ()
    finding: Finding | None = None
    cut: int = 0

    @property
    def evidence(self) -> frozenset[str]:
        return frozenset(id_ for h in self.hypotheses for id_ in h.evidence) | frozenset(id_ for f in self.facts for id_ in f.evidence)


def judge(conclusion: Conclusion, symptom: Symptom) -> Judgement:
    """Asks the engine for the counterfactuals of what is confirmed; reads nothing else."""
    checked = conclusion.checked
    supported = tuple(one for one in checked if one.status == SUPPORTED)
    refuted = tuple(one for one in checked if one.status == REFUTED and one.claim.kind in DECIDING)
    cut = _size(conclusion.note) + sum(_size(one.claim.text) for one in checked if one.status not in (SUPPORTED, REFUTED))
    if not supported and not refuted:
        # Nothing that it says could be found again: its words have no place in a report.
        return Judgement(cut=cut + _size(conclusion.proposal.claim))
    ruled_out = tuple(_ruled_out(conclusion, one) for one in refuted)
    why, finding = _confirmation(conclusion, symptom, supported, bool(refuted))
    main = _confirmed(conclusion, finding, supported) if finding else _undecided(conclusion, why, supported)
    return Judgement(hypotheses=(*([main] if supported else []), *ruled_out), facts=supported, finding=finding, cut=cut)


def _confirmation(
    conclusion: Conclusion, symptom: Symptom, supported: tuple[Checked, ...], contradicted: bool
) -> tuple[str, Finding | None]:
    """The finding, or why there is none. What the model says counts only where it makes it harder."""
    if conclusion.verdict != "confirmed":
        return f"the model concluded: {conclusion.verdict}", None
    if contradicted:
        return "another of its claims was refuted", None
    reasons = []
    for one in supported:
        why, finding = _tried(one, conclusion, symptom)
        if finding is not None:
            return "", finding
        reasons += [why] if why else []
    return "; ".join(dict.fromkeys(reasons)) or "no condition or value that the engine agrees with was given", None


def _tried(one: Checked, conclusion: Conclusion, symptom: Symptom) -> tuple[str, Finding | None]:
    id_ = f"model-{conclusion.number}"
    sources = conclusion.bench.sources
    if one.claim.kind in _GUARDS and one.answer is not None and one.guard is not None:
        why = shuts(one.answer, one.guard)
        if why:
            return why, None
        shared = shared_word(symptom, _code_of(one.answer, one.guard), sources.tree) or _shared_phrase(symptom, one.guard, sources)
        if not shared:
            return "nothing ties this line to the symptom: they share no name, no rare word and no message", None
        return "", finding_of_guard(id_, one.answer, one.guard, shared, sources, one.evidence)
    if one.claim.kind == "value_is" and (row := _changed(one.claim, conclusion)) is not None:
        if not setting_is_meant(symptom, row.name):
            return f"nothing ties the setting {row.name} to the symptom", None
        return "", finding_of_setting(id_, row, sources, one.evidence)
    return "", None


def shuts(answer: WhyAnswer, guard: Guard) -> str:
    """Empty where this condition keeps the line from running on every path; else what is missing."""
    place = f"{answer.target.path}:{answer.target.line}"
    if answer.verdict != "never":
        return f"the engine's verdict on {place} is {answer.verdict}"
    if guard.truth != str(not guard.polarity).lower():
        return f"`{guard.condition}` at {guard.path}:{guard.line} does not keep {place} from running"
    decisive = answer.decisive
    if decisive is not None and (decisive.path, decisive.line) == (guard.path, guard.line):
        return ""
    through = [any(_closes(g, guard) for g in path.guards) for path in answer.paths]
    return "" if through and all(through) else f"{place} is kept from running by another condition as well"


def _closes(found: Guard, guard: Guard) -> bool:
    same = (found.path, found.line, found.condition) == (guard.path, guard.line, guard.condition)
    return same and found.truth == str(not found.polarity).lower()


def _shared_phrase(symptom: Symptom, guard: Guard, sources: Sources) -> str:
    lines = lines_of(sources.tree, guard.path)
    phrase = "" if isinstance(lines, NotRead) else shared_phrase(symptom, lines, guard.line)
    return f'"{phrase}"' if phrase else ""


def _code_of(answer: WhyAnswer, guard: Guard) -> Iterator[str]:
    """The words that may tie a line to a symptom: its own, its function's, its condition's; not those of distant callers."""
    yield answer.target.text
    yield answer.target.function
    yield guard.condition
    yield guard.function


def _changed(claim: Claim, conclusion: Conclusion) -> Setting | None:
    """A setting that was asked for and is not what was asked, with the line that changed it."""
    row = in_audit(conclusion.bench.sources.audit, claim.name)
    return row if row is not None and row.verdict == "overridden" and row.changed_by else None


# --- hypotheses ----------------------------------------------------------------------------------------------------------------


def _confirmed(conclusion: Conclusion, finding: Finding, supported: tuple[Checked, ...]) -> Hypothesis:
    return _hypothesis(conclusion, "", finding.title, "confirmed", _facts(supported), supported)


def _undecided(conclusion: Conclusion, why: str, supported: tuple[Checked, ...]) -> Hypothesis:
    proposal = conclusion.proposal.claim[:_QUOTED].replace('"', "'")
    claim = f'proposed by the model: "{proposal}"'
    return _hypothesis(conclusion, "", claim, "undecided", f"{why}. What holds: {_facts(supported)}", supported)


def _ruled_out(conclusion: Conclusion, one: Checked) -> Hypothesis:
    """Stated as the claim that was checked: the prose around it may have meant more than was refuted."""
    return _hypothesis(conclusion, f"-{one.id.partition('.')[2]}", _told(one.claim), "refuted", one.counter, (one,))


def _hypothesis(conclusion: Conclusion, suffix: str, claim: str, status: str, why: str, rests_on: tuple[Checked, ...]) -> Hypothesis:
    evidence = tuple(dict.fromkeys(id_ for one in rests_on for id_ in one.evidence))
    masked = conclusion.bench.sources.masked_code
    return Hypothesis(id=f"model-{conclusion.number}{suffix}", claim=masked(claim), status=status, why=masked(why), evidence=evidence)


def _facts(supported: tuple[Checked, ...]) -> str:
    return "; ".join(one.said for one in supported)


def _told(claim: Claim) -> str:
    if claim.kind in _GUARDS:
        return f"the condition at {claim.path}:{claim.line} is {claim.kind.removeprefix('guard_')}"
    value = one_line(repr(claim.value))
    return f"{one_line(claim.name)} is {value if len(value) <= _QUOTED else value[:_QUOTED] + '...'}"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
