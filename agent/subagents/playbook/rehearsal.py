"""Plays a playbook's test: the launch it describes, judged by a real engine, against what it expects."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent.domain.errors import RcaError
from agent.domain.facts import ABSENT, Facts
from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.domain.playbook import Playbook, PlaybookTest, RuledOut
from agent.domain.source import Absent, Files, SourceTree, Unreadable
from agent.domain.values import Fact, Known, Unknown
from agent.evaluation.interface import Engine
from agent.library.matching import judge as judge_match
from agent.subagents.playbook.conclusion import PlaybookAnswer, investigate


class OpenEngine(Protocol):
    """How an engine is made."""

    def __call__(self, tree: SourceTree, launch: Launch, *, files: Files, facts: Mapping[str, Any]) -> Engine: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """``problems`` empty: the test passed. ``said``: what the playbook made of the launch; ``answer`` None: it did not match."""

    playbook: Playbook
    test: PlaybookTest
    said: str
    problems: tuple[str, ...]
    answer: PlaybookAnswer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFiles:
    """The files of a test by path; everything else is absent."""

    contents: Mapping[str, bytes]

    def read(self, path: str) -> bytes | Absent | Unreadable:
        found = self.contents.get(posixpath.normpath(path))
        return Absent(path=path) if found is None else found

    def is_dir(self, path: str) -> bool | None:
        inside = posixpath.normpath(path).rstrip("/") + "/"
        return any(name.startswith(inside) for name in self.contents)


def rehearse(playbook: Playbook, test: PlaybookTest, tree: SourceTree, open_engine: OpenEngine) -> Rehearsal:
    """``test``: with its model configs read (``library.samples``). An engine's error is a failed test, with the error's words."""
    facts = facts_of(playbook, test)
    assert facts.launch is not None and facts.symptom is not None
    match = judge_match(playbook, facts.symptom, facts)
    if isinstance(match, RuledOut):
        problems = [] if test.expect == "silent" else [f"expected {test.expect}, but it does not match: {match.why}"]
        return Rehearsal(playbook=playbook, test=test, said=f"does not match: {match.why}", problems=tuple(problems))
    try:
        engine = open_engine(tree, facts.launch, files=files_of(test), facts=test.assume)
        answer = investigate(playbook, engine, facts)
        problems = [problem for check in _CHECKS for problem in check(test, answer, engine)]
    except RcaError as problem:
        return Rehearsal(playbook=playbook, test=test, said="failed", problems=(str(problem),))
    return Rehearsal(playbook=playbook, test=test, said=answer.outcome, problems=tuple(problems), answer=answer)


def facts_of(playbook: Playbook, test: PlaybookTest) -> Facts:
    """What a playbook may ask of the test's server; a log that the test does not give was not read."""
    configs = {role: test.models.get(name, ABSENT) if name else ABSENT for role, name in (("target", test.target), ("draft", test.draft))}
    return Facts(
        package=test.package or playbook.applies_to[0].package,
        version=test.version,
        symptom=Symptom.parse(test.symptom),
        launch=Launch(argv=test.argv, env=test.env),
        configs=configs,
        config_paths={role: f"{name}/config.json" for role, name in (("target", test.target), ("draft", test.draft)) if name},
        log=test.log,
        host=tuple(Fact(name=name, value=Known(value=value)) for name, value in test.assume.items()),
    )


def files_of(test: PlaybookTest) -> GivenFiles:
    """Model configs as JSON, other files as they are."""
    models = {posixpath.normpath(f"{path}/config.json"): json.dumps(config).encode() for path, config in test.models.items()}
    return GivenFiles(contents=models | {posixpath.normpath(path): text.encode() for path, text in test.files.items()})


def _outcome(test: PlaybookTest, answer: PlaybookAnswer, engine: Engine) -> Iterator[str]:
    if answer.outcome != test.expect:
        details = [f"{one.target.id} {one.state}: {one.why}" for one in answer.targets]
        details += [f"{one.id.rpartition('/')[2]} {one.status}: {one.why}" for one in answer.hypotheses]
        yield f"expected {test.expect}, got {answer.outcome} ({'; '.join(details)})"


def _guard(test: PlaybookTest, answer: PlaybookAnswer, engine: Engine) -> Iterator[str]:
    expected, found = test.guard, answer.finding.guard if answer.finding else None
    if expected is None or answer.finding is None:
        return
    if found is None:
        yield "no guard was named"
        return
    if expected.path and expected.path != found.path:
        yield f"expected a guard in {expected.path}, got {found.path}:{found.line}"
    elif expected.line and expected.line != found.line:
        yield f"expected the guard {expected.path}:{expected.line}, got line {found.line} `{found.condition}`"
    if expected.condition and not re.search(expected.condition, found.condition):
        yield f"expected a guard like {expected.condition!r}, got `{found.condition}`"


def _values(test: PlaybookTest, answer: PlaybookAnswer, engine: Engine) -> Iterator[str]:
    for name, expected in test.values.items():
        value = engine.setting(name)
        if value != Known(value=expected):
            shown = value.reason if isinstance(value, Unknown) else getattr(value, "value", getattr(value, "values", None))
            yield f"expected {name} to be {expected!r}, got {shown!r}"


def _text(test: PlaybookTest, answer: PlaybookAnswer, engine: Engine) -> Iterator[str]:
    """A text with a hole is a fault of the playbook, even where the verdict is right."""
    finding = answer.finding
    texts = [hypothesis.claim for hypothesis in answer.hypotheses]
    texts += [finding.summary, finding.fix.summary if finding.fix else ""] if finding else []
    yield from (text for text in texts if "text not complete" in text)


_CHECKS: tuple[Callable[[PlaybookTest, PlaybookAnswer, Engine], Iterator[str]], ...] = (_outcome, _guard, _values, _text)
