"""Settings that live on in another object: who takes the value over under the same name, and what changes it there.

A record hands a field to a constructor, ``CacheConfig(prefix=self.prefix)``; from then on the program reads the copy. A statement that
writes the copy, or the record itself once the forward run has left it, overrides the setting without touching what the forward run saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.callers import called_name
from agent.analysis.index import Index, once_a_word
from agent.analysis.occurrences import occurrences
from agent.analysis.writers import holds_one, receivers_by_text
from agent.domain.values import Known, Unknown, Value
from agent.domain.verdict import ChangedBy, Guard, WhyAnswer
from agent.evaluation.receivers import snake_case
from agent.evaluation.runs import MAKING
from agent.evaluation.settings import configurations
from agent.evaluation.values import ClassV

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine

_CONFIGURES = re.compile(r"(?:Config|Configuration|Args|Arguments|Options|Params|Parameters|Settings)$")
"""Classes that are asked for settings, by their names. What a manager or a worker keeps for itself is its own affair."""
_PARSED = ("args", "options")
_NAMED = 2
"""Undecided guards that a reason names, the nearest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterChange:
    """A statement that writes the copy. ``runs``: True where nothing stands against it, None where it is undecided, with the ``reason``."""

    owner: str
    change: ChangedBy
    runs: bool | None
    value: Value
    reason: str = ""
    assumption: str = ""


class HandedOn:
    """The copies of the configuration's fields, for the settings that somebody asks about."""

    def __init__(self, engine: LaunchEngine) -> None:
        self.engine = engine
        self.index = engine.index
        self.bases = [base for obj in configurations(engine.machine) if isinstance(obj.cls, ClassV) for base in obj.cls.mro]
        self.kinds = [snake_case(base.name) for base in self.bases]
        self.handing: set[ir.Node | None] = set()
        """Functions in which a record hands a field on: what they write before changes the copy, too."""
        self.known: dict[str, tuple[LaterChange, ...]] = {}

    def changes(self, name: str, taker: str = "") -> tuple[LaterChange, ...]:
        """What may write the setting after the record was completed, in path and line order; writers that never run are left out.

        ``taker``: only in objects of this class, or of the class that a variable of this name holds.
        """
        if name not in self.known:
            self.known[name] = tuple(self._changes(name))
        return tuple(each for each in self.known[name] if not taker or taker in (each.owner, snake_case(each.owner)))

    def takes(self, name: str, taker: str) -> bool:
        """Whether a class, or a variable's class, takes the setting over."""
        return any(taker in (cls, snake_case(cls)) for cls in self.takers(name))

    def _changes(self, name: str) -> Iterator[LaterChange]:
        takers = {taker: snake_case(taker) for taker in self.takers(name)}
        for path, line, receiver in dict.fromkeys(receivers_by_text(self.index, name)):
            if path not in self._importable:
                continue
            owner = self._own(path, line, takers) if receiver in ("self", "cls") else self._other(path, receiver, takers)
            if owner and (found := self._judged(path, line, owner, name)) is not None:
                yield found

    @cached_property
    def _importable(self) -> frozenset[str]:
        return self.engine.demand.call_sites.importable

    # --- who takes it over, who writes it ------------------------------------------------------------------------------------

    def takers(self, name: str) -> tuple[str, ...]:
        """Configuration classes of the tree that are made with ``name=RECORD.name``."""
        found: dict[str, None] = {}
        looked_at: set[str] = set()
        for path, word in _handed_by_text(self.index, name):
            if path in self._importable and path not in looked_at and self._may_be_record(path, word):
                looked_at.add(path)
                found |= dict.fromkeys(self._made_in(path, name))
        own = {base.name for base in self.bases}
        return tuple(cls for cls in found if cls not in own and self.index.classes_named(cls))

    def _may_be_record(self, path: str, word: str) -> bool:
        """By its name alone: only files in which the record's name stands are parsed."""
        if word == "self":
            return any(base.module.path == path for base in self.bases)
        return word in _PARSED or any(_called(kind, word) for kind in self.kinds)

    def _made_in(self, path: str, name: str) -> Iterator[str]:
        for at in occurrences(self.index.module(path), name):
            call = next((node for node in reversed(at.ancestors) if isinstance(node, ir.Call)), None)
            if call is None or not isinstance(at.node, ir.Attribute) or not self._is_record(at.node.value, at.chain):
                continue
            if any(keyword.name == name and keyword.value is at.node for keyword in call.keywords):
                self.handing.add(at.chain[-1] if at.chain else None)
                if _CONFIGURES.search(called_name(call)):
                    yield called_name(call)

    def _is_record(self, receiver: ir.Expr, chain: tuple[ir.Node, ...]) -> bool:
        """``self`` in a method of the record's class, or a variable or attribute that is called as it or as a parsed command line is."""
        word = receiver.id if isinstance(receiver, ir.Name) else receiver.attr if isinstance(receiver, ir.Attribute) else ""
        if word == "self":
            return any(base.node in chain for base in self.bases)
        return word in _PARSED or any(_called(kind, word) for kind in self.kinds if word)

    def _own(self, path: str, line: int, takers: dict[str, str]) -> str:
        """The class in whose methods ``self.name`` is written; what makes the object only takes the value over."""
        around = self.index.enclosing(path, line)
        cls = next((node for node in reversed(around) if isinstance(node, ir.ClassDef)), None)
        function = next((node for node in reversed(around) if isinstance(node, ir.FunctionDef)), None)
        if cls is None or function is None or function in self.engine.demand.later.followed:
            return ""
        if any(base.node is cls for base in self.bases):
            return cls.name if function in self.handing else ""
        return cls.name if cls.name in takers and function.name not in MAKING else ""

    def _other(self, path: str, receiver: str, takers: dict[str, str]) -> str:
        meant = (cls for cls, word in takers.items() if _called(word, receiver) or holds_one(self.index, path, receiver, [cls]))
        return next(meant, "")

    # --- whether it does ---------------------------------------------------------------------------------------------------------

    def _judged(self, path: str, line: int, owner: str, name: str) -> LaterChange | None:
        target = self.engine.targets(f"{path}:{line}")[0]
        answer = self.engine.judged(target)
        if answer.verdict == "never":
            return None
        statement = self.index.statement_at(path, line)
        value = statement.value if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
        written: Value = Unknown(reason=f"{path}:{line} sets {owner}.{name} to what was not worked out")
        if isinstance(value, ir.Constant):
            written = Known(value=value.value)
        guards = _open(answer) or _shown(answer)
        runs = True if answer.verdict == "always" or _open(answer) else None
        change = ChangedBy(path=path, line=line, text=target.text, guards=guards)
        assumption = f"{target.function}() is called in this launch" if runs and answer.verdict != "always" else ""
        return LaterChange(owner=owner, change=change, runs=runs, value=written, reason=_undecided(guards, answer), assumption=assumption)


@once_a_word
def _handed_by_text(index: Index, name: str) -> tuple[tuple[str, str], ...]:
    """(path, last name of the receiver) of every ``name=receiver.name``, by the text of the files."""
    handed = re.compile(rb"\b%b\s*=\s*(?:\w+\.)*(\w+)\.%b\b" % (name.encode(), name.encode()))
    contents = ((path, index.read(path)) for path in index.files_with(name))
    found = ((path, hit[1].decode()) for path, content in contents if isinstance(content, bytes) for hit in handed.finditer(content))
    return tuple(dict.fromkeys(found))


def _called(kind: str, word: str) -> bool:
    """Whether a variable of this name holds such an object: ``cache_config`` and ``config`` a ``CacheConfig``."""
    return word == kind or kind.endswith("_" + word) or word.endswith("_" + kind)


def _stands(guard: Guard) -> bool:
    return guard.truth == ("true" if guard.polarity else "false")


def _open(answer: WhyAnswer) -> tuple[Guard, ...] | None:
    """The guards of a path on which every one of them lets the line run."""
    return next((path.guards for path in answer.paths if path.open is not False and path.guards and all(map(_stands, path.guards))), None)


def _shown(answer: WhyAnswer) -> tuple[Guard, ...]:
    """The guards of the path that is least against it."""
    return next((path.guards for path in answer.paths if path.open is not False), answer.paths[0].guards if answer.paths else ())


def _undecided(guards: tuple[Guard, ...], answer: WhyAnswer) -> str:
    """The guards that are not decided, and what the last of them wants to know."""
    asked = [guard for guard in guards if guard.truth == "unknown"]
    if not asked:
        return answer.reason or "its guards were not followed"
    shown = " and ".join(f"`{' '.join(guard.condition.split())}` at {guard.path}:{guard.line}" for guard in asked[-_NAMED:])
    why = next((op.value.removeprefix("unknown: ") for op in asked[-1].operands if op.value.startswith("unknown: ")), "")
    return f"{shown} {'are' if len(asked) > 1 else 'is'} not decided" + (f": {why}" if why else "")


def handed_on(engine: LaunchEngine) -> HandedOn:
    """One for an engine: what was judged is kept."""
    found: HandedOn = engine.machine.singletons.setdefault("handed on", HandedOn(engine))
    return found


def final(value: Value, changes: Sequence[LaterChange]) -> Value:
    """A setting's value once the later changes are counted in: the last one's that certainly runs, unknown where one that differs may."""
    for each in changes:
        same = isinstance(value, Known) and each.value == value
        if isinstance(value, Unknown) or same:
            continue
        if each.runs is None:
            return Unknown(reason=f"{each.change.path}:{each.change.line} may change it in {each.owner}: {each.reason}")
        value = each.value
    return value
