"""Whatever the store remembers and passes by, it gives what a walk through all its layers gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.evaluation.state import Cell, Location, State
from agent.evaluation.values import Const, ListObj, Obj

OLD = 3
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["write", "read", "sink"]), st.integers(0, 8)),
        st.tuples(st.sampled_from(["make", "make below", "push", "push floor", "meet", "leave", "aside", "back"]), st.just(0)),
    ),
    min_size=20,
    max_size=60,
)


def walked(state: State, location: Location) -> Cell | None:
    layer: State | None = state
    while layer is not None:
        if location in layer.own:
            return layer.own[location]
        layer = layer.parent
    return None


class Store:
    """What a machine does with its layers: the current one is written, and of those below it the floors alone."""

    def __init__(self) -> None:
        self.bottom = State(None)
        self.state: State = self.bottom
        self.made: list[Obj] = [ListObj() for _ in range(OLD)]
        self.aside: State | None = None
        self.written = 0

    def cell(self) -> Cell:
        self.written += 1
        return Cell(Const(self.written))

    def shared(self) -> bool:
        """Whether the path that was put aside stands on the layer below, too."""
        return self.aside is not None and self.aside.parent is self.state.parent

    def do(self, step: str, number: int) -> None:
        location = (self.made[number % len(self.made)], "[]")
        if step == "make":
            self.made.append(ListObj())
            self.state.own[self.made[-1], "[]"] = self.cell()
        elif step == "make below":
            self.made.append(ListObj())
            self.bottom.own[self.made[-1], "[]"] = self.cell()
        elif step == "aside" and self.state.parent is not None and self.aside is None:
            self.aside, self.state = self.state, State(self.state.parent)
        elif step == "back" and self.aside is not None:
            self.state, self.aside = self.aside, None
        elif step.startswith("push"):
            self.state = State(self.state, is_floor=step == "push floor")
        elif step in ("meet", "leave") and self.state.parent is not None and not self.shared():
            top, self.state = self.state, self.state.parent
            if step == "meet":
                self.state.own.update(top.own)
        elif step == "write":
            self.state.own[location] = self.cell()
        elif step == "sink" and (self.state.get(location) is None or self.bottom.own.get(location) is self.state.get(location)):
            self.bottom.own[location] = self.cell()


@given(STEPS)
def test_the_innermost_cell_is_found(steps: list[tuple[str, int]]) -> None:
    store = Store()
    for step, number in steps:
        store.do(step, number)
        for owner in store.made:
            assert store.state.get((owner, "[]")) is walked(store.state, (owner, "[]"))
