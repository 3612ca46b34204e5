"""Module-level containers that functions fill at import time, as decorators or in top-level calls: found by name, run when first read."""

from __future__ import annotations

import re

from agent.analysis import ir
from agent.analysis.imports import importable_from
from agent.analysis.mentions import calling_files
from agent.analysis.resolve import root_name
from agent.analysis.scopes import scope_of
from agent.analysis.touched_at_import import touches_of
from agent.analysis.walk import walk
from agent.analysis.words import positions
from agent.analysis.writers import changed_in_place
from agent.evaluation.contents import contents, forget, forget_from
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell
from agent.evaluation.values import ABSENT, AV, ClassV, DictObj, Instance, ListObj, ModuleV, one_of

MAX_STATEMENTS = 150
_MUTATORS = frozenset({"append", "extend", "add", "update", "insert", "setdefault"})


def complete(m: Machine, module: ModuleV, name: str, value: AV) -> None:
    """Runs what fills the container; what cannot be followed leaves it open."""
    if isinstance(value, (ClassV, Instance)):
        _change_object(m, module, name, value)
    if not isinstance(value, (DictObj, ListObj)) or module.ir is None:
        return
    done: set[tuple[str, str]] = m.singletons.setdefault("registries", set())
    if (module.dotted, name) in done:
        return
    done.add((module.dotted, name))
    fillers = _fillers(module.ir, name)
    by_classes = _by_classes(m, module.ir, name)
    if not fillers and not by_classes:
        return
    pending = _registrations(m, fillers)
    if pending is None:
        reason = f"{name} of {module.dotted} is filled in places that were not followed"
        for inner in contents(m, value):
            forget(m, inner, reason)
        forget_from(m, value, reason)
        return
    for path, statement in by_classes:
        if statement not in pending.setdefault(path, []):
            pending[path].append(statement)
    if pending:
        m.singletons.setdefault("filled registries", set()).add(value)
    elif _nobody_calls(m, fillers) and changed_in_place(m.index, name) == (module.path,):
        m.singletons.setdefault("final containers", set()).add(value)
    for path, statements in pending.items():
        _run(m, path, statements)


def _change_object(m: Machine, module: ModuleV, name: str, value: ClassV | Instance) -> None:
    """Runs the top-level statements by which modules register something with an object or class, or write to it."""
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, ClassV) or module.ir is None or (value is cls and cls.module is not module):
        return
    done: set[tuple[str, str]] = m.singletons.setdefault("registries", set())
    if (module.dotted, name) in done:
        return
    done.add((module.dotted, name))
    kinds = {"call", "assign", *(["base"] if value is cls and _hears_of_classes(cls) else [])}
    rows = [each for each in touches_of(m.index, name) if each.kind in kinds and each.path in importable(m)]
    for path, below in _uses_of(m, name, "")[:MAX_STATEMENTS] if "base" in kinds else ():
        _run(m, path, [below])
    for each in [row for row in rows if row.kind != "base"][:MAX_STATEMENTS]:
        statement = next((stmt for stmt in m.index.module(each.path).body if stmt.end >= each.line), None)
        if statement is None or not _means(m, each.path, name, value) or (each.kind == "assign" and each.path == module.path):
            continue
        before = m.state.get((value, each.attribute)) if each.kind == "assign" else None
        _run(m, each.path, [statement])
        after = m.state.get((value, each.attribute)) if each.kind == "assign" else None
        if after is not None and after is not before:  # when the other module is imported is not followed
            joined = one_of([before.value if before is not None else ABSENT, after.value])
            m.root.own[(value, each.attribute)] = Cell(joined, after.place, (after,), None, before, "", each.attribute)


def _means(m: Machine, path: str, name: str, value: AV) -> bool:
    """Whether a file has the object under this name, or a module of it has."""
    from agent.evaluation.modules import global_value, import_module

    module = import_module(m, m.index.dotted(path))
    found = global_value(m, module, name) if isinstance(module, ModuleV) else ABSENT
    return found is value or found is ABSENT


def _hears_of_classes(cls: ClassV) -> bool:
    metas = (base.kwargs.get("metaclass") for base in cls.mro)
    return any("__init_subclass__" in base.names for base in cls.mro) or any(isinstance(meta, ClassV) for meta in metas)


def _nobody_calls(m: Machine, fillers: list[str]) -> bool:
    """Whether no module of this launch does more with the fillers than define and import them."""
    reachable = importable(m)
    return not any(path in reachable for filler in fillers for path in calling_files(m.index, filler))


def _fillers(module: ir.Module, name: str) -> list[str]:
    """Top-level functions that change the container through its global name."""
    found = []
    for statement in module.body:
        if not isinstance(statement, ir.FunctionDef) or not _names(module, statement, name) or name in scope_of(statement).local:
            continue
        if any(_changes(node, name) for node in walk(statement)):
            found.append(statement.name)
    return found


_ON_DEFINITION = frozenset({"__init_subclass__", "__new__", "__init__"})
"""Methods that run when a class is defined below theirs, or with theirs as its metaclass."""


def _by_classes(m: Machine, module: ir.Module, name: str) -> list[tuple[str, ir.Stmt]]:
    """Top-level statements of this launch by which a method of the module's classes changes the container, with their files."""
    found: list[tuple[str, ir.Stmt]] = []
    for cls in (each for each in module.body if isinstance(each, ir.ClassDef)):
        for method in cls.body:
            if isinstance(method, ir.FunctionDef) and _fills(module, method, name):
                found += _uses_of(m, cls.name, "" if method.name in _ON_DEFINITION else method.name)
    return found[:MAX_STATEMENTS]


def _fills(module: ir.Module, method: ir.FunctionDef, name: str) -> bool:
    named = _names(module, method, name) and name not in scope_of(method).local
    return named and any(_changes(node, name) for node in walk(method))


def _uses_of(m: Machine, name: str, called: str, depth: int = 4) -> list[tuple[str, ir.Stmt]]:
    """Where a method of the class is called at the top of a module; ``called`` is empty for classes that are derived from it."""
    found: list[tuple[str, ir.Stmt]] = []
    for each in touches_of(m.index, name):
        if each.path not in importable(m) or (each.attribute != called if called else each.kind != "base"):
            continue
        statement = next((stmt for stmt in m.index.module(each.path).body if stmt.end >= each.line), None)
        if statement is not None:
            found.append((each.path, statement))
            if isinstance(statement, ir.ClassDef) and not called and depth:
                found += _uses_of(m, statement.name, "", depth - 1)
    return found


def _names(module: ir.Module, function: ir.FunctionDef, name: str) -> bool:
    """Whether a function's text can change the container under its name: only then is its body looked at."""
    start = min([function.start_byte, *(decorator.start_byte for decorator in function.decorators)])
    if not name.isascii():
        return True
    text = module.source[start : function.end_byte]
    behind = (text[at + len(name) : at + len(name) + 80].lstrip()[:1] for at in positions(text, name))
    return any(each in _INTO for each in behind) and _CHANGING.search(text) is not None


_CHANGING = re.compile(rb"\](?:\s|\\)*(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)|\b(?:" + "|".join(sorted(_MUTATORS)).encode() + rb")\b")
"""A subscript that is assigned to, or the name of a method that changes a container."""
_INTO = (b"[", b".", b"\\", b")")
"""What stands behind the container's name there, but for blanks."""


def _changes(node: ir.Node, name: str) -> bool:
    if isinstance(node, (ir.Assign, ir.AugAssign)):
        targets = node.targets if isinstance(node, ir.Assign) else [node.target]
        return any(isinstance(t, ir.Subscript) and root_name(t) == name for t in targets)
    return (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in _MUTATORS
        and root_name(node.func.value) == name
    )


def _registrations(m: Machine, fillers: list[str]) -> dict[str, list[ir.Stmt]] | None:
    """Top-level statements that call or apply a filler, by file; None when there are too many."""
    reachable = importable(m)
    found: dict[str, list[ir.Stmt]] = {}
    count = 0
    for filler in fillers:
        for path in calling_files(m.index, filler):
            if path not in reachable:
                continue
            for statement in m.index.module(path).body:
                if _applies(statement, filler) and statement not in found.get(path, []):
                    found.setdefault(path, []).append(statement)
                    count += 1
    return found if count <= MAX_STATEMENTS else None


def importable(m: Machine) -> frozenset[str]:
    """The modules that this launch can import."""
    known: frozenset[str] | None = m.singletons.get("importable")
    if known is None:
        known = m.singletons["importable"] = importable_from(m.index, m.entry_path) if m.entry_path else m.index.files
    return known


def _applies(statement: ir.Stmt, filler: str) -> bool:
    parts: list[ir.Node] = list(statement.decorators) if isinstance(statement, (ir.FunctionDef, ir.ClassDef)) else [statement]
    bare = (ir.Name, ir.Attribute)
    return any(_is_call_of(node, filler) for part in parts for node in ([part] if isinstance(part, bare) else walk(part)))


def _is_call_of(node: ir.Node, filler: str) -> bool:
    if isinstance(node, ir.Call):
        node = node.func
    return (isinstance(node, ir.Name) and node.id == filler) or (isinstance(node, ir.Attribute) and node.attr == filler)


def _run(m: Machine, path: str, statements: list[ir.Stmt]) -> None:
    from agent.evaluation.modules import import_module, run_statements

    module = import_module(m, m.index.dotted(path))
    if isinstance(module, ModuleV):
        run_statements(m, module, [s for s in statements if not _evaluated(m, module, s)])


def _evaluated(m: Machine, module: ModuleV, statement: ir.Stmt) -> bool:
    """A decorated definition whose name was read before has already registered itself, or is about to."""
    name = getattr(statement, "name", None)
    if not isinstance(name, str):
        return False
    return m.state.get((module, name)) is not None or (module, name) in m.singletons.get("pending", ())
