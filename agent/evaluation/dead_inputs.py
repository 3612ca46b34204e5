"""Flags and environment variables that were given: those whose every reader is guarded off under this launch, those that nobody names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.analysis import control, ir
from agent.analysis.occurrences import Occurrence, occurrences
from agent.analysis.walk import walk
from agent.domain.secrets import mask
from agent.domain.verdict import COMMAND_LINE, ENVIRONMENT, DeadKey, Reader, Setting, Target, WhyAnswer
from agent.evaluation import explain
from agent.evaluation.counterfactual import counterfactuals
from agent.evaluation.dead_config import COMMON, MAX_READERS
from agent.evaluation.models.argument_parser import command_line
from agent.evaluation.reach import Closed
from agent.evaluation.receivers import snake_case
from agent.evaluation.settings import configurations, records
from agent.evaluation.values import ClassV

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine


def dead_inputs(engine: LaunchEngine, rows: tuple[Setting, ...]) -> tuple[DeadKey, ...]:
    """In the order of the settings. A reader is a statement that names the setting; a launch that fails comes to no reader."""
    if engine.refused is not None or any(item.certain for item in engine.machine.raised):
        return ()
    closed = Closed(engine)
    found = (_judged(engine, row, closed) for row in rows if row.asked.source in ("flag", "env"))
    return tuple(key for key in found if key is not None)


_OF_THE_SYSTEM = re.compile(
    r"(?:HOME|HOSTNAME|LANG|LANGUAGE|LOGNAME|MAIL|OLDPWD|PATH|PWD|SHELL|SHLVL|TERM|TMPDIR|TZ|USER|VIRTUAL_ENV|_)\Z"
    r"|(?:LC|LD|XDG|PYTHON|CONDA|SSH|SYSTEMD)[A-Z0-9]*(?:_|\Z)"
)
"""Variables of the shell, the loader and the interpreter: every process has them, no program need name them."""


def unnamed_inputs(engine: LaunchEngine, rows: tuple[Setting, ...]) -> tuple[DeadKey, ...]:
    """Variables and flags whose name stands nowhere in the tree: a typo, or read by another library. Not that nobody reads them.

    A launch that its own command line refuses is told as one that fails.
    """
    if engine.refused is not None:
        return ()
    given = {row.name.removeprefix("env:"): row.asked.value for row in rows if row.asked.source == "env"}
    unnamed = (name for name in given if not _OF_THE_SYSTEM.match(name) and not engine.index.files_with(name))
    variables = (DeadKey(file=ENVIRONMENT, key=name, value=mask(name, given[name])) for name in unnamed)
    return (*variables, *_unnamed_flags(engine))


def _unnamed_flags(engine: LaunchEngine) -> Iterator[DeadKey]:
    """Words of the command line that no parser declares, not even in full where one is shortened."""
    words = engine.machine.singletons.get("argv values", ())[1:]
    declared = [flag for option in command_line(engine.machine).options.values() for flag in option.flags]
    for word, after in zip(words, (*words[1:], "--"), strict=False):
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--")
        if not word.startswith("--") or not name or any(each.startswith(flag) for each in declared):
            continue
        if not any(engine.index.files_with(each) for each in (name, name.replace("-", "_"))):
            given = value if equals else True if after.startswith("-") else after
            yield DeadKey(file=COMMAND_LINE, key=flag, value=mask(name, given))


def _judged(engine: LaunchEngine, row: Setting, closed: Closed) -> DeadKey | None:
    """None when somebody reads it, when that cannot be ruled out, and when nobody names it."""
    name = row.name.removeprefix("env:")
    places: list[Occurrence] = []
    for at in _readers(engine, name, env=row.asked.source == "env"):
        if at.statement in engine.machine.marks or not _guarded(engine, at, closed) or len(places) >= MAX_READERS:
            return None
        places.append(at)
    answers = []
    for at in places:
        answer = _passed_by(engine, at) or engine.judged(_target(engine, at))
        if answer.verdict != "never" or answer.decisive is None:
            return None
        answers.append(answer)
    if not answers:
        return None
    first = answers[0]
    readers = tuple(Reader(path=each.target.path, line=each.target.line, verdict="never", decisive=each.decisive) for each in answers)
    where, key = (ENVIRONMENT, name) if row.asked.source == "env" else (COMMAND_LINE, row.flag or name)
    opened = counterfactuals(engine, f"{first.target.path}:{first.target.line}", first)
    return DeadKey(file=where, key=key, value=mask(name, row.asked.value), readers=readers, counterfactuals=opened)


def _target(engine: LaunchEngine, at: Occurrence) -> Target:
    return engine.targets(f"{at.path}:{at.statement.line}")[0]


def _passed_by(engine: LaunchEngine, at: Occurrence) -> WhyAnswer | None:
    """The answer for a statement that the forward run came by and did not enter; None where it was never near."""
    m = engine.machine
    outline = engine.index.outline(at.path)
    function = control.scope_of(outline, at.statement)
    if not isinstance(function, ir.FunctionDef) or function not in m.entered:
        return None
    for item in control.guards(outline, at.statement):
        records = m.tests.get(item.condition, []) if item.condition is not None else []
        if records and all(record.truth is (not item.polarity) for record in records):
            decisive = explain.guard(m, engine.index, at.path, item, function.name, records)
            return WhyAnswer(target=_target(engine, at), verdict="never", decisive=decisive, assumptions=(), paths=())
    return None


def _guarded(engine: LaunchEngine, at: Occurrence, closed: Closed) -> bool:
    """Off as far as the forward run followed it, or under a condition of its own that asks the configuration.

    Whether anybody calls a function at all, and with what, is a dear question, and seldom the answer.
    """
    outline = engine.index.outline(at.path)
    function = control.scope_of(outline, at.statement)
    if not isinstance(function, ir.FunctionDef):
        return False
    if function in engine.machine.entered:
        return closed.verdict(at.path, function, at.statement) == "never"
    tests = (guard.condition for guard in control.guards(outline, at.statement) if guard.condition is not None)
    return any(_of_record(engine, node) for test in tests for node in walk(test))


def _of_record(engine: LaunchEngine, node: ir.Node) -> bool:
    """``server_args.field``, by the name of the record's class."""
    if not isinstance(node, ir.Attribute):
        return False
    receiver = node.value.id if isinstance(node.value, ir.Name) else node.value.attr if isinstance(node.value, ir.Attribute) else ""
    fields = records(engine.machine)
    return any(
        isinstance(obj.cls, ClassV) and receiver == snake_case(obj.cls.name) and node.attr in fields[obj]
        for obj in configurations(engine.machine)
    )


def _readers(engine: LaunchEngine, name: str, *, env: bool) -> Iterator[Occurrence]:
    """Statements that read an attribute of that name, or name it in a string that is looked up; one an own line."""
    files = [path for path in engine.index.files_with(name) if path in engine.demand.call_sites.importable]
    seen: set[tuple[str, int]] = set()
    for path in files if len(files) <= COMMON else files[:0]:
        for at in occurrences(engine.index.module(path), name):
            if (path, at.statement.line) not in seen and _reads(at, name, env):
                seen.add((path, at.statement.line))
                yield at


def _reads(at: Occurrence, name: str, env: bool) -> bool:
    node, parent = at.node, at.parent
    if isinstance(node, ir.Attribute) and node.attr == name:
        return not (isinstance(parent, ir.Assign) and node in parent.targets)
    if not isinstance(node, ir.Constant) or node.value != name:
        return False
    looked_up = isinstance(parent, ir.Subscript) or (isinstance(parent, ir.Call) and node in parent.args)
    return looked_up or (env and isinstance(parent, ir.Compare))
