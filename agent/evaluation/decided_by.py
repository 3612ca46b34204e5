"""Suites that a value decides: conditions that read an attribute, and come out otherwise under another value of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.occurrences import Occurrence, occurrences
from agent.domain.verdict import Place
from agent.evaluation.concrete import NotConcrete
from agent.evaluation.conditions import compared
from agent.evaluation.frames import Dead
from agent.evaluation.state import State
from agent.evaluation.values import AV, ClassV, Unk

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine

COMMON = 60
"""An attribute that stands in more files is the name of many things."""


@dataclass(frozen=True, slots=True)
class Source:
    """An attribute that differs between two launches: its value under each, and the settings that it comes from."""

    name: str
    a: AV
    b: AV
    settings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """Statements that run together, in one function; ``settings`` as in Source."""

    path: str
    body: tuple[ir.Stmt, ...]
    settings: tuple[str, ...]

    @property
    def place(self) -> Place:
        return Place(path=self.path, line=self.body[0].line)

    @property
    def last(self) -> int:
        return self.body[-1].end


def decided(a: LaunchEngine, b: LaunchEngine, source: Source) -> Iterator[Suite]:
    """Suites under a condition that reads the attribute where the part that reads it is not certainly the same on both sides."""
    for at in _reads(a, source.name):
        branch, part = _branch(at), _part(at)
        if branch is None or part is None:
            continue
        truths = (_truth(a, source.a, at, part), _truth(b, source.b, at, part))
        if truths[0] is not truths[1]:
            for body in (branch.body, branch.orelse, _behind(at, branch)):
                if body:
                    yield Suite(at.path, tuple(body), source.settings)


def derived(a: LaunchEngine, b: LaunchEngine, source: Source) -> Iterator[Source]:
    """``self.kind = Kind.of(args.kind)``: attributes that are made of this one alone and differ as it does."""
    for at in _reads(a, source.name):
        target = _stored_in(at)
        cls = next((each for each in reversed(at.chain) if isinstance(each, ir.ClassDef)), None)
        if target and target != source.name and cls is not None and (found := differing(a, b, at.path, cls, target, source.settings)):
            yield found


def differing(a: LaunchEngine, b: LaunchEngine, path: str, cls: ir.ClassDef, name: str, settings: tuple[str, ...]) -> Source | None:
    """An attribute of a class whose value differs; None where it is not known on both sides, or the same."""
    first, second = (_attribute(engine, path, cls, name) for engine in (a, b))
    if first is None or second is None or isinstance(first, Unk) or isinstance(second, Unk) or repr(first) == repr(second):
        return None
    return Source(name, first, second, settings)


def _attribute(engine: LaunchEngine, path: str, cls: ir.ClassDef, name: str) -> AV | None:
    """By class, in the engine's own tree."""
    definition = next((each for each in engine.index.classes_named(cls.name) if each.path == path and not each.chain), None)
    owner = engine.demand.definitions.class_of(definition) if definition is not None else None
    if not isinstance(owner, ClassV):
        return None
    engine.demand.begin()
    return engine.demand.attribute_of(owner, name)


def _reads(engine: LaunchEngine, name: str) -> list[Occurrence]:
    files = [path for path in engine.index.files_with(name) if path in engine.demand.call_sites.importable]
    if len(files) > COMMON:
        return []
    found = (at for path in files for at in occurrences(engine.index.module(path), name))
    return [at for at in found if isinstance(at.node, ir.Attribute) and at.node.attr == name]


def _branch(at: Occurrence) -> ir.If | ir.While | None:
    """The statement in whose condition the attribute is read."""
    for above, below in reversed(list(pairwise((*at.ancestors, at.node)))):
        if isinstance(above, (ir.If, ir.While)):
            return above if above.test is below else None
        if isinstance(above, (ir.Lambda, ir.IfExp, ir.Stmt)) and not isinstance(above, ir.Expr):
            return None
    return None


def _part(at: Occurrence) -> ir.Expr | None:
    """The largest expression around the attribute that is no ``and``, ``or`` and ``not``."""
    part: ir.Node = at.node
    for above in reversed(at.ancestors):
        if isinstance(above, (ir.BoolOp, ir.If, ir.While)) or (isinstance(above, ir.UnaryOp) and above.op == "not"):
            break
        part = above
    return part if isinstance(part, ir.Expr) else None


def _behind(at: Occurrence, branch: ir.If | ir.While) -> list[ir.Stmt]:
    """What follows a suite that always leaves."""
    if not isinstance(branch, ir.If) or branch.orelse or not isinstance(branch.body[-1], (ir.Return, ir.Raise, ir.Continue, ir.Break)):
        return []
    around = at.ancestors[at.ancestors.index(branch) - 1] if at.ancestors.index(branch) else at.module
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(around, name, None) or []
        if branch in suite:
            return list(suite[suite.index(branch) + 1 :])
    return []


def _stored_in(at: Occurrence) -> str:
    """The attribute that is assigned what is made of this one: itself, or a call that is given nothing else."""
    node: ir.Node = at.node
    for above in reversed(at.ancestors):
        if isinstance(above, ir.Assign):
            targets = [each.attr for each in above.targets if isinstance(each, ir.Attribute)]
            return targets[0] if node is above.value and targets else ""
        if (
            (isinstance(above, ir.Call) and ((above.args == [node] and not above.keywords) or above.func is node))
            or isinstance(above, (ir.Compare, ir.UnaryOp))
            or (isinstance(above, ir.Attribute) and above.value is node)
        ):
            node = above
        else:
            return ""
    return ""


# --- how a part of a condition comes out ---------------------------------------------------------------------------------------


def _truth(engine: LaunchEngine, value: AV, at: Occurrence, part: ir.Expr) -> bool | None:
    """None where it takes more than the attribute's own value."""
    try:
        if part is at.node:
            return engine.machine.truth(value)
        if isinstance(part, ir.Compare) and isinstance(at.node, ir.Attribute):
            return compared(engine.machine, part, at.node.attr, value)
        if isinstance(part, ir.Call) and isinstance(part.func, ir.Attribute) and part.func.value is at.node and not part.args:
            return _asked(engine, value, part.func.attr)
    except (NotConcrete, TypeError, ValueError, KeyError, Dead):
        pass
    return None


def _asked(engine: LaunchEngine, value: AV, method: str) -> bool | None:
    """``value.method()``, aside: nothing that it writes stays."""
    m = engine.machine
    kept = m.state
    m.state = State(engine.demand.runs.base, certain=False)
    try:
        return m.truth(m.call(m.getattr(value, method), [], {}))
    finally:
        m.state = kept


def attributes_written(suite: Sequence[ir.Stmt]) -> list[str]:
    """``self.name = ...`` directly in a suite."""
    targets = (target for statement in suite if isinstance(statement, ir.Assign) for target in statement.targets)
    owned = (each for each in targets if isinstance(each, ir.Attribute) and isinstance(each.value, ir.Name) and each.value.id == "self")
    return list(dict.fromkeys(each.attr for each in owned))
