"""Which texts an expression can be, and which keys a dictionary can have, as far as the source writes them out: here or at the calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from agent.analysis import ir
from agent.analysis.arguments import arguments
from agent.analysis.callers import Reference, references
from agent.analysis.index import Index
from agent.analysis.mutation import changed_at
from agent.analysis.outline import Definition
from agent.analysis.resolve import Resolver, dotted_text
from agent.analysis.scopes import binds, target_names
from agent.analysis.walk import statements, walk

MAX_DEPTH = 4
"""Functions that hand a text on to each other."""
MAX_FILES, MAX_SITES, MAX_WAYS = 30, 40, 400
"""Files that name a function, places that call it, and ways at all: with more, anything is taken to be given."""


class Way(NamedTuple):
    """``texts``: None for any; ``calls``: those that hand them in, the one of the function in question first."""

    texts: frozenset[str] | None
    calls: tuple[Reference, ...] = ()


Ways = tuple[Way, ...]
"""What is given on all ways together; none at all where nothing is."""
ANY: Ways = (Way(None),)


class Place(NamedTuple):
    """Where an expression stands; ``function`` is None at the level of a module or class."""

    path: str
    function: ir.FunctionDef | None


Sites = Callable[[str, ir.FunctionDef], Sequence[Reference] | None]
"""The references to a function in a file that may call it; those of kind "call" and "super" do. None where there may be others."""


class WrittenOut:
    """One question; a variable that is asked for while it is being worked out adds nothing to itself."""

    def __init__(self, index: Index, sites: Sites) -> None:
        self.index = index
        self.sites = sites
        self.pending: set[tuple[ir.Node, str, bool]] = set()

    def texts(self, at: Place, node: ir.Expr, depth: int = MAX_DEPTH) -> Ways:
        """The texts that the expression can be."""
        if isinstance(node, ir.Constant):
            return _these([node.value]) if isinstance(node.value, str) else ANY
        if isinstance(node, ir.IfExp):
            return _together([self.texts(at, node.body, depth), self.texts(at, node.orelse, depth)])
        return self._once(at, node, False, lambda name: self._of_name(at, name, depth))

    def keys(self, at: Place, node: ir.Expr, depth: int = MAX_DEPTH) -> Ways:
        """The keys of the dictionary that the expression gives; None has none."""
        if isinstance(node, ir.Constant):
            return _these([]) if node.value is None else ANY
        if isinstance(node, ir.DictExpr):
            pairs = zip(node.keys, node.values, strict=True)
            return _together(self.keys(at, value, depth) if key is None else self.texts(at, key, depth) for key, value in pairs)
        if isinstance(node, ir.IfExp):
            return _together([self.keys(at, node.body, depth), self.keys(at, node.orelse, depth)])
        if isinstance(node, ir.BoolOp):
            return _together(self.keys(at, value, depth) for value in node.values)
        if isinstance(node, ir.BinOp):
            return _together([self.keys(at, node.left, depth), self.keys(at, node.right, depth)]) if node.op == "|" else ANY
        if isinstance(node, ir.Comprehension):
            return self.texts(at, node.element, depth) if node.kind == "dict" else ANY
        if isinstance(node, ir.Call):
            return self._of_call(at, node, depth)
        return self._once(at, node, True, lambda name: self._of_dictionary(at, name, depth))

    def _once(self, at: Place, node: ir.Expr, keys: bool, ask: Callable[[ir.Name], Ways]) -> Ways:
        if not isinstance(node, ir.Name) or at.function is None:
            return ANY
        asked = (at.function, node.id, keys)
        if asked in self.pending:
            return ()
        self.pending.add(asked)
        try:
            return ask(node)
        finally:
            self.pending.discard(asked)

    # --- texts ---------------------------------------------------------------------------------------------------------------

    def _of_name(self, at: Place, node: ir.Name, depth: int) -> Ways:
        clause = self._clause_around(at, node)
        if clause is not None:
            return self._of_loop(at, clause.target, clause.iter, node.id, depth)
        assert at.function is not None
        binding = _bindings(at.function, node.id)
        if binding is None:
            return ANY
        given = [self._of_argument(at, node.id, depth, keys=False)] if _parameter(at.function, node.id) is not None else []
        return _together([*given, *(self._of_binding(at, each, node.id, depth) for each in binding)]) if given or binding else ANY

    def _of_binding(self, at: Place, statement: ir.Stmt, name: str, depth: int) -> Ways:
        if isinstance(statement, ir.For):
            return self._of_loop(at, statement.target, statement.iter, name, depth)
        value = _bound_to(statement)
        return self.texts(at, value, depth) if value is not None else ANY

    def _clause_around(self, at: Place, node: ir.Name) -> ir.Clause | None:
        """The ``for`` of a comprehension around a name that binds it."""
        parents = self.index.outline(at.path).parents
        around = parents.get(node)
        while around is not None and not isinstance(around, ir.Stmt):
            if isinstance(around, ir.Comprehension):
                for clause in around.clauses:
                    if node.id in target_names(clause.target):
                        return clause
            around = parents.get(around)
        return None

    def _of_loop(self, at: Place, target: ir.Expr, row: ir.Expr, name: str, depth: int) -> Ways:
        """``for name in ("a", "b")``, ``for name, x in (("a", 1), ...)``, ``for name, x in values.items()``, ``for name in values``."""
        if at.function is not None:
            row = _only_looked_at(at.function, row)
        place = None
        if isinstance(target, (ir.TupleExpr, ir.ListExpr)):
            place = next((number for number, item in enumerate(target.items) if isinstance(item, ir.Name) and item.id == name), -1)
        elif not isinstance(target, ir.Name):
            return ANY
        if isinstance(row, (ir.TupleExpr, ir.ListExpr, ir.SetExpr)):
            return _together(self._of_item(at, item, place, depth) for item in row.items)
        if not isinstance(row, ir.Call):
            return self.keys(at, row, depth) if place is None and isinstance(row, (ir.Name, ir.DictExpr)) else ANY
        if isinstance(row.func, ir.Attribute) and not row.args and (row.func.attr, place) in (("items", 0), ("keys", None)):
            return self.keys(at, row.func.value, depth)
        copied = (
            dotted_text(row.func) in ("list", "tuple", "sorted", "set") and len(row.args) == 1 and not isinstance(row.args[0], ir.Starred)
        )
        return self._of_loop(at, target, row.args[0], name, depth) if copied else ANY

    def _of_item(self, at: Place, item: ir.Expr, place: int | None, depth: int) -> Ways:
        if place is None:
            return self.texts(at, item, depth)
        whole = isinstance(item, (ir.TupleExpr, ir.ListExpr)) and not any(isinstance(each, ir.Starred) for each in item.items)
        if not isinstance(item, (ir.TupleExpr, ir.ListExpr)) or not whole or not 0 <= place < len(item.items):
            return ANY
        return self.texts(at, item.items[place], depth)

    # --- dictionaries --------------------------------------------------------------------------------------------------------

    def _of_dictionary(self, at: Place, node: ir.Name, depth: int) -> Ways:
        """Of a variable: what it is bound to, what the calls give for it, and every key that is put in."""
        function, name = at.function, node.id
        assert function is not None
        binding, param = _bindings(function, name), _parameter(function, name)
        if binding is None or (param is None and not binding) or self._clause_around(at, node) is not None:
            return ANY
        found = [self._of_argument(at, name, depth, keys=True)] if param is not None else []
        for statement in binding:
            value = _bound_to(statement)
            if value is None and not (isinstance(statement, ir.AnnAssign) and statement.value is None):
                return ANY
            found += [self.keys(at, value, depth)] if value is not None else []
        uses = (each for each in walk(function) if isinstance(each, ir.Name) and each.id == name)
        return _together([*found, *(self._put_in(at, each, depth) for each in uses)])

    def _put_in(self, at: Place, use: ir.Name, depth: int) -> Ways:
        """The keys that one use of a variable adds: ``x[k] = v``, ``x.setdefault(k, v)``, ``x.update(...)``, ``f(x)``."""
        parents = self.index.outline(at.path).parents
        around = parents.get(use)
        if _is_target(around, use):
            return ()
        if isinstance(around, ir.Subscript) and around.value is use:
            return self.texts(at, around.index, depth) if _is_target(parents.get(around), around) else ()
        if not isinstance(around, ir.Attribute):
            return ANY if changed_at(self.index, at.path, use) else ()
        call = parents.get(around)
        if around.attr in _ADDING_NONE:
            return ()
        if not isinstance(call, ir.Call) or call.func is not around or any(isinstance(each, ir.Starred) for each in call.args):
            return ANY
        if around.attr == "setdefault" and call.args:
            return self.texts(at, call.args[0], depth)
        return self._of_keywords(at, call, depth) if around.attr == "update" else ANY

    def _of_call(self, at: Place, call: ir.Call, depth: int) -> Ways:
        """``dict(x, a=1)``, ``x.copy()``, ``copy(x)``, and a function of the tree by what it returns."""
        named = dotted_text(call.func) or ""
        if any(isinstance(each, ir.Starred) for each in call.args):
            return ANY
        if named in ("dict", "copy", "copy.copy", "deepcopy", "copy.deepcopy"):
            return self._of_keywords(at, call, depth)
        if isinstance(call.func, ir.Attribute) and call.func.attr == "copy" and not call.args:
            return self.keys(at, call.func.value, depth)
        meant = Resolver(self.index).meanings(at.path, named, self.index.enclosing(at.path, call.line)) if named and depth else ()
        return _together(self._returned(each, depth) if isinstance(each, Definition) else ANY for each in meant) if meant else ANY

    def _of_keywords(self, at: Place, call: ir.Call, depth: int) -> Ways:
        """``dict(x, a=1, **y)``, ``x.update(y, a=1)``."""
        named = (_these([each.name]) if each.name is not None else self.keys(at, each.value, depth) for each in call.keywords)
        return _together([*(self.keys(at, each, depth) for each in call.args), *named])

    def _returned(self, function: Definition, depth: int) -> Ways:
        node = function.node
        if not isinstance(node, ir.FunctionDef) or function.owner is not None or node.decorators or node.is_async:
            return ANY
        within = [each for statement in node.body for each in walk(statement, into_scopes=False)]
        if any(isinstance(each, ir.Yield) for each in within):
            return ANY
        values = (each.value for each in within if isinstance(each, ir.Return) and each.value is not None)
        return _together(self.keys(Place(function.path, node), value, depth - 1) for value in values)

    # --- arguments -----------------------------------------------------------------------------------------------------------

    def _of_argument(self, at: Place, name: str, depth: int, *, keys: bool) -> Ways:
        """What every caller gives for a parameter; a function that is handed on as a value has callers that are not seen."""
        function = at.function
        assert function is not None
        plain = not function.name.startswith("__") and {dotted_text(each) for each in function.decorators} <= _PLAIN
        found = self.sites(at.path, function) if depth and plain else None
        return _together(self._handed(each, at, name, depth - 1, keys) for each in found) if found else ANY

    def _handed(self, site: Reference, at: Place, name: str, depth: int, keys: bool) -> Ways:
        function, call = at.function, site.call
        if call is None or site.kind not in ("call", "super"):
            return (Way(None, (site,)),)
        caller = Place(site.path, site.caller)
        param = _parameter(function, name) if function is not None else None
        assert function is not None and param is not None
        if param.kind == "kwarg":
            taken = {each.name for each in function.params if each.kind in ("normal", "kwonly")}
            rest = [each for each in call.keywords if each.name not in taken]
            found = _together(_these([each.name]) if each.name is not None else self.keys(caller, each.value, depth) for each in rest)
            return tuple(Way(each.texts, (site, *each.calls)) for each in found)
        given = arguments(call, function) if param.kind != "vararg" else None
        value, where = given.get(name) if given is not None else None, caller
        if given is not None and name not in given:
            value, where = param.default, Place(at.path, None)
        found = (self.keys(where, value, depth) if keys else self.texts(where, value, depth)) if value is not None else ANY
        return tuple(Way(each.texts, (site, *each.calls)) for each in found)


def sites_by_name(index: Index, function: ir.FunctionDef) -> list[Reference] | None:
    """Every reference to anything of the function's name, but for imports and texts; None for names that are everywhere."""
    if len(index.files_with(function.name)) > MAX_FILES:
        return None
    found = [each for each in references(index, function.name) if each.kind not in ("import", "annotation", "string")]
    return found if len(found) <= MAX_SITES else None


_ADDING_NONE = frozenset({"items", "keys", "values", "get", "copy", "pop", "popitem", "clear"})
_PLAIN = frozenset({"staticmethod", "classmethod"})
"""Decorators that hand a function to nobody and its arguments on as they are."""


def _these(texts: Iterable[str]) -> Ways:
    return (Way(frozenset(texts)),)


def _together(found: Iterable[Ways]) -> Ways:
    """Every way; what the function itself writes out is one way."""
    own: set[str] = set()
    others: list[Way] = []
    for ways in found:
        for way in ways:
            if way.texts is not None and not way.calls:
                own |= way.texts
            else:
                others.append(way)
    if len(others) > MAX_WAYS or Way(None) in others:
        return ANY
    return (*_these(own), *others) if own else tuple(others)


def _parameter(function: ir.FunctionDef, name: str) -> ir.Param | None:
    return next((each for each in function.params if each.name == name), None)


def _bindings(function: ir.FunctionDef, name: str) -> list[ir.Stmt] | None:
    """The statements that bind a variable; None where it is one of another scope."""
    if any(isinstance(node, (ir.Global, ir.Nonlocal)) and name in node.names for node in walk(function)):
        return None
    return [each for each in statements(function.body) if binds(each, name)]


def _bound_to(statement: ir.Stmt) -> ir.Expr | None:
    """The value of ``name = value``, and what ``name |= value`` adds; None where the statement binds the name otherwise."""
    if isinstance(statement, ir.Assign):
        return statement.value if len(statement.targets) == 1 and isinstance(statement.targets[0], ir.Name) else None
    if isinstance(statement, ir.AugAssign):
        return statement.value if statement.op == "|" and isinstance(statement.target, ir.Name) else None
    return statement.value if isinstance(statement, ir.AnnAssign) and isinstance(statement.target, ir.Name) else None


def _is_target(around: ir.Node | None, node: ir.Expr) -> bool:
    """``node = v``, ``node += v``, ``for node in``, also among several targets; deleting adds nothing."""
    if isinstance(around, ir.Assign):
        return node in around.targets
    if isinstance(around, (ir.AugAssign, ir.AnnAssign, ir.For, ir.NamedExpr, ir.WithItem, ir.Clause)):
        return node is around.target
    return False


def _only_looked_at(function: ir.FunctionDef, node: ir.Expr) -> ir.Expr:
    """Of a variable that is bound once in the function, and then only looked at: what it is bound to."""
    if not isinstance(node, ir.Name) or _parameter(function, node.id) is not None:
        return node
    binding = _bindings(function, node.id)
    bound = (
        _bound_to(binding[0]) if binding is not None and len(binding) == 1 and isinstance(binding[0], (ir.Assign, ir.AnnAssign)) else None
    )
    if bound is None:
        return node
    looks = 0
    for each in walk(function):
        seen = (
            each.value
            if isinstance(each, ir.Attribute) and each.attr in _LOOKING
            else each.iter
            if isinstance(each, (ir.For, ir.Clause))
            else None
        )
        looks += isinstance(seen, ir.Name) and seen.id == node.id
        looks += isinstance(each, ir.Compare) and any(isinstance(one, ir.Name) and one.id == node.id for one in each.comparators)
    uses = sum(isinstance(each, ir.Name) and each.id == node.id for each in walk(function))
    return bound if uses == looks + 1 else node


_LOOKING = frozenset({"items", "keys", "values", "get", "copy"})
