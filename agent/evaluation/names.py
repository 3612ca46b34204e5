"""Where a name is stored: Python's scoping rule over frames, modules and builtins."""

from __future__ import annotations

from agent.evaluation.frames import Frame
from agent.evaluation.machine import Machine
from agent.evaluation.models import BUILTINS
from agent.evaluation.modules import global_value, module_name
from agent.evaluation.state import Cell, Location
from agent.evaluation.values import ABSENT, AV, Unk


def variable(m: Machine, name: str) -> tuple[Location, Cell] | None:
    """The cell of a local or enclosing variable or an evaluated global; None where it has none yet."""
    for location in _locations(m.frame, name):
        cell = m.cell(location)
        if cell is not None:
            return location, cell
        if location[0] is m.frame and m.frame.scope is not None:
            return None
    return None


def _locations(frame: Frame, name: str) -> list[Location]:
    found: list[Location] = []
    current: Frame | None = frame
    while current is not None:
        if current.is_class and current is not frame:
            current = current.closure
            continue
        if current.is_class or (current.scope is not None and name in current.scope.local):
            found.append((current.locals, name))
            if not current.is_class:
                return found
        if current.scope is not None and name in current.scope.global_:
            break
        current = current.closure
    found.append((frame.module, name))
    return found


def binding(frame: Frame, name: str) -> Location:
    """Where an assignment to ``name`` in ``frame`` is stored."""
    if frame.is_class:
        return (frame.locals, name)
    if frame.scope is None or name in frame.scope.global_:
        return (frame.module, name)
    if name in frame.scope.nonlocal_ or name not in frame.scope.local:
        outer = frame.closure
        while outer is not None:
            if outer.scope is not None and name in outer.scope.local:
                return (outer.locals, name)
            outer = outer.closure
        return (frame, name) if name not in frame.scope.nonlocal_ else (frame.module, name)
    return (frame.locals, name)


def read(m: Machine, name: str) -> AV:
    """Value of a name; ABSENT where nothing binds it."""
    frame: Frame | None = m.frame
    module = m.frame.module
    while frame is not None:
        scope = frame.scope
        if frame.is_class:
            value = m.load((frame.locals, name)) if frame is m.frame else None
            if value is not None:
                return value
        elif scope is not None:
            if name in scope.local:
                value = m.load((frame.locals, name))
                if value is not None:
                    return value
                if frame is m.frame:
                    passed_over = frame.only is not None and frame.scope is not None
                    return Unk(f"{name} is bound by a statement that the question passed over", lacking=True) if passed_over else ABSENT
            elif name in scope.global_:
                break
        frame = frame.closure
    value = global_value(m, module, name)
    if value is not ABSENT:
        return value
    return BUILTINS.get(name, ABSENT) if not name.startswith("__") or name in BUILTINS else module_name(module, name)
