"""Modules of the tree, evaluated lazily: a global is computed when first read, from the top-level statements that bind or change it."""

from __future__ import annotations

import re

from agent.analysis import ir
from agent.analysis.index import Index, once_a_word
from agent.analysis.scopes import bound_names
from agent.analysis.walk import walk
from agent.evaluation import facts
from agent.evaluation.attributes import instance_dict
from agent.evaluation.frames import Frame
from agent.evaluation.machine import Machine
from agent.evaluation.registries import complete
from agent.evaluation.state import State
from agent.evaluation.values import ABSENT, AV, Const, ExternV, ModuleV, Unk

IMPORT_FUEL = 40_000
"""Statements for what a question imports, for what one name of a module needs: done once, and no question pays for it."""
_MUTATORS = frozenset({"append", "extend", "add", "update", "insert", "remove", "pop", "setdefault", "discard", "register", "clear"})


def absolute(module: ModuleV, name: str, level: int) -> str:
    """The dotted name meant by ``from ..name import x`` in ``module``."""
    if level == 0:
        return name
    package = module.dotted if module.path.endswith("__init__.py") else module.dotted.rpartition(".")[0]
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{name}" if name else package


def import_module(m: Machine, dotted: str) -> AV:
    """The module value; one outside the tree raises ImportError in the analysed program where it cannot be imported."""
    known = m.modules.get(dotted)
    if known is not None:
        return known
    path = m.index.module_path(dotted)
    if path is None and not m.index.is_package(dotted):
        return _outside(m, dotted)
    module = ModuleV(dotted, path or dotted.replace(".", "/"), m.index if path else None)
    m.modules[dotted] = module
    return module


def _outside(m: Machine, dotted: str) -> AV:
    available = facts.importable(m, dotted)
    if available is False:
        m.throw_new("ModuleNotFoundError", f"No module named {dotted!r}")
    if available is None:
        m.may_raise(f"whether {dotted} can be imported is not known", "ModuleNotFoundError")
    return ExternV(dotted)


def import_name(m: Machine, dotted: str, name: str) -> AV:
    """``from dotted import name``; ABSENT where the module certainly has no such name."""
    module = import_module(m, dotted)
    if isinstance(module, ModuleV):
        if m.catchers:
            check_import(m, module)
        return module_attribute(m, module, name)
    return m.getattr(module, name) if not isinstance(module, ExternV) else extern_attribute(m, module, name)


def check_import(m: Machine, module: ModuleV) -> None:
    """Whether importing a module of the tree fails on something outside it; only asked where a handler would take the failure."""
    verdicts: dict[str, str | None] = m.singletons.setdefault("import verdicts", {})
    blocked = _blocked_by(m, module.dotted, module, verdicts)
    if blocked:
        m.throw_new("ModuleNotFoundError", f"No module named {blocked!r} (needed by {module.dotted})")


def _blocked_by(m: Machine, dotted: str, module: ModuleV, verdicts: dict[str, str | None]) -> str | None:
    if dotted in verdicts:
        return verdicts[dotted]
    verdicts[dotted] = None
    for name in _hard_imports(m, module):
        found = _missing_for(m, name, verdicts)
        if found:
            verdicts[dotted] = found
            return found
    for line, name in _imports_under_if(m, module) if m.demand is not None else ():
        found = _missing_for(m, name, verdicts)
        if found and _holds(m, module, line):
            verdicts[dotted] = found
            return found
    return None


def _missing_for(m: Machine, name: str, verdicts: dict[str, str | None]) -> str | None:
    """What importing a module of the tree, or one outside it, fails on; the packages around it are imported first."""
    parts = name.split(".")
    if m.index.module_path(name) is None and not m.index.is_package(name):
        return name if facts.importable(m, name) is False else None
    for end in range(1, len(parts) + 1):
        package = ".".join(parts[:end])
        path = m.index.module_path(package)
        found = _blocked_by(m, package, ModuleV(package, path, None), verdicts) if path else None
        if found:
            return found
    return None


def _imports_under_if(m: Machine, module: ModuleV) -> list[tuple[int, str]]:
    """(line of the ``if``, module) of imports in the body of an ``if`` at the top of a module, by text."""
    content = m.index.read(module.path)
    found = []
    for block in _TOP_IF.finditer(content if isinstance(content, bytes) else b""):
        line = block.string.count(b"\n", 0, block.start()) + 1
        for each in _INNER_IMPORT.finditer(block[1]):
            name = (each[1] or each[2]).decode()
            found.append((line, absolute(module, name.lstrip("."), len(name) - len(name.lstrip(".")))))
    return found


def _holds(m: Machine, module: ModuleV, line: int) -> bool:
    """Whether the condition of the ``if`` on a line at the top of a module is true."""
    statement = m.index.statement_at(module.path, line)
    known = import_module(m, module.dotted)
    if not isinstance(statement, ir.If) or not isinstance(known, ModuleV) or m.demand is None:
        return False
    return m.truth(m.demand.runs.in_module(known, lambda: m.eval(statement.test))) is True


def blocked_import(m: Machine, dotted: str) -> tuple[str, int, str, str] | None:
    """Where importing a module fails on something that is not installed: (path, line, text, missing name); None where nothing says so."""
    path = m.index.module_path(dotted)
    if path is None:
        return None
    verdicts: dict[str, str | None] = m.singletons.setdefault("import verdicts of questions", {})
    missing = _blocked_by(m, dotted, ModuleV(dotted, path, None), verdicts)
    if not missing:
        return None
    content = m.index.read(path)
    module = ModuleV(dotted, path, None)
    for found in _TOP_IMPORT.finditer(content if isinstance(content, bytes) else b""):
        name = (found.group(1) or found.group(2)).decode()
        target = absolute(module, name.lstrip("."), len(name) - len(name.lstrip(".")))
        if target == missing or verdicts.get(target) == missing:
            assert isinstance(content, bytes)
            line = content.count(b"\n", 0, found.start()) + 1
            return path, line, found.group(0).decode(), missing
    return None


_TOP_IF = re.compile(rb"^if[ \t(][^\n]*:[ \t]*(?:#[^\n]*)?\n((?:[ \t]+[^\n]*\n|[ \t]*\n)+)", re.MULTILINE)
_INNER_IMPORT = re.compile(rb"^[ \t]+(?:from[ \t]+([.\w]+)[ \t]+import\b|import[ \t]+([\w.]+))", re.MULTILINE)
_TOP_IMPORT = re.compile(rb"^(?:from[ \t]+([.\w]+)[ \t]+import\b|import[ \t]+([\w.]+))", re.MULTILINE)


def _hard_imports(m: Machine, module: ModuleV) -> list[str]:
    """Modules that a module imports at its top level outside any condition or ``try``: by text, since hundreds are asked for one answer."""
    return [absolute(module, name.lstrip("."), len(name) - len(name.lstrip("."))) for name in _top_imports(m.index, module.path)]


@once_a_word
def _top_imports(index: Index, path: str) -> tuple[str, ...]:
    """As they are written in a file, dots included."""
    content = index.read(path)
    found = _TOP_IMPORT.finditer(content if isinstance(content, bytes) else b"")
    return tuple((each.group(1) or each.group(2)).decode() for each in found)


def module_name(module: ModuleV, name: str) -> AV:
    """The names that every module has."""
    if name == "__name__":
        return Const(module.dotted)
    if name == "__package__":
        return Const(module.dotted if module.path.endswith("__init__.py") else module.dotted.rpartition(".")[0])
    if name in ("__file__", "__doc__", "__spec__", "__loader__", "__path__", "__builtins__", "__annotations__"):
        return Unk(f"{name} of {module.dotted}", "str" if name == "__file__" else "")
    return ABSENT


# --- globals -----------------------------------------------------------------------------------------------------------------


def module_attribute(m: Machine, module: ModuleV, name: str) -> AV:
    """``module.name``: a global, a submodule, or ABSENT."""
    value = global_value(m, module, name)
    if value is not ABSENT:
        return value
    if name == "__dict__":
        return instance_dict(m, module)
    own = module_name(module, name)
    if own is not ABSENT:
        return own
    dotted = f"{module.dotted}.{name}"
    if m.index.module_path(dotted) or m.index.is_package(dotted):
        return import_module(m, dotted)
    hook = global_value(m, module, "__getattr__") if name != "__getattr__" else ABSENT
    if hook is not ABSENT:
        return m.call(hook, [Const(name)], {})
    return Unk(f"{dotted}: the module could not be read") if module.ir is not None and module.ir.errors else ABSENT


def global_value(m: Machine, module: ModuleV, name: str) -> AV:
    """Value of a module's global, computed on first use; ABSENT where nothing binds it."""
    value = m.load((module, name))
    if value is not None:
        return value if name not in module.deferred else _caught_up(m, module, name, value)
    statements = _bindings(module).get(name)
    if not statements:
        return _starred(m, module, name)
    pending: set[tuple[ModuleV, str]] = m.singletons.setdefault("pending", set())
    if (module, name) in pending:
        return Unk(f"{name} is being computed when it is read (a circular import)")
    now = [stmt for stmt in statements if stmt.line <= module.line] or statements[:1]
    if len(now) < len(statements):
        module.deferred[name] = [stmt for stmt in statements if stmt not in now]
    pending.add((module, name))
    try:
        _run(m, module, name, now)
    finally:
        pending.discard((module, name))
    value = m.load((module, name))
    if value is None:
        return ABSENT
    complete(m, module, name, value)
    return m.load((module, name)) or value


def _caught_up(m: Machine, module: ModuleV, name: str, value: AV) -> AV:
    """Top-level statements that change a global after the place from which it was first read run when something later reads it."""
    due = [stmt for stmt in module.deferred[name] if stmt.line <= module.line]
    if not due:
        return value
    module.deferred[name] = [stmt for stmt in module.deferred[name] if stmt not in due]
    if not module.deferred[name]:
        del module.deferred[name]
    _run(m, module, name, due)
    return m.load((module, name)) or value


def _starred(m: Machine, module: ModuleV, name: str) -> AV:
    if name.startswith("_"):
        return ABSENT
    for stmt in _star_imports(m, module):
        source = import_module(m, absolute(module, stmt.module, stmt.level))
        if isinstance(source, ModuleV) and source is not module:
            value = global_value(m, source, name)
            if value is not ABSENT:
                return value
        elif isinstance(source, ExternV):
            from agent.evaluation.models import BUILTINS

            return ABSENT if name in BUILTINS else Unk(f"{name} may come from {source.dotted}, which is outside the tree")
    return ABSENT


def _star_imports(m: Machine, module: ModuleV) -> list[ir.ImportFrom]:
    """Found once a module: every read of a built-in name passes here."""
    known: dict[ModuleV, list[ir.ImportFrom]] = m.singletons.setdefault("star imports", {})
    if module not in known:
        body = module.ir.body if module.ir is not None else []
        known[module] = [s for s in body if isinstance(s, ir.ImportFrom) and any(alias.name == "*" for alias in s.names)]
    return known[module]


def _bindings(module: ModuleV) -> dict[str, list[ir.Stmt]]:
    """For each global the top-level statements that bind it or change what it holds, in file order."""
    if module.bindings is None:
        found: dict[str, list[ir.Stmt]] = {}
        for stmt in module.ir.body if module.ir is not None else ():
            names = bound_names(stmt) if not isinstance(stmt, ir.ExprStmt) else set()
            for name in names | _changed(stmt):
                found.setdefault(name, []).append(stmt)
        module.bindings = {name: _needed(stmts) for name, stmts in found.items()}
    return module.bindings


def _changed(stmt: ir.Stmt) -> set[str]:
    """Globals whose content a top-level statement changes: ``X.append(...)``, ``X[k] = v``, ``X.a = v``."""
    if isinstance(stmt, (ir.FunctionDef, ir.ClassDef, ir.Import, ir.ImportFrom)):
        return set()
    names: set[str] = set()
    for node in walk(stmt, into_scopes=False):
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            if node.func.attr in _MUTATORS and isinstance(node.func.value, ir.Name):
                names.add(node.func.value.id)
        elif isinstance(node, (ir.Assign, ir.AugAssign)):
            for target in node.targets if isinstance(node, ir.Assign) else [node.target]:
                if isinstance(target, (ir.Subscript, ir.Attribute)) and isinstance(target.value, ir.Name):
                    names.add(target.value.id)
    return names


def _needed(stmts: list[ir.Stmt]) -> list[ir.Stmt]:
    """From the last statement that binds unconditionally and afresh onwards."""
    for number in range(len(stmts) - 1, 0, -1):
        if isinstance(stmts[number], (ir.FunctionDef, ir.ClassDef)) and not _decorated(stmts[number]):
            return stmts[number:]
    return stmts


def _decorated(stmt: ir.Stmt) -> bool:
    return bool(getattr(stmt, "decorators", None))


def run_statements(m: Machine, module: ModuleV, statements: list[ir.Stmt]) -> None:
    """Runs some top-level statements of a module for what they do elsewhere."""
    _run(m, module, "", statements)


def _run(m: Machine, module: ModuleV, name: str, statements: list[ir.Stmt]) -> None:
    """Runs the statements at the bottom of the store: importing happened before whatever branch asks now."""
    state, frame, control, reads, depth = m.state, m.frame, m.control, m.reads, m.depth
    catchers, exits, throws, node, steps = m.catchers, m.exits, m.throws, m.call_node, m.steps
    m.state = State(state, certain=False)
    m.catchers, m.control, m.reads, m.call_node = [], None, [], None
    inner = Frame(module, None, None, module.dotted)
    allowed = m.call_fuel // 4 if m.demand is None else IMPORT_FUEL
    inner.deadline = max(m.steps + allowed, frame.deadline if frame is not None else 0)
    m.frame = inner
    uncaught, line = len(m.raised), module.line
    try:
        for stmt in statements:
            module.line = stmt.line
            if not m.statement(_only(stmt, name)):
                m.state = State(m.state, certain=False)
                m.store((module, name), Unk(f"importing {module.dotted} may fail"))
                break
    finally:
        del m.raised[uncaught:]
        module.line = line
        made = m.state
        m.state, m.frame, m.control, m.reads, m.depth = state, frame, control, reads, depth
        m.catchers, m.exits, m.throws, m.call_node = catchers, exits, throws, node
        if m.demand is not None:
            m.steps = steps  # done once, for all questions: whichever comes first does not pay for it
    _sink(m, made, state)


def _only(stmt: ir.Stmt, name: str) -> ir.Stmt:
    """Of an import that binds many names, the one that is asked for."""
    if isinstance(stmt, ir.ImportFrom) and len(stmt.names) > 1:
        wanted = [alias for alias in stmt.names if (alias.asname or alias.name) == name]
        if wanted:
            single = ir.ImportFrom(stmt.module, stmt.level, wanted)
            single.line, single.end = stmt.line, stmt.end
            single.start_byte, single.end_byte = stmt.start_byte, stmt.end_byte
            return single
    return stmt


def _sink(m: Machine, made: State, state: State) -> None:
    """Moves what was computed to the bottom layer, unless a cell above already holds something."""
    layers = []
    layer: State | None = made
    while layer is not None and layer is not state:
        layers.append(layer)
        layer = layer.parent
    root = m.root
    for item in reversed(layers):
        for location, cell in item.own.items():
            if not isinstance(location[0], Frame) or location[0].kept:
                if state.get(location) is None or root.own.get(location) is state.get(location):
                    root.own[location] = cell
                else:
                    state.own[location] = cell


# --- names outside the tree --------------------------------------------------------------------------------------------------


def extern_attribute(m: Machine, obj: ExternV, name: str) -> AV:
    """``extern.name``: a fact, a modelled constant, a submodule of the tree behind a namespace, or a longer dotted path."""
    from agent.evaluation.models import extern_constant
    from agent.evaluation.models.typing_forms import module_of

    if name in ("__name__", "__qualname__"):
        plain = obj.dotted.startswith("builtins.") or obj.dotted == "types.NoneType"
        return Const(obj.dotted.rpartition(".")[2]) if plain else Unk(f"{name} of {obj.dotted}", "str")
    if name == "__module__":
        module = module_of(obj)
        return Const(module) if module else Unk(f"the module of {obj.dotted}", "str")
    dotted = f"{obj.dotted}.{name}"
    known = facts.attribute_fact(m, dotted)
    if known is not None and not modelled(dotted):
        return known if not callable_fact(m, dotted) else ExternV(dotted)
    constant = extern_constant(m, dotted)
    return constant if constant is not None else ExternV(dotted)


def callable_fact(m: Machine, dotted: str) -> bool:
    """A fact that names a function stands for its result, so the name itself stays a function."""
    last = dotted.rpartition(".")[2]
    return last.startswith(("is_", "get_", "has_", "device_count", "mem_get", "current_")) or last.endswith("_available")


def modelled(dotted: str) -> bool:
    """Whether the engine has a model of this name."""
    from agent.evaluation.models import is_modelled

    return is_modelled(dotted)
