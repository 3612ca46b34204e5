"""The statements of one function that a question depends on: everything else is passed over when the function is run for that question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from types import MappingProxyType

from agent.analysis import ir
from agent.analysis.outline import Outline
from agent.analysis.resolve import root_name
from agent.analysis.scopes import binds, bound_names, target_names
from agent.analysis.walk import children, walk

_EXITS = (ir.Return, ir.Raise, ir.Break, ir.Continue)
_SUITE_FIELDS = ("body", "orelse", "finalbody")


def slice_of(
    outline: Outline,
    function: ir.FunctionDef,
    criteria: Iterable[ir.Node],
    reads: Mapping[ir.Node, tuple[ir.Node, ...]] | None = None,
    forced: Mapping[ir.Node, bool] = MappingProxyType({}),
) -> frozenset[ir.Node]:
    """Statements (with the compound statements around them) that decide whether ``criteria`` run and with which values.

    ``reads`` narrows what a statement needs to some of its expressions; the conditions of ``forced`` statements are not evaluated, so that
    nothing is needed for them, and the branches that they do not take are left out. By names: an assignment to a needed name or to a
    needed attribute of a needed object belongs to the slice, and so do earlier exits.
    """
    wanted = list(criteria)
    chosen: set[ir.Node] = set()
    names: set[str] = set()
    attributes: set[tuple[str, str]] = set()
    last = last_line(outline, function, wanted, reads)
    local = _assigned(function)
    own = _Methods(outline, function)
    closed = set(forced) | hollow_around(outline, wanted, function)
    for node, parts in (reads or {}).items():
        closed.add(node)
        for part in parts:
            _collect(part, names, attributes)
    for node in wanted:
        _choose(outline, function, node, chosen, names, attributes, closed)
    for node in _own(function):
        if node.line <= last and (isinstance(node, _EXITS) or _leaves(node)) and not _shut(outline, node, forced):
            _choose(outline, function, node, chosen, names, attributes, closed)
    statements = [node for node in _own(function) if isinstance(node, ir.Stmt)]
    grown = True
    while grown:
        grown = False
        for statement in statements:
            if statement in chosen or statement.line > last:
                continue
            if _defines(statement, names, attributes) or _hands_on(statement, names & local) or own.change(statement, attributes):
                _choose(outline, function, statement, chosen, names, attributes, closed)
                grown = True
    return frozenset(chosen)


def last_line(
    outline: Outline, function: ir.FunctionDef, criteria: Iterable[ir.Node], reads: Mapping[ir.Node, tuple[ir.Node, ...]] | None = None
) -> int:
    """The last line of the function that may run before what is asked about."""
    return max((_turned(outline, function, node, reads or {}) for node in criteria), default=function.end)


def hollow_around(outline: Outline, criteria: Iterable[ir.Node], function: ir.FunctionDef) -> frozenset[ir.Node]:
    """The ``with`` statements around what is asked about that bind nothing: their contexts say nothing about it and are not followed."""
    found: set[ir.Node] = set()
    for node in criteria:
        around = outline.parents.get(node)
        while around is not None and around is not function:
            if isinstance(around, ir.With) and all(item.target is None for item in around.items):
                found.add(around)
            around = outline.parents.get(around)
    return frozenset(found)


def _turned(outline: Outline, function: ir.FunctionDef, node: ir.Node, reads: Mapping[ir.Node, tuple[ir.Node, ...]]) -> int:
    """The last line that may run before the node, or before those of its expressions that are read.

    In a loop what stands below it does, one turn earlier.
    """
    last = max((part.end for part in reads[node]), default=node.line) if node in reads else node.end
    current: ir.Node | None = node
    while current is not None and current is not function:
        if isinstance(current, (ir.For, ir.While)):
            last = max(last, current.end)
        current = outline.parents.get(current)
    return last


def _assigned(function: ir.FunctionDef) -> frozenset[str]:
    """Names to which the function binds something new, or another of these: it is known from here, so what changes it must be seen."""
    found: set[str] = set()
    bindings = [node for node in walk(function, into_scopes=False) if isinstance(node, ir.Assign)]
    for _ in range(2):
        for node in bindings:
            if isinstance(node.value, _NEW) or root_name(node.value) in found:
                found |= {target.id for target in node.targets if isinstance(target, ir.Name)}
    return frozenset(found)


_NEW = (ir.Call, ir.ListExpr, ir.DictExpr, ir.SetExpr, ir.Comprehension)


def _hands_on(statement: ir.Stmt, names: Set[str]) -> bool:
    """A statement that calls something on or with what a needed local holds, or gives it a second name."""
    if not names or isinstance(statement, (ir.If, ir.While, ir.Try, ir.Match, ir.FunctionDef, ir.ClassDef)):
        return False
    if (
        isinstance(statement, (ir.Assign, ir.For, ir.With))
        and root_name(getattr(statement, "value", None) or getattr(statement, "iter", None)) in names
    ):
        return True
    parts = _header(statement) if isinstance(statement, (ir.For, ir.With)) else [statement]
    calls = [node for part in parts for node in walk(part, into_scopes=False) if isinstance(node, ir.Call)]
    for call in calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        receiver = call.func.value if isinstance(call.func, ir.Attribute) else None
        if root_name(receiver) in names or any(
            root_name(value.value if isinstance(value, ir.Starred) else value) in names for value in given
        ):
            return True
    return False


_BINDING = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.Delete, ir.For, ir.With)


class _Methods:
    """Which attributes of its own object each method of the class around a function writes, by itself or through others of the class."""

    def __init__(self, outline: Outline, function: ir.FunctionDef) -> None:
        around = outline.parents.get(function)
        body = around.body if isinstance(around, ir.ClassDef) else []
        self._methods = {each.name: each for each in body if isinstance(each, ir.FunctionDef)}
        self._this = function.params[0].name if function.params and self._methods else ""
        self._here = {attr for node in walk(function) if isinstance(node, _BINDING) for attr in _written_on(node, self._this)}

    def change(self, statement: ir.Stmt, attributes: Set[tuple[str, str]]) -> bool:
        """Whether the statement calls a method on the object that may write one of the attributes.

        Only of those that the function itself writes: any other is worked out over all methods, whatever is called here.
        """
        wanted = {name for owner, name in attributes if owner == self._this} & self._here
        if not self._this or not wanted or isinstance(statement, (ir.If, ir.While, ir.Try, ir.Match, ir.FunctionDef, ir.ClassDef)):
            return False
        parts = _header(statement) if isinstance(statement, (ir.For, ir.With)) else [statement]
        called = {name for part in parts for name in _called_on(part, self._this)}
        return any(self._written(name, set()) & wanted for name in called)

    def _written(self, name: str, seen: set[str]) -> set[str]:
        method = self._methods.get(name)
        if method is None or name in seen or not method.params:
            return set()
        seen.add(name)
        this = method.params[0].name
        found: set[str] = set()
        for node in walk(method):
            if isinstance(node, _BINDING):
                found |= _written_on(node, this)
        for each in _called_on(method, this):
            found |= self._written(each, seen)
        return found


def _written_on(statement: ir.Node, name: str) -> set[str]:
    """Attributes of what a name holds that a statement binds, or puts items into; what lies below them is not theirs."""
    given = [getattr(statement, field, None) for field in ("targets", "target", "items")]
    nodes = [node for each in given for node in (each if isinstance(each, list) else [each]) if isinstance(node, ir.Node)]
    found = [node for part in nodes for node in walk(part) if isinstance(node, ir.Attribute)]
    below = {node.value for node in found}
    return {node.attr for node in found if node not in below and isinstance(node.value, ir.Name) and node.value.id == name}


def _called_on(part: ir.Node, this: str) -> set[str]:
    calls = (node.func for node in walk(part) if isinstance(node, ir.Call))
    return {func.attr for func in calls if isinstance(func, ir.Attribute) and isinstance(func.value, ir.Name) and func.value.id == this}


def _own(function: ir.FunctionDef) -> list[ir.Node]:
    """Nodes of the function's own body, nested definitions named but not entered."""
    found: list[ir.Node] = []
    stack: list[ir.Node] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, (ir.FunctionDef, ir.ClassDef, ir.Lambda)):
            continue
        stack.extend(reversed(children(node)))
    return found


def _shut(outline: Outline, node: ir.Node, forced: Mapping[ir.Node, bool]) -> bool:
    """Whether the node stands in the branch that a forced ``if`` does not take."""
    below, around = node, outline.parents.get(node)
    while around is not None:
        if around in forced and isinstance(around, ir.If) and below in (around.orelse if forced[around] else around.body):
            return True
        below, around = around, outline.parents.get(around)
    return False


def _leaves(node: ir.Node) -> bool:
    """A call that ends the process."""
    if not isinstance(node, ir.ExprStmt) or not isinstance(node.value, ir.Call):
        return False
    func = node.value.func
    return isinstance(func, ir.Attribute) and func.attr in ("exit", "_exit", "abort")


def _choose(
    outline: Outline,
    function: ir.FunctionDef,
    node: ir.Node,
    chosen: set[ir.Node],
    names: set[str],
    attributes: set[tuple[str, str]],
    closed: set[ir.Node],
) -> None:
    current: ir.Node | None = node
    below: ir.Node | None = None
    while current is not None and current is not function:
        if isinstance(current, ir.Stmt) and current not in chosen:
            chosen.add(current)
            if current not in closed:
                _need(current, names, attributes)
        if isinstance(current, ir.Try):
            before = current.body[: current.body.index(below)] if below in current.body else current.body
            for earlier in before:  # what may raise decides whether what comes next runs, or a handler
                for each in walk(earlier, into_scopes=False):
                    if isinstance(each, ir.Stmt) and each not in chosen:
                        chosen.add(each)
                        _need(each, names, attributes)
        if isinstance(current, ir.Stmt):
            below = current
        elif isinstance(current, ir.Handler):
            chosen.add(current)
        current = outline.parents.get(current)


def _need(statement: ir.Stmt, names: set[str], attributes: set[tuple[str, str]]) -> None:
    """Names and attributes that the statement itself reads (of a compound statement: its header)."""
    for part in _header(statement):
        _collect(part, names, attributes)
    if isinstance(statement, ir.Try):
        for inner in statement.body:
            _collect(inner, names, attributes)


def _collect(part: ir.Node, names: set[str], attributes: set[tuple[str, str]]) -> None:
    bound: set[ir.Node] = set()
    for node in walk(part):
        if isinstance(node, ir.NamedExpr):
            bound.add(node.target)  # written here: what it was before does not matter
        elif isinstance(node, ir.Name):
            if node not in bound:
                names.add(node.id)
        elif isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name):
            attributes.add((node.value.id, node.attr))


def _header(statement: ir.Stmt) -> list[ir.Node]:
    parts: list[ir.Node] = []
    for name in getattr(type(statement), "__dataclass_fields__", {}):
        if name in _SUITE_FIELDS or name in ("handlers", "cases"):
            continue
        value = getattr(statement, name)
        if isinstance(value, ir.Node):
            parts.append(value)
        elif isinstance(value, list):
            parts += [item for item in value if isinstance(item, ir.Node)]
    if isinstance(statement, ir.Match):
        parts += [part for case in statement.cases for part in (case.pattern, case.guard) if part is not None]
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        parts += list(statement.body)
    return parts


def _defines(statement: ir.Stmt, names: set[str], attributes: set[tuple[str, str]]) -> bool:
    if isinstance(statement, (ir.If, ir.While, ir.Try, ir.Match)):
        return any(binds(statement, name) for name in names)
    if isinstance(statement, (ir.For, ir.With)):
        targets = [statement.target] if isinstance(statement, ir.For) else [i.target for i in statement.items]
        return any(name in names for target in targets for name in target_names(target))
    if isinstance(statement, (ir.Global, ir.Nonlocal)):
        return True
    if bound_names(statement) & names:
        return True
    return any(_writes(node, names, attributes) for node in walk(statement))


def _writes(node: ir.Node, names: set[str], attributes: set[tuple[str, str]]) -> bool:
    """``x.attr = v``, ``x[k] = v`` and ``x.method(...)`` change what a needed name holds."""
    if isinstance(node, (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.Delete)):
        targets = node.targets if isinstance(node, (ir.Assign, ir.Delete)) else [node.target]
        return any(_touches(target, names, attributes) for target in targets)
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and isinstance(node.func.value, ir.Name):
        return node.func.value.id in names and node.func.attr in _MUTATORS
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "setattr" and node.args:
        return isinstance(node.args[0], ir.Name) and any(owner == node.args[0].id for owner, _ in attributes)
    return False


def _touches(target: ir.Expr, names: set[str], attributes: set[tuple[str, str]]) -> bool:
    if isinstance(target, ir.Attribute):
        return isinstance(target.value, ir.Name) and (target.value.id, target.attr) in attributes
    if isinstance(target, ir.Subscript):
        base = target.value
        return (isinstance(base, ir.Name) and base.id in names) or (
            isinstance(base, ir.Attribute) and isinstance(base.value, ir.Name) and (base.value.id, base.attr) in attributes
        )
    if isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        return any(_touches(item, names, attributes) for item in target.items)
    return False


_MUTATORS = frozenset({"append", "extend", "add", "update", "insert", "remove", "pop", "setdefault", "discard", "clear"})
