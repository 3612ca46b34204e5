"""What a decided condition says about the values it was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.analysis import ir
from agent.evaluation.attributes import instance_cell
from agent.evaluation.comparison import quick_equal
from agent.evaluation.invocation import LACKED_BY, known_attributes
from agent.evaluation.machine import Machine
from agent.evaluation.names import variable
from agent.evaluation.state import Cell, Location
from agent.evaluation.values import ABSENT, AV, Const, Instance, OneOf, Tup, Unk, candidates, may_lack, one_of


def refine(m: Machine, test: ir.Expr, outcome: bool) -> None:
    """Narrows variables and attributes in the current state, given that ``test`` came out as ``outcome``."""
    row = _ROWS.get(type(test))
    if row is not None:
        row(m, test, outcome)


def locate(m: Machine, node: ir.Expr) -> tuple[Location, Cell] | None:
    """Where a plain name or attribute chain is stored; None when reading it would run code."""
    if isinstance(node, ir.Name):
        return variable(m, node.id)
    if isinstance(node, ir.NamedExpr):
        return locate(m, node.target)
    if isinstance(node, ir.Attribute):
        found = locate(m, node.value)
        if found is None or not isinstance(found[1].value, Instance):
            return None
        return instance_cell(m, found[1].value, node.attr)
    return None


def _narrow(m: Machine, node: ir.Expr, keep: Callable[[AV], bool], known: AV | None = None, typ: str = "") -> None:
    found = locate(m, node)
    if found is None:
        return
    location, cell = found
    value = cell.value
    if isinstance(value, OneOf):
        kept = [item for item in value.values if keep(item)]
        if kept and len(kept) < len(value.values):
            m.state.own[location] = Cell(one_of(kept), cell.place, (cell,), m.control, cell.previous, "", location[1])
    elif isinstance(value, Unk):
        narrowed = known if known is not None else Unk(value.reason, typ) if typ and not value.typ else None
        if narrowed is not None:
            m.state.own[location] = Cell(narrowed, cell.place, (cell,), m.control, cell.previous, "", location[1])


def _truthiness(m: Machine, node: ir.Expr, outcome: bool) -> None:
    found = locate(m, node)
    if found is None:
        return
    value = found[1].value
    known = Const(outcome) if isinstance(value, Unk) and value.typ == "bool" else None
    _narrow(m, node, lambda item: _quick_truth(item) is not (not outcome), known, "object" if outcome else "")


def _quick_truth(value: AV) -> bool | None:
    if isinstance(value, Const):
        return bool(value.v)
    return bool(value.items) if isinstance(value, Tup) else None


def _not(m: Machine, node: ir.UnaryOp, outcome: bool) -> None:
    if node.op == "not":
        refine(m, node.operand, not outcome)


def _bool(m: Machine, node: ir.BoolOp, outcome: bool) -> None:
    if outcome is (node.op == "and"):
        for value in node.values:
            refine(m, value, outcome)


def _named(m: Machine, node: ir.NamedExpr, outcome: bool) -> None:
    _truthiness(m, node.target, outcome)


def _compare(m: Machine, node: ir.Compare, outcome: bool) -> None:
    if len(node.ops) != 1:
        return
    op, left, right = node.ops[0], node.left, node.comparators[0]
    row = _COMPARISONS.get(op)
    if row is None:
        return
    positive, negated = row
    other = _constant(m, right)
    if other is not None:
        positive(m, left, other, outcome is not negated)
    elif op in ("==", "!=", "is", "is not"):
        flipped = _constant(m, left)
        if flipped is not None:
            positive(m, right, flipped, outcome is not negated)


def _constant(m: Machine, node: ir.Expr) -> AV | None:
    if isinstance(node, ir.Constant):
        return Const(node.value)
    if isinstance(node, (ir.TupleExpr, ir.ListExpr, ir.SetExpr)) and all(isinstance(i, ir.Constant) for i in node.items):
        return Tup(tuple(Const(i.value) for i in node.items))  # type: ignore[attr-defined]
    found = locate(m, node)
    if found is None or isinstance(found[1].value, (Unk, OneOf)):
        return None
    return found[1].value


def _equal(m: Machine, node: ir.Expr, other: AV, outcome: bool) -> None:
    exact = isinstance(other, Const) and (other.v is None or isinstance(other.v, (str, int)))
    typ = "object" if isinstance(other, Const) and other.v is None and not outcome else ""
    _narrow(m, node, lambda item: quick_equal(item, other) is not (not outcome), other if outcome and exact else None, typ)


def _member(m: Machine, node: ir.Expr, other: AV, outcome: bool) -> None:
    if not isinstance(other, Tup):
        return
    items = other.items

    def keep(item: AV) -> bool:
        verdicts = [quick_equal(item, entry) for entry in items]
        inside = True if True in verdicts else None if None in verdicts else False
        return inside is not (not outcome)

    known = one_of(items) if outcome and items and all(len(candidates(i)) == 1 for i in items) else None
    _narrow(m, node, keep, known)


def _has(m: Machine, node: ir.Call, outcome: bool) -> None:
    """``not hasattr(obj, name)``: a name that is not known is none of those that the object certainly has."""
    if outcome or not isinstance(node.func, ir.Name) or node.func.id != "hasattr" or len(node.args) != 2:
        return
    owner, name = (locate(m, arg) for arg in node.args)
    if owner is None or name is None or not isinstance(owner[1].value, Instance) or not isinstance(name[1].value, Unk):
        return
    had = [each for each in known_attributes(m, owner[1].value) if _certainly_has(m, owner[1].value, each)]
    m.state.own[name[1].value, LACKED_BY] = Cell(Tup((owner[1].value, *map(Const, had))), None, (), m.control, None, "", LACKED_BY)


def _certainly_has(m: Machine, obj: Instance, name: str) -> bool:
    cell = m.state.get((obj, name))
    return cell is not None and cell.value is not ABSENT and not may_lack(cell.value)


_COMPARISONS: dict[str, tuple[Any, bool]] = {
    "==": (_equal, False),
    "is": (_equal, False),
    "!=": (_equal, True),
    "is not": (_equal, True),
    "in": (_member, False),
    "not in": (_member, True),
}
_ROWS: dict[type, Callable[[Machine, Any, bool], None]] = {
    ir.Name: _truthiness,
    ir.Attribute: _truthiness,
    ir.NamedExpr: _named,
    ir.UnaryOp: _not,
    ir.BoolOp: _bool,
    ir.Compare: _compare,
    ir.Call: _has,
}
