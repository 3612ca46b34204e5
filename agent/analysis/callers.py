"""Who refers to a function, class or method by name, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent.analysis import ir
from agent.analysis.index import Index
from agent.analysis.occurrences import Occurrence, occurrences
from agent.analysis.outline import Def, qualname


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One place that refers to a name.

    ``kind``:
      call        it is called there, ``call`` is the Call
      value       it is handed on as an object; ``role`` says where to: argument, default, dict, list, assigned, lambda, return, other
      decorator   it decorates a definition
      base        a class derives from it
      super       called through ``super()``
      import      imported, perhaps under another name; references by that name are listed too
      annotation  in an annotation, never run as a call
      getattr     named by a string in ``getattr``, ``hasattr``, ``attrgetter``, ``methodcaller``
      unsupported in a stretch that could not be lowered, so it may be anything
      string      a string equal to the name or ending in ``.name`` or ``:name``: a registry or an import by string may use it
    ``receiver``: what stands before the dot.
    """

    module: ir.Module
    line: int
    kind: str
    role: str = ""
    node: ir.Node
    receiver: ir.Expr | None = None
    call: ir.Call | None = None
    statement: ir.Stmt
    chain: tuple[Def, ...] = ()

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def function(self) -> str:
        """Qualified name of the definition around it; empty at module level."""
        return qualname(self.chain)

    @property
    def caller(self) -> ir.FunctionDef | None:
        """The nearest function around it."""
        return next((node for node in reversed(self.chain) if isinstance(node, ir.FunctionDef)), None)


def references(index: Index, name: str) -> list[Reference]:
    """Every syntactic reference to ``name`` in the tree, in path and file order; those by another name come last.

    Another name is one that a module gives it: ``import name as other``, ``other = name``; also where a third module imports
    it by that. Bindings of the name itself are not references. Files that could not be read are in ``index.unread``; names
    that are put together at run time cannot be found.
    """
    found: list[Reference] = []
    renamed: list[tuple[str, str]] = []
    for module in index.modules_with(name):
        found.extend(_in_module(module, name, renamed))
    seen: set[tuple[str, str]] = set()
    while renamed:
        rename = renamed.pop(0)
        if rename not in seen:
            seen.add(rename)
            found.extend(_by_other_name(index, *rename, renamed))
    return found


def references_in(module: ir.Module, name: str) -> list[Reference]:
    """The references of one file, under the names that this file gives it."""
    renamed: list[tuple[str, str]] = []
    found = list(_in_module(module, name, renamed))
    seen = {name}
    while renamed:
        _, other = renamed.pop(0)
        if other not in seen:
            seen.add(other)
            found.extend(each for each in _in_module(module, other, renamed) if isinstance(each.node, ir.Name))
    return found


def _in_module(module: ir.Module, name: str, renamed: list[tuple[str, str]]) -> Iterator[Reference]:
    for occurrence in occurrences(module, name):
        found = _reference(occurrence, name)
        if found is not None:
            yield found
            renamed.extend((module.path, other) for other in _other_names(found, name))


def _other_names(found: Reference, name: str) -> list[str]:
    """The names that a reference gives to what it refers to."""
    if isinstance(found.node, ir.Alias):
        return [found.node.asname] if found.node.asname not in (None, name) else []
    statement = found.statement
    if isinstance(statement, ir.Assign) and statement.value is found.node and not found.chain:
        return [target.id for target in statement.targets if isinstance(target, ir.Name) and target.id != name]
    return []


def _by_other_name(index: Index, home: str, other: str, renamed: list[tuple[str, str]]) -> Iterator[Reference]:
    """Plain names in the module that renamed it and in those that import the new name from there; elsewhere ``home.other``."""
    source = index.dotted(home)
    for module in index.modules_with(other):
        further: list[tuple[str, str]] = []
        found = list(_in_module(module, other, further))
        knows = module.path == home or any(_imports_from(index, each, source) for each in found)
        if knows:
            renamed.extend(further)
        for each in found:
            through_module = _last_name(each.receiver) == source.rpartition(".")[2]
            if through_module if isinstance(each.node, ir.Attribute) else knows:
                yield each


def _imports_from(index: Index, found: Reference, source: str) -> bool:
    return isinstance(found.statement, ir.ImportFrom) and index.import_source(found.path, found.statement) == source


def _last_name(node: ir.Expr | None) -> str:
    return node.id if isinstance(node, ir.Name) else node.attr if isinstance(node, ir.Attribute) else ""


def _reference(occurrence: Occurrence, name: str) -> Reference | None:
    row = _BY_NODE.get(type(occurrence.node))
    return row(occurrence, occurrence.node, name) if row is not None else None


def _made(at: Occurrence, kind: str, *, role: str = "", receiver: ir.Expr | None = None, call: ir.Call | None = None) -> Reference:
    line = at.node.end if isinstance(at.node, ir.Attribute) else at.node.line
    return Reference(
        module=at.module,
        line=line,
        kind=kind,
        role=role,
        node=at.node,
        receiver=receiver,
        call=call,
        statement=at.statement,
        chain=at.chain,
    )


def _named(at: Occurrence, node: Any, name: str) -> Reference | None:
    return None if is_written(at) else _used(at, None)


def _attribute(at: Occurrence, node: Any, name: str) -> Reference | None:
    return None if is_written(at) else _used(at, node.value)


def _used(at: Occurrence, receiver: ir.Expr | None) -> Reference:
    """A loaded name or attribute, by what stands around it."""
    parent = at.parent
    if in_annotation(at):
        return _made(at, "annotation", receiver=receiver)
    if _decorates(at):
        return _made(at, "decorator", receiver=receiver)
    if isinstance(parent, ir.Call) and parent.func is at.node:
        called_super = isinstance(receiver, ir.Call) and isinstance(receiver.func, ir.Name) and receiver.func.id == "super"
        return _made(at, "super" if called_super else "call", receiver=receiver, call=parent)
    if isinstance(parent, ir.ClassDef) and at.node in parent.bases:
        return _made(at, "base", receiver=receiver)
    return _made(at, "value", role=_role(at), receiver=receiver)


def _decorates(at: Occurrence) -> bool:
    """``@name`` and ``@name(...)``."""
    line = (*at.ancestors, at.node)
    for around, below in pairwise(line):
        if isinstance(around, (ir.FunctionDef, ir.ClassDef)) and below in around.decorators:
            return below is at.node or (isinstance(below, ir.Call) and below.func is at.node)
    return False


def in_annotation(at: Occurrence) -> bool:
    line = (*at.ancestors, at.node)
    return any(
        below is getattr(around, "annotation", None) or below is getattr(around, "returns", None) for around, below in pairwise(line)
    )


def is_written(at: Occurrence) -> bool:
    """Whether the node is a target: of an assignment, loop, ``with``, ``del`` or comprehension."""
    line = (*at.ancestors, at.node)
    for place in range(len(line) - 1, 0, -1):
        around, below = line[place - 1], line[place]
        if isinstance(around, (ir.TupleExpr, ir.ListExpr, ir.Starred)):
            continue
        return below is getattr(around, "target", None) or below in getattr(around, "targets", ())
    return False


def _role(at: Occurrence) -> str:
    """Where a value goes, by the innermost node around it that tells."""
    line = (*at.ancestors, at.node)
    for place in range(len(line) - 1, 0, -1):
        role = _ROLES.get(type(line[place - 1]))
        if role is not None:
            return role(line[place - 1], line[place])
        if not isinstance(line[place - 1], (ir.Keyword, ir.Starred, ir.IfExp, ir.BoolOp, ir.Await)):
            break
    return "other"


_ROLES: dict[type[Any], Callable[[Any, Any], str]] = {
    ir.Call: lambda node, below: "other" if below is node.func else "argument",
    ir.Param: lambda node, below: "default",
    ir.DictExpr: lambda node, below: "dict",
    ir.ListExpr: lambda node, below: "list",
    ir.TupleExpr: lambda node, below: "list",
    ir.SetExpr: lambda node, below: "list",
    ir.Assign: lambda node, below: "assigned",
    ir.AnnAssign: lambda node, below: "assigned",
    ir.NamedExpr: lambda node, below: "assigned",
    ir.Lambda: lambda node, below: "lambda",
    ir.Return: lambda node, below: "return",
}

_BY_STRING = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller"})


def _string(at: Occurrence, node: Any, name: str) -> Reference | None:
    parent = at.parent
    if node.value == name and isinstance(parent, ir.Call) and called_name(parent) in _BY_STRING and node in parent.args:
        receiver = parent.args[0] if parent.args and parent.args[0] is not node else None
        return _made(at, "getattr", receiver=receiver, call=parent)
    if node.value == name or node.value.endswith((f".{name}", f":{name}")):
        return _made(at, "annotation") if in_annotation(at) else _made(at, "string", role=_role(at))
    return None


def called_name(call: ir.Call) -> str:
    """The last part of what is called, empty when it is no name."""
    func = call.func
    return func.id if isinstance(func, ir.Name) else func.attr if isinstance(func, ir.Attribute) else ""


def _imported(at: Occurrence, node: Any, name: str) -> Reference | None:
    return _made(at, "import") if name in (node.name, node.name.rpartition(".")[2]) else None


_BY_NODE: dict[type[Any], Callable[[Occurrence, Any, str], Reference | None]] = {
    ir.Name: _named,
    ir.Attribute: _attribute,
    ir.Constant: _string,
    ir.Alias: _imported,
    ir.Unsupported: lambda at, node, name: _made(at, "unsupported"),
}
