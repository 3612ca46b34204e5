"""One activation of a function, class body or module, and the ways out of it: returned, raised, given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agent.analysis import ir
from agent.analysis.scopes import Scope
from agent.evaluation.state import Cell, Control, Place, State
from agent.evaluation.values import AV, ClassV, FuncV, ModuleV, Obj


class Dead(Exception):
    """No path goes on from here: every one has raised, and its state has been handed to whoever catches it."""


class TooLong(Exception):
    """A call used up its steps; ``frame`` is the activation that is given up."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame


class Leaf(NamedTuple):
    """A path that left its scope: the returned value or raised exception, and its state."""

    value: AV
    state: State
    reads: tuple[Cell, ...]


class Loop:
    """Where ``break`` and ``continue`` of the innermost loop go."""

    __slots__ = ("breaks", "continues")

    def __init__(self) -> None:
        self.breaks: list[State] = []
        self.continues: list[State] = []


class Catcher:
    """Collects what is raised in the body of a ``try`` that has handlers."""

    __slots__ = ("leaves", "overflow", "vague")

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.overflow = False
        self.vague = False


class Frame:
    """One activation of a function, class body or module. ``serial``: as that of an ``Obj``."""

    __slots__ = (
        "closure",
        "deadline",
        "forks",
        "func",
        "hollow",
        "is_class",
        "kept",
        "label",
        "last",
        "locals",
        "look",
        "loops",
        "module",
        "on_yield",
        "only",
        "open_yields",
        "owner",
        "receiver",
        "returns",
        "scope",
        "serial",
        "stmt",
        "until",
        "yields",
    )

    def __init__(self, module: ModuleV, closure: Frame | None, scope: Scope | None, label: str) -> None:
        self.module = module
        self.closure = closure
        self.scope = scope
        self.label = label
        self.serial = Obj().serial
        self.func: FuncV | None = None
        self.owner: ClassV | None = None
        self.receiver: AV | None = None
        self.returns: list[Leaf] = []
        self.loops: list[Loop] = []
        self.stmt: ir.Node | None = None
        self.on_yield: Callable[[AV], AV] | None = None
        self.yields: list[AV] | None = None
        self.open_yields = ""
        self.forks = 0
        self.kept = False
        self.is_class = False
        self.deadline = 0
        self.locals: object = self
        self.only: frozenset[ir.Node] | None = None
        self.hollow: frozenset[ir.Node] = frozenset()
        self.until: ir.Node | None = None
        self.look: Callable[[], bool] | None = None
        """What is done when control comes to ``until``; gives whether the statement itself is run then."""
        self.last = 0


class Tested(NamedTuple):
    """One evaluation of a condition: its truth (None: undecided), the cells it read, where, and the value that decided."""

    truth: bool | None
    deps: tuple[Cell, ...]
    control: Control | None
    frame: Frame
    why: str


class Raised(NamedTuple):
    """Something raised that nothing catches."""

    value: AV
    place: Place
    control: Control | None
    certain: bool
    message: str
    type: str
