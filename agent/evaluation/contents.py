"""What containers hold: the functions among it, and forgetting it where code that was not followed may have changed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from agent.evaluation.joins import join
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell
from agent.evaluation.values import ABSENT, AV, BoundV, DictObj, FuncV, ListObj, Map, OneOf, PartialV, Seq, Tup, candidates, present


def contents(m: Machine, value: AV) -> Sequence[AV]:
    """What a container holds, or the alternatives of a value."""
    if isinstance(value, (OneOf, Tup)):
        return value.values if isinstance(value, OneOf) else value.items
    if isinstance(value, ListObj):
        return [present(item) for item in m.selection(value).items]
    return [item for _, item in m.entries(value).items.values()] if isinstance(value, DictObj) else []


def callables_in(m: Machine, values: Iterable[AV], depth: int = 3) -> list[AV]:
    """The functions of the tree among some values and in the containers among them: code that gets them may call them."""
    found: list[AV] = []
    for value in values:
        if isinstance(value, (FuncV, BoundV)):
            found.append(value)
        elif isinstance(value, PartialV):
            found += callables_in(m, [value.func], depth)
        elif depth:
            found += callables_in(m, contents(m, value), depth - 1)
    return found


def forget(m: Machine, value: AV, reason: str) -> None:
    """What ``value`` holds, at any depth, may have been changed by code that was not followed."""
    if isinstance(value, DictObj) and value.mirrors is not None:
        return  # who is given an object's ``vars`` is taken to read them
    if isinstance(value, (ListObj, DictObj)):
        inner = contents(m, value)
        m.store((value, "[]" if isinstance(value, ListObj) else "{}"), Seq((), reason) if isinstance(value, ListObj) else Map({}, reason))
        for item in inner:
            forget(m, item, reason)
    elif isinstance(value, (OneOf, Tup)):
        for item in contents(m, value):
            forget(m, item, reason)


def forget_from(m: Machine, value: ListObj | DictObj, reason: str) -> None:
    """Keeps what a container holds and says that it may hold more; in the layer below all branches."""
    cell = m.state.get((value, "[]" if isinstance(value, ListObj) else "{}"))
    if cell is None:
        return
    opened = content = cell.value
    if isinstance(content, Seq):
        opened = Seq(content.items, reason)
    elif isinstance(content, Map):
        opened = Map(content.items, reason)
    m.root.own[(value, cell.name)] = Cell(opened, cell.place, (), None, cell, "", cell.name)


def entries_of(m: Machine, value: AV) -> Map | None:
    """What a dictionary holds, or one of several; None where it may be something else."""
    found = [each for each in candidates(value) if each is not ABSENT]
    contents: list[AV] = [m.entries(each) for each in found if isinstance(each, DictObj)]
    if not contents or len(contents) < len(found):
        return None
    content = reduce(join, contents)
    assert isinstance(content, Map)
    return content
