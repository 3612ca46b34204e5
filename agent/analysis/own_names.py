"""The names by which a tree can call what an attribute holds: followed from use to use, as long as it is not handed on out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.analysis import ir
from agent.analysis.callers import called_name, in_annotation, is_written
from agent.analysis.index import Index
from agent.analysis.occurrences import Occurrence, occurrences
from agent.analysis.walk import children, walk

MAX_FILES = 24
_LOOKS = frozenset({"isinstance", "hasattr", "bool", "id", "repr", "str", "type"})


def own_names(index: Index, name: str, paths: Iterable[str]) -> frozenset[str] | None:
    """Names for what attributes of this name hold, in the files of ``paths`` with the name in them; None where it may get another.

    Allowed are: reading or writing an attribute of it, testing it, giving it to an argument or attribute of the same name, and a local
    variable of which no more is done than that.
    """
    files = [path for path in index.files_with(name) if path in paths] if name.isidentifier() else []
    if not files or len(files) > MAX_FILES:
        return None
    found = {name}
    for path in files:
        for at in occurrences(index.module(path), name):
            others = _called(at, name)
            if others is None:
                return None
            found |= others
    return frozenset(found)


def _called(at: Occurrence, name: str) -> frozenset[str] | None:
    """What else a use of the name calls it."""
    node, parent = at.node, at.parent
    if isinstance(node, ir.Constant):
        return frozenset() if isinstance(parent, ir.Call) and called_name(parent) == "hasattr" else None
    if isinstance(node, (ir.Param, ir.Keyword)):
        return frozenset()
    if not isinstance(node, (ir.Name, ir.Attribute)):
        return None
    if in_annotation(at) or is_written(at) or _looked_at(node, parent) or (isinstance(parent, ir.Keyword) and parent.name == name):
        return frozenset()
    if isinstance(parent, ir.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ir.Attribute):
            return frozenset() if target.attr == name else None
        function = next((each for each in reversed(at.chain) if isinstance(each, ir.FunctionDef)), None)
        if isinstance(target, ir.Name) and function is not None and all(_stays(function, target.id)):
            return frozenset([target.id])
    return None


def _looked_at(node: ir.Node, parent: ir.Node | None) -> bool:
    """``x.attribute``, ``x is None``, ``if x``, ``not x``, ``isinstance(x, ...)``."""
    if isinstance(parent, ir.Attribute):
        return parent.value is node
    if isinstance(parent, ir.Call):
        return parent.func is not node and called_name(parent) in _LOOKS
    tested = getattr(parent, "test", None) is node
    return tested or isinstance(parent, (ir.Compare, ir.ExprStmt)) or (isinstance(parent, ir.UnaryOp) and parent.op == "not")


def _stays(function: ir.FunctionDef, name: str) -> Iterator[bool]:
    """For each use of a local variable, whether it only looks at it or binds it."""
    for node in walk(function):
        if isinstance(node, (ir.Global, ir.Nonlocal)) and name in node.names:
            yield False
    parents = {child: node for node in walk(function) for child in children(node)}
    for node in walk(function):
        if isinstance(node, ir.Name) and node.id == name:
            parent = parents.get(node)
            bound = node is getattr(parent, "target", None) or node in (getattr(parent, "targets", None) or ())
            yield bound or _looked_at(node, parent)
