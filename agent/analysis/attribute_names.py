"""The names that a ``setattr`` with a worked-out name can mean, where the source lists them all."""

from __future__ import annotations

from collections.abc import Iterable

from agent.analysis import ir
from agent.analysis.arguments import arguments
from agent.analysis.callers import Reference, references
from agent.analysis.index import Index, once_a_word
from agent.analysis.scopes import binds
from agent.analysis.walk import statements, walk

MAX_DEPTH = 3
"""Functions that hand a name on to each other."""
MAX_FILES = 30
MAX_SITES = 40
"""Files that name a function, and places that call it: with more, any name is taken to be given."""

Names = frozenset[str] | None
"""None: any name."""


def names_written(index: Index, path: str, line: int) -> Names:
    """What ``setattr(x, name, value)`` on that line may write.

    Names from a loop over a literal, from an argument that every caller writes out, or from the keys of a dict that every caller does.
    """
    return _at(index, f"{path}:{line}")


def may_write(index: Index, path: str, line: int, name: str) -> bool:
    """Whether the ``setattr`` on that line may write an attribute of this name."""
    names = names_written(index, path, line)
    return names is None or name in names


@once_a_word
def _at(index: Index, place: str) -> Names:
    path, _, line = place.rpartition(":")
    statement = index.statement_at(path, int(line))
    calls = [node for node in walk(statement) if isinstance(node, ir.Call) and _is_setattr(node)] if statement is not None else []
    function = next((node for node in reversed(index.enclosing(path, int(line))) if isinstance(node, ir.FunctionDef)), None)
    if function is None or not calls:
        return None
    return _all(_of_expression(index, function, call.args[1], MAX_DEPTH) for call in calls)


def _is_setattr(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Name) and call.func.id == "setattr" and len(call.args) == 3


def _all(found: Iterable[Names]) -> Names:
    together: set[str] = set()
    for names in found:
        if names is None:
            return None
        together |= names
    return frozenset(together)


def _of_expression(index: Index, function: ir.FunctionDef, node: ir.Expr, depth: int) -> Names:
    if isinstance(node, ir.Constant):
        return frozenset([node.value]) if isinstance(node.value, str) else None
    if not isinstance(node, ir.Name):
        return None
    binding = [each for each in statements(function.body) if binds(each, node.id)]
    if any(each.name == node.id for each in function.params):
        return _of_argument(index, function, node.id, depth) if not binding else None
    if len(binding) != 1 or not isinstance(binding[0], ir.For):
        return None
    return _of_loop(index, function, binding[0], node.id, depth)


def _of_loop(index: Index, function: ir.FunctionDef, loop: ir.For, name: str, depth: int) -> Names:
    """``for name in ("a", "b")``, ``for name, x in (("a", 1), ...)``, ``for name, x in values.items()``."""
    target, row = loop.target, _written_out(function, loop.iter)
    place = 0
    if isinstance(target, ir.TupleExpr):
        place = next((number for number, item in enumerate(target.items) if isinstance(item, ir.Name) and item.id == name), -1)
        if place < 0:
            return None
    if isinstance(row, (ir.TupleExpr, ir.ListExpr, ir.SetExpr)):
        return _all(_literal(item, place if isinstance(target, ir.TupleExpr) else None) for item in row.items)
    items = isinstance(row, ir.Call) and isinstance(row.func, ir.Attribute) and row.func.attr == "items" and not row.args
    if items and isinstance(target, ir.TupleExpr) and place == 0:
        assert isinstance(row, ir.Call) and isinstance(row.func, ir.Attribute)
        return _keys(index, function, row.func.value, depth)
    return None


def _literal(item: ir.Expr, place: int | None) -> Names:
    if place is not None:
        item = item.items[place] if isinstance(item, (ir.TupleExpr, ir.ListExpr)) and place < len(item.items) else item
    return frozenset([item.value]) if isinstance(item, ir.Constant) and isinstance(item.value, str) else None


def _keys(index: Index, function: ir.FunctionDef, node: ir.Expr, depth: int) -> Names:
    """The keys of a dict that is written out, here or by every caller."""
    node = _written_out(function, node)
    if isinstance(node, ir.DictExpr):
        return _all(frozenset([key.value]) if isinstance(key, ir.Constant) and isinstance(key.value, str) else None for key in node.keys)
    unchanged = isinstance(node, ir.Name) and not any(binds(each, node.id) for each in statements(function.body))
    if isinstance(node, ir.Name) and unchanged and _only_read(function, node.id):
        return _of_argument(index, function, node.id, depth, keys=True)
    return None


def _written_out(function: ir.FunctionDef, node: ir.Expr) -> ir.Expr:
    """Of a variable that is bound once in the function, and then only looked at: what it is bound to."""
    if not isinstance(node, ir.Name) or any(each.name == node.id for each in function.params):
        return node
    binding = [each for each in statements(function.body) if binds(each, node.id)]
    bound = binding[0] if len(binding) == 1 else None
    if not isinstance(bound, ir.Assign) or len(bound.targets) != 1 or not isinstance(bound.targets[0], ir.Name):
        return node
    looks = 0
    for each in walk(function):
        seen = each.value if isinstance(each, ir.Attribute) and each.attr in _READING else each.iter if isinstance(each, ir.For) else None
        looks += isinstance(seen, ir.Name) and seen.id == node.id
    uses = sum(isinstance(each, ir.Name) and each.id == node.id for each in walk(function))
    return bound.value if uses == looks + 1 else node


def _only_read(function: ir.FunctionDef, name: str) -> bool:
    """No ``name[key] = ...``, ``name.update(...)`` in the function."""
    for node in walk(function):
        if isinstance(node, ir.Subscript) and isinstance(node.value, ir.Name) and node.value.id == name:
            return False
        if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == name and node.attr not in _READING:
            return False
    return True


_READING = frozenset({"items", "keys", "values", "get", "copy"})


def _of_argument(index: Index, function: ir.FunctionDef, name: str, depth: int, *, keys: bool = False) -> Names:
    """What every caller gives for a parameter; a function that is handed on as a value has callers that are not seen."""
    if not depth or len(index.files_with(function.name)) > MAX_FILES:
        return None
    found = [each for each in references(index, function.name) if each.kind not in ("import", "annotation", "string")]
    if not found or len(found) > MAX_SITES or any(each.call is None or each.kind != "call" for each in found):
        return None
    return _all(_given(index, each, function, name, depth, keys) for each in found)


def _given(index: Index, site: Reference, function: ir.FunctionDef, name: str, depth: int, keys: bool) -> Names:
    caller = next((node for node in reversed(site.chain) if isinstance(node, ir.FunctionDef)), None)
    assert site.call is not None
    value = (arguments(site.call, function) or {}).get(name)
    if value is None or caller is None:
        return None
    return _keys(index, caller, value, depth - 1) if keys else _of_expression(index, caller, value, depth - 1)
