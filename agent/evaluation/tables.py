"""Functions and classes that stand in a table, by ``{"name": Class}`` or ``@register("name")``: the calls of what is looked up there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.index import Index
from agent.analysis.looked_up import BY_NAME, looking_up
from agent.analysis.outline import Parents, holder
from agent.analysis.resolve import dotted_text
from agent.analysis.scopes import scope_of
from agent.analysis.walk import children, walk
from agent.evaluation.values import AV, DictObj, FuncV, ModuleV

Refer = Callable[[str], Iterator[Reference]]
Evaluate = Callable[[ModuleV, ir.Expr], AV]

MAX_RETURNS = 2
"""Functions that hand on what they have looked up, one within the other."""
_KEYS_ALONE = frozenset({"keys", "__contains__", "__len__"})
_LOOKS_UP = frozenset({"get", "pop", "setdefault"})
_TAKES_KEYS = frozenset({"len", "list", "sorted", "set", "tuple", "join", "iter", "enumerate"})


class Escapes(Exception):
    """More is done with the table, or with what is looked up in it, than can be followed."""


class Tables:
    """``evaluate`` gives what an expression at the top of a module is; ``refer``: every place that refers to a name."""

    def __init__(self, index: Index, importable: Callable[[], frozenset[str]], refer: Refer, evaluate: Evaluate) -> None:
        self.index = index
        self.importable = importable
        self.refer = refer
        self.evaluate = evaluate
        self._calls: dict[tuple[str, str], tuple[Reference, ...] | None] = {}

    def calls_of_value(self, ref: Reference) -> tuple[Reference, ...] | None:
        """Where what a reference puts into a table may be called; None where it is not put into one, or where that cannot be followed."""
        if ref.kind != "value" or ref.role != "dict":
            return None
        name = _displayed(self.index.outline(ref.path).parents, ref)
        return self._lookups(ref.path, name) if name else None

    def calls_of_decorated(self, module: ModuleV, decorators: list[ir.Expr]) -> tuple[Reference, ...] | None:
        """The same for what decorators put there; None where one of them is not known to do that and no more."""
        found: dict[Reference, None] = {}
        for decorator in decorators:
            called = isinstance(decorator, ir.Call)
            func = self.evaluate(module, decorator.func if isinstance(decorator, ir.Call) else decorator)
            name = _registers(func, called) if isinstance(func, FuncV) else ""
            plain = name and isinstance(func, FuncV) and isinstance(self.evaluate(func.module, ir.Name(name)), DictObj)
            calls = self._lookups(func.module.path, name) if isinstance(func, FuncV) and plain else None
            if calls is None:
                return None
            found |= dict.fromkeys(calls)
        return tuple(found)

    def _lookups(self, path: str, name: str) -> tuple[Reference, ...] | None:
        if (path, name) not in self._calls:
            try:
                self._calls[path, name] = self._followed(path, name)
            except Escapes:
                self._calls[path, name] = None
        return self._calls[path, name]

    def _followed(self, path: str, name: str) -> tuple[Reference, ...]:
        module = self.index.module(path)
        if BY_NAME.search(module.source) or not self.importable().isdisjoint(looking_up(self.index, self.index.dotted(path))):
            raise Escapes
        found: dict[Reference, None] = {}
        for ref in self.refer(name):
            found |= dict.fromkeys(self._use(ref))
        return tuple(found)

    def _use(self, ref: Reference) -> Iterator[Reference]:
        """One place that names the table: calls of what it looks up there."""
        if ref.kind in ("import", "annotation") or (ref.kind == "string" and ref.role == "list"):
            return
        parents = self.index.outline(ref.path).parents
        around = parents.get(ref.node)
        if ref.kind != "value" or around is None:
            raise Escapes
        if isinstance(around, ir.Subscript) and around.value is ref.node:
            if not _is_target(parents, around):
                yield from self._value(ref, around, 0)
        elif isinstance(around, ir.Attribute):
            yield from self._method(ref, parents, around)
        elif not _harmless(ref.node, around):
            raise Escapes

    def _method(self, ref: Reference, parents: Parents, asked: ir.Attribute) -> Iterator[Reference]:
        call = parents.get(asked)
        if not isinstance(call, ir.Call) or call.func is not asked or asked.attr not in _KEYS_ALONE | _LOOKS_UP | {"update"}:
            raise Escapes
        if asked.attr in _LOOKS_UP:
            yield from self._value(ref, call, 0)

    def _value(self, ref: Reference, value: ir.Expr, depth: int) -> Iterator[Reference]:
        """What is done with something that was looked up."""
        parents = self.index.outline(ref.path).parents
        around = parents.get(value)
        function = ref.chain[-1] if ref.chain else None
        if isinstance(around, ir.Call) and around.func is value:
            yield _call(self.index, ref, around)
        elif isinstance(around, ir.Assign) and isinstance(function, ir.FunctionDef) and around.value is value:
            for use in _uses(function, around):
                yield from self._value(ref, use, depth)
        elif isinstance(around, ir.Return) and isinstance(function, ir.FunctionDef) and depth < MAX_RETURNS:
            yield from self._returned(ref, function, depth)
        elif not _asked(value, around):
            raise Escapes

    def _returned(self, ref: Reference, function: ir.FunctionDef, depth: int) -> Iterator[Reference]:
        """``return TABLE[name]``: what the callers of the function do with it."""
        if function.decorators or function.is_generator or function.name.startswith("__"):
            raise Escapes
        for each in self.refer(function.name):
            if each.kind in ("import", "annotation"):
                continue
            if each.kind != "call" or each.call is None:
                raise Escapes
            yield from self._value(each, each.call, depth + 1)


def _displayed(parents: Parents, ref: Reference) -> str:
    """``NAME`` of ``NAME = {"key": value}`` at the top of a module or in the body of a class there; empty for anything else."""
    around = parents.get(ref.node)
    statement = parents.get(around) if isinstance(around, ir.DictExpr) and ref.node in around.values else None
    if any(isinstance(each, ir.FunctionDef) for each in ref.chain) or statement is not ref.statement:
        return ""
    targets = statement.targets if isinstance(statement, ir.Assign) else [getattr(statement, "target", None)]
    target = targets[0] if len(targets) == 1 else None
    return target.id if isinstance(target, ir.Name) else ""


def _registers(func: FuncV, called: bool) -> str:
    """The global of its module into which a decorator puts what it decorates and gives it back; empty where it may do anything else.

    ``called``: the function makes the decorator.
    """
    node = func.node
    if not isinstance(node, ir.FunctionDef) or node.decorators or node.is_generator or func.owner is not None:
        return ""
    if not called:
        return _puts_away(node, ())
    inner = [each for each in node.body if isinstance(each, ir.FunctionDef)]
    last = node.body[-1]
    returned = isinstance(last, ir.Return) and isinstance(last.value, ir.Name) and last.value.id == inner[0].name if inner else False
    named = [each for each in walk(node) if isinstance(each, ir.Name) and inner and each.id == inner[0].name]
    plain = len(inner) == 1 and returned and len(named) == 1 and not inner[0].decorators and not inner[0].is_generator
    return _puts_away(inner[0], (node,)) if plain else ""


def _puts_away(function: ir.FunctionDef, around: tuple[ir.FunctionDef, ...]) -> str:
    """The one global that gets the function's argument, which is given back as it is."""
    if len(function.params) != 1 or function.params[0].kind not in ("posonly", "normal"):
        return ""
    given = function.params[0].name
    tables: set[str] = set()
    parents = {child: node for node in walk(function) for child in children(node)}
    for use in (each for each in walk(function) if isinstance(each, ir.Name) and each.id == given):
        above = parents.get(use)
        if isinstance(above, ir.Assign) and above.value is use and len(above.targets) == 1 and isinstance(above.targets[0], ir.Subscript):
            root = above.targets[0].value
            inner = any(isinstance(root, ir.Name) and root.id in scope_of(each).local for each in (function, *around))
            tables.add(root.id if isinstance(root, ir.Name) and not inner else "")
        elif not (isinstance(above, ir.Return) or _asked(use, above) or (isinstance(above, ir.Attribute) and above.attr in _OF_ITSELF)):
            return ""
    ends = [each.value for each in walk(function) if isinstance(each, ir.Return)]
    gives_back = bool(ends) and isinstance(function.body[-1], ir.Return) and all(isinstance(e, ir.Name) and e.id == given for e in ends)
    return next(iter(tables)) if gives_back and len(tables) == 1 else ""


_OF_ITSELF = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})


def _is_target(parents: Parents, place: ir.Subscript) -> bool:
    around = parents.get(place)
    return (isinstance(around, (ir.Assign, ir.Delete)) and place in around.targets) or (
        isinstance(around, ir.AnnAssign) and around.target is place
    )


def _harmless(node: ir.Node, around: ir.Node) -> bool:
    """What looks at no more than the keys of a table."""
    if isinstance(around, ir.Call):
        return node in around.args and (dotted_text(around.func) or "?").rpartition(".")[2] in _TAKES_KEYS
    if isinstance(around, (ir.For, ir.Clause)):
        return around.iter is node
    return isinstance(around, ir.Compare) or (isinstance(around, (ir.If, ir.While)) and around.test is node)


def _asked(value: ir.Node, around: ir.Node | None) -> bool:
    """``if value``, ``not value``, ``value is None``, ``isinstance(value, ...)``: nothing is done with it."""
    if isinstance(around, ir.Call):
        return value in around.args and dotted_text(around.func) in ("isinstance", "issubclass", "callable")
    if isinstance(around, (ir.If, ir.While, ir.IfExp, ir.Assert)):
        return around.test is value
    return isinstance(around, (ir.Compare, ir.UnaryOp, ir.ExprStmt))


def _uses(function: ir.FunctionDef, made: ir.Assign) -> list[ir.Name]:
    """Where the function reads the variable that an assignment sets; raises ``Escapes`` where others may read it."""
    target = made.targets[0] if len(made.targets) == 1 else None
    if not isinstance(target, ir.Name) or target.id not in scope_of(function).local:
        raise Escapes
    nodes = list(walk(function))
    inner = [each for each in nodes if isinstance(each, (ir.FunctionDef, ir.Lambda)) and each is not function]
    if any(isinstance(node, ir.Name) and node.id == target.id for each in inner for node in walk(each)):
        raise Escapes
    bound = {
        each
        for node in nodes
        if isinstance(node, (ir.Assign, ir.AnnAssign))
        for each in getattr(node, "targets", [getattr(node, "target", None)])
    }
    return [node for node in nodes if isinstance(node, ir.Name) and node.id == target.id and node not in bound]


def _call(index: Index, ref: Reference, call: ir.Call) -> Reference:
    held = holder(index.outline(ref.path), call)
    return replace(ref, kind="call", role="alias", node=call.func, call=call, statement=held, line=call.line, receiver=None)
