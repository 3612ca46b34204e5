"""Waiting at a call for one of its arguments."""

from __future__ import annotations

from agent.analysis import ir
from agent.evaluation.machine import Machine
from agent.evaluation.values import ABSENT, AV, DictObj, Tup, Unk


class Watch:
    """Waits at a call for one of its arguments; ``seen`` has ABSENT for each time the call does not give it."""

    __slots__ = ("name", "position", "seen", "spawned")

    def __init__(self, name: str, position: int, spawned: bool) -> None:
        self.name = name
        self.position = position
        self.spawned = spawned
        self.seen: list[AV] = []

    def expressions(self, call: ir.Call) -> list[ir.Expr]:
        """The part of the call that gives the argument; with spreads that may be several."""
        if self.spawned:
            return [k.value for k in call.keywords if k.name in ("args", "kwargs")]
        named = [k.value for k in call.keywords if k.name == self.name]
        if named:
            return named
        before = call.args[: self.position + 1]
        if self.position >= 0 and len(before) > self.position and not any(isinstance(a, ir.Starred) for a in before):
            return [before[self.position]]
        return self._spreads(call)

    @staticmethod
    def _spreads(call: ir.Call) -> list[ir.Expr]:
        return [a for a in call.args if isinstance(a, ir.Starred)] + [k.value for k in call.keywords if k.name is None]

    def note(self, m: Machine, call: ir.Call) -> None:
        """Evaluates the argument where the machine stands."""
        found = self.expressions(call)
        if not found:
            self.seen.append(ABSENT)
        elif self.spawned:
            given = m.eval(found[0])
            inside = isinstance(given, Tup) and 0 <= self.position < len(given.items)
            unknown = Unk(f"{self.name} as a process or thread gets it")
            self.seen.append(given.items[self.position] if isinstance(given, Tup) and inside else unknown)
        elif len(found) == 1 and found[0] not in self._spreads(call):
            self.seen.append(m.eval(found[0]))
        else:
            self.seen.append(self._spread(m, call))

    def _spread(self, m: Machine, call: ir.Call) -> AV:
        for keyword in call.keywords:
            if keyword.name is None:
                value = m.eval(keyword.value)
                if isinstance(value, DictObj):
                    entry = m.entries(value).items.get(self.name)
                    if entry is not None:
                        return entry[1]
                    if not m.entries(value).open and not any(isinstance(a, ir.Starred) for a in call.args):
                        return ABSENT
        return Unk(f"{self.name} is given by a spread")
