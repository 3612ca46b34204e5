"""Why a line runs or does not: its own guards first, then those of its callers, up to the entry point or to the first closed door."""

from __future__ import annotations

from typing import NamedTuple

from agent.analysis import control as control_analysis
from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.exits import ControlGuard
from agent.analysis.outline import Definition, Outline, holder
from agent.analysis.walk import walk
from agent.domain.errors import TargetNotFound
from agent.domain.verdict import CallStep, Guard, PathCondition, Target, WhyAnswer
from agent.evaluation import doors, explain
from agent.evaluation.attributes import class_attribute
from agent.evaluation.definitions import underlying
from agent.evaluation.demand import Demand
from agent.evaluation.frames import Tested
from agent.evaluation.machine import Machine
from agent.evaluation.modules import blocked_import
from agent.evaluation.receivers import ANY, Context
from agent.evaluation.runs import Run
from agent.evaluation.values import ClassV, FuncV

ASSERTION_FUEL = 1_500
FIRST_FUEL = 4_000
GUARD_FUEL = 8_000
"""Statements for one guard of a line. An assertion that fails is loud: it is not where a silent fault is looked for."""
MAX_CLIMB = 6
MAX_PATHS = 8


class Seen(NamedTuple):
    """One statement judged in one function: ``ran`` True certainly, None perhaps, False never; its guards and the node that closed it."""

    ran: bool | None
    guards: tuple[Guard, ...]
    decisive: Guard | None
    door: ir.Node | None


class Why:
    """Answers for one launch; ``machine`` has finished its forward run.

    ``guards_alone``: whether the statements before a line raise is not asked, which is most of the work for a line that runs.
    """

    def __init__(self, machine: Machine, demand: Demand, *, guards_alone: bool = False) -> None:
        self.m = machine
        self.demand = demand
        self.guards_alone = guards_alone

    def answer(self, target: Target) -> WhyAnswer:
        """The verdict with its paths; counterfactuals are added by the engine."""
        index = self.m.index
        self.demand.begin()
        statement = index.statement_at(target.path, target.line)
        if statement is None:
            raise TargetNotFound(f"{target.path}:{target.line} has no statement", hint="name a line with code on it")
        outline = index.outline(target.path)
        scope = control_analysis.scope_of(outline, statement)
        if not isinstance(scope, ir.FunctionDef):
            return self._at_module_level(target, statement)
        definition = next(d for d in outline.definitions if d.node is scope)
        self.demand.later.strict = definition.node in self.m.detached
        node = evaluated_at(statement, target.line)
        if control_analysis.scope_of(outline, node) is not scope:
            return self._made(target, "unknown", None, (), "it is the body of a lambda; its calls were not followed")
        forward = self._forward(target, statement, node, definition)
        return forward if forward is not None else self._on_demand(target, node, definition)

    # --- what the forward run saw --------------------------------------------------------------------------------------------

    def _forward(self, target: Target, statement: ir.Stmt, node: ir.Node, definition: Definition) -> WhyAnswer | None:
        """The forward run's word, where it ran the function and nobody else can call it."""
        m = self.m
        if definition.node not in m.entered:
            return None
        seen = self._seen(m.marks, m.tests, statement, node, definition, m.finished)
        calls = (CallStep(path=definition.path, line=definition.node.line, function=definition.qualname),)
        if statement in m.marks and (node is statement or seen.decisive is None):
            passed = node is statement or all(guard.truth != "unknown" for guard in seen.guards)
            verdict = "always" if m.marks[statement] and passed else "may"
            reason = "" if verdict == "always" else self._reason(seen)
            path = PathCondition(calls=calls, guards=seen.guards, open=True if verdict == "always" else None)
            return self._made(target, verdict, None, (path,), reason)
        if m.broken or definition.node in m.detached or self._in_vague_handler(definition, statement) or self._unseen_callers(definition):
            return None
        return self._made(target, "never", seen.decisive, (PathCondition(calls=calls, guards=seen.guards, open=False),))

    def _in_vague_handler(self, definition: Definition, statement: ir.Stmt) -> bool:
        return in_vague_handler(self.m, self.m.index.outline(definition.path), statement)

    def _unseen_callers(self, definition: Definition, asked: set[ir.Node] | None = None) -> bool:
        """Whether a call of the function, or of one that leads to it, stands where the forward run has not been."""
        asked = asked if asked is not None else set()
        asked.add(definition.node)
        found = self.demand.definitions.function(definition)
        if found is None:
            return True
        func, owner = found
        sites = self.demand.call_sites.of(func, owner)
        if owner is not None and func.name.startswith("__") and func.name not in ("__init__", "__new__"):
            if self.demand.receivers.is_record(owner):
                return False
            # What Python calls by itself is called wherever there is such an object.
            sites = self.demand.call_sites.constructor_sites(owner)
        return any(self._unseen(site, asked) for site in sites)

    def _unseen(self, site: Reference, asked: set[ir.Node]) -> bool:
        """A call that the forward run has not been at, or that it has been at on one way of several."""
        if not site.chain:
            return site.call not in self.m.calls
        around = site.chain[-1]
        if around not in self.m.entered:
            return True
        outer = self.m.index.outline(site.path).definition_of(around)
        return outer is not None and around not in asked and self._unseen_callers(outer, asked)

    def _reason(self, seen: Seen) -> str:
        undecided = next((g for g in seen.guards if g.truth == "unknown"), None)
        return f"{undecided.condition} at {undecided.path}:{undecided.line} is not decided: {_unknown(undecided)}" if undecided else ""

    # --- on demand -----------------------------------------------------------------------------------------------------------

    def _on_demand(self, target: Target, statement: ir.Node, definition: Definition) -> WhyAnswer:
        found = self.demand.definitions.function(definition)
        if found is None:
            return self._nested(target, definition)
        func, owner = found
        seen = self._judge(func, owner, statement, definition, ANY)
        step = CallStep(path=definition.path, line=definition.node.line, function=definition.qualname, instance=_instance(owner))
        paths = self._contexts(func, owner, statement, definition, step, seen.door)
        if seen.ran is False or (paths and all(path.open is False for path in paths)):
            decisive = seen.decisive if seen.ran is False else next((g for p in paths for g in reversed(p.guards) if _against(g)), None)
            whole = PathCondition(calls=(step,), guards=seen.guards, open=False)
            return self._made(target, "never", decisive, paths or (whole,))
        if any(path.open is False for path in paths) and any(path.open is not False for path in paths):
            return self._made(target, "may", None, paths, "it runs on some instances and not on others")
        closed, paths = self._climb(func, owner, (step,), seen.guards, 0)
        if closed is None and self._never_called(func, owner):
            closed = self.demand.unreached.closing[func.node]
            paths = (PathCondition(calls=(step,), guards=(closed, *seen.guards), open=False),)
        if closed is not None:
            return self._made(target, "never", closed, paths)
        reason = self._reason(seen) or f"it runs whenever {definition.qualname}() is called"
        return self._made(target, "may", None, paths or (PathCondition(calls=(step,), guards=seen.guards, open=None),), reason)

    def _never_called(self, func: FuncV, owner: ClassV | None) -> bool:
        """Whether a door is shut on every way to the function: asked last, with fuel of its own."""
        self.demand.effort.total = 0
        return self.demand.unreached.never_called(func, owner) and func.node in self.demand.unreached.closing

    def _nested(self, target: Target, definition: Definition) -> WhyAnswer:
        """A function inside a function runs only where the outer one defines it."""
        outer = self.m.index.outline(target.path).definition_of(definition.chain[-1])
        if outer is not None and isinstance(outer.node, ir.FunctionDef):
            answer = self.answer(Target(path=target.path, line=definition.node.line, text=target.text, function=outer.qualname))
            if answer.verdict == "never":
                return self._made(target, "never", answer.decisive, answer.paths)
        return self._made(target, "unknown", None, (), f"{definition.qualname} is defined inside a function; its calls were not followed")

    def _judge(
        self,
        func: FuncV,
        owner: ClassV | None,
        node: ir.Node,
        definition: Definition,
        context: Context,
        only: ir.Node | None = None,
        *,
        brief: bool = False,
    ) -> Seen:
        """Each guard by itself, the nearest first, as if the others let control pass: the first that does not closes the line.

        In a first turn each is given little fuel, so that a costly one does not use up what a cheap one further out needs.

        When none is closed, the statements between them may still raise: the function is run once more, the guards let pass.
        ``only``: one guard alone; ``brief``: no assertions, nor that last run.
        """
        brief = brief or self.guards_alone
        outline = self.m.index.outline(definition.path)
        items = control_analysis.guards(outline, node)
        passed = doors.lets_pass(items)
        asked = [item for item in items if (only is None or item.node is only) and not (brief and item.kind == "assert")]
        found: dict[ControlGuard, Guard] = {}
        unraised: tuple[Guard, ir.Node] | None = None
        again = list(reversed(asked))
        for fuel in (FIRST_FUEL,) if self.guards_alone else (FIRST_FUEL, GUARD_FUEL):
            turn, again = again, []
            for item in turn:
                cuts = self.demand.effort.cuts
                with self.demand.effort.at_most(min(fuel, ASSERTION_FUEL) if item.kind == "assert" else fuel):
                    guard, closed = self._one(func, owner, definition, item, passed, context)
                found[item] = guard
                if closed and item.kind == "except":
                    unraised = unraised or (guard, item.node)  # a guard around the whole ``try`` says more
                elif closed:
                    return Seen(False, tuple(found[each] for each in asked if each in found), guard, item.node)
                elif self.demand.effort.cuts != cuts and item.kind != "assert":
                    again.append(item)
            if again:
                self.demand.try_again()
        guards = tuple(found[item] for item in asked)
        if unraised is not None:
            return Seen(False, guards, *unraised)
        if brief or only is not None:
            return Seen(None, guards, None, None)
        with self.demand.effort.at_most(GUARD_FUEL):
            statement = holder(outline, node)
            run = self.demand.runs.run(func, owner, [statement], context=context, forced=passed, reads={statement: ()})
        if run.finished and statement not in run.marks:
            return Seen(False, guards, self._swallowed(run, statement, definition) or (guards[-1] if guards else None), None)
        return Seen(None, guards, None, None)

    def _one(
        self, func: FuncV, owner: ClassV | None, definition: Definition, item: ControlGuard, passed: dict[ir.Node, bool], context: Context
    ) -> tuple[Guard, bool]:
        outline = self.m.index.outline(definition.path)
        item, run = doors.ask(self.demand.runs, outline, func, owner, item, passed, context)
        found = doors.records(run.tests, item)
        kept, self.m.tests = self.m.tests, run.tests
        try:
            guard = explain.guard(self.m, self.m.index, definition.path, item, definition.qualname, found)
        finally:
            self.m.tests = kept
        return guard, doors.shut(item, run)

    def _swallowed(self, run: Run, statement: ir.Node, definition: Definition) -> Guard | None:
        """The handler that takes over before the line is reached."""
        outline = self.m.index.outline(definition.path)
        node: ir.Node | None = statement
        while node is not None:
            node = outline.parents.get(node)
            if isinstance(node, ir.Try):
                taken = next((handler for handler in node.handlers if handler in run.marks), None)
                if taken is not None:
                    return self._handler_guard(taken, definition)
        return None

    def _handler_guard(self, handler: ir.Handler, definition: Definition) -> Guard:
        shown = explain.text(self.m.index, definition.path, handler.type) if handler.type is not None else "except"
        return Guard(
            path=definition.path,
            line=handler.line,
            condition=shown,
            polarity=False,
            truth="true",
            kind="except",
            function=definition.qualname,
        )

    def _contexts(
        self, func: FuncV, owner: ClassV | None, statement: ir.Node, definition: Definition, step: CallStep, door: ir.Node | None
    ) -> tuple[PathCondition, ...]:
        """The same question for each way in which the receiver is made: one class may have instances with different answers."""
        paths = []
        for context, steps in self._ways(owner, 2) if owner is not None else ():
            one = self._judge(func, owner, statement, definition, context, door, brief=True)
            if context not in self.demand.parameters.unreached:
                paths.append(PathCondition(calls=(*steps, step), guards=one.guards, open=one.ran if one.ran is not True else None))
        return tuple(paths[:MAX_PATHS])

    def _ways(self, owner: ClassV, depth: int) -> list[tuple[Context, tuple[CallStep, ...]]]:
        init = class_attribute(self.m, owner, "__init__")
        func = underlying(init[0]) if init is not None else None
        if func is None:
            return []
        ways: list[tuple[Context, tuple[CallStep, ...]]] = []
        for site in self.demand.call_sites.of(func, owner)[:MAX_PATHS]:
            step = CallStep(path=site.path, line=site.line, function=site.function, instance=owner.name)
            outer = self._maker(site)
            inner = self._ways(outer, depth - 1) if outer is not None and depth > 1 else []
            ways += [(Context(site, context), (*steps, step)) for context, steps in inner] or [(Context(site, None), (step,))]
        return ways[:MAX_PATHS]

    def _maker(self, site: Reference) -> ClassV | None:
        for node in reversed(site.chain):
            if isinstance(node, ir.ClassDef):
                definition = self.m.index.outline(site.path).definition_of(node)
                return self.demand.definitions.class_of(definition) if definition is not None else None
        return None

    def _climb(
        self, func: FuncV, owner: ClassV | None, steps: tuple[CallStep, ...], guards: tuple[Guard, ...], depth: int
    ) -> tuple[Guard | None, tuple[PathCondition, ...]]:
        """Callers of a function whose own guards are open: the decisive guard when every call is closed, else None."""
        sites = self.demand.call_sites.of(func, owner) if not (owner is not None and func.name in _MAGIC) else []
        if not sites or len(sites) > 12 or depth >= MAX_CLIMB or self.demand.effort.spent() or self.demand.call_sites.called_by_name(func):
            return None, (PathCondition(calls=steps, guards=guards, open=None),)
        decisive: Guard | None = None
        closed = 0
        paths: list[PathCondition] = []
        for site in sites:
            door, found = self._site(site, func, steps, guards, depth)
            paths += found
            closed += door is not None
            decisive = decisive or door
        return (decisive if closed == len(sites) else None), tuple(paths[:MAX_PATHS])

    def _site(
        self, site: Reference, func: FuncV, steps: tuple[CallStep, ...], guards: tuple[Guard, ...], depth: int
    ) -> tuple[Guard | None, tuple[PathCondition, ...]]:
        """One call site: closed by its own guards, or by what lies further up."""
        chain = site.chain
        step = CallStep(path=site.path, line=site.line, function=site.function)
        undecided = (PathCondition(calls=(step, *steps), guards=guards, open=None),)
        if not chain or not isinstance(chain[-1], ir.FunctionDef):
            return None, undecided
        definition = self.m.index.outline(site.path).definition_of(chain[-1])
        found = self.demand.definitions.function(definition) if definition is not None else None
        if found is None or definition is None or found[0].node is func.node:
            return None, undecided
        if definition.node in self.m.entered and site.statement in self.m.marks and not self.m.drained:
            return None, undecided
        seen = self._judge(found[0], found[1], site.statement, definition, ANY)
        if seen.ran is False:
            return seen.decisive, (PathCondition(calls=(step, *steps), guards=(*seen.guards, *guards), open=False),)
        return self._climb(found[0], found[1], (step, *steps), (*seen.guards, *guards), depth + 1)

    # --- shared --------------------------------------------------------------------------------------------------------------

    def _seen(
        self,
        marks: dict[ir.Node, bool],
        tests: dict[ir.Node, list[Tested]],
        statement: ir.Stmt,
        node: ir.Node,
        definition: Definition,
        finished: bool,
    ) -> Seen:
        outline = self.m.index.outline(definition.path)
        found: list[Guard] = []
        decisive: Guard | None = None
        kept, self.m.tests = self.m.tests, tests
        try:
            for item in (doors.standing(tests, each) for each in control_analysis.guards(outline, node)):
                records = doors.records(tests, item)
                made = explain.guard(self.m, self.m.index, definition.path, item, definition.qualname, records)
                found.append(made)
                if decisive is None and doors.closed(item, records, marks):
                    decisive = made
        finally:
            self.m.tests = kept
        ran = (True if marks[statement] else None) if statement in marks else False if finished else None
        if ran is False and decisive is None:
            decisive = found[-1] if found else None
        return Seen(ran, tuple(found), decisive, None)

    def _at_module_level(self, target: Target, statement: ir.Stmt) -> WhyAnswer:
        """A statement of a module's body runs when the module is imported."""
        blocked = blocked_import(self.m, self.m.index.dotted(target.path))
        if blocked is not None:
            path, line, shown, name = blocked
            door = Guard(path=path, line=line, condition=shown, polarity=True, truth="false", kind="import", decisive_operand=name)
            return self._made(target, "never", door, (PathCondition(calls=(), guards=(door,), open=False),))
        if statement in self.m.marks:
            return self._within(target, statement)
        return self._made(target, "may", None, (), "it runs when its module is imported")

    def _within(self, target: Target, statement: ir.Stmt) -> WhyAnswer:
        """A statement that the forward run met, outside of functions: all of it, or the operand on the line that was asked for."""
        node = evaluated_at(statement, target.line)
        always = self.m.marks[statement]
        guards: tuple[Guard, ...] = ()
        if node is not statement:
            outline = self.m.index.outline(target.path)
            inner = [item for item in control_analysis.guards(outline, node) if holder(outline, item.node) is statement]
            guards = tuple(explain.guard(self.m, self.m.index, target.path, item, "", doors.records(self.m.tests, item)) for item in inner)
            closed = next((guard for guard in guards if _against(guard)), None)
            if closed is not None and always and not self.m.broken:
                return self._made(target, "never", closed, (PathCondition(calls=(), guards=guards, open=False),))
            always = always and all(guard.truth != "unknown" and not _against(guard) for guard in guards)
        paths = (PathCondition(calls=(), guards=guards, open=True if always else None),) if guards else ()
        return self._made(target, "always" if always else "may", None, paths)

    def _made(self, target: Target, verdict: str, decisive: Guard | None, paths: tuple[PathCondition, ...], reason: str = "") -> WhyAnswer:
        return WhyAnswer(
            target=target,
            verdict=verdict,
            decisive=decisive,
            assumptions=tuple(self.m.assumptions),
            paths=paths,
            counterfactuals=(),
            reason=reason,
            depends_on=_hinge(paths) if verdict == "may" else None,
        )


def evaluated_at(statement: ir.Stmt, line: int) -> ir.Node:
    """What of a statement over several lines is evaluated on that line: its outermost expression there, or else all of it."""
    if line <= statement.line:
        return statement
    found = (node for node in walk(statement) if isinstance(node, ir.Expr) and node.line == line)
    return next((node for node in found if node.end == line), statement)


_MAGIC = frozenset({"__init__", "__call__", "__enter__", "__exit__", "__getattr__", "forward"})


def in_vague_handler(m: Machine, outline: Outline, statement: ir.Stmt) -> bool:
    """Whether the statement stands in a handler of a suite in which something unknown may have raised."""
    node: ir.Node | None = statement
    while node is not None and node not in m.vague:
        node = outline.parents.get(node)
    return node is not None


def _hinge(paths: tuple[PathCondition, ...]) -> Guard | None:
    """What a line depends on that may run: the nearest guard that is not decided, else the nearest of those that shut some ways.

    An assertion that fails is loud: it is named where there is nothing else.
    """
    nearest = [guard for path in paths for guard in reversed(path.guards) if path.open is not False and guard.truth == "unknown"]
    shut = [guard for path in paths for guard in reversed(path.guards) if path.open is False and _against(guard)]
    return next((guard for guard in (*nearest, *shut) if guard.kind != "assert"), nearest[0] if nearest else None)


def _against(item: Guard) -> bool:
    return item.truth == ("false" if item.polarity else "true")


def _unknown(item: Guard) -> str:
    return next((op.value.removeprefix("unknown: ") for op in item.operands if op.value.startswith("unknown")), "its value is not known")


def _instance(owner: ClassV | None) -> str:
    return f"any {owner.name}" if owner is not None else ""
