"""Module-level containers that functions fill at import time, as decorators or in top-level calls: found by name, run when first read."""

from __future__ import annotations

import re

from agent.analysis import ir
from agent.analysis.imports import importable_from
from agent.analysis.mentions import calling_files
from agent.analysis.resolve import root_name
from agent.analysis.scopes import scope_of
from agent.analysis.touched_at_import import Touch, touches_of
from agent.analysis.walk import walk
from agent.analysis.words import positions
from agent.analysis.writers import changed_in_place
from agent.evaluation.contents import contents, forget, forget_from
from agent.evaluation.invocation import known_attributes
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
    rows = [each for each in touches_of(m.index, name, importable(m)) if each.kind in kinds]
    for path, below in _uses_of(m, name, "")[:MAX_STATEMENTS] if "base" in kinds else ():
        _run(m, path, [below])
    touching = [row for row in rows if row.kind != "base"][:MAX_STATEMENTS]
    calls = _registrations(m, functions_that_change(module.ir, name, cls))
    if calls is None:
        _open_all(m, value, f"{name} of {module.dotted} is changed in places that were not followed")
    steps: list[tuple[str, int, Touch | ir.Stmt]] = [(row.path, row.line, row) for row in touching]
    steps += [(path, each.line, each) for path, statements in (calls or {}).items() for each in statements]
    if not steps:
        return
    before = _held(m, value)
    being_filled: set[object] = m.singletons.setdefault("being filled", set())
    being_filled |= {value, cls}
    for path, _, step in sorted(steps, key=lambda each: (each[0] != module.path, each[0], each[1])):
        if isinstance(step, ir.Stmt):
            _run(m, path, [step])
        else:
            _touch(m, module, name, value, step)
    being_filled -= {value, cls}
    filled = {each for each, cell in _held(m, value).items() if before.get(each) is not cell}
    m.singletons.setdefault("filled registries", set()).update(filled)


def _touch(m: Machine, module: ModuleV, name: str, value: ClassV | Instance, touch: Touch) -> None:
    statement = next((stmt for stmt in m.index.module(touch.path).body if stmt.end >= touch.line), None)
    if statement is None or not _means(m, touch.path, name, value) or (touch.kind == "assign" and touch.path == module.path):
        return
    before = m.state.get((value, touch.attribute)) if touch.kind == "assign" else None
    _run(m, touch.path, [statement])
    after = m.state.get((value, touch.attribute)) if touch.kind == "assign" else None
    if after is not None and after is not before:  # when the other module is imported is not followed
        joined = one_of([before.value if before is not None else ABSENT, after.value])
        m.root.own[(value, touch.attribute)] = Cell(joined, after.place, (after,), None, before, "", touch.attribute)


def _open_all(m: Machine, value: ClassV | Instance, reason: str) -> None:
    """What the containers in an object's attributes hold is not all of it."""
    for container in _held(m, value):
        forget_from(m, container, reason)


def _held(m: Machine, value: ClassV | Instance) -> dict[ListObj | DictObj, Cell | None]:
    """The containers in an object's attributes, each with the cell of what it holds."""
    cells = (m.state.get((value, name)) for name in known_attributes(m, value))
    held = [cell.value for cell in cells if cell is not None and isinstance(cell.value, (ListObj, DictObj))]
    return {each: m.state.get((each, "[]" if isinstance(each, ListObj) else "{}")) for each in held}


def functions_that_change(module: ir.Module, name: str, cls: ClassV) -> list[str]:
    """Top-level functions of the module that change what the object ``name``, or one of its class, holds: themselves or by its methods."""
    functions = [each for each in module.body if isinstance(each, ir.FunctionDef)]
    entering = [each for each in functions if _enters(_text(module, each), name) and name not in scope_of(each).local]
    methods = _changing_methods(cls) if entering else frozenset()
    found: list[str] = []
    for function in entering:
        if any(_changes(node, name) or _calls_one(node, name, methods) for node in walk(function)):
            found.append(function.name)
    for called in found:  # grows: who calls one of them is one
        for function in functions:
            if function.name not in found and any(_is_call_of(node, called) for node in walk(function) if isinstance(node, ir.Call)):
                found.append(function.name)
    return found


def _changing_methods(cls: ClassV) -> frozenset[str]:
    """Methods that change a container which their object, or its class, holds."""
    defining = [base for base in cls.mro if base.node is not None and base.module.ir is not None]
    methods = [(base, each) for base in defining for each in base.node.body if isinstance(each, ir.FunctionDef)]  # type: ignore[union-attr]
    return frozenset(method.name for base, method in methods if method.name not in _ON_DEFINITION and _changes_own(base, method))


def _changes_own(base: ClassV, method: ir.FunctionDef) -> bool:
    static = any(isinstance(each, ir.Name) and each.id == "staticmethod" for each in method.decorators)
    names = [base.name, *(param.name for param in method.params[:1] if not static)]
    module = base.module.ir
    assert module is not None
    return any(_names(module, method, name) and any(_changes(node, name) for node in walk(method)) for name in names)


def _calls_one(node: ir.Node, name: str, methods: frozenset[str]) -> bool:
    called = node.func if isinstance(node, ir.Call) else None
    return isinstance(called, ir.Attribute) and called.attr in methods and isinstance(called.value, ir.Name) and called.value.id == name


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
    for each in touches_of(m.index, name, importable(m)):
        if each.attribute != called if called else each.kind != "base":
            continue
        statement = next((stmt for stmt in m.index.module(each.path).body if stmt.end >= each.line), None)
        if statement is not None:
            found.append((each.path, statement))
            if isinstance(statement, ir.ClassDef) and not called and depth:
                found += _uses_of(m, statement.name, "", depth - 1)
    return found


def _names(module: ir.Module, function: ir.FunctionDef, name: str) -> bool:
    """Whether a function's text can change the container under its name: only then is its body looked at."""
    text = _text(module, function)
    return not name.isascii() or (_enters(text, name) and _CHANGING.search(text) is not None)


def _enters(text: bytes, name: str) -> bool:
    """Whether something is done with what the name holds."""
    behind = (text[at + len(name) : at + len(name) + 80].lstrip()[:1] for at in positions(text, name))
    return any(each in _INTO for each in behind)


def _text(module: ir.Module, function: ir.FunctionDef) -> bytes:
    start = min([function.start_byte, *(decorator.start_byte for decorator in function.decorators)])
    return module.source[start : function.end_byte]


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
    """Top-level statements that call or apply a filler, by file; None when there are too many.

    Those of the entry module are run in their order anyhow.
    """
    reachable = importable(m)
    found: dict[str, list[ir.Stmt]] = {}
    count = 0
    for filler in fillers:
        for path in calling_files(m.index, filler):
            if path not in reachable or path == m.entry_path:
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

    ran: set[tuple[str, int]] = m.singletons.setdefault("run for what they change", set())
    module = import_module(m, m.index.dotted(path))
    if isinstance(module, ModuleV):
        due = [each for each in statements if (path, each.line) not in ran and not _evaluated(m, module, each)]
        ran.update((path, each.line) for each in due)
        run_statements(m, module, due)


def _evaluated(m: Machine, module: ModuleV, statement: ir.Stmt) -> bool:
    """A definition or assignment whose name was read before has already done what it does elsewhere, or is about to."""
    if isinstance(statement, ir.Assign):
        names = [target.id for target in statement.targets if isinstance(target, ir.Name)]
    else:
        names = [name for name in [getattr(statement, "name", None)] if isinstance(name, str)]
    return any(m.state.get((module, name)) is not None or (module, name) in m.singletons.get("pending", ()) for name in names)
