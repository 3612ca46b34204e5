"""Which playbooks speak to a symptom and a set of facts, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.domain.facts import Facts
from agent.domain.investigation import Symptom
from agent.domain.playbook import Match, Playbook, RuledOut
from agent.domain.truth import Truth
from agent.domain.values import Known, Unknown
from agent.domain.visible import in_backticks
from agent.library.versions import in_range

_WORDS, _NUMBER, _LOG, _WHEN = 4, 5, 3, 2
"""What one hit weighs: a number is the most specific thing a report can say, a condition alone the least."""


def judge(playbook: Playbook, symptom: Symptom, facts: Facts) -> Match | RuledOut:
    """A match needs the right package, no false condition, and something that speaks for it."""
    mismatch = _wrong_package(playbook, facts)
    if mismatch:
        return RuledOut(playbook=playbook, why=mismatch)
    truths = [(formula, formula.truth(facts)) for formula in playbook.match.when]
    for formula, truth in truths:
        if truth is Truth.FALSE:
            return RuledOut(playbook=playbook, why=f"its condition `{formula.text}` does not hold here")
    reported = [*_symptom_words(playbook, symptom), *_symptom_numbers(playbook, symptom, facts)]
    logged = [*_log_lines(playbook, facts)]
    held = [(f"`{formula.text}` holds", _WHEN) for formula, truth in truths if truth is Truth.TRUE]
    if not reported and not logged and not (playbook.match.by_launch and len(held) == len(truths)):
        return RuledOut(playbook=playbook, why="nothing in the symptom, the log or the launch speaks for it")
    hits = [*reported, *logged, *held]
    return Match(
        playbook=playbook,
        because=tuple(why for why, _ in hits),
        score=sum(weight for _, weight in hits),
        direct=bool(reported),
        open_questions=tuple(_open_questions(playbook, facts)),
    )


def ranked(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Those the report itself speaks for, best first; only where there are none, those that the log and the launch alone suggest."""
    every = sorted(matches, key=lambda match: (-match.score, match.playbook.id))
    return tuple(match for match in every if match.direct) or tuple(every)


def _wrong_package(playbook: Playbook, facts: Facts) -> str:
    if not facts.package:
        return ""
    mine = [applies for applies in playbook.applies_to if _same(applies.package, facts.package)]
    if not mine:
        return f"it is about {', '.join(applies.package for applies in playbook.applies_to)}, not {facts.package}"
    if all(in_range(facts.version, applies.versions) is Truth.FALSE for applies in mine):
        return f"it is about {facts.package} {' or '.join(applies.versions for applies in mine)}, not {facts.version}"
    return ""


def _same(left: str, right: str) -> bool:
    """Package names compare as in the package index."""
    return re.sub(r"[-_.]+", "-", left).lower() == re.sub(r"[-_.]+", "-", right).lower()


def _symptom_words(playbook: Playbook, symptom: Symptom) -> Iterable[tuple[str, int]]:
    for pattern in playbook.match.symptom:
        found = re.search(pattern, symptom.text, re.IGNORECASE)
        if found:
            yield f"the symptom says {found.group(0)!r}", _WORDS


def _symptom_numbers(playbook: Playbook, symptom: Symptom, facts: Facts) -> Iterable[tuple[str, int]]:
    for formula in playbook.match.numbers:
        value = formula.value(facts)
        if isinstance(value, Known) and value.value in symptom.numbers:
            yield f"the symptom's number {value.value} is `{formula.text}`", _NUMBER


def _log_lines(playbook: Playbook, facts: Facts) -> Iterable[tuple[str, int]]:
    for pattern in playbook.match.log:
        line = next((line for line in facts.log or () if re.search(pattern, line)), None)
        if line is not None:
            yield f"the log says {in_backticks(_short(line))}", _LOG


def _open_questions(playbook: Playbook, facts: Facts) -> Iterable[str]:
    for formula in playbook.match.when:
        value = formula.value(facts)
        if isinstance(value, Unknown):
            yield f"`{formula.text}`: {value.reason}"


def _short(line: str, limit: int = 120) -> str:
    return line if len(line) <= limit else line[: limit - 3] + "..."
