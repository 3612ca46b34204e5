"""The chain of a finding: what was asked, where the deciding value comes from, the guard, the lines it decides, what hides that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.domain.investigation import Cause, ChainStep
from agent.domain.playbook import CodeTarget
from agent.domain.reached import reading
from agent.domain.verdict import Guard, Operand, Place, Target, WhyAnswer
from agent.library.templates import TemplateProblem
from agent.subagents.playbook.case import Case
from agent.subagents.playbook.targets import FAULT, TargetAnswer, find_places

_PASSED_ON = re.compile(r"(?:from|import|class|def)\b|\w+(?:\s*:[^=]*)?,\Z")
"""Lines that only hand a value on: imports, heads of definitions, parameters on a line of their own."""
_NAME = re.compile(r"[A-Za-z_]\w\w+")
_ASKED = {"flag": (" ", "is not passed"), "env": ("=", "is not set"), "config": (" = ", "is not there")}
"""Kinds of causes that the launch or a file was given: what stands between name and value, and how it is told that there is none."""
_WORDS = {"never": "never runs", "runs": "runs"}


def build_chain(case: Case, targets: Sequence[TargetAnswer], cause: Cause) -> Iterator[ChainStep]:
    """Definitions are quoted between where the first guard's value comes from and that guard.

    The value stands beside the nearest line that it comes from; what lies before only leads there.
    """
    yield from _asked(case, cause)
    definitions = [*_quoted(case, "definition")]
    for answer in targets:
        if answer.first is not None and answer.target.role == "required":
            yield from _code_steps(case, answer, answer.first, definitions)
            definitions = []
        elif answer.setting is not None and answer.state == FAULT:
            yield from _setting_steps(case, answer)
    yield from definitions
    yield from _quoted(case, "effect")


def _asked(case: Case, cause: Cause) -> Iterator[ChainStep]:
    """The launch's or the file's own words, or those that it lacks."""
    if cause.kind not in _ASKED:
        return
    between, absent = _ASKED[cause.kind]
    role, _, key = cause.name.removeprefix("config:").partition(":") if cause.kind == "config" else ("", "", "")
    name = key or cause.name.removeprefix("env:")
    bare = cause.actual is True and cause.kind == "flag"
    text = f"{name} {absent}" if cause.actual is None else name if bare else f"{name}{between}{cause.actual}"
    value = "" if bare or cause.actual is None else repr(cause.actual)
    yield ChainStep(path=case.facts.config_paths.get(role, ""), line=0, text=text, role="config", value=value)


def _code_steps(case: Case, answer: TargetAnswer, why: WhyAnswer, definitions: Sequence[ChainStep]) -> Iterator[ChainStep]:
    guard = why.decisive or next(iter(answer.guards), None)
    for operand in _telling(guard) if guard is not None else ():
        origins = _origins(case, operand)
        for place in reversed(origins):
            text = case.line(place.path, place.line)
            value = f"{operand.text} = {operand.value}" if place == origins[0] else ""
            yield ChainStep(path=place.path, line=place.line, text=text, role="definition", value=value)
    yield from definitions
    if guard is not None:
        yield ChainStep(path=guard.path, line=guard.line, text=guard.condition, role="guard", value=guard.truth)
    target = why.target
    yield ChainStep(path=target.path, line=target.line, text=target.text, role="effect", value=_WORDS.get(reading(why), why.verdict))


def _telling(guard: Guard) -> Sequence[Operand]:
    """The operand that decides, or the parts of it; the others' origins tell nothing, nor does that an object is an object."""
    exact = [operand for operand in guard.operands if operand.text == guard.decisive_operand]
    parts = [operand for operand in guard.operands if operand.text in guard.decisive_operand and not operand.value.endswith(" object>")]
    return exact or parts or guard.operands


def _origins(case: Case, operand: Operand) -> Sequence[Place]:
    """The lines that name what the operand is about, or its value: the others are the machinery that every value passes through.

    Of several lines that write it, the nearest.
    """
    lines = {place: case.line(place.path, place.line) for place in operand.from_}
    speaking = [place for place, text in lines.items() if not _PASSED_ON.match(text)]
    names = {found[-1] for text in (operand.text, operand.value) if (found := _NAME.findall(text))} - {"None", "True", "False"}
    named = [place for place in speaking if any(name in lines[place] for name in names)] or speaking[:1]
    writers = [place for place in named if lines[place].startswith(f"{operand.text} = ")]
    return [place for place in named if place not in writers[1:]]


def _setting_steps(case: Case, answer: TargetAnswer) -> Iterator[ChainStep]:
    setting = answer.setting
    changes = setting.changed_by if setting else ()
    for number, changed in enumerate(changes, 1):
        for guard in _not_passed_by(case, changed.guards):
            yield ChainStep(path=guard.path, line=guard.line, text=guard.condition, role="guard", value=guard.truth)
        text = changed.text or case.line(changed.path, changed.line)
        value = answer.why.partition(", changed at ")[0] if number == len(changes) else "runs"
        yield ChainStep(path=changed.path, line=changed.line, text=text, role="effect", value=value)


def _not_passed_by(case: Case, guards: Sequence[Guard]) -> Iterator[Guard]:
    """Without the branches of one if statement that asked for other values of the same thing before the one that was taken."""
    for guard, following in zip(guards, (*guards[1:], None), strict=True):
        if following is None or guard.path != following.path or not _is_next_branch(case, guard, following):
            yield guard


def _is_next_branch(case: Case, guard: Guard, following: Guard) -> bool:
    here, there = (case.indented_line(one.path, one.line) for one in (guard, following))
    branch = there.lstrip()
    same_statement = branch.startswith("elif ") and len(here) - len(here.lstrip()) == len(there) - len(branch)
    return same_statement and guard.condition.split()[0] == following.condition.split()[0]


def _quoted(case: Case, role: str) -> Iterator[ChainStep]:
    for target in case.playbook.targets:
        if isinstance(target, CodeTarget) and target.role == role:
            for place in _places(case, target):
                text = case.line(place.path, place.line) or place.text
                yield ChainStep(path=place.path, line=place.line, text=text, role=role, value=target.why)


def _places(case: Case, target: CodeTarget) -> tuple[Target, ...]:
    try:
        return find_places(case, target)
    except TemplateProblem:
        return ()
