"""What the machine recorded, as the answer's nouns: guards, operands with the places their values came from, call steps."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.exits import ControlGuard
from agent.analysis.index import Index
from agent.analysis.one_line import one_line
from agent.domain.verdict import Guard, Operand, Place
from agent.evaluation.frames import Tested
from agent.evaluation.machine import Machine
from agent.evaluation.render import show
from agent.evaluation.state import Cell, Control

MAX_PLACES = 6
_MAIN = '__name__ == "__main__"'


def text(index: Index, path: str, node: ir.Node) -> str:
    """Source of a node on one line, without comments."""
    module = index.module(path)
    return one_line(module.source[node.start_byte : node.end_byte].decode("utf-8", "replace"))


def places(cell: Cell, limit: int = MAX_PLACES) -> tuple[Place, ...]:
    """Where a value was written, and where that statement's own values were, nearest first."""
    found: dict[Place, None] = {}
    queue = [cell]
    seen: set[int] = set()
    while queue and len(found) < limit:
        current = queue.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        if current.place is not None and current.place.line > 0:
            found[Place(path=current.place.path, line=current.place.line)] = None
        queue += [dep for dep in current.deps if dep is not current][:4]
    return tuple(found)


def operands(m: Machine, record: Tested, condition: ir.Expr | None, path: str) -> tuple[Operand, ...]:
    """Names and attributes of the condition with their values and origins; of two with one name the one read first stands first."""
    found: dict[str, Operand] = {}
    left = list(dict.fromkeys(record.deps))
    for node in _reads(condition):
        name = node.attr if isinstance(node, ir.Attribute) else node.id if isinstance(node, ir.Name) else ""
        shown = text(m.index, path, node)
        cell = next((c for c in left if _named(m, c, name)), None) if shown not in found else None
        if cell is not None:
            left.remove(cell)
            found[shown] = Operand(text=shown, value=show(m, cell.value), from_=places(cell))
    return tuple(found.values())


def _reads(condition: ir.Expr | None) -> list[ir.Expr]:
    from agent.analysis.walk import walk

    return [node for node in walk(condition) if isinstance(node, (ir.Name, ir.Attribute))] if condition is not None else []


def _named(m: Machine, cell: Cell, name: str) -> bool:
    return bool(name) and cell.name == name


def guard(m: Machine, index: Index, path: str, control: ControlGuard, function: str, records: list[Tested]) -> Guard:
    """One syntactic guard with what the machine saw of it."""
    condition = control.condition
    truths = {record.truth for record in records}
    truth = "unknown" if len(truths) != 1 else {True: "true", False: "false", None: "unknown"}[truths.pop()]
    record = next((r for r in records if r.truth is not None), records[0] if records else None)
    shown = text(index, path, condition) if condition is not None else control.kind
    found = operands(m, record, condition, path) if record is not None else ()
    operand = _decisive(m, condition, record)
    return Guard(
        path=path, line=operand.line if operand is not None else control.line, condition=shown, polarity=control.polarity, truth=truth,
        kind=control.kind, function=function, decisive_operand=text(index, path, operand) if operand is not None else "", operands=found,
    )  # fmt: skip


def _decisive(m: Machine, condition: ir.Expr | None, record: Tested | None) -> ir.Expr | None:
    """Of ``a and b`` the operand that made it false, of ``a or b`` the one that made it true; else the whole condition."""
    if condition is None or record is None or not isinstance(condition, ir.BoolOp):
        return condition
    for operand in condition.values:
        if any(t.truth is (condition.op == "or") for t in m.tests.get(operand) or []):
            return operand
    return condition.values[-1] if record.truth is (condition.op == "or") else condition


def _named_operands(m: Machine, control: Control) -> tuple[Operand, ...]:
    """What the decision was read from, but for containers' contents and receivers."""
    named = [cell for cell in control.deps[:4] if cell.name and cell.name[0] not in "<[{" and cell.name not in ("self", "cls")]
    return tuple(Operand(text=cell.name, value=show(m, cell.value), from_=places(cell, 3)) for cell in named)


def control_guards(m: Machine, control: Control | None, limit: int = 8) -> tuple[Guard, ...]:
    """The decisions under which a statement ran, outermost first."""
    found: list[Guard] = []
    current = control
    while current is not None and len(found) < limit:
        node = current.node
        condition = getattr(node, "test", None) or getattr(node, "iter", None) or getattr(node, "guard", None)
        truth = {True: "true", False: "false", None: "unknown"}[current.truth]
        shown = text(m.index, current.path, condition) if isinstance(condition, ir.Expr) else type(node).__name__.lower()
        line = condition.line if isinstance(condition, ir.Expr) else node.line
        found.append(
            Guard(
                path=current.path,
                line=line,
                condition=shown,
                polarity=current.polarity,
                truth=truth,
                kind=type(node).__name__.lower(),
                function=current.function,
                operands=_named_operands(m, current),
            )
        )
        current = current.parent
    return tuple(reversed([g for g in found if g.condition != _MAIN]))
