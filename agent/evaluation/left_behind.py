"""What a function leaves that may run after the forward run has ended: it is run for that, with what its callers give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.evaluation.attributes import class_attribute
from agent.evaluation.call_sites import MAX_LISTED
from agent.evaluation.called_again import Again
from agent.evaluation.definitions import underlying
from agent.evaluation.handed_in import hands_on
from agent.evaluation.occasions import Occasions
from agent.evaluation.state import Location
from agent.evaluation.values import ABSENT, AV, ClassV, Const, FuncV, Instance, ModuleV, Unk, candidates

if TYPE_CHECKING:
    from agent.evaluation.demand import Demand

SHARED_FUEL, SHARED_TOTAL = 40_000, 160_000
"""Statements for one value, and for all, that no question pays for: it is worked out once, as what a module holds is."""
AGAIN_FUEL = 2_000
"""Statements for what one function leaves when it is called once more."""

Constants = tuple[tuple[str, object], ...]
"""Arguments by name, "" where they are given by position."""


class LeftBehind:
    """Of a global, or of an attribute of an object that the forward run has made."""

    def __init__(self, demand: Demand, occasions: Occasions) -> None:
        self.m = demand.m
        self.runs = demand.runs
        self.effort = demand.effort
        self.definitions = demand.definitions
        self.occasions = occasions
        self.shared = SHARED_TOTAL
        self.in_passing = False
        """Whether methods are not run for what they leave: what is asked for in passing must be cheap."""
        self.refused = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        kept, self.in_passing, self.refused = self.in_passing, True, False
        try:
            yield
        finally:
            self.in_passing = kept

    def cut_short(self) -> bool:
        """Whether a method was not run that would have been otherwise."""
        return self.refused

    def by_method(self, owner: Instance, function: ir.FunctionDef, name: str) -> list[AV]:
        """What a method of an object that a module holds leaves in the attribute."""
        assert isinstance(owner.cls, ClassV)
        found = class_attribute(self.m, owner.cls, function.name)
        func = underlying(found[0]) if found is not None else None
        key = (owner, name, function)
        unknown = Unk(f"{name} is also written by {function.name}()")
        if func is None or func.node is not function or function.decorators or key in self.effort.pending or self.shared <= 0:
            return [unknown]
        if self.in_passing:
            self.refused = True
            return [unknown]
        with self.effort.working_out(key), self.effort.apart(SHARED_FUEL):
            run = self.runs.run(func, func.owner, None, wanted=(owner, name), receiver=owner)
            self.shared -= self.effort.total
        return [value for value in candidates(run.stored or unknown) if value is not ABSENT]

    def once_more(self, owner: object, path: str, function: ir.FunctionDef, statement: ir.Stmt, name: str, again: Again) -> list[AV]:
        """What a statement of a function writes that other code calls again; nothing where only messages bring what it is called with."""
        where = f"{again.ways[0].path}:{again.ways[0].line}"
        if all(self._asked(way) and self._from_message(way) for way in again.ways):
            self.m.assume(f"nobody has asked the running program to change {name} ({where} would)")
            return []
        unknown = Unk(f"{name} may be written once more by {function.name}(): it is also called at {where}")
        return self._written(owner, path, function, statement, name, unknown, again)

    def _asked(self, way: Reference) -> bool:
        caller = way.caller
        return caller is not None and self.occasions.on_request(way.path, caller)

    def _from_message(self, way: Reference) -> bool:
        caller = way.caller
        return caller is not None and way.call is not None and hands_on(caller, way.call)

    def _written(
        self, owner: object, path: str, function: ir.FunctionDef, statement: ir.Stmt, name: str, unknown: Unk, again: Again
    ) -> list[AV]:
        definition = self.m.index.outline(path).definition_of(function)
        found = self.definitions.function(definition) if definition is not None else None
        key = (owner, name, statement)
        if found is None or not isinstance(owner, (Instance, ModuleV, ClassV, FuncV)) or key in self.effort.pending:
            return [unknown]
        on_it = isinstance(owner, Instance) and found[1] is not None and found[1] in getattr(owner.cls, "mro", ())
        receiver = owner if isinstance(owner, Instance) and on_it else None
        given = {_constants(each) for each in again.calls}
        with self.effort.working_out(key), self.effort.at_most(AGAIN_FUEL):
            if given and None not in given and (receiver is not None or found[1] is None):
                values = [self._by_call(found[0], receiver, each, (owner, name)) for each in given if each is not None]
            elif len(self.m.index.files_with(function.name)) > MAX_LISTED:
                return [unknown]
            else:
                run = self.runs.run(*found, [statement], wanted=(owner, name), receiver=receiver)
                values = [run.stored or unknown if run.finished else unknown]
        return [value for each in values for value in candidates(each) if value is not ABSENT]

    def _by_call(self, func: FuncV, receiver: Instance | None, given: Constants, wanted: Location) -> AV:
        """What one call leaves."""

        def call() -> AV:
            args: list[AV] = [Const(value) for name, value in given if not name]
            before = [receiver] if receiver is not None else []
            self.m.call(func, [*before, *args], {name: Const(value) for name, value in given if name})
            return self.m.load(wanted) or ABSENT

        return self.runs.in_module(func.module, call)


def _constants(site: Reference) -> Constants | None:
    """What a call gives, by position or by name, where that is nothing but constants."""
    call = site.call if site.kind == "call" else None
    if call is None or not all(isinstance(each, ir.Constant) for each in (*call.args, *(keyword.value for keyword in call.keywords))):
        return None
    named = [(keyword.name, keyword.value) for keyword in call.keywords]
    if any(name is None for name, _ in named):
        return None
    given = [*(("", each) for each in call.args), *named]
    return tuple((name or "", value.value) for name, value in given if isinstance(value, ir.Constant))
