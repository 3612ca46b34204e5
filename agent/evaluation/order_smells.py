"""A field is asked about before the statement runs that settles it, and the answer would then be another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.domain.secrets import mask
from agent.domain.values import Known
from agent.domain.verdict import Smell
from agent.evaluation import explain
from agent.evaluation.concrete import NotConcrete, concrete
from agent.evaluation.conditions import compared
from agent.evaluation.frames import Tested
from agent.evaluation.settings import configurations, outward
from agent.evaluation.state import Cell

if TYPE_CHECKING:
    from agent.evaluation.machine import Machine
    from agent.evaluation.values import AV


def read_before_write(m: Machine) -> list[Smell]:
    """Parts of decided conditions that read a configuration field at a value that it does not keep.

    "Was it given?" (``is None``, or a test of the bare field) is asked before a default is filled in, on purpose: no smell. A switch is on
    or off at any time: to test it bare asks for its value.
    """
    fields = {id(old): (name, cell) for name, cell in _final_cells(m) for old in _before(m, cell)}
    found: dict[tuple[str, int, str], Smell] = {}
    for node, seen in [(node, seen) for node, seen in m.tests.items() if isinstance(node, ir.If)]:
        for part in _parts(node.test) if seen else ():
            for record, truth in _answers(m, node, part, seen):
                read = next((fields[id(dep)] + (dep,) for dep in record.deps if id(dep) in fields and _reads(part, dep.name)), None)
                path = record.frame.module.path
                if read is None or _settles(m, node, *read, path=path):
                    continue
                smell = _smell(m, part, truth, *read, path=path)
                if smell is not None:
                    found.setdefault((smell.path, smell.line, read[0]), smell)
    return list(found.values())


def _final_cells(m: Machine) -> Iterator[tuple[str, Cell]]:
    for obj in configurations(m):
        for name in m.settled.get(obj, ()):
            cell = m.state.get((obj, name)) or m.settled[obj][name]
            if isinstance(outward(m, cell.value), Known):
                yield name, cell


def _before(m: Machine, cell: Cell) -> Iterator[Cell]:
    """Earlier values of the field that are known and another one."""
    last, current = repr(outward(m, cell.value)), cell.previous
    while current is not None:
        value = outward(m, current.value)
        if isinstance(value, Known) and repr(value) != last:
            yield current
        current = current.previous


def _parts(test: ir.Expr) -> list[ir.Expr]:
    if isinstance(test, ir.BoolOp):
        return [part for value in test.values for part in _parts(value)]
    return _parts(test.operand) if isinstance(test, ir.UnaryOp) and test.op == "not" else [test]


def _answers(m: Machine, node: ir.If, part: ir.Expr, seen: list[Tested]) -> Iterator[tuple[Tested, bool]]:
    """How a part came out each time it was decided; ``not part`` as a whole test tells it the other way round."""
    denied = isinstance(node.test, ir.UnaryOp) and node.test.operand is part
    for record in m.tests.get(part) or (seen if denied or part is node.test else []):
        if record.truth is not None:
            yield record, record.truth is not (denied and part not in m.tests)


def _reads(part: ir.Expr, name: str) -> bool:
    """Nothing but this one field: compares it with something that is no None, or is the bare field."""
    if isinstance(part, ir.Attribute):
        return part.attr == name
    if not isinstance(part, ir.Compare) or any(isinstance(each, ir.Constant) and each.value is None for each in walk(part)):
        return False
    reads = [each for each in walk(part) if isinstance(each, (ir.Attribute, ir.Call))]
    return len(reads) == 1 and isinstance(reads[0], ir.Attribute) and reads[0].attr == name


def _settles(m: Machine, node: ir.If, name: str, final: Cell, old: Cell, *, path: str) -> bool:
    """The question belongs to what settles the field: it stands in the same function, or under the question itself."""
    here = m.index.enclosing(path, node.line)
    current: Cell | None = final
    while current is not None and current is not old:
        place = current.place
        if place is not None and place.line and place.path == path and m.index.enclosing(path, place.line)[-1:] == here[-1:]:
            return True
        control = current.control
        while control is not None:
            if control.node is node:
                return True
            control = control.parent
        current = current.previous
    return False


def _smell(m: Machine, part: ir.Expr, truth: bool, name: str, final: Cell, old: Cell, *, path: str) -> Smell | None:
    try:
        then = compared(m, part, name, final.value) if isinstance(part, ir.Compare) else _switch(m, final.value, old.value)
    except (NotConcrete, TypeError, ValueError):
        return None
    if then is truth or final.place is None or not final.place.line:
        return None
    was, now = (mask(name, concrete_or_none(m, value)) for value in (old.value, final.value))
    word = {True: "true", False: "false"}
    text = explain.text(m.index, path, part)
    why = (
        f"{word[truth]} while {name} is {was!r}; {final.place.path}:{final.place.line} makes it {now!r} later, "
        f"with which it would be {word[then]}: what it decides goes by a value that does not hold"
    )
    return Smell(kind="read_before_write", path=path, line=part.line, text=text, why=why)


def _switch(m: Machine, value: AV, before: AV) -> bool:
    """The value of what is on or off before and after. Raises ValueError where it is anything else."""
    now, then = concrete(m, value), concrete(m, before)
    if not (isinstance(now, bool) and isinstance(then, bool)):
        raise ValueError("no switch")
    return now


def concrete_or_none(m: Machine, value: AV) -> object:
    """The Python value; None where it is not fully known."""
    try:
        return concrete(m, value)
    except NotConcrete:
        return None
