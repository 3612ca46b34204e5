"""The abstract store: layers of cells, forked where a branch is undecided and joined where the branches meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent.analysis import ir
from agent.evaluation.joins import join
from agent.evaluation.values import ABSENT, AV, LateMap, Lazy, Obj, same

Location = tuple[object, str]
"""(owner, name): an object's attribute, a frame's variable, a module's global, or a container's content."""


class Place(NamedTuple):
    """A line of a module, by its path."""

    path: str
    line: int


class Control:
    """One decision on the way to here: the condition, what it had to be, and the cells that it was read from."""

    __slots__ = ("deps", "function", "node", "parent", "path", "polarity", "truth")

    def __init__(
        self, parent: Control | None, node: ir.Node, polarity: bool, truth: bool | None, deps: tuple[Cell, ...], path: str, function: str
    ) -> None:
        self.parent = parent
        self.node = node
        self.polarity = polarity
        self.truth = truth
        self.deps = deps
        self.path = path
        self.function = function


class Cell:
    """A stored value with the statement that wrote it, the cells that statement read, its guards, and the cell before it."""

    __slots__ = ("control", "deps", "name", "place", "previous", "text", "value")

    def __init__(
        self,
        value: AV,
        place: Place | None = None,
        deps: tuple[Cell, ...] = (),
        control: Control | None = None,
        previous: Cell | None = None,
        text: str = "",
        name: str = "",
    ) -> None:
        self.value = value
        self.place = place
        self.deps = deps
        self.control = control
        self.previous = previous
        self.text = text
        self.name = name


class State:
    """A layer over ``parent``. ``certain``: code run now runs in every launch that raises nothing; ``whole``: no path left this scope.

    ``floor``: the next layer, this one included, that still gets cells while others above it are current. The bottom is one.
    """

    __slots__ = ("_seen", "certain", "floor", "mark", "own", "parent", "whole")

    def __init__(self, parent: State | None, certain: bool = True, *, is_floor: bool = False) -> None:
        self.parent = parent
        self.own: dict[Location, Cell] = {}
        self._seen: dict[Location, Cell | None] = {}
        self.floor: State = self if parent is None or is_floor else parent.floor
        self.certain = certain
        self.whole = True
        self.mark = Obj.last_serial()

    def get(self, location: Location) -> Cell | None:
        """The innermost cell. What the layers above the floor hold is remembered: but for the current one they do not change."""
        cell = self.own.get(location)
        if cell is not None:
            return cell
        found = self._seen.get(location, _UNSEEN)
        if found is _UNSEEN:
            found = self._search(location)
        if found is not None or self.parent is None:
            return found
        return (self.parent.floor if self.floor is self else self.floor).get(location)

    def _search(self, location: Location) -> Cell | None:
        """In the layers between this one and the next floor. None of them knows what was made since the layer above it was laid."""
        serial: int = getattr(location[0], "serial", 0)
        found: Cell | None = None
        above, layer = self, self.parent
        while layer is not None and layer.floor is not layer and serial <= above.mark:
            found = layer.own.get(location) or layer._seen.get(location, _UNSEEN)
            if found is not _UNSEEN:
                break
            above, layer = layer, layer.parent
        else:
            found = None
        if serial <= self.mark:
            self._seen[location] = found
            below = self.parent
            if below is not None and below is not layer and below.floor is not below and serial <= below.mark:
                below._seen[location] = found
        return found

    def root(self) -> State:
        """The bottom layer."""
        layer = self
        while layer.parent is not None:
            layer = layer.parent
        return layer


_UNSEEN = Cell(ABSENT)
"""Stands for what a layer was not asked for; None for what it did not find."""


def delta(leaf: State, base: State) -> dict[Location, Cell]:
    """Every cell written in the layers above ``base``."""
    layers = []
    layer: State | None = leaf
    while layer is not base and layer is not None:
        layers.append(layer.own)
        layer = layer.parent
    changed: dict[Location, Cell] = {}
    for own in reversed(layers):
        changed.update(own)
    return changed


def merge(base: State, leaves: list[State]) -> dict[Location, Cell]:
    """The cells that hold after all ``leaves`` meet, as changes to ``base``."""
    if len(leaves) == 1:
        return delta(leaves[0], base)
    deltas = [delta(leaf, base) for leaf in leaves]
    mark = min(_bottom(leaf, base).mark for leaf in leaves)
    written: dict[Location, dict[Cell, None]] = {}
    for changed in deltas:
        for location, cell in changed.items():
            written.setdefault(location, {})[cell] = None
    merged: dict[Location, Cell] = {}
    for location, cells in written.items():
        if fresh(location, mark):
            merged[location] = _joined(location, None, list(cells))
        else:
            before = base.get(location)
            merged[location] = _joined(location, before, list(dict.fromkeys(changed.get(location) or before for changed in deltas)))
    return merged


def _bottom(leaf: State, base: State) -> State:
    """The layer of ``leaf`` that lies on ``base``."""
    layer = leaf
    while layer.parent is not base and layer.parent is not None:
        layer = layer.parent
    return layer


def _joined(location: Location, before: Cell | None, cells: Sequence[Cell | None]) -> Cell:
    """What a cell holds where paths meet that leave ``cells`` there, ``before`` on those that did not write it."""
    first = next(cell for cell in cells if cell is not None)
    if len(cells) == 1:
        return first
    present = [cell for cell in cells if cell is not None]
    value = _settled(first.value)
    for cell in cells:
        value = join(value, ABSENT if cell is None else _settled(cell.value))
    if len(present) == len(cells) and all(same(cell.value, first.value) for cell in present) and len({cell.place for cell in present}) == 1:
        return first
    written = tuple(cell for cell in present if cell is not before) or (first,)
    return Cell(value, written[-1].place, written, written[-1].control, before, "", location[1])


def _settled(value: AV) -> AV:
    if isinstance(value, LateMap):
        return value.settled()
    return value.resolve() if isinstance(value, Lazy) else value


def fresh(location: Location, mark: int) -> bool:
    """An object that only one branch made: the others cannot see it, so nothing of it is "maybe absent"."""
    owner = location[0]
    return isinstance(owner, Obj) and owner.serial > mark


def earlier_values(cell: Cell, limit: int = 8) -> list[AV]:
    """What the cell held before."""
    found: list[AV] = []
    while cell.previous is not None and len(found) < limit:
        cell = cell.previous
        found.append(cell.value)
    return found


def written_at(cell: Cell) -> set[Place]:
    """Every place whose write the cell already has in it."""
    found: set[Place] = set()
    queue, seen = [cell], set[int]()
    while queue and len(seen) < 64:
        current = queue.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if current.place is not None:
            found.add(current.place)
        if current.previous is not None:
            queue.append(current.previous)
        queue += [dep for dep in current.deps if dep.name == current.name]
    return found
