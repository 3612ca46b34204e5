"""Which attributes code may write, by the names of what it calls: a bound from above, or None where it may be any."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from agent.analysis import ir
from agent.analysis.index import Index, once_a_word
from agent.analysis.resolve import root_name
from agent.analysis.scopes import bound_names, scope_of, target_names
from agent.analysis.walk import walk

MAX_FUNCTIONS = 40
MAX_NAMESAKES = 6
_WORKED_OUT = frozenset({"exec", "eval", "vars", "globals", "locals", "__setattr__", "__delattr__", "__import__", "import_module"})
_HANDED = "&"
"""Before the name of what is handed to a call: most often it is nothing that can be called."""
_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "len", "type", "id", "bool"})
_MAKING = frozenset({"__init__", "__new__", "__post_init__"})

Written = tuple[frozenset[str], frozenset[str]] | None
"""Attributes that a stretch of code writes by itself, and names of what it calls or hands on; None where it may write any."""


def attributes_written(index: Index, path: str, part: ir.Node, function: ir.FunctionDef) -> frozenset[str] | None:
    """Names of the attributes that a statement of a function may write, with all that it calls.

    Whatever has the name of what is called counts, in the whole tree; importing a module and reading an attribute write none.
    """
    first = _own(part, _variables(function), outside_names(index, path))
    if first is None:
        return None
    found, pending = set(first[0]), sorted(first[1])
    seen: set[str] = set(pending)
    count = 0
    while pending:
        below = _by_name(index, pending.pop())
        count += 1
        if below is None or count > MAX_FUNCTIONS:
            return None
        found |= below[0]
        further = sorted(below[1] - seen)
        seen.update(further)
        pending += further
    return frozenset(found)


@once_a_word
def _by_name(index: Index, name: str) -> Written:
    """Of everything in the tree that can be called by a name."""
    handed = name.startswith(_HANDED)
    name = name.removeprefix(_HANDED)
    definitions = [*index.functions_named(name), *index.classes_named(name)]
    others = frozenset[str]() if handed else _by_another_name(index, name)
    if len(definitions) > MAX_NAMESAKES or others is None:
        return None
    written: set[str] = set()
    called = {other for other in others if not hasattr(builtins, other)}
    for each in definitions:
        parts = [each.node] if isinstance(each.node, ir.FunctionDef) else [s for s in each.node.body if isinstance(s, ir.FunctionDef)]
        for function in parts:
            if isinstance(each.node, ir.ClassDef) and function.name not in _MAKING | {"__enter__", "__exit__"}:
                continue
            own = _own(function, _variables(function), outside_names(index, each.path))
            if own is None:
                return None
            written |= own[0]
            called |= own[1]
        if isinstance(each.node, ir.ClassDef):
            called |= {_last(base) for base in each.node.bases}
    return frozenset(written), frozenset(called - {""})


def _by_another_name(index: Index, name: str) -> frozenset[str] | None:
    """What else is called by the name: the ``f`` of ``name = module.f``; None where that may be anything.

    That is ``x.name = f``, ``import f as name``, a field that is called, or a global that something worked out is bound to.
    """
    found = set()
    word = re.escape(name.encode())
    fields = rb"\bas\s+" + word + rb"\b|\." + word + rb"\s*=(?!=)|^\s+" + word + rb"\s*:[^\n]*Callable"
    pattern = re.compile(rb"^" + word + rb"\s*(?:=(?!=)\s*(?:([\w.]+)[ \t]*$)?|:)|" + fields, re.MULTILINE)
    for path in index.files_with(name):
        content = index.read(path)
        for hit in pattern.finditer(content) if isinstance(content, bytes) else ():
            if hit[1] is None:
                return None
            found.add(hit[1].decode().rpartition(".")[2])
    return frozenset(found)


@once_a_word
def outside_names(index: Index, path: str) -> frozenset[str]:
    """Names under which a file has what is not of the tree: modules, what is imported from them, what a call into one gave, as loggers."""
    inside: set[str] = set()
    outside: set[str] = set()
    for node in index.outline(path).statements_naming(b"import"):
        if isinstance(node, ir.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                (inside if index.module_path(root) or index.is_package(root) else outside).add(alias.asname or root)
        elif isinstance(node, ir.ImportFrom):
            root = (index.import_source(path, node) or ".").partition(".")[0]
            known = not root or index.module_path(root) is not None or index.is_package(root)
            (inside if known else outside).update(alias.asname or alias.name for alias in node.names)
    for node in index.module(path).body:
        if isinstance(node, ir.Assign) and isinstance(node.value, ir.Call) and root_name(node.value.func) in outside:
            outside.update(name for target in node.targets for name in target_names(target))
        elif isinstance(node, ir.Stmt) and not isinstance(node, (ir.Import, ir.ImportFrom, ir.FunctionDef, ir.ClassDef)):
            inside |= bound_names(node)
    return frozenset(outside - inside)


def _own(part: ir.Node, local: frozenset[str], outside: frozenset[str]) -> Written:
    """``local``: variables; ``outside``: names of modules whose code is not of the tree."""
    written: set[str] = set()
    called: set[str] = set()
    makes = isinstance(part, ir.FunctionDef) and part.name in _MAKING
    for node in walk(part):
        for target in _targets(node):
            if not (makes and isinstance(target.value, ir.Name) and target.value.id == "self"):  # a new object's own
                written.add(target.attr)
        if isinstance(node, ir.Attribute) and node.attr == "__dict__":
            return None
        if isinstance(node, (ir.Global, ir.Nonlocal)):
            written.update(node.names)
        if isinstance(node, ir.Call):
            name = _last(node.func)
            if not name or name in _WORKED_OUT or (isinstance(node.func, ir.Name) and name in local):
                return None
            if name in ("setattr", "delattr"):
                given = node.args[1] if len(node.args) > 1 else None
                if not isinstance(given, ir.Constant) or not isinstance(given.value, str):
                    return None
                written.add(given.value)
            elif root_name(node.func) not in outside - local and not (isinstance(node.func, ir.Name) and hasattr(builtins, name)):
                called.add(name)
            for value in () if name in _ASKING else (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(value, (ir.Name, ir.Attribute)) and not (isinstance(value, ir.Name) and value.id in local):
                    called.add(_HANDED + _last(value))
        elif isinstance(node, ir.FunctionDef) and node is not part:
            called |= {_last(each.func if isinstance(each, ir.Call) else each) for each in node.decorators}
        elif isinstance(node, ir.Unsupported):
            return None
    if isinstance(part, ir.FunctionDef):
        called |= {_last(each.func if isinstance(each, ir.Call) else each) for each in part.decorators}
    return frozenset(written), frozenset(called - {""})


def _targets(node: ir.Node) -> Iterator[ir.Attribute]:
    given = [getattr(node, field, None) for field in ("targets", "target")]
    for each in given:
        for target in each if isinstance(each, list) else [each]:
            if isinstance(target, ir.Node):
                yield from (part for part in _parts(target) if isinstance(part, ir.Attribute))


def _parts(target: ir.Node) -> Iterator[ir.Node]:
    if isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        for item in target.items:
            yield from _parts(item)
    elif isinstance(target, ir.Starred):
        yield from _parts(target.value)
    else:
        yield target


def _variables(function: ir.FunctionDef) -> frozenset[str]:
    """Locals that may hold anything: not functions defined inside, which are seen where they stand, nor what is only imported there."""
    fixed = {node.name for node in walk(function) if isinstance(node, ir.FunctionDef) and node is not function}
    imports = (node for node in walk(function) if isinstance(node, (ir.Import, ir.ImportFrom)))
    fixed |= {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    bound = {name for node in walk(function) if isinstance(node, _BINDING) for name in bound_names(node)}
    bound |= {name for node in walk(function) if isinstance(node, ir.NamedExpr) for name in target_names(node.target)}
    return frozenset(scope_of(function).local - (fixed - bound - {param.name for param in function.params}))


_BINDING = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For, ir.With)


def _last(node: ir.Node) -> str:
    return node.id if isinstance(node, ir.Name) else node.attr if isinstance(node, ir.Attribute) else ""
