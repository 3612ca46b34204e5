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
        st.tuples(st.sampled_from(["make", "push", "push floor", "meet", "leave"]), st.just(0)),
    ),
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
    """What a machine does with its layers: the current one is written; of those below it the bottom alone, which is made known."""

    def __init__(self) -> None:
        self.bottom = self.state = State(None)
        self.made: list[Obj] = [ListObj() for _ in range(OLD)]
        self.written = 0

    def cell(self) -> Cell:
        self.written += 1
        return Cell(Const(self.written))

    def do(self, step: str, number: int) -> None:
        location = (self.made[number % len(self.made)], "[]")
        if step == "make":
            self.made.append(ListObj())
            self.state.own[self.made[-1], "[]"] = self.cell()
        elif step.startswith("push"):
            self.state = State(self.state, is_floor=step == "push floor")
        elif step in ("meet", "leave") and self.state.parent is not None:
            top, self.state = self.state, self.state.parent
            if step == "meet":
                self.state.own.update(top.own)
                self.state.forget_seen()
        elif step == "write":
            self.state.own[location] = self.cell()
        elif step == "sink" and (self.state.get(location) is None or self.bottom.own.get(location) is self.state.get(location)):
            self.bottom.own[location] = self.cell()
            self.state.forget(location)


@given(STEPS)
def test_the_innermost_cell_is_found(steps: list[tuple[str, int]]) -> None:
    store = Store()
    for step, number in steps:
        store.do(step, number)
        for owner in store.made:
            assert store.state.get((owner, "[]")) is walked(store.state, (owner, "[]"))
