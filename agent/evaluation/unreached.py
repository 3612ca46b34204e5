"""What this launch never calls, and classes of which it never makes an object: every place that could is itself not reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.control import guards, only_as_program
from agent.analysis.looked_up import BY_NAME, looking_up
from agent.domain.verdict import Guard, Operand
from agent.evaluation import explain
from agent.evaluation.attributes import class_attribute
from agent.evaluation.call_sites import CallSites, handed_to_nobody
from agent.evaluation.classes import ENUM_BASES
from agent.evaluation.definitions import Definitions, underlying
from agent.evaluation.doors import ask, lets_pass, records, shut
from agent.evaluation.effort import Effort
from agent.evaluation.exceptions import builtin_type
from agent.evaluation.machine import Machine
from agent.evaluation.makers import followed_calls, heeding, only_asked, tells_others, unseen_ways
from agent.evaluation.receivers import Receivers
from agent.evaluation.runs import Runs
from agent.evaluation.values import AV, ClassV, ExternV, FuncV, Instance
from agent.evaluation.watch import Watch

MAX_PLACES = 12
MAX_CLIMB = 16
"""Callers of callers, and makers of those on whom methods are called."""

CLIMB_FUEL = 2_500
"""Statements for all of one answer."""
LOOK_FUEL = 1_000
"""Statements for whether control passes one place by: what takes longer is most often reached."""

Reaches = Callable[[Reference, Watch], bool]
"""Runs the function around a call, so that it is seen whether the call is made; False when that cannot be done."""


class Unreached:
    """Each function and class is worked out once, as far as the fuel of the question goes."""

    def __init__(
        self,
        m: Machine,
        effort: Effort,
        receivers: Receivers,
        runs: Runs,
        definitions: Definitions,
        call_sites: CallSites,
        reaches: Reaches,
    ) -> None:
        self.m = m
        self.effort = effort
        self.receivers = receivers
        self.runs = runs
        self.definitions = definitions
        self.call_sites = call_sites
        self.reaches = reaches
        self._tables = call_sites.tables
        self.known: dict[object, bool] = {}
        self.closing: dict[object, Guard] = {}
        """A guard that keeps control from what is never called or made; another class or function being called before any other."""
        self._asked: list[tuple[object, list[Guard]]] = []
        self._circular = 0

    def never_made(self, cls: ClassV) -> bool:
        """Whether every place that could make an object of the class, or of one derived from it, is shown not to be reached."""
        return self._once(cls, lambda: self._no_use_reached(cls))

    def never_called(self, func: FuncV, owner: ClassV | None) -> bool:
        """Whether every place that could call the function is shown not to be reached."""
        return self._once(func.node, lambda: self._no_call_reached(func, owner))

    def _once(self, key: object, ask: Callable[[], bool]) -> bool:
        """What was found before; False of what is being asked already: an answer that rests on that is kept by who asked first only."""
        if key in self.known:
            self.m.assumptions |= self.effort.rests[key]
            self._note(self.closing.get(key))
            return self.known[key]
        if any(key is each for each, _ in self._asked) or len(self._asked) >= MAX_CLIMB:
            self._circular += 1
            return False
        if self.effort.stops():
            return False
        before = self._circular
        shut: list[Guard] = []
        self._asked.append((key, shut))
        try:
            with self.effort.at_most(CLIMB_FUEL if len(self._asked) == 1 else self.effort.limit), self.effort.working_out(key):
                found = ask()
        finally:
            self._asked.pop()
        if found or self._circular == before or not self._asked:
            self.known[key] = found
        if found and shut:
            self.closing[key] = next((each for each in shut if each.kind == "dispatch"), shut[0])
            self._note(self.closing[key])
        return found

    def _note(self, guard: Guard | None) -> None:
        if guard is not None and self._asked:
            self._asked[-1][1].append(guard)

    def _no_use_reached(self, cls: ClassV) -> bool:
        """Whoever has the class, or an object of it, has it from a place that names the class, or one derived from it."""
        made = (each for each, objects in self.receivers.made.items() if objects)
        if cls.node is None or any(cls in each.mro for each in made):
            return False
        uses = [ref for ref in self._uses(cls) if ref.kind != "base"]
        if len(uses) > MAX_PLACES or unseen_ways(self.m.index, self.call_sites.importable, self.call_sites.references, self._tables, cls):
            return False
        if not all(self._use_not_reached(ref, cls) for ref in uses):
            return False
        if not all(self.never(site, cls) for site in self._tables.calls_of_decorated(cls.module, heeding(cls.node)) or ()):
            return False
        return all(self.never_made(each) for each in self.call_sites.derived(cls))

    def _uses(self, cls: ClassV) -> Iterator[Reference]:
        """References to the class but for those that make nothing of it; a module with a class of its own by that name means that one."""
        others = {each.path for each in self.m.index.classes_named(cls.name) if each.node is not cls.node and not each.chain}
        for ref in self.call_sites.references(cls.name):
            elsewhere = ref.path in others and isinstance(ref.node, ir.Name)
            if not elsewhere and ref.kind not in ("import", "annotation") and not only_asked(ref) and not self._reads_value(ref, cls):
                yield ref

    def _reads_value(self, ref: Reference, cls: ClassV) -> bool:
        """``Class.attribute``, where that is no function: a read, by which nothing is made. ``__all__ = ["Class"]``: anybody may."""
        if ref.kind == "string" and isinstance(ref.statement, (ir.Assign, ir.AugAssign)) and not ref.chain:
            targets = ref.statement.targets if isinstance(ref.statement, ir.Assign) else [ref.statement.target]
            return any(isinstance(target, ir.Name) and target.id == "__all__" for target in targets)
        around = self.m.index.outline(ref.path).parents.get(ref.node)
        if ref.kind != "value" or not isinstance(around, ir.Attribute):
            return False
        held = class_attribute(self.m, cls, around.attr)
        return held is not None and underlying(held[0]) is None

    def _use_not_reached(self, ref: Reference, cls: ClassV) -> bool:
        calls = followed_calls(self.m.index, self._tables, ref) if ref.kind == "value" else None
        return self.never(ref) if calls is None else all(self.never(each, cls) for each in calls)

    def _no_call_reached(self, func: FuncV, owner: ClassV | None) -> bool:
        if func.node in self.m.entered:
            return False
        if owner is not None and self.never_made(owner):
            return True
        if (func.name.startswith("_") and func.name.endswith("_")) or (owner is not None and self._known_outside(owner, func)):
            return False  # Python, or an enumeration's own machinery, calls it
        if not handed_to_nobody(func.node) and (owner is not None or self.call_sites.registered(func) is None):
            return False
        sites = [site for site in self.call_sites.of(func, owner) if func.node not in site.chain]
        if len(sites) > MAX_PLACES:
            return False
        return all(self.never(each, func) for each in (*sites, *self._texts(func)))

    def _texts(self, func: FuncV) -> Iterator[Reference]:
        """Texts by which the function may be called; a bare name means one of a module only to who takes names from modules."""
        index, dotted = self.m.index, func.module.dotted
        taken = func.owner is not None or func.module.ir is None or BY_NAME.search(func.module.ir.source) is not None
        taken = taken or not self.call_sites.importable.isdisjoint(looking_up(index, dotted))
        for ref in self.call_sites.texts(func):
            if taken or not (ref.kind == "string" and isinstance(ref.node, ir.Constant) and ref.node.value == func.name):
                yield ref

    def _known_outside(self, owner: ClassV, func: FuncV) -> bool:
        """Whether code outside the tree may call methods of the class, or the module beside one by a name that it works out."""
        given = (each.cls for each in self.m.singletons.get("given to others", ()) if isinstance(each, Instance))
        away = any(owner in cls.mro for cls in given if isinstance(cls, ClassV))
        return away or has_outside_base(owner) or tells_others(owner) or self.call_sites.worked_out_beside(func)

    def never(self, ref: Reference, wanted: ClassV | FuncV | None = None) -> bool:
        """Whether control never comes to a place, or ``wanted`` is never what is called there."""
        if not ref.chain:
            return ref.path != self.m.entry_path and only_as_program(self.m.index.outline(ref.path), ref.statement)
        return self._passed_by(ref, wanted) or self.within(ref)

    def _passed_by(self, ref: Reference, wanted: ClassV | FuncV | None) -> bool:
        with self.effort.look(LOOK_FUEL):
            return self._not_let_through(ref, wanted)

    def _not_let_through(self, ref: Reference, wanted: ClassV | FuncV | None) -> bool:
        if ref.role == "alias":
            watch = Watch("", -1, spawned=False)
            watch.made = wanted
            passed_by = self.reaches(ref, watch) and not watch.seen
            if passed_by and watch.instead and ref.call is not None:
                self._note(self._another(ref, ref.call.func, watch.instead))
            return passed_by
        found = self._function(ref.path, ref.chain[-1])
        if found is None:
            return False
        outline = self.m.index.outline(ref.path)
        items = [item for item in guards(outline, ref.statement) if item.kind in _ASKED and item.asks == "true"]
        passed = lets_pass(items)
        for each in reversed(items):
            item, run = ask(self.runs, outline, *found, each, passed)
            if shut(item, run):
                kept, self.m.tests = self.m.tests, run.tests
                self._note(explain.guard(self.m, self.m.index, ref.path, item, ref.function, records(run.tests, item)))
                self.m.tests = kept
                return True
        return False

    def _another(self, ref: Reference, func: ir.Expr, called: list[AV]) -> Guard:
        """Another class or function is called than the one that is asked about."""
        shown = explain.text(self.m.index, ref.path, func)
        operand = Operand(text=shown, value=" | ".join(dict.fromkeys(map(repr, called))))
        return Guard(
            path=ref.path, line=func.line, condition=shown, truth="false", kind="dispatch", function=ref.function, operands=(operand,)
        )

    def within(self, ref: Reference) -> bool:
        """Whether the outermost function around a place is never called: nothing of what is in it runs."""
        outer = next((node for node in ref.chain if isinstance(node, ir.FunctionDef)), None)
        found = self._function(ref.path, outer) if outer is not None else None
        return found is not None and self.never_called(*found)

    def _function(self, path: str, node: ir.Node) -> tuple[FuncV, ClassV | None] | None:
        definition = self.m.index.outline(path).definition_of(node)
        return self.definitions.function(definition) if definition is not None and isinstance(node, ir.FunctionDef) else None


def has_outside_base(cls: ClassV) -> bool:
    """Code outside the tree calls the methods of classes that derive from its own."""
    return any(base not in ENUM_BASES and builtin_type(ExternV(base)) is None for base in cls.opaque)


_ASKED = frozenset({"if", "early_exit"})
"""Kinds of guards that are asked; any other takes more than it tells."""
