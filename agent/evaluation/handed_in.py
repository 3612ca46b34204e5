"""Whether a ``setattr`` whose name is handed in can write an attribute in this launch: by the calls that hand its name in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent.analysis import ir
from agent.analysis.attribute_names import may_write, ways_of_writing
from agent.analysis.callers import Reference
from agent.analysis.resolve import dotted_text, root_name
from agent.analysis.scopes import binds
from agent.analysis.walk import statements
from agent.analysis.written_out import Way, Ways
from agent.evaluation.call_sites import MAX_LISTED
from agent.evaluation.makers import alias_calls
from agent.evaluation.occasions import Occasions, called_by_nobody


class HandedIn:
    """Each place is followed once."""

    def __init__(self, occasions: Occasions) -> None:
        self.occasions = occasions
        self.m = occasions.m
        self.known: dict[tuple[str, int], Ways] = {}

    def may_write(self, path: str, line: int, name: str, *, strict: bool, elsewhere: Callable[[Reference], bool]) -> bool:
        """``strict``: what the forward run has passed by may run; ``elsewhere``: whether a call of the method is on another object."""
        if not may_write(self.m.index, path, line, name):
            return False
        if (path, line) not in self.known:
            self.known[path, line] = ways_of_writing(self.m.index, path, line, self._sites)
        writing = next((node for node in reversed(self.m.index.enclosing(path, line)) if isinstance(node, ir.FunctionDef)), None)
        ways = [way for way in self.known[path, line] if way.texts is None or name in way.texts]
        return any(not self._shut(way, writing, name, strict, elsewhere) for way in ways)

    def _sites(self, path: str, function: ir.FunctionDef) -> list[Reference] | None:
        definition = self.m.index.outline(path).definition_of(function)
        found = self.occasions.definitions.function(definition) if definition is not None else None
        if found is None or (found[1] is not None and self.occasions.call_sites.worked_out_beside(found[0])):
            return None
        sites = self.occasions.call_sites.of(*found)
        texts = [ref for ref in self.occasions.call_sites.texts(found[0]) if ref.kind == "string"]
        return [*self._called(sites), *texts] if len(sites) < MAX_LISTED else None

    def _called(self, sites: list[Reference]) -> Iterator[Reference]:
        """With the calls of a variable instead of the place where it takes the function."""
        for site in sites:
            calls = alias_calls(self.m.index, site) if site.kind == "value" else None
            yield from [site] if calls is None else calls

    def _shut(self, way: Way, writing: ir.FunctionDef | None, name: str, strict: bool, elsewhere: Callable[[Reference], bool]) -> bool:
        """Whether one of the calls in a row is never made, or the first is on another object."""
        if way.calls and elsewhere(way.calls[0]):
            return True
        called: ir.Node | None = writing
        for site in way.calls:
            caller = site.caller
            if caller is None:
                return False
            if not strict and self._passed(called, caller):
                return True
            idle = self.occasions.idle(site.path, caller) if not strict else None
            if idle is None and self.occasions.uncalled(site.path, caller):
                idle = (called_by_nobody(site.path, caller),)
            if idle is not None:
                for each in idle:
                    self.m.assume(each)
                return True
            called = caller
        return not strict and way.texts is None and bool(way.calls) and self._asked_for(way.calls[-1], name)

    def _asked_for(self, site: Reference, name: str) -> bool:
        """Whether the names come in a message: the call hands on what a function was given that runs on request alone."""
        caller = site.caller
        if caller is None or site.call is None or not hands_on(caller, site.call) or not self.occasions.on_request(site.path, caller):
            return False
        self.m.assume(f"nobody has asked the running program to change {name} ({site.path}:{site.line} would)")
        return True

    def _passed(self, called: ir.Node | None, caller: ir.FunctionDef) -> bool:
        """Whether the forward run has followed the caller to its end, and has not come to the call."""
        followed = self.occasions.followed
        return caller in followed and called not in followed and caller not in self.m.unfollowed and caller not in self.m.detached


def hands_on(function: ir.FunctionDef, call: ir.Call) -> bool:
    """``f(**message.fields)``, ``f(name, value)``: everything that is spread, or else given, comes from the function's own arguments."""
    spread = [keyword.value for keyword in call.keywords if keyword.name is None]
    given = spread or [each for each in (*call.args, *(keyword.value for keyword in call.keywords)) if not isinstance(each, ir.Constant)]
    return bool(given) and all(_from_argument(function, each, 4) for each in given)


def _from_argument(function: ir.FunctionDef, node: ir.Expr, depth: int) -> bool:
    """``argument``, ``argument.attr``, ``dict(argument)``, and a variable that is bound to nothing else."""
    if isinstance(node, ir.Call) and dotted_text(node.func) in ("dict", "copy", "copy.copy") and len(node.args) == 1 and not node.keywords:
        return _from_argument(function, node.args[0], depth)
    name = root_name(node)
    binding = [each for each in statements(function.body) if binds(each, name)]
    if any(each.name == name for each in function.params):
        return not binding and name not in ("self", "cls")
    values = [each.value if isinstance(each, ir.Assign) else None for each in binding]
    return bool(values) and depth > 0 and all(each is not None and _from_argument(function, each, depth - 1) for each in values)
