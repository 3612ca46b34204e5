"""Values that depend on themselves: worked out again and again, until what is found is what was taken for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent.evaluation.state import Cell, Location
from agent.evaluation.values import ABSENT, AV, Instance, Obj, Unk, candidates, one_of, same

ROUNDS = 3
"""A value that still grows then, as a counter does, may be anything."""


class _Taken:
    """What a value is taken for while it is being worked out, and whether anybody has asked for it."""

    __slots__ = ("asked", "cell")

    def __init__(self, value: AV, name: str) -> None:
        self.cell = Cell(value, name=name)
        self.asked = False


class Settling:
    """``kept``: what other values have been found to be; those that rest on one that was taken for too little are forgotten."""

    def __init__(self, kept: Callable[[], Sequence[dict[Any, Any]]]) -> None:
        self.kept = kept
        self.taken: dict[Location, _Taken] = {}

    def meanwhile(self, location: Location) -> Cell | None:
        """The cell as it is taken to be while it is being worked out."""
        taken = self.taken.get(location)
        if taken is None:
            return None
        taken.asked = True
        return taken.cell

    def settled(self, location: Location, before: list[AV], work_out: Callable[[], list[AV]], cut_short: Callable[[], bool]) -> list[AV]:
        """What ``work_out`` finds, with ``before`` and all that it finds taken for what the cell holds.

        ``cut_short``: whether it was so, and what it has found on its way is to be worked out anew when it is asked for.
        """
        keys = [set(each) for each in self.kept()]
        mark = Instance(ABSENT, "").serial
        taken = self.taken[location] = _Taken(one_of(before), location[1])
        found: list[AV] = []
        try:
            for _ in range(ROUNDS):
                found = work_out()
                settled = not taken.asked or _within(found, taken.cell.value, mark)
                if cut_short() or not settled:
                    self._forget(keys)
                if settled:
                    return found
                taken.cell, taken.asked = Cell(one_of([*before, *found]), name=location[1]), False
        finally:
            del self.taken[location]
        self._forget(keys)
        return [*found, Unk(f"{location[1]} is worked out from what it was before")]

    def _forget(self, before: list[set[Any]]) -> None:
        for each, kept in zip(self.kept(), before, strict=True):
            for new in [key for key in each if key not in kept]:
                del each[new]


def _within(found: list[AV], taken: AV, mark: int) -> bool:
    """Whether nothing was found that it was not taken for; an object that is made each time is taken for the one before."""
    known = candidates(taken)
    values = (value for each in found for value in candidates(each))
    return all(any(same(value, each) or _made_alike(value, each, mark) for each in known) for value in values)


def _made_alike(one: AV, other: AV, mark: int) -> bool:
    """Two objects of one class that were both made later than that."""
    if not isinstance(one, Obj) or not isinstance(other, Obj) or min(one.serial, other.serial) <= mark:
        return False
    return type(one) is type(other) and getattr(one, "cls", None) is getattr(other, "cls", None)
