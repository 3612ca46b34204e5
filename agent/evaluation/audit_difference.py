"""Two launches side by side: settings that differ, and lines that certainly never run under one of them and do, or may, under the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from agent.analysis.control import scope_of
from agent.analysis.syntax import statement_lines
from agent.domain.audit_difference import AuditDifference, LineDifference, SettingDifference
from agent.domain.counting import counted
from agent.domain.verdict import AuditAnswer, Guard, Setting
from agent.evaluation.audit import source_line
from agent.evaluation.decided_by import Source, Suite, attributes_written, decided, derived, differing
from agent.evaluation.settings import final_cell

if TYPE_CHECKING:
    from agent.domain.source import SourceTree
    from agent.evaluation.engine import LaunchEngine

MAX_JUDGED = 40
"""Suites beyond the forward run that are judged on both sides; each may take a second."""
MAX_SOURCES = 60
_DIFFERENT = ("asked", "effective", "observed")
Say = Callable[[str], None]
T = TypeVar("T")


def audit_difference(
    a: LaunchEngine, b: LaunchEngine, audits: tuple[AuditAnswer, AuditAnswer], names: tuple[str, str], *, all_lines: bool = False, say: Say
) -> AuditDifference:
    """The whole answer. ``all_lines``: however many suites there are to judge; ``say`` is told how it goes."""
    settings = tuple(_settings(*audits))
    found, left = _Lines(a, b, settings, say).all(None if all_lines else MAX_JUDGED)
    before, after = audits
    return AuditDifference(
        a=names[0], b=names[1], settings=settings, lines=found,
        dead_a=_only(before.dead_config, after.dead_config, lambda key: (key.file, key.key)),
        dead_b=_only(after.dead_config, before.dead_config, lambda key: (key.file, key.key)),
        raises_a=_only(before.raises, after.raises, lambda each: (each.path, each.line, each.type, each.certainty)),
        raises_b=_only(after.raises, before.raises, lambda each: (each.path, each.line, each.type, each.certainty)),
        not_compared=left, assumptions=tuple(dict.fromkeys((*before.assumptions, *after.assumptions))),
    )  # fmt: skip


def _only(these: tuple[T, ...], those: tuple[T, ...], key: Callable[[T], object]) -> tuple[T, ...]:
    known = {key(each) for each in those}
    return tuple(each for each in these if key(each) not in known)


def _settings(a: AuditAnswer, b: AuditAnswer) -> Iterator[SettingDifference]:
    """In the order of the first side, then what the other has alone."""
    left, right = ({row.name: row for row in answer.settings} for answer in (a, b))
    for name in dict.fromkeys((*left, *right)):
        before, after = left.get(name), right.get(name)
        if before is None or after is None or any(repr(getattr(before, part)) != repr(getattr(after, part)) for part in _DIFFERENT):
            yield SettingDifference(name=name, a=before, b=after)


def _value(row: Setting | None) -> object:
    return None if row is None else (row.effective.status, repr(row.effective.value), repr(row.effective.values))


class _Lines:
    """The lines of files that are the same in both trees."""

    def __init__(self, a: LaunchEngine, b: LaunchEngine, settings: tuple[SettingDifference, ...], say: Say) -> None:
        self.a, self.b, self.say = a, b, say
        self.names = [each.name for each in settings if _value(each.a) != _value(each.b)]
        self.given = [each.name for each in settings]
        self.same: dict[str, bool] = {}

    def all(self, limit: int | None) -> tuple[tuple[LineDifference, ...], tuple[str, ...]]:
        """The lines in path and line order, and what was left out."""
        if refused := [name for name, engine in (("A", self.a), ("B", self.b)) if engine.refused is not None]:
            return (), tuple(f"{name}'s launch is refused by its own command line: no line of it runs" for name in refused)
        found = {(each.path, each.first): each for each in self._followed()}
        judged, skipped = self._beyond(limit)
        for each in judged:
            found.setdefault((each.path, each.first), each)
        left = []
        if skipped:
            left.append(f"{counted(skipped, 'more suite')} of lines under conditions that speak of these settings; --all judges them")
        if unlike := sorted(path for path, same in self.same.items() if not same):
            left.append(f"{counted(len(unlike), 'file')} whose source differs: {', '.join(unlike[:3])}{' ...' if len(unlike) > 3 else ''}")
        rows = [found[key] for key in sorted(found)]
        return tuple(row for row in rows if not any(row is not other and _within(row, other) for other in rows)), tuple(left)

    # --- what the forward runs followed --------------------------------------------------------------------------------------

    def _followed(self) -> Iterator[LineDifference]:
        paths = sorted({func.module.path for engine in (self.a, self.b) for seen in engine.machine.calls.values() for func, _, _ in seen})
        for path in paths:
            if self._alike(path) and self._ran_apart(path):
                self.say(f"comparing what runs of {path}")
                yield from self._of_file(path)

    def _ran_apart(self, path: str) -> bool:
        ran = []
        for engine in (self.a, self.b):
            marks = engine.machine.marks
            ran.append({statement.start_byte for statement, _, _ in statement_lines(engine.index.module(path)) if statement in marks})
        return ran[0] != ran[1]

    def _of_file(self, path: str) -> Iterator[LineDifference]:
        """Statements that follow each other in one function and differ alike are one row."""
        verdicts = [_by_line(engine.reach(path)) for engine in (self.a, self.b)]
        outline = self.a.index.outline(path)
        rows = []
        for statement, first, last in statement_lines(self.a.index.module(path)):
            pair = tuple(each.get(first, "unknown") for each in verdicts)
            rows.append((scope_of(outline, statement), pair, first, max(last, statement.line)))
        for (_, pair), group in groupby(rows, key=lambda row: (id(row[0]), row[1])):
            lines = list(group)
            if _differ(*pair):
                yield self._row(path, lines[0][2], lines[-1][3], pair[0], pair[1], ())

    # --- beyond ------------------------------------------------------------------------------------------------------------------

    def _beyond(self, limit: int | None) -> tuple[list[LineDifference], int]:
        """Suites under conditions that read a setting that differs, or an attribute that is made of one. The rest is counted."""
        queue, seen = self._sources(), set[str]()
        done: set[tuple[str, int]] = set()
        found: list[LineDifference] = []
        skipped = 0
        while queue:
            source = queue.pop(0)
            if source.name in seen or len(seen) >= MAX_SOURCES:
                continue
            seen.add(source.name)
            queue += derived(self.a, self.b, source)
            for suite in decided(self.a, self.b, source):
                key = (suite.path, suite.place.line)
                if key in done or not self._alike(suite.path):
                    continue
                done.add(key)
                if limit is not None and len(done) > limit:
                    skipped += 1
                elif (row := self._judged(suite)) is not None:
                    found.append(row)
                    queue += self._made_in(suite)
        return found, skipped

    def _sources(self) -> list[Source]:
        found = []
        for name in self.names:
            cells = [final_cell(engine.machine, name) for engine in (self.a, self.b)]
            if cells[0] is not None and cells[1] is not None:
                found.append(Source(name.rpartition(".")[2], cells[0][1].value, cells[1][1].value, (name,)))
        return found

    def _made_in(self, suite: Suite) -> Iterator[Source]:
        """Attributes that a suite writes which runs on one side alone."""
        from agent.analysis import ir

        around = self.a.index.enclosing(suite.path, suite.place.line)
        cls = next((each for each in reversed(around) if isinstance(each, ir.ClassDef)), None)
        for name in attributes_written(suite.body) if cls is not None else ():
            assert cls is not None
            if found := differing(self.a, self.b, suite.path, cls, name, suite.settings):
                yield found

    def _judged(self, suite: Suite) -> LineDifference | None:
        self.say(f"judging {suite.path}:{suite.place.line}")
        query = f"{suite.path}:{suite.place.line}"
        verdicts = [engine.judged(engine.targets(query)[0]).verdict for engine in (self.a, self.b)]
        if not _differ(*verdicts):
            return None
        return self._row(suite.path, suite.place.line, suite.last, verdicts[0], verdicts[1], suite.settings)

    def _row(self, path: str, first: int, last: int, a: str, b: str, settings: tuple[str, ...]) -> LineDifference:
        closed = self.a if a == "never" else self.b
        guard = closed.judged(closed.targets(f"{path}:{first}")[0]).decisive
        named = settings or tuple(name for name in self.given if guard is not None and _speaks_of(guard, name))
        text = source_line(closed.machine, path, first)
        return LineDifference(path=path, first=first, last=last, text=text, a=a, b=b, guard=guard, settings=named)

    def _alike(self, path: str) -> bool:
        if path not in self.same:
            self.same[path] = _read(self.a.tree, path) == _read(self.b.tree, path)
        return self.same[path]


def _read(tree: SourceTree, path: str) -> object:
    content = tree.read(path)
    return content if isinstance(content, bytes) else None


def _differ(a: str, b: str) -> bool:
    """What is not known of one side is no difference."""
    return "never" in (a, b) and a != b and "unknown" not in (a, b)


def _within(row: LineDifference, other: LineDifference) -> bool:
    return (
        row.path == other.path
        and other.first <= row.first
        and row.last <= other.last
        and (row.first, row.last) != (other.first, other.last)
    )


def _by_line(answer: object) -> dict[int, str]:
    found: dict[int, str] = {}
    for word in ("always", "never", "may", "unknown"):
        for first, last in getattr(answer, word):
            found.update(dict.fromkeys(range(first, last + 1), word))
    return found


def _speaks_of(guard: Guard, name: str) -> bool:
    import re

    words = re.findall(r"\w+", f"{guard.condition} {' '.join(operand.text for operand in guard.operands)}")
    return name.removeprefix("env:").rpartition(".")[2] in words
