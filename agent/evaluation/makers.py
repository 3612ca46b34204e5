"""Ways to an object that no call by the name of its class shows: the class is handed on, looked up by name, or makes objects of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.analysis import ir
from agent.analysis.callers import Reference
from agent.analysis.index import Index
from agent.analysis.looked_up import BY_NAME, looking_up
from agent.analysis.outline import Parents, holder
from agent.analysis.resolve import dotted_text
from agent.analysis.walk import walk
from agent.evaluation.tables import Tables
from agent.evaluation.values import ClassV

Refer = Callable[[str], Iterator[Reference]]

_MAKES_ITSELF = re.compile(rb"\bcls\(|\b__class__\(|\btype\(\w+\)\(|\bcls\.__new__\(|\b__new__\(\s*cls\b")
_HANDED_TO = frozenset({"argument", "default", "dict", "list", "assigned", "lambda", "return"})
_ASKING = frozenset({"isinstance", "issubclass", "cast", "hasattr", "getattr", "id", "super", "TypeVar", "NewType"})
"""Calls that make no object of a class that they are given."""
_KEEPS_TO_ITSELF = frozenset(
    "dataclass dataclasses.dataclass total_ordering functools.total_ordering final typing.final runtime_checkable "
    "typing.runtime_checkable unique enum.unique".split()
)
"""Decorators of a class that hand it to nobody."""
_HEEDLESS_BASES = (
    *("builtins.", "abc.", "typing.", "typing_extensions.", "enum.", "threading.", "multiprocessing.", "collections.", "argparse.", "ast."),
    *("logging.", "contextlib.", "dataclasses.", "io.", "json.", "queue.", "socketserver.", "http.", "html.", "string.", "ctypes."),
    *("torch.", "transformers.", "pydantic.", "msgspec.", "starlette.", "fastapi."),
)
"""Libraries whose classes keep no list of what derives from them in order to make such objects."""
_BY_ANNOTATION = ("pydantic", "msgspec", "sqlmodel", "strawberry")


def makes_itself(cls: ClassV) -> bool:
    """Whether a method of the class or of a base calls ``cls(...)`` or copies itself: such a call does not name the class."""
    return any(base.node is not None and _MAKES_ITSELF.search(_text(base)) for base in cls.mro)


def unnamed_maker(index: Index, importable: frozenset[str], refer: Refer, tables: Tables, cls: ClassV) -> Reference | None:
    """A place through which an object of the class itself may be made without its name being called; None where there is none.

    A table whose lookups are followed is none.
    """
    node = cls.node
    module = cls.module.ir
    if node is None or module is None:
        return None
    here = _place(module, node)
    if makes_itself(cls) or tells_others(cls, tables) or BY_NAME.search(module.source):
        return here
    handed = next((ref for ref in refer(cls.name) if _is_handed_on(index, tables, ref) or _asks_a_library(index, ref, cls)), None)
    if handed is not None:
        return replace(handed, kind="value", call=None)
    return here if _found_without_its_name(index, importable, refer, cls) else None


def unseen_ways(index: Index, importable: frozenset[str], refer: Refer, tables: Tables, cls: ClassV) -> bool:
    """Whether somebody may have the class who has it from no place that names it."""
    module = cls.module.ir
    if cls.node is None or module is None or tells_others(cls, tables) or BY_NAME.search(module.source):
        return True
    asked = any(ref.kind == "annotation" and _asks_a_library(index, ref, cls) for ref in refer(cls.name)) if cls.opaque else False
    return asked or _found_without_its_name(index, importable, refer, cls)


def _found_without_its_name(index: Index, importable: frozenset[str], refer: Refer, cls: ClassV) -> bool:
    return _listed_by_a_base(cls, refer) or not importable.isdisjoint(looking_up(index, cls.module.dotted))


def hands_on(index: Index, ref: Reference) -> bool:
    """Whether the reference gives the class to something that may call it: it is kept, returned, or given to a function."""
    if ref.kind in ("getattr", "unsupported"):
        return True
    if ref.kind == "string":
        return ref.role in ("argument", "dict", "list") and _dotted(ref.node)
    if ref.kind != "value":
        return False
    parents = index.outline(ref.path).parents
    around = parents.get(ref.node)
    if ref.role in _HANDED_TO:
        return not _only_asked(ref.node, parents)
    if isinstance(around, ir.Subscript):  # ``Box[int](...)``
        outer = parents.get(around)
        return isinstance(outer, ir.Call) and outer.func is around
    return not isinstance(around, (ir.Attribute, ir.Compare, ir.Handler))


def _is_handed_on(index: Index, tables: Tables, ref: Reference) -> bool:
    return hands_on(index, ref) and followed_calls(index, tables, ref) is None


def followed_calls(index: Index, tables: Tables, ref: Reference) -> list[Reference] | None:
    """The calls of a variable that holds the class, or of what is looked up in the table that does; None where more is done with it."""
    found = tables.calls_of_value(ref)
    return list(found) if found is not None else alias_calls(index, ref)


def alias_calls(index: Index, ref: Reference) -> list[Reference] | None:
    """``X(...)`` after ``X = Class if ... else Other``: the calls of a variable that holds the class; None where more is done with it.

    Also ``x(...)`` after ``x = getattr(y, "method", None)``.
    """
    function = ref.chain[-1] if ref.chain else None
    statement = ref.statement
    if not isinstance(function, ir.FunctionDef) or not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    values = [statement.value.body, statement.value.orelse] if isinstance(statement.value, ir.IfExp) else [statement.value]
    named = [
        value.args[1] for value in values if isinstance(value, ir.Call) and dotted_text(value.func) == "getattr" and len(value.args) > 1
    ]
    if not isinstance(target, ir.Name) or all(value is not ref.node for value in (*values, *named)):
        return None
    outline = index.outline(ref.path)
    calls = []
    for node in walk(function):
        if isinstance(node, (ir.Global, ir.Nonlocal)) and target.id in node.names:
            return None
        if not isinstance(node, ir.Name) or node.id != target.id:
            continue
        around = outline.parents.get(node)
        if isinstance(around, ir.Call) and around.func is node and index.enclosing(ref.path, node.line)[-1:] == (function,):
            held = holder(outline, around)
            calls.append(replace(ref, kind="call", role="alias", node=node, call=around, statement=held, line=around.line, receiver=None))
        elif not isinstance(around, ir.Compare) and not (isinstance(around, ir.Assign) and node in around.targets):
            return None
    return calls


def _asks_a_library(index: Index, ref: Reference, cls: ClassV) -> bool:
    """``Class.from_file(...)``, where that is a method of a base from outside; an annotation, by which libraries make objects."""
    if not cls.opaque:
        return False
    if ref.kind == "annotation":
        return any(base.startswith(_BY_ANNOTATION) for base in cls.opaque)
    around = index.outline(ref.path).parents.get(ref.node)
    return isinstance(around, ir.Attribute) and ref.kind == "value" and not any(around.attr in base.names for base in cls.mro)


def only_asked(ref: Reference) -> bool:
    """``isinstance(x, Class)``: it makes nothing."""
    calls = (node for node in walk(ref.statement) if isinstance(node, ir.Call) and isinstance(node.func, ir.Name))
    asking = (call for call in calls if call.func.id in ("isinstance", "issubclass"))  # type: ignore[attr-defined]
    return ref.kind == "value" and any(ref.node in walk(call) for call in asking)


def _only_asked(node: ir.Node, parents: Parents) -> bool:
    """Within the arguments of ``isinstance`` and its like, also as one of several; or within a type that is written out."""
    at = parents.get(node)
    while isinstance(at, (ir.TupleExpr, ir.BinOp, ir.Keyword)):
        at = parents.get(at)
    if isinstance(at, ir.Call):
        return (dotted_text(at.func) or "?").rpartition(".")[2] in _ASKING
    return isinstance(at, ir.Subscript)


def _dotted(node: ir.Node) -> bool:
    """``"package.module.Class"``, ``"module:Class"``: an import by text."""
    return isinstance(node, ir.Constant) and isinstance(node.value, str) and ("." in node.value or ":" in node.value)


def _place(module: ir.Module, node: ir.ClassDef) -> Reference:
    return Reference(module=module, line=node.line, kind="value", role="other", node=node, statement=node)


def _text(cls: ClassV) -> bytes:
    module = cls.module.ir
    return module.source[cls.node.start_byte : cls.node.end_byte] if module is not None and cls.node is not None else b""


def heeding(node: ir.ClassDef) -> list[ir.Expr]:
    """The decorators of a class that may hand it to somebody."""
    return [
        each for each in node.decorators if (dotted_text(each.func if isinstance(each, ir.Call) else each) or "?") not in _KEEPS_TO_ITSELF
    ]


def tells_others(cls: ClassV, tables: Tables | None = None) -> bool:
    """Whether a decorator, a base or a metaclass of the tree hears of the class when it is defined.

    ``tables``: one that only puts the class into a table whose lookups are followed does not count.
    """
    heard = heeding(cls.node) if cls.node is not None else []
    if heard and (tables is None or tables.calls_of_decorated(cls.module, heard) is None):
        return True
    if any(not base.startswith(_HEEDLESS_BASES) for base in cls.opaque) or any(
        isinstance(base.kwargs.get("metaclass"), ClassV) for base in cls.mro
    ):
        return True
    return any("__init_subclass__" in base.names for base in cls.mro[1:])


def _listed_by_a_base(cls: ClassV, refer: Refer) -> bool:
    """``Base.__subclasses__()``, also of what is not known to be another class."""
    names = {base.name for base in cls.mro} | {"cls", "self"}
    for ref in refer("__subclasses__"):
        last = (dotted_text(ref.receiver) or "?").rpartition(".")[2] if ref.receiver is not None else "?"
        if last in names or not last[:1].isupper():
            return True
    return False
