"""What a statement may change without binding a name: the objects behind which local names, by syntax alone.

A name stands for whatever can be reached through it. What was stored in an object, taken out of it, or given to a call together with it may
share state with it; such links are drawn for the function as a whole, in whatever order its statements run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from agent.analysis import ir
from agent.analysis.resolve import root_name
from agent.analysis.scopes import scope_of
from agent.analysis.walk import children, walk

Ref = tuple[str, str]
"""A name and the attribute of it that is meant; an empty attribute means all of it."""

ANY = "*"
"""Among the names of written attributes: any attribute."""

_READERS = frozenset(
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float format frozenset hasattr hash hex id int"
    " isinstance issubclass len list max min oct ord pow print range repr reversed round set slice sorted str sum tuple type zip".split()
)
"""Built-in functions that change none of their arguments."""


@dataclass(frozen=True, slots=True)
class Touched:
    """``refs``: what may be changed, links followed; ``stores``: names of attributes that are written outright; ``calls``: the names that
    the called expressions, and global ones that are handed to them, start from, readers among the built-in functions aside; an empty one
    where there is no name. ``rebound``: locals
    that a function defined inside, which may be called, binds anew. An empty name in ``stores`` is an item of a container.
    """

    refs: frozenset[Ref]
    stores: frozenset[str]
    calls: frozenset[str]
    rebound: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.refs or self.calls)


class Touches:
    """Of one function; each statement is looked at once."""

    def __init__(self, function: ir.FunctionDef) -> None:
        self._function = function
        self._local = scope_of(function).local
        self._known: dict[ir.Node, Touched] = {}

    def by(self, part: ir.Node) -> Touched:
        """What a statement or an expression may change, with all that stands inside it."""
        found = self._known.get(part)
        if found is None:
            found = self._known[part] = self._of(part)
        return found

    def _of(self, part: ir.Node) -> Touched:
        refs: set[Ref] = set()
        stores: set[str] = set()
        calls: set[str] = set()
        for node in () if isinstance(part, (ir.FunctionDef, ir.ClassDef)) else walk(part, into_scopes=False):
            if isinstance(node, ir.Call):
                if _reads_only(node):
                    continue
                stores.update(_by_string(node))
                calls.add(root_name(node.func))
                calls.update(self._handed(node))
                refs.update(_given(node))
            if isinstance(node, ir.Attribute) and node.attr == "__dict__":
                refs.add(_ref(node.value))
                stores.add(ANY)
            for target in _written(node):
                refs.add(_ref(target.value))
                stores.add(target.attr if isinstance(target, ir.Attribute) else "")
            if isinstance(node, ir.AugAssign) and isinstance(node.target, ir.Name):
                refs.add((node.target.id, ""))
                stores.add("")
        linked = self._linked(refs)
        rebound = (name for function, names in self._rebinding.items() if (function, "") in linked for name in names)
        return Touched(linked, frozenset(stores), frozenset(calls), frozenset(rebound))

    def _handed(self, call: ir.Call) -> Iterator[str]:
        """Functions that a call may be given: names from outside of the function, lambdas."""
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            for node in walk(value, into_scopes=False):
                if isinstance(node, ir.Lambda):
                    yield ""
                elif isinstance(node, ir.Name) and node.id not in self._local:
                    yield node.id

    @cached_property
    def _rebinding(self) -> dict[str, frozenset[str]]:
        """For each function defined inside, the names of others that it binds."""
        found: dict[str, frozenset[str]] = {}
        for node in walk(self._function):
            if isinstance(node, ir.FunctionDef) and node is not self._function:
                names = {name for each in walk(node) if isinstance(each, ir.Nonlocal) for name in each.names}
                found[node.name] = found.get(node.name, frozenset()) | names
        return found

    def _linked(self, refs: Iterable[Ref]) -> frozenset[Ref]:
        found: set[Ref] = set()
        pending = [ref for ref in refs if ref[0] in self._local]
        while pending:
            ref = pending.pop()
            if ref in found:
                continue
            found.add(ref)
            name, attribute = ref
            links = self._links.get(name, {})
            met = list(links) if not attribute else ["", attribute]
            pending += [other for each in met for other in links.get(each, ()) if other not in found]
        return frozenset(found)

    @cached_property
    def _links(self) -> dict[str, dict[str, set[Ref]]]:
        links: dict[str, dict[str, set[Ref]]] = {}
        for one, other in _shared(self._function):
            if one[0] in self._local and other[0] in self._local and one != other:
                links.setdefault(one[0], {}).setdefault(one[1], set()).add(other)
        return links


def _shared(function: ir.FunctionDef) -> Iterator[tuple[Ref, Ref]]:
    """Each (one, other): what is done to the first may be done to the second."""
    for node in walk(function):
        if isinstance(node, (ir.FunctionDef, ir.ClassDef)) and node is not function:
            yield from (((node.name, ""), (each.id, "")) for each in walk(node) if isinstance(each, ir.Name))
        elif isinstance(node, ir.Call):
            given = list(_given(node))
            yield from ((one, other) for one in given for other in given)
        for targets, value in _bindings(node):
            yield from ((one, other) for target in targets for one in _bound(target) for other in _refs(value))


def _bindings(node: ir.Node) -> Iterator[tuple[list[ir.Expr], ir.Node]]:
    if isinstance(node, ir.Assign):
        yield node.targets, node.value
        yield from (([one], other) for one in node.targets for other in node.targets if one is not other)
    elif isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.NamedExpr)) and node.value is not None:
        yield [node.target], node.value
    elif isinstance(node, (ir.For, ir.Clause)):
        yield [node.target], node.iter
    elif isinstance(node, ir.WithItem) and node.target is not None:
        yield [node.target], node.context
    elif isinstance(node, ir.Match):
        names: list[ir.Expr] = [ir.Name(name) for case in node.cases for name in _captured(case.pattern)]
        yield names, node.subject


def _captured(pattern: ir.Node) -> Iterator[str]:
    for node in walk(pattern):
        for name in (getattr(node, "name", None), getattr(node, "rest", None)):
            if isinstance(name, str):
                yield name


def _bound(target: ir.Expr) -> Iterator[Ref]:
    """What an assignment to the target makes part of what."""
    if isinstance(target, (ir.TupleExpr, ir.ListExpr, ir.Starred)):
        for part in children(target):
            if isinstance(part, ir.Expr):
                yield from _bound(part)
    elif isinstance(target, ir.Name):
        yield target.id, ""
    elif isinstance(target, ir.Attribute):
        yield _ref(target)
    elif isinstance(target, ir.Subscript):
        yield _ref(target.value)


def _refs(value: ir.Node) -> Iterator[Ref]:
    """What a value may share state with: every name in it, but for comparisons and texts, which give new values."""
    if isinstance(value, (ir.Name, ir.Attribute, ir.Subscript)) and root_name(value):
        yield _ref(value)
        if isinstance(value, ir.Subscript):
            return
    elif isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute):
        yield _ref(value.func.value)
    if isinstance(value, (ir.Compare, ir.FString, ir.Constant)):
        return
    if not isinstance(value, (ir.Name, ir.Attribute)):
        for part in children(value):
            yield from _refs(part)


def _ref(node: ir.Expr) -> Ref:
    """The name that a chain starts from, with the first attribute."""
    attribute = ""
    while isinstance(node, (ir.Attribute, ir.Subscript)):
        attribute = node.attr if isinstance(node, ir.Attribute) else ""
        node = node.value
    return (node.id, attribute) if isinstance(node, ir.Name) else ("", "")


def _reads_only(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Name) and call.func.id in _READERS


def _by_string(call: ir.Call) -> Iterator[str]:
    """``setattr(x, "name", v)``, ``delattr``."""
    if isinstance(call.func, ir.Name) and call.func.id in ("setattr", "delattr") and len(call.args) > 1:
        name = call.args[1]
        yield name.value if isinstance(name, ir.Constant) and isinstance(name.value, str) else ANY


def _given(call: ir.Call) -> Iterator[Ref]:
    """What a call gets to see: its arguments, its receiver, and what a local function that is called has seen."""
    if isinstance(call.func, ir.Attribute):
        yield _ref(call.func.value)
    elif isinstance(call.func, ir.Name):
        yield call.func.id, ""
    else:
        yield from _refs(call.func)
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from _refs(value)


def _written(node: ir.Node) -> list[ir.Attribute | ir.Subscript]:
    """Attributes and items that a node of the tree writes or deletes, by itself."""
    targets: list[ir.Expr | None]
    if isinstance(node, (ir.Assign, ir.Delete)):
        targets = [*node.targets]
    elif isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For, ir.WithItem)):
        targets = [node.target]
    else:
        return []
    return [part for target in targets for part in _parts(target) if isinstance(part, (ir.Attribute, ir.Subscript))]


def _parts(target: ir.Expr | None) -> Iterator[ir.Expr]:
    if isinstance(target, (ir.TupleExpr, ir.ListExpr, ir.Starred)):
        for part in children(target):
            if isinstance(part, ir.Expr):
                yield from _parts(part)
    elif target is not None:
        yield target
