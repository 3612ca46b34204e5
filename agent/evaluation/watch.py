"""Waiting at a call for one of its arguments."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.evaluation.contents import entries_of
from agent.evaluation.machine import Machine
from agent.evaluation.values import ABSENT, AV, ClassV, FuncV, Tup, Unk, candidates, given, may_lack, one_of


class Watch:
    """Waits at a call for one of its arguments; ``seen`` has ABSENT for each time the call does not give it.

    ``made``: the class or function that must be called, where the call is of a variable that may hold another.
    ``method``: its name, where the function is one that takes the object first: ``Class.name(object, ...)`` gives it as an argument.
    ``source``: the ``dict(name=value, ...)`` that the call spreads, where that is all it gives; the argument is then waited for there.
    """

    __slots__ = ("_gathered", "instead", "made", "method", "name", "position", "seen", "source", "spawned")

    def __init__(self, name: str, position: int, spawned: bool) -> None:
        self.name = name
        self.position = position
        self.spawned = spawned
        self.seen: list[AV] = []
        self.source: ir.Call | None = None
        self.instead: list[AV] = []
        """What was called where that was not ``made``."""
        self.made: ClassV | FuncV | None = None
        self.method = ""
        self._gathered: list[AV] = []

    def look_behind(self, function: ir.FunctionDef, call: ir.Call) -> ir.Stmt | None:
        """Finds ``source``; gives the statement that makes it."""
        if self.spawned or call.args or len(call.keywords) != 1 or call.keywords[0].name is not None:
            return None
        spread = call.keywords[0].value
        made = _made_once(function, spread.id) if isinstance(spread, ir.Name) else None
        if made is None:
            return None
        statement, self.source = made
        return statement

    def needed(self, call: ir.Call) -> list[ir.Expr]:
        """Every part of the call that may give the argument."""
        return list(dict.fromkeys([*self.expressions(call), *(self.expressions(call, 1) if _names(call, self.method) else ())]))

    def expressions(self, call: ir.Call, shift: int = 0) -> list[ir.Expr]:
        """The part of the call that gives the argument; with spreads that may be several. ``shift``: arguments before all others."""
        if self.spawned:
            return [k.value for k in call.keywords if k.name in ("args", "kwargs")]
        named = [k.value for k in call.keywords if k.name == self.name]
        if named:
            return named
        place = self.position + shift
        before = call.args[: place + 1]
        if self.position >= 0 and len(before) > place and not any(isinstance(a, ir.Starred) for a in before):
            return [before[place]]
        return self._spreads(call)

    @staticmethod
    def _spreads(call: ir.Call) -> list[ir.Expr]:
        return [a for a in call.args if isinstance(a, ir.Starred)] + [k.value for k in call.keywords if k.name is None]

    def note(self, m: Machine, call: ir.Call) -> None:
        """Evaluates the argument where the machine stands."""
        if self.made is not None:
            called = candidates(m.eval(call.func))
            if all(_is_another(each, self.made) for each in called):
                self.instead += called
                return
        if self.source is not None and call is not self.source:
            self.seen.append(one_of(self._gathered) if self._gathered else Unk(f"{self.name} is given by a spread"))
            return
        if call is self.source:
            named = [keyword.value for keyword in call.keywords if keyword.name == self.name]
            self._gathered.append(m.eval(named[0]) if named else ABSENT)
            return
        found = self.expressions(call, self._on_class(m, call))
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

    def _on_class(self, m: Machine, call: ir.Call) -> int:
        """1 where the method is called on the class, so that the object is an argument."""
        if not _names(call, self.method):
            return 0
        receivers = candidates(m.eval(call.func.value))  # type: ignore[attr-defined]
        return int(all(isinstance(each, ClassV) for each in receivers))

    def _spread(self, m: Machine, call: ir.Call) -> AV:
        """By one of the dictionaries that are spread into the call, as no two may; ABSENT where none of them has it."""
        unknown = Unk(f"{self.name} is given by a spread")
        found: list[AV] = []
        for keyword in call.keywords:
            value = m.eval(keyword.value) if keyword.name is None else None
            if value is None:
                continue
            content = entries_of(m, value)
            if content is None:
                return unknown
            entry = content.items.get(self.name, (ABSENT, ABSENT))[1]
            if entry is not ABSENT and not may_lack(entry):
                return entry
            if content.open:
                return unknown
            found += [given(entry)] if entry is not ABSENT else []
        return unknown if any(isinstance(a, ir.Starred) for a in call.args) else one_of([*found, ABSENT])


class Beside(Watch):
    """Stands at a call that is not asked about, and not followed either."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("", -1, spawned=False)


def _names(call: ir.Call, method: str) -> bool:
    """``x.method(...)``, but for ``super().method(...)``."""
    func = call.func
    if not method or not isinstance(func, ir.Attribute) or func.attr != method:
        return False
    return not (isinstance(func.value, ir.Call) and isinstance(func.value.func, ir.Name) and func.value.func.id == "super")


def _is_another(callee: AV, wanted: ClassV | FuncV) -> bool:
    """Whether what is called is a class or function of the tree, but not the one that is waited for, nor derived from it."""
    if isinstance(callee, ClassV):
        return wanted not in callee.mro
    return isinstance(callee, FuncV) and callee.node is not wanted.node


def _made_once(function: ir.FunctionDef, name: str) -> tuple[ir.Stmt, ir.Call] | None:
    """The one assignment ``name = dict(key=value, ...)`` of a name that is only ever spread afterwards."""
    nodes = list(walk(function))
    spread = {keyword.value for node in nodes if isinstance(node, ir.Call) for keyword in node.keywords if keyword.name is None}
    assigned = [
        node for node in nodes if isinstance(node, ir.Assign) and any(isinstance(t, ir.Name) and t.id == name for t in node.targets)
    ]
    used = [node for node in nodes if isinstance(node, ir.Name) and node.id == name and node not in spread]
    value = assigned[0].value if len(assigned) == 1 and len(assigned[0].targets) == 1 and used == assigned[0].targets else None
    if not isinstance(value, ir.Call) or not isinstance(value.func, ir.Name) or value.func.id != "dict" or value.args:
        return None
    return (assigned[0], value) if all(keyword.name for keyword in value.keywords) else None
