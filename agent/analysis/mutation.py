"""Whether a use of a name may change the container that it holds: by itself, or by handing it to code of the tree that does."""

from __future__ import annotations

from agent.analysis import ir
from agent.analysis.arguments import arguments
from agent.analysis.callers import references
from agent.analysis.index import Index, once_a_word
from agent.analysis.occurrences import occurrences
from agent.analysis.outline import Parents
from agent.analysis.walk import walk

MAX_DEPTH = 6
MAX_NAMESAKES = 6
MAX_CALLS = 12
"""How far a container is followed into functions, over how many functions of one name, and back to how many callers."""

_CHANGING = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate update setdefault add discard "
    "move_to_end subtract difference_update intersection_update symmetric_difference_update "
    "__setitem__ __delitem__ __iadd__ __ior__".split()
)
_KEEPING = frozenset("append appendleft insert add setdefault put put_nowait push submit send partial register".split())
"""Methods that keep what they are given: it may be changed from there."""
_HARMLESS = frozenset(
    "len list tuple set dict sorted isinstance str repr any all enumerate bool sum min max print type id hash zip iter reversed frozenset "
    "getattr hasattr deepcopy copy join extend update dumps debug info warning warn error exception log".split()
)
_VALUES = frozenset({"str", "int", "float", "bool", "bytes", "type"})
_THROUGH = (ir.BoolOp, ir.IfExp, ir.NamedExpr, ir.Await)
_ONLY_READ = (
    ir.Compare, ir.UnaryOp, ir.FormattedValue, ir.BinOp, ir.Starred, ir.For, ir.Clause, ir.If, ir.While, ir.Assert, ir.ExprStmt, ir.Raise,
)  # fmt: skip


def changing_lines(index: Index, path: str, name: str) -> tuple[int, ...]:
    """Lines of a file that may change what a variable or attribute of this name holds, other than by binding it anew."""
    return _in_file(index, f"{path}:{name}")


def changed_at(index: Index, path: str, use: ir.Name) -> bool:
    """Whether this one use of a variable may change what it holds."""
    return _Following(index).changes(path, use, MAX_DEPTH)


@once_a_word
def _in_file(index: Index, key: str) -> tuple[int, ...]:
    path, _, name = key.rpartition(":")
    follow = _Following(index)
    found: dict[int, None] = {}
    for each in occurrences(index.module(path), name):
        if isinstance(each.node, (ir.Name, ir.Attribute)):
            changes = follow.changes(path, each.node, MAX_DEPTH)
        else:
            changes = not isinstance(each.node, _NO_USE)
        if changes:
            found[each.statement.line] = None
    return tuple(found)


_NO_USE = (ir.Constant, ir.FString, ir.Keyword, ir.Param, ir.Alias, ir.ImportFrom, ir.FunctionDef, ir.ClassDef)


class _Following:
    """One container on its way through the tree; a parameter is looked at once."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.seen: set[tuple[ir.Node, str]] = set()

    def changes(self, path: str, use: ir.Node, depth: int) -> bool:
        """Whether the expression ``use``, which gives the container, stands where it may be changed."""
        parents = self.index.outline(path).parents
        around = parents.get(use)
        if isinstance(use, ir.Name) and _another_type(parents, use):
            return False
        if isinstance(around, ir.Keyword):
            holder = parents.get(around)
            return isinstance(holder, ir.Call) and around.name is not None and self._handed(path, holder, use, depth)
        if isinstance(around, ir.Attribute):
            called = parents.get(around)
            return isinstance(called, ir.Call) and called.func is around and around.attr in _CHANGING
        if isinstance(around, ir.Subscript):
            return use is around.value and _stored(parents.get(around), around)
        if isinstance(around, ir.Call):
            return use is not around.func and self._handed(path, around, use, depth)
        if isinstance(around, (ir.Assign, ir.AnnAssign)):
            return use is around.value and self._bound(path, around, depth)
        if isinstance(around, ir.AugAssign):
            return use is around.target
        if isinstance(around, _THROUGH):
            return self.changes(path, around, depth)
        if isinstance(around, ir.Return):
            return self._returned(path, use, depth)
        return not isinstance(around, (*_ONLY_READ, ir.Delete, ir.Global))

    def _handed(self, path: str, call: ir.Call, use: ir.Node, depth: int) -> bool:
        """An argument: what the functions of that name do with their parameter."""
        name = call.func.attr if isinstance(call.func, ir.Attribute) else call.func.id if isinstance(call.func, ir.Name) else ""
        if name in _HARMLESS or name in _KEEPING:
            return name in _KEEPING
        known = self.index.functions_named(name) if name and depth else []
        if not known or len(known) > MAX_NAMESAKES or self.index.classes_named(name):
            return True
        for definition in known:
            assert isinstance(definition.node, ir.FunctionDef)
            param = _parameter(call, use, definition.node)
            if param is None or self._changed_in(definition.path, definition.node, param, depth - 1):
                return True
        return False

    def _changed_in(self, path: str, function: ir.FunctionDef, name: str, depth: int) -> bool:
        if (function, name) in self.seen:
            return False
        self.seen.add((function, name))
        uses = [node for node in walk(function) if isinstance(node, ir.Name) and node.id == name]
        return any(self.changes(path, node, depth) for node in uses)

    def _bound(self, path: str, statement: ir.Assign | ir.AnnAssign, depth: int) -> bool:
        """Another local name for it; an attribute or an item that holds it is not followed, unpacked items are not the container."""
        function = self._function(path, statement)
        for target in statement.targets if isinstance(statement, ir.Assign) else [statement.target]:
            if isinstance(target, (ir.TupleExpr, ir.ListExpr)):
                continue
            if not isinstance(target, ir.Name) or function is None or self._changed_in(path, function, target.id, depth):
                return True
        return False

    def _returned(self, path: str, use: ir.Node, depth: int) -> bool:
        function = self._function(path, use)
        if function is None or not depth or len(self.index.files_with(function.name)) > MAX_CALLS:
            return True
        sites = [each for each in references(self.index, function.name) if each.kind not in ("import", "annotation")]
        if len(sites) > MAX_CALLS or any(each.call is None or each.kind != "call" for each in sites):
            return True
        return any(self.changes(each.path, each.call, depth - 1) for each in sites if each.call is not None)

    def _function(self, path: str, node: ir.Node) -> ir.FunctionDef | None:
        around = self.index.enclosing(path, node.line)
        return next((each for each in reversed(around) if isinstance(each, ir.FunctionDef)), None)


def _stored(around: ir.Node | None, item: ir.Subscript) -> bool:
    """``x[k] = v``, ``x[k] += v``, ``del x[k]``, also among several targets."""
    if isinstance(around, (ir.Assign, ir.Delete)):
        return item in around.targets
    if isinstance(around, (ir.AugAssign, ir.AnnAssign, ir.For, ir.NamedExpr, ir.WithItem)):
        return item is around.target
    return isinstance(around, (ir.TupleExpr, ir.ListExpr, ir.Starred))


def _another_type(parents: Parents, use: ir.Name) -> bool:
    """Under ``if isinstance(name, str):`` the name holds no container."""
    child, parent = use, parents.get(use)
    below: ir.Node = child
    while parent is not None and not isinstance(parent, ir.FunctionDef):
        if isinstance(parent, ir.If) and below in parent.body and _asks_for_value(parent.test, use.id):
            return True
        below, parent = parent, parents.get(parent)
    return False


def _asks_for_value(test: ir.Expr, name: str) -> bool:
    if not isinstance(test, ir.Call) or not isinstance(test.func, ir.Name) or test.func.id != "isinstance" or len(test.args) != 2:
        return False
    asked, kind = test.args
    return isinstance(asked, ir.Name) and asked.id == name and isinstance(kind, ir.Name) and kind.id in _VALUES


def _parameter(call: ir.Call, use: ir.Node, function: ir.FunctionDef) -> str | None:
    """The parameter that gets the argument; None where that is not plain."""
    name = next((name for name, value in (arguments(call, function) or {}).items() if value is use), None)
    return name if any(each.name == name and each.kind != "kwarg" for each in function.params) else None
