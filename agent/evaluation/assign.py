"""Assignment and deletion: names, attributes, items, unpacking."""

from __future__ import annotations

from agent.analysis import ir
from agent.evaluation.attributes import delete_attribute, set_attribute
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Machine
from agent.evaluation.names import binding
from agent.evaluation.subscripts import delete_item, index_value, set_item
from agent.evaluation.values import ABSENT, AV, ClassV, Const, Lazy, ListObj, Tup, Unk


def bind_name(m: Machine, name: str, value: AV) -> None:
    """Binds a name in the current scope."""
    location = binding(m.frame, name)
    owner = location[0]
    if isinstance(owner, ClassV) and name not in owner.names:
        owner.names.append(name)
    m.store(location, value)


def assign(m: Machine, target: ir.Expr, value: AV) -> None:
    """``target = value``."""
    if isinstance(target, ir.Name):
        bind_name(m, target.id, value)
    elif isinstance(target, ir.Attribute):
        reads = list(m.reads)
        obj = m.eval(target.value)
        m.reads = reads
        set_attribute(m, obj, target.attr, value)
    elif isinstance(target, ir.Subscript):
        set_item(m, m.eval(target.value), index_value(m, target.index), value)
    elif isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        _unpack(m, target.items, value.resolve() if isinstance(value, Lazy) else value)
    elif isinstance(target, ir.Starred):
        assign(m, target.value, value)


def _unpack(m: Machine, targets: list[ir.Expr], value: AV) -> None:
    items, open_ = iterate(m, value)
    star = next((i for i, t in enumerate(targets) if isinstance(t, ir.Starred)), None)
    if open_ or (star is None and len(items) != len(targets)) or len(items) < len(targets) - 1:
        reason = open_ or f"unpacking {len(items)} values into {len(targets)}"
        if not open_ and isinstance(value, (Tup, ListObj, Const)):
            m.throw_new("ValueError", f"cannot unpack {len(items)} values into {len(targets)} names")
        m.may_raise(reason)
        for target in targets:
            assign(m, target, Unk(reason))
        return
    if star is None:
        for target, item in zip(targets, items, strict=True):
            assign(m, target, item)
        return
    tail = len(targets) - star - 1
    for target, item in zip(targets[:star], items[:star], strict=True):
        assign(m, target, item)
    assign(m, targets[star], m.new_list(items[star : len(items) - tail]))
    for target, item in zip(targets[star + 1 :], items[len(items) - tail :], strict=True):
        assign(m, target, item)


def delete(m: Machine, target: ir.Expr) -> None:
    """``del target``."""
    if isinstance(target, ir.Name):
        m.store(binding(m.frame, target.id), ABSENT)
    elif isinstance(target, ir.Attribute):
        delete_attribute(m, m.eval(target.value), target.attr)
    elif isinstance(target, ir.Subscript):
        delete_item(m, m.eval(target.value), index_value(m, target.index))
    elif isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        for item in target.items:
            delete(m, item)
