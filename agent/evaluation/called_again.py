"""Where a function that the forward run has been in may be called once more, by code that the run has not been in.

Its callers are climbed through what the run has followed. Where the function writes to an object that it was given, each call is asked
which object it gives: one that is made for the call is another than the one that was written to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agent.analysis import ir
from agent.analysis.arguments import arguments
from agent.analysis.callers import Reference, references_in
from agent.analysis.control import only_as_program
from agent.analysis.resolve import dotted_text
from agent.analysis.scopes import binds
from agent.analysis.walk import statements
from agent.analysis.writers import holds_one
from agent.evaluation.call_sites import handed_to_nobody
from agent.evaluation.occasions import FEW_FILES, Occasions
from agent.evaluation.receivers import called_so
from agent.evaluation.runs import MAKING

MAX_CLIMBED = 40
"""Functions between a function and those from which it is called again."""

MAX_MAKERS = 3
"""Functions from one that gives an object to one that makes it, and namesakes of each."""


class Known(NamedTuple):
    """An object that a call would have to be on: the names that it goes by, and those of its classes."""

    obj: object
    names: frozenset[str]
    classes: tuple[str, ...]


class Step(NamedTuple):
    """A function on the way, and its variable that holds the object; "" where none does, or any may."""

    path: str
    function: ir.FunctionDef
    variable: str


class Again(NamedTuple):
    """``ways``: the first call of each, in code that the run has not been in; ``calls``: those of the function itself.

    ``assumed``: what has to be assumed for there to be no more.
    """

    ways: tuple[Reference, ...] = ()
    assumed: tuple[str, ...] = ()
    calls: tuple[Reference, ...] = ()


class CalledAgain:
    """Each function is asked about once for each object."""

    def __init__(self, occasions: Occasions) -> None:
        self.occasions = occasions
        self.m = occasions.m
        self.known: dict[tuple[object, ir.Node, str], Again] = {}

    def of(self, path: str, function: ir.FunctionDef, variable: str = "", known: Known | None = None) -> Again:
        """``variable``: the one of the function that holds the object, where a call would have to be on that."""
        variable = variable if known is not None and _has(function, variable) else ""
        key = (known.obj if known is not None and variable else None, function, variable)
        if key not in self.known:
            self.known[key] = Again()
            self.known[key] = self._found(Step(path, function, variable), known)
        return self.known[key]

    def _found(self, first: Step, known: Known | None) -> Again:
        ways: dict[Reference, None] = {}
        assumed: dict[str, None] = {}
        steps: dict[Step, Reference | None] = {first: None}
        calls: list[Reference] = []
        queue = [first]
        for step in queue:
            if step.function.name == "__setattr__" or (step.variable and self._makes(step)):
                continue  # each write that runs it is known as one
            sites = self._sites(step, known)
            if sites is None or len(queue) > MAX_CLIMBED:
                assumed[not_called_otherwise(step.path, step.function)] = None
                continue
            through = steps[step]
            if through is not None and step.function not in self.occasions.followed and self._called_from_outside(step):
                ways[through] = None
            for site in sites:
                variable = self._given(step, site, known)
                caller = site.caller
                calls += [site] if step is first and variable is not None else []
                if variable is None or (caller is None and site.kind == "call" and self._at_import(site)):
                    continue
                if caller is None or site.kind not in ("call", "super"):
                    ways[site] = None
                    continue
                not_called = () if caller in self.occasions.followed else self.occasions.not_called(site.path, caller)
                further = Step(site.path, caller, variable)
                if caller not in self.occasions.followed and not_called is not None:
                    assumed |= dict.fromkeys(not_called)
                elif caller in self.occasions.followed or (_is_given(further) and handed_to_nobody(caller)):
                    queue += [] if further in steps else [further]
                    steps.setdefault(further, site)
                elif not (variable and self._makes(further)):
                    ways[site] = None
        return Again(tuple(ways), tuple(assumed), tuple(calls))

    def _sites(self, step: Step, known: Known | None) -> list[Reference] | None:
        """Every reference to the function; of a method with a common name those on the object, by the names that it goes by."""
        common = _runs_on_it(step) and len(self.m.index.files_with(step.function.name)) > FEW_FILES
        sites = None if common else self.occasions.sites(step.path, step.function)
        if sites is not None or known is None or not _runs_on_it(step) or self.occasions.named_by_working_out(step.path, step.function):
            return sites
        self.m.assume("methods that are called through names of other kinds run on other objects")
        index, name = self.m.index, step.function.name
        called = re.compile(rb"\b(\w+)(?:\[[^\[\]\n]*\])?\s*\.\s*" + name.encode() + rb"\b")
        found = []
        for path in sorted({step.path}.union(*(index.files_with(each) for each in known.names)) & self.occasions.call_sites.importable):
            content = index.read(path)
            shown = {hit[1].decode() for hit in called.finditer(content)} if isinstance(content, bytes) else set()
            own = {"self", "cls"} if path == step.path else set()
            if shown & (known.names | own):
                found += [site for site in references_in(index.module(path), name) if site.kind in ("call", "value", "super")]
        return found

    def _called_from_outside(self, step: Step) -> bool:
        """Whether a method that may be called has no call in the tree."""
        return self.occasions.sites(step.path, step.function) == []

    def _given(self, step: Step, site: Reference, known: Known | None) -> str | None:
        """The variable at a call that gives it the object; "" where that is not known, None where it gives another."""
        given = _argument(step, site) if step.variable and known is not None else ir.Name("")
        if given is None or known is None:
            return None if given is None else ""
        shown = given.id if isinstance(given, ir.Name) else given.attr if isinstance(given, ir.Attribute) else ""
        if shown not in ("", "self", "cls") and not self._held(site.path, shown, known):
            return None
        caller = site.caller
        if caller is not None and self._makes_there(Step(site.path, caller, ""), given):
            return None
        return shown if isinstance(given, ir.Name) and caller is not None and _has(caller, shown) else ""

    def _held(self, path: str, name: str, known: Known) -> bool:
        """Whether a variable or attribute of this name, in the file of this path, may hold the object."""
        return called_so(name, known.names) or holds_one(self.m.index, path, name, known.classes)

    def _makes(self, step: Step, depth: int = 0) -> bool:
        """Whether the variable holds an object that was made for this call of the function."""
        if step.function.name in MAKING and _runs_on_it(step):
            return True
        binding = list(_bindings(step.function, step.variable))
        return bool(binding) and all(isinstance(each, ir.Assign) and self._makes_one(step, each.value, depth) for each in binding)

    def _makes_there(self, step: Step, given: ir.Expr) -> bool:
        """``Class(...)``, or ``self.x`` with ``self.x = Class(...)`` in the function itself."""
        text = dotted_text(given) if isinstance(given, ir.Attribute) else None
        if isinstance(given, ir.Call):
            return self._makes_one(step, given, 0)
        assigned = [each for each in statements(step.function.body) if isinstance(each, ir.Assign)]
        values = [each.value for each in assigned if any(text is not None and dotted_text(target) == text for target in each.targets)]
        return bool(values) and all(self._makes_one(step, each, 0) for each in values)

    def _makes_one(self, step: Step, value: ir.Expr, depth: int) -> bool:
        """``Class(...)``, ``Class.from_file(...)``, ``cls(...)``, and a call of a function that gives what it makes so."""
        if isinstance(value, ir.Name):
            return depth < MAX_MAKERS and value.id != step.variable and self._makes(step._replace(variable=value.id), depth + 1)
        names = (dotted_text(value.func) or "").split(".")[-2:] if isinstance(value, ir.Call) else [""]
        if any(name == "cls" or bool(name and self.m.index.classes_named(name)) for name in names):
            return True
        called = self.m.index.functions_named(names[-1]) if depth < MAX_MAKERS and names[-1] else []
        return 0 < len(called) <= MAX_MAKERS and all(self._gives_new(each.path, each.node, depth + 1) for each in called)

    def _gives_new(self, path: str, function: ir.Node, depth: int) -> bool:
        assert isinstance(function, ir.FunctionDef)
        returned = [each.value for each in statements(function.body) if isinstance(each, ir.Return)]
        step = Step(path, function, "")
        return bool(returned) and all(value is not None and self._makes_one(step, value, depth) for value in returned)

    def _at_import(self, site: Reference) -> bool:
        """Whether a call at the top of a module is one that the run has made, or that only the program itself makes."""
        if site.statement in self.occasions.marks:
            return True
        return only_as_program(self.m.index.outline(site.path), site.statement) and site.path != self.m.entry_path


def not_called_otherwise(path: str, function: ir.FunctionDef) -> str:
    """The assumption where the calls of a function cannot be listed."""
    return f"{function.name}() ({path}:{function.line}) is not called again by code that the search for its calls leaves out"


def _argument(step: Step, site: Reference) -> ir.Expr | None:
    """What a call gives the variable; a nameless one where that cannot be told, None where it gives nothing."""
    untold = ir.Name("")
    if _runs_on_it(step):
        given = ir.Name("self") if site.kind == "super" else site.receiver or untold
    elif site.call is None or site.kind != "call" or all(each.name != step.variable for each in step.function.params):
        return untold
    else:
        found = arguments(site.call, step.function)
        if found is None or step.variable not in found:
            return untold if found is None else None
        given = found[step.variable]
    return given.value if isinstance(given, ir.Subscript) else given


def _runs_on_it(step: Step) -> bool:
    """Whether the variable is what a method runs on."""
    return step.variable in ("self", "cls") and bool(step.function.params) and step.function.params[0].name == step.variable


def _is_given(step: Step) -> bool:
    """Whether the variable is a parameter."""
    return bool(step.variable) and any(each.name == step.variable for each in step.function.params)


def _has(function: ir.FunctionDef, name: str) -> bool:
    return any(each.name == name for each in function.params) or next(_bindings(function, name), None) is not None


def _bindings(function: ir.FunctionDef, name: str) -> Iterator[ir.Stmt]:
    return (each for each in statements(function.body) if binds(each, name)) if name else iter(())
