"""``for ... in rows: if key in row: ...``: turns that find nothing change nothing, and are passed without being run.

Settings that are declared step by step are read this way: every read looks through all declarations.
"""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.evaluation.concrete import key_of
from agent.evaluation.machine import Machine
from agent.evaluation.names import variable
from agent.evaluation.values import AV, Const, DictObj, Tup, present

_Search = tuple[str, int | None]
"""The name of what is looked for, and where in an item (None: the item itself) the dictionary is."""
WORTH_IT = 8
"""Items from which on it pays to look."""


def without_misses(m: Machine, node: ir.For, items: tuple[AV, ...]) -> tuple[AV, ...]:
    """The items but for those in which nothing is found; one of them stays, for what is noted of a turn."""
    search = _search(m, node) if len(items) >= WORTH_IT else None
    found = variable(m, search[0]) if search is not None else None
    if search is None or found is None or not isinstance(found[1].value, Const):
        return items
    reads, kept, missed = m.reads, [], False
    key = key_of(found[1].value)
    for item in items:
        misses = _misses(m, key, present(item), search[1])
        if not (misses and missed):
            kept.append(item)
        missed |= misses
    m.reads = reads
    return tuple(kept)


def _misses(m: Machine, key: object, item: AV, position: int | None) -> bool:
    if position is not None:
        if not isinstance(item, Tup) or position >= len(item.items):
            return False
        item = item.items[position]
    if not isinstance(item, DictObj):
        return False
    content = m.entries_when_needed(item)
    return key not in content.items and not content.open


def _search(m: Machine, node: ir.For) -> _Search | None:
    known: dict[ir.For, _Search | None] = m.singletons.setdefault("search loops", {})
    if node not in known:
        function = m.frame.func.node if m.frame.func is not None else None
        known[node] = _recognised(node, function) if function is not None else None
    return known[node]


def _recognised(node: ir.For, function: ir.Node) -> _Search | None:
    """A loop of one ``if key in row`` whose own variables are used nowhere else in the function."""
    body = node.body[0] if len(node.body) == 1 else None
    test = body.test if isinstance(body, ir.If) and not body.orelse else None
    if not isinstance(test, ir.Compare) or test.ops != ["in"] or node.orelse or node.is_async:
        return None
    row = test.comparators[0]
    targets = node.target.items if isinstance(node.target, ir.TupleExpr) else [node.target]
    names = [target.id for target in targets if isinstance(target, ir.Name)]
    if not isinstance(test.left, ir.Name) or not isinstance(row, ir.Name) or len(names) < len(targets):
        return None
    inside = {*walk(node)}
    elsewhere = any(isinstance(each, ir.Name) and each.id in names for each in walk(function) if each not in inside)
    if elsewhere or test.left.id in names or names.count(row.id) != 1:
        return None
    return test.left.id, names.index(row.id) if isinstance(node.target, ir.TupleExpr) else None
