"""Judges a playbook's targets: is this line, or this setting, in the state that the failure needs?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.domain.facts import Answer
from agent.domain.playbook import CodeTarget, PlaybookTarget, SettingTarget
from agent.domain.reached import NEVER, OPEN, RUNS, reading
from agent.domain.truth import Truth
from agent.domain.values import Known, OneOf, Unknown
from agent.domain.verdict import Effective, Guard, Setting, Target, WhyAnswer
from agent.library.templates import TemplateProblem, render_query
from agent.library.versions import in_range
from agent.subagents.playbook.case import Case, value_of

FAULT, HEALTHY, UNDECIDED, MISSING = "fault", "healthy", "undecided", "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetAnswer:
    """``state``: fault, healthy, undecided, or missing (this release has no such place). ``why`` says it in words."""

    target: PlaybookTarget
    state: str
    why: str
    places: tuple[Target, ...] = ()
    answers: tuple[WhyAnswer, ...] = ()
    setting: Setting | None = None

    @property
    def first(self) -> WhyAnswer | None:
        """The answer that shows the state best."""
        wanted = _SHOWS.get(self.state, ())
        return next((answer for verdict in wanted for answer in self.answers if answer.verdict == verdict), next(iter(self.answers), None))

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guards that decide. Of a place that never runs, its decisive one; of one that should rest and runs, the innermost that
        let it; of a setting, those around the lines that changed it, innermost first.
        """
        decisive = [answer.decisive for answer in self.answers if answer.decisive is not None]
        if self.state == FAULT and not decisive:
            decisive = [guard for answer in self.answers for guard in _innermost(answer)]
        changed = self.setting.changed_by if self.setting else ()
        return (*decisive, *(guard for change in reversed(changed) for guard in reversed(change.guards)))


def _innermost(answer: WhyAnswer) -> tuple[Guard, ...]:
    """The last branch taken before the line in its own function, rather than an exit that was passed by; else the last guard on the way."""
    guards = [guard for path in answer.paths for guard in path.guards]
    own = [guard for guard in guards if guard.path == answer.target.path and guard.line <= answer.target.line]
    branches = [guard for guard in own if guard.polarity and guard.kind != "early_exit"]
    return (max(branches or own, key=lambda guard: guard.line),) if own else tuple(guards[-1:])


_SHOWS: dict[str, tuple[str, ...]] = {
    FAULT: ("never", "always", "may"),
    HEALTHY: ("always", "may", "never"),
    UNDECIDED: ("unknown", "may"),
}


def judge_target(case: Case, target: PlaybookTarget) -> TargetAnswer | None:
    """None where the target does not belong to this version."""
    if in_range(case.facts.version, target.versions) is Truth.FALSE:
        return None
    return _JUDGES[type(target)](case, target)


def find_places(case: Case, target: CodeTarget) -> tuple[Target, ...]:
    """The query's places that fit the hints, in the engine's order. Raises TemplateProblem where a name in them is not known."""
    query, file, text = (render_query(part, case.names) for part in (target.query, target.file, target.text))
    hints = replace(target, file=file, text=text)
    return tuple(place for place in case.places(query) if fits(place, hints))


def fits(place: Target, target: CodeTarget) -> bool:
    """Whether a place lies in the file and function, and has the text, that the hints ask for."""
    return (
        (not target.file or bool(path_pattern(target.file).fullmatch(place.path)))
        and (not target.function or bool(name_pattern(target.function).fullmatch(place.function)))
        and (not target.text or bool(re.search(target.text, place.text)))
    )


def path_pattern(glob: str) -> re.Pattern[str]:
    """``*`` stays within a directory, ``**`` crosses them."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob)
    words = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts))


def name_pattern(glob: str) -> re.Pattern[str]:
    """``*`` matches any part of a qualified name."""
    return re.compile(".*".join(re.escape(part) for part in glob.split("*")))


def _judge_code(case: Case, target: CodeTarget) -> TargetAnswer:
    try:
        places = find_places(case, target)
    except TemplateProblem as problem:
        return TargetAnswer(target=target, state=UNDECIDED, why=f"{target.query}: {problem}")
    if not places:
        return TargetAnswer(target=target, state=MISSING, why=f"this release has no {target.query}{_where(target)}")
    if target.role in ("definition", "effect"):
        return TargetAnswer(target=target, state=UNDECIDED, why="quoted only", places=places)
    answers = tuple(case.why(place) for place in places)
    state = _EXPECT[target.expect]([reading(answer) for answer in answers])
    return TargetAnswer(target=target, state=state, why=_code_words(answers), places=places, answers=answers)


def _should_run(readings: Sequence[str]) -> str:
    """Switched off only if every place is; alive as soon as nothing stands in the way of one."""
    if all(read == NEVER for read in readings):
        return FAULT
    return HEALTHY if RUNS in readings else UNDECIDED


def _should_rest(readings: Sequence[str]) -> str:
    if RUNS in readings:
        return FAULT
    return HEALTHY if all(read == NEVER for read in readings) else UNDECIDED


_EXPECT: dict[str, Callable[[Sequence[str]], str]] = {"runs": _should_run, "rests": _should_rest}


def _judge_setting(case: Case, target: SettingTarget) -> TargetAnswer:
    setting = case.setting(target.setting)
    if setting is None:
        return TargetAnswer(target=target, state=MISSING, why=f"this release has no setting {target.setting}")
    asked, effective = Known(value=setting.asked.value), effective_answer(setting.effective)
    truth = target.fault.truth(case.facts, {"asked": asked, "effective": effective})
    state = {Truth.TRUE: FAULT, Truth.FALSE: HEALTHY, Truth.UNKNOWN: UNDECIDED}[truth]
    return TargetAnswer(target=target, state=state, why=_setting_words(setting, effective), setting=setting)


def effective_answer(effective: Effective) -> Answer:
    """The audit's effective value as an answer of the formula language, which knows no value that is one of several."""
    value = value_of(effective)
    return Unknown(reason=f"it is one of {', '.join(map(repr, value.values))}") if isinstance(value, OneOf) else value


_JUDGES: dict[type[Any], Callable[[Case, Any], TargetAnswer]] = {CodeTarget: _judge_code, SettingTarget: _judge_setting}


def _where(target: CodeTarget) -> str:
    hints = [hint for hint in (target.file, target.function) if hint]
    return f" in {', '.join(hints)}" if hints else ""


def _code_words(answers: Sequence[WhyAnswer]) -> str:
    return "; ".join(f"{answer.target.path}:{answer.target.line} {_verdict_words(answer)}" for answer in answers)


def _verdict_words(answer: WhyAnswer) -> str:
    if answer.decisive is not None and answer.verdict == "never":
        guard = answer.decisive
        return f"never runs: {guard.path}:{guard.line} `{guard.condition}` is {guard.truth}"
    words = {"never": "never runs", "always": "runs", "may": "runs whenever it is called"} if reading(answer) != OPEN else {}
    return words.get(answer.verdict, f"is undecided: {answer.reason or answer.verdict}")


def _setting_words(setting: Setting, effective: Answer) -> str:
    value = repr(effective.value) if isinstance(effective, Known) else f"unknown: {getattr(effective, 'reason', '')}"
    by = f", changed at {setting.changed_by[-1].path}:{setting.changed_by[-1].line}" if setting.changed_by else ""
    return f"{setting.name}: asked {setting.asked.value!r} ({setting.asked.source}), effective {value}{by}"
