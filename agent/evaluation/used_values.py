"""What a line reads: the value of each name there, and the lines that gave it. For faults where a line runs, but with a wrong value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.analysis import control, ir
from agent.analysis.outline import Definition, holder
from agent.analysis.resolve import root_name
from agent.analysis.walk import SUITE_FIELDS, children, walk
from agent.domain.secrets import mask
from agent.domain.values import Unknown, Value
from agent.domain.verdict import Target, Used, WhyAnswer
from agent.evaluation import explain
from agent.evaluation.audit import effective
from agent.evaluation.doors import lets_pass
from agent.evaluation.frames import Dead
from agent.evaluation.joins import join
from agent.evaluation.machine import Machine
from agent.evaluation.receivers import ANY, Context
from agent.evaluation.render import show
from agent.evaluation.runs import MAKING, Reads
from agent.evaluation.settings import outward
from agent.evaluation.state import Cell
from agent.evaluation.values import AV, BuiltinV, ClassV, DictObj, ExternV, FuncV, ListObj, ModuleV, candidates, class_name
from agent.evaluation.why import evaluated_at

if TYPE_CHECKING:
    from agent.evaluation.demand import Demand

MAX_NAMES = 8
FUEL = 2_000
"""Statements that may be run for them: they come after the answer, and must not take as long."""
MAX_OBJECTS = 4
"""Objects of the forward run on which a method is asked, one by one."""


def with_uses(demand: Demand, answer: WhyAnswer) -> WhyAnswer:
    """The answer with what its line reads; nothing where it never runs, nor of what the forward run has been through.

    That has gone on since: what objects and globals hold by now says nothing of what they held when control came to the line.
    """
    return answer if answer.verdict == "never" else replace(answer, uses=tuple(_uses(demand, answer.target)))


def _uses(demand: Demand, target: Target) -> Iterator[Used]:
    index = demand.m.index
    statement, outline = index.statement_at(target.path, target.line), index.outline(target.path)
    scope = control.scope_of(outline, statement) if statement is not None else None
    definition = outline.definition_of(scope) if scope is not None else None
    if statement is None or definition is None or not isinstance(scope, ir.FunctionDef) or scope in demand.m.entered | demand.m.unfollowed:
        return
    found = demand.definitions.function(definition)
    if found is None:
        return
    node = evaluated_at(statement, target.line)
    names = _names(node, scope.params[0].name if found[1] is not None and scope.params else "")
    if not names or control.scope_of(outline, node) is not scope:
        return
    for context in _objects(demand, *found):
        demand.begin()
        yield from _Looking(demand.m, definition, names).run(demand, *found, node, context)


def _objects(demand: Demand, func: FuncV, owner: ClassV | None) -> list[Context]:
    """What the method runs on: each object that the launch has made of the class, or else any that there may be."""
    made = [obj for cls, objects in demand.receivers.made.items() if owner is not None and owner in cls.mro for obj in objects]
    if func.name in MAKING or not 0 < len(made) <= MAX_OBJECTS or owner is None or demand.receivers.only_record(owner) is not None:
        return [ANY]
    return [Context(None, None, obj) for obj in made]


class _Looking:
    """Evaluates names each time that control comes to the line."""

    def __init__(self, m: Machine, definition: Definition, names: list[ir.Expr]) -> None:
        self.m = m
        self.definition = definition
        self.names = names
        self.values: dict[ir.Expr, AV] = {}
        self.cells: dict[ir.Expr, Cell] = {}

    def run(self, demand: Demand, func: FuncV, owner: ClassV | None, node: ir.Node, context: Context) -> Iterator[Used]:
        """What was seen; nothing where control never came there, or what comes before was not followed to its end."""
        outline = self.m.index.outline(self.definition.path)
        statement = holder(outline, node)
        passed = lets_pass(control.guards(outline, node))
        with demand.effort.look(FUEL):
            reads: Reads = {statement: tuple(self.names)}
            run = demand.runs.run(func, owner, [statement], context=context, forced=passed, reads=reads, look=self._look)
        instance = f"{class_name(context.made.cls)} made at {context.made.origin}" if context.made is not None else ""
        for name in self.names if run.finished else ():
            if name in self.values and not isinstance(self.values[name], (ModuleV, ClassV, FuncV, BuiltinV, ExternV)):
                yield self._used(name, instance)

    def _look(self) -> None:
        for name in self.names:
            self.m.reads = []
            try:
                value = self.m.eval(name)
            except Dead:
                continue
            self.values[name] = join(self.values[name], value) if name in self.values else value
            called = name.attr if isinstance(name, ir.Attribute) else name.id if isinstance(name, ir.Name) else ""
            cell = next((each for each in reversed(self.m.reads) if each.name == called), None)
            if cell is not None:
                self.cells[name] = cell

    def _used(self, name: ir.Expr, instance: str) -> Used:
        m, path = self.m, self.definition.path
        text, cell = explain.text(m.index, path, name), self.cells.get(name)
        found = effective(_at_that_time(m, self.values[name]))
        shown = replace(found, value=mask(text, found.value), values=tuple(mask(text, value) for value in found.values))
        return Used(
            text=text,
            effective=shown,
            from_=explain.places(cell) if cell is not None else (),
            guards=explain.control_guards(m, cell.control) if cell is not None else (),
            instance=instance,
            assumptions=tuple(m.assumptions),
        )


def _names(node: ir.Node, own: str) -> list[ir.Expr]:
    """What is read when control comes there; not the object ``own`` itself, nor what the line gives a value of its own."""
    if isinstance(node, ir.While):
        return []  # it is read anew at each turn
    written = {root_name(each.target) for each in walk(node) if isinstance(each, ir.NamedExpr)}
    read = (each for each in _read(node) if root_name(each) not in written)
    return [each for each in read if not (isinstance(each, ir.Name) and each.id == own)][:MAX_NAMES]


def _at_that_time(m: Machine, value: AV) -> Value:
    """The value outward; not what a container holds, which other code may have changed when control comes to the line."""
    container = next((each for each in candidates(value) if isinstance(each, (ListObj, DictObj))), None)
    return Unknown(reason=f"it is {show(m, container)}") if container is not None else outward(m, value)


def _read(node: ir.Node) -> Iterator[ir.Expr]:
    """Names and dotted names that the node itself reads, in file order: not what it writes or calls, nor what stands in its suites."""
    if isinstance(node, (ir.Name, ir.Attribute)):
        yield node
        return
    if isinstance(node, (ir.Lambda, ir.Comprehension, ir.FunctionDef, ir.ClassDef, ir.Import, ir.ImportFrom)):
        return  # names of its own
    passed_by = [each for field in (*_WRITTEN, *SUITE_FIELDS.get(type(node), ())) for each in _as_list(getattr(node, field, None))]
    for below in children(node):
        if isinstance(node, ir.Call) and below is node.func:
            yield from _read(below.value) if isinstance(below, ir.Attribute) else ()
        elif not any(below is each for each in passed_by) or (isinstance(node, ir.AugAssign) and below is node.target):
            yield from _read(below)


_WRITTEN = ("target", "targets", "annotation")


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
