"""Fakes around the engine: one over a table of answers, for tests of what asks engines, and a host without files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.domain.errors import TargetNotFound
from agent.domain.launch import Launch
from agent.domain.source import Absent, Unreadable
from agent.domain.values import Unknown, Value
from agent.domain.verdict import AuditAnswer, Change, Counterfactual, Guard, PathCondition, Place, ReachAnswer, Setting, Target, WhyAnswer


@dataclass(frozen=True)
class FakeTree:
    """Files by path."""

    contents: Mapping[str, str]
    root: str = "/tree"

    def files(self) -> Iterable[str]:
        return sorted(self.contents)

    def read(self, path: str) -> bytes | Absent | Unreadable:
        return self.contents[path].encode() if path in self.contents else Absent(path=path)

    def containing(self, words: Iterable[bytes]) -> Iterator[str]:
        wanted = [word.decode() for word in words]
        return (path for path in self.files() if any(word in self.contents[path] for word in wanted))


class NoFiles:
    """A host without any configuration file."""

    def read(self, path: str) -> Absent:
        return Absent(path=path)

    def is_dir(self, path: str) -> bool:
        return False


@dataclass(frozen=True)
class FakeEngine:
    """``verdicts``: "path:line" to a verdict, or to the line of the false guard (an int) that makes it "never"; "whenever" is a "may"
    on a path whose guards are all as they must be.

    Targets are found by text: ``call:x`` is every line with ``x(``, ``assign:x`` with ``x =``, the rest every line that contains it.
    ``changed``: what the engine becomes under any change.
    """

    tree: FakeTree
    launch: Launch = field(default_factory=lambda: Launch(argv=()))
    verdicts: Mapping[str, str | int] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    audited: AuditAnswer = field(default_factory=lambda: AuditAnswer(settings=()))
    changed: FakeEngine | None = None
    assumed: Mapping[str, Any] = field(default_factory=dict)

    def targets(self, query: str) -> tuple[Target, ...]:
        kind, _, rest = query.partition(":")
        if rest.isdigit():
            return (self._target(kind, int(rest)),)
        wanted = {"call": rf"\b{rest}\(", "assign": rf"\b{rest} =", "define": rf"\b(?:def|class) {rest}\b"}.get(kind, re.escape(rest))
        found = [
            self._target(path, number)
            for path in self.tree.files()
            for number, line in enumerate(self.tree.contents[path].splitlines(), 1)
            if re.search(wanted, line)
        ]
        if not found:
            raise TargetNotFound(f"no {query}")
        return tuple(found)

    def _target(self, path: str, line: int) -> Target:
        return Target(path=path, line=line, text=self._line(path, line), function="f")

    def _line(self, path: str, line: int) -> str:
        lines = self.tree.contents.get(path, "").splitlines()
        if not 0 < line <= len(lines):
            raise TargetNotFound(f"no line {path}:{line}")
        return lines[line - 1].strip()

    def why(self, query: str, *, counterfactuals: bool = True) -> WhyAnswer:
        (target, *_) = self.targets(query)
        verdict = self.verdicts.get(f"{target.path}:{target.line}", "unknown")
        if verdict == "whenever":
            passed = Guard(path=target.path, line=target.line, condition="self.slow", polarity=False, truth="false", function="f")
            path = PathCondition(calls=(), guards=(passed,), open=None)
            return WhyAnswer(
                target=target, verdict="may", decisive=None, assumptions=(), paths=(path,), reason="it runs whenever f() is called"
            )
        if isinstance(verdict, str):
            return WhyAnswer(target=target, verdict=verdict, decisive=None, assumptions=(), paths=(), reason="no verdict in the fake")
        condition = self._line(target.path, verdict).removeprefix("if ").removesuffix(":")
        guard = Guard(path=target.path, line=verdict, condition=condition, truth="false", function="f")
        return WhyAnswer(target=target, verdict="never", decisive=guard, assumptions=(), paths=())

    def after(self, query: str, changes: Sequence[Change]) -> Counterfactual | None:
        before, then = self.why(query), self.under(changes).why(query)
        opened = (before.verdict, then.verdict != "never") == ("never", True)
        place = Place(path=before.target.path, line=before.target.line)
        return Counterfactual(change=tuple(changes), opens=(place,) if opened else ())

    def reach(self, path: str) -> ReachAnswer:
        return ReachAnswer(file=path, always=(), never=(), may=(), unknown=())

    def audit(self) -> AuditAnswer:
        return self.audited

    def setting(self, name: str) -> Value:
        return self.settings.get(name, Unknown(reason=f"no setting {name} in the fake"))

    def attribute(self, name: str) -> Setting | None:
        return None

    def under(self, changes: Sequence[Change]) -> FakeEngine:
        return self.changed or self
