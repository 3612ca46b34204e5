"""What an expression can evaluate to inside the engine: constants, objects on the abstract heap, candidates, unknowns.

Immutable things carry their content; mutable things (lists, dicts, sets, instances, classes, modules) are identities whose content
lives in the State, so that two branches can hold two contents. Values are compared with ``same``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from agent.analysis import ir

if TYPE_CHECKING:
    from agent.analysis.index import Index
    from agent.evaluation.machine import Machine

MAX_CANDIDATES = 8


class AV:
    """An abstract value."""

    __slots__ = ()

    def __repr__(self) -> str:
        """By kind alone: where a value lies in memory is no part of an answer."""
        return f"<{_KINDS.get(type(self).__name__, 'value')}>"


_KINDS = {
    "ListObj": "list", "DictObj": "dict", "PropertyV": "property", "StaticV": "static method", "ClassMethodV": "class method",
    "ContextFuncV": "context manager function", "ContextV": "context manager", "PartialV": "partial function", "SuperV": "super",
}  # fmt: skip


class Const(AV):
    """An immutable Python value: None, bool, int, float, complex, str, bytes, Ellipsis, range."""

    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v

    def __repr__(self) -> str:
        return repr(self.v)


class Tup(AV):
    """A tuple of abstract values; ``names`` are its field names where it is a named tuple."""

    __slots__ = ("cls", "items", "names")

    def __init__(self, items: tuple[AV, ...], names: tuple[str, ...] = (), cls: AV | None = None) -> None:
        self.items = items
        self.names = names
        self.cls = cls

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.items))})"


class Unk(AV):
    """Not known, because ``reason``. ``typ`` is a Python type name where at least that is known, "object" for "not None".

    ``lacking``: on some path there is none at all. ``of``: whose method it may be. ``masked``: how a text, not empty, is shown.
    """

    __slots__ = ("lacking", "masked", "of", "reason", "typ")

    def __init__(self, reason: str, typ: str = "", *, lacking: bool = False, masked: str = "") -> None:
        self.of: AV | None
        self.reason, self.typ, self.masked = reason, typ, masked
        self.lacking, self.of = lacking, None

    def __repr__(self) -> str:
        return f"<unknown: {self.reason}>"


class OneOf(AV):
    """Two to eight candidates, none of them OneOf or Unk; ABSENT may be one of them."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[AV, ...]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.values))


class Lazy(AV):
    """A value that is worked out when it is first looked at, once; being assigned or passed on is not looking."""

    __slots__ = ("_made", "_resolve")

    def __init__(self, resolve: Callable[[], AV]) -> None:
        self._resolve = resolve
        self._made: AV | None = None

    def resolve(self) -> AV:
        """The value."""
        if self._made is None:
            self._made = self._resolve()
        return self._made

    @property
    def made(self) -> AV | None:
        """The value, if it has been looked at."""
        return self._made


class _Absent(AV):
    """No such attribute, variable or key on this path."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<absent>"


ABSENT = _Absent()
NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


class Obj(AV):
    """An identity on the abstract heap; ``serial`` orders allocations, ``origin`` says where it was made."""

    __slots__ = ("origin", "serial")
    _next = 0

    def __init__(self, origin: str = "") -> None:
        Obj._next += 1
        self.serial = Obj._next
        self.origin = origin

    @classmethod
    def last_serial(cls) -> int:
        """Serial of the newest object."""
        return Obj._next


class ListObj(Obj):
    """Content: a Seq under ``[]``. ``kind``: list, set, frozenset, deque, iterator."""

    __slots__ = ("kind",)

    def __init__(self, kind: str = "list", origin: str = "") -> None:
        super().__init__(origin)
        self.kind = kind


class DictObj(Obj):
    """Content: a Map under ``{}``. ``factory``: of a defaultdict; ``mirrors``: the object whose ``vars`` this is."""

    __slots__ = ("factory", "kind", "mirrors")

    def __init__(self, kind: str = "dict", origin: str = "", factory: AV | None = None) -> None:
        super().__init__(origin)
        self.kind, self.factory = kind, factory
        self.mirrors: Instance | ModuleV | None = None


class Perhaps(AV):
    """An item of a Seq that may be missing; the items around it keep their order."""

    __slots__ = ("value",)

    def __init__(self, value: AV) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"{self.value!r}?"


class Seq(AV):
    """Content of a ListObj; ``open`` is the reason why there may be other items in any order, "" where there are none.

    ``vague``: one of the items is a Perhaps.
    """

    __slots__ = ("items", "open", "vague")

    def __init__(self, items: tuple[AV, ...], open_: str = "") -> None:
        self.items = items
        self.open = open_
        self.vague = any(type(item) is Perhaps for item in items)


class Map(AV):
    """Content of a DictObj by hashable key; ``open`` is the reason why other keys may exist; never changed in place."""

    __slots__ = ("items", "open")

    def __init__(self, items: dict[Any, tuple[AV, AV]], open_: str = "") -> None:
        self.items = items
        self.open = open_


class LateMap(Map):
    """Content of which the entries under the keys of ``late`` are worked out when somebody looks at them."""

    __slots__ = ("late",)

    def __init__(self, items: dict[Any, tuple[AV, AV]], open_: str, late: dict[Any, Callable[[], AV]]) -> None:
        super().__init__(items, open_)
        self.late = late

    def entry(self, key: Any) -> tuple[AV, AV]:
        """The entry under a key that is there."""
        stored, value = self.items[key]
        return stored, self.late[key]() if key in self.late else value

    def settled(self) -> Map:
        """With all of them worked out."""
        return Map({key: self.entry(key) for key in self.items}, self.open)


class Instance(Obj):
    """An object of an in-tree or opaque class. ``open``: reason why it may have attributes that were never seen being written."""

    __slots__ = ("cls", "open")

    def __init__(self, cls: AV, origin: str = "", open_: str = "") -> None:
        super().__init__(origin)
        self.cls = cls
        self.open = open_

    def __repr__(self) -> str:
        if isinstance(self.cls, ClassV) and self.cls.enum_members is not None and self.origin:
            return self.origin
        return f"<{class_name(self.cls)} object>"


class ClassV(Obj):
    """A class defined in the tree. ``names`` keeps the order of its body; attributes live in the State under the class."""

    __slots__ = ("bases", "dataclass", "enum_members", "fields", "kwargs", "module", "mro", "name", "names", "node", "opaque", "qualname")

    def __init__(self, name: str, module: ModuleV, node: ir.ClassDef | None, bases: tuple[AV, ...]) -> None:
        super().__init__()
        self.name = name
        self.qualname = name
        self.module = module
        self.node = node
        self.bases = bases
        self.mro: tuple[ClassV, ...] = (self,)
        self.opaque: tuple[str, ...] = ()
        self.names: list[str] = []
        self.fields: dict[str, Field] | None = None
        self.dataclass: dict[str, Any] | None = None
        self.enum_members: dict[str, Instance] | None = None
        self.kwargs: dict[str, AV] = {}

    def __repr__(self) -> str:
        return f"<class {self.qualname}>"


def metaclass(cls: ClassV) -> AV | None:
    """The metaclass that a class or the nearest base names."""
    return next((base.kwargs["metaclass"] for base in cls.mro if "metaclass" in base.kwargs), None)


class Field:
    """A field of a dataclass, NamedTuple or Struct: its default or factory, and where it is declared."""

    __slots__ = ("annotation", "default", "factory", "hint", "init", "kw_only", "line", "metadata", "name", "passed_on", "path")

    def __init__(self, name: str, default: AV | None, factory: AV | None, path: str, line: int) -> None:
        self.name = name
        self.default = default
        self.factory = factory
        self.init, self.kw_only = True, False
        self.passed_on = False  # an InitVar: given to __post_init__, and no attribute
        self.metadata: AV | None = None
        self.annotation: ir.Expr | None = None
        self.hint: AV | None = None
        self.path = path
        self.line = line


class FuncV(Obj):
    """A function or lambda of the tree with its closure; ``owner`` is the class in whose body it stands."""

    __slots__ = ("closure", "defaults", "module", "name", "node", "owner", "qualname")

    def __init__(
        self, node: ir.FunctionDef | ir.Lambda, module: ModuleV, closure: Any, defaults: dict[str, AV], owner: ClassV | None, qualname: str
    ) -> None:
        super().__init__()
        self.node = node
        self.module = module
        self.closure = closure
        self.defaults = defaults
        self.owner = owner
        self.qualname = qualname
        self.name = qualname.rpartition(".")[2]

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class BoundV(AV):
    """``receiver.func``; ``func`` takes the receiver first."""

    __slots__ = ("func", "receiver")

    def __init__(self, func: AV, receiver: AV) -> None:
        self.func = func
        self.receiver = receiver

    def __repr__(self) -> str:
        return f"<method {getattr(self.func, 'qualname', self.func)}>"


class PropertyV(AV):
    """A property, or with ``cached`` a cached_property."""

    __slots__ = ("cached", "fget", "fset")

    def __init__(self, fget: AV, fset: AV | None = None, cached: bool = False) -> None:
        self.fget = fget
        self.fset = fset
        self.cached = cached


class StaticV(AV):
    """A staticmethod."""

    __slots__ = ("func",)

    def __init__(self, func: AV) -> None:
        self.func = func


class ClassMethodV(AV):
    """A classmethod."""

    __slots__ = ("func",)

    def __init__(self, func: AV) -> None:
        self.func = func


class ContextFuncV(AV):
    """A generator function under ``contextlib.contextmanager``."""

    __slots__ = ("func",)

    def __init__(self, func: AV) -> None:
        self.func = func


class ContextV(AV):
    """A called ContextFuncV, waiting for ``with``."""

    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: AV, args: list[AV], kwargs: dict[str, AV]) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs


class PartialV(AV):
    """functools.partial."""

    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: AV, args: list[AV], kwargs: dict[str, AV]) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs


class SuperV(AV):
    """``super()`` of ``receiver`` after ``cls`` in its MRO."""

    __slots__ = ("cls", "receiver")

    def __init__(self, cls: ClassV, receiver: AV) -> None:
        self.cls = cls
        self.receiver = receiver


class ModuleV(Obj):
    """A module of the tree, parsed when first needed; its globals live in the State under it and are evaluated when first read.

    ``line`` is the top-level statement that runs now (a very large number when none does); ``deferred`` holds statements further down
    that change a global which was read before they ran.
    """

    __slots__ = ("_index", "_ir", "bindings", "deferred", "dotted", "line", "path")

    def __init__(self, dotted: str, path: str, index: Index | None) -> None:
        super().__init__()
        self.dotted = dotted
        self.path = path
        self._index = index
        self._ir: ir.Module | None = None
        self.bindings: dict[str, list[ir.Stmt]] | None = None
        self.line = 1 << 60
        self.deferred: dict[str, list[ir.Stmt]] = {}

    @property
    def ir(self) -> ir.Module | None:
        """The lowered file; None for a namespace package."""
        if self._ir is None and self._index is not None:
            self._ir = self._index.module(self.path)
        return self._ir

    def __repr__(self) -> str:
        return f"<module {self.dotted}>"


class ExternV(AV):
    """A name outside the tree, by dotted path (``torch.cuda.is_available``, ``builtins.ValueError``)."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        self.dotted = dotted

    def __repr__(self) -> str:
        return f"<{self.dotted.removeprefix('builtins.')}>"


Impl = Callable[["Machine", list[AV], dict[str, AV]], AV]


class AliasV(AV):
    """A subscripted type: ``list[int]``, ``Optional[X]``, ``Annotated[T, meta]``."""

    __slots__ = ("args", "origin")

    def __init__(self, origin: AV, args: tuple[AV, ...]) -> None:
        self.origin = origin
        self.args = args

    def __repr__(self) -> str:
        return f"{self.origin!r}[{', '.join(map(repr, self.args))}]"


class BuiltinV(AV):
    """A callable that the engine models; ``impl(machine, args, kwargs)``."""

    __slots__ = ("impl", "name")

    def __init__(self, name: str, impl: Impl) -> None:
        self.name = name
        self.impl = impl

    def __repr__(self) -> str:
        return f"<built-in {self.name}>"


def class_name(cls: AV) -> str:
    """The bare name of a class value."""
    if isinstance(cls, ClassV):
        return cls.name
    return cls.dotted.rpartition(".")[2] if isinstance(cls, ExternV) else repr(cls)


def same(a: AV, b: AV) -> bool:
    """Structural equality: constants by type and value, objects by identity."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Const):
        assert isinstance(b, Const)
        return type(a.v) is type(b.v) and (a.v == b.v or (a.v != a.v and b.v != b.v))
    if isinstance(a, Unk):
        assert isinstance(b, Unk)
        return a.reason == b.reason and a.typ == b.typ and a.lacking is b.lacking
    return _same_compound(a, b)


def _same_compound(a: AV, b: AV) -> bool:
    if isinstance(a, (Tup, Seq)):
        assert isinstance(b, (Tup, Seq))
        return len(a.items) == len(b.items) and getattr(a, "open", "") == getattr(b, "open", "") and all(map(same, a.items, b.items))
    if isinstance(a, OneOf):
        assert isinstance(b, OneOf)
        return len(a.values) == len(b.values) and all(any(same(x, y) for y in b.values) for x in a.values)
    if isinstance(a, Map):
        assert isinstance(b, Map)
        return a.open == b.open and a.items.keys() == b.items.keys() and all(same(v[1], b.items[k][1]) for k, v in a.items.items())
    if isinstance(a, ExternV):
        assert isinstance(b, ExternV)
        return a.dotted == b.dotted
    if isinstance(a, AliasV):
        assert isinstance(b, AliasV)
        return same(a.origin, b.origin) and len(a.args) == len(b.args) and all(map(same, a.args, b.args))
    if isinstance(a, Perhaps):
        assert isinstance(b, Perhaps)
        return same(a.value, b.value)
    if isinstance(a, BoundV):
        assert isinstance(b, BoundV)
        return same(a.func, b.func) and same(a.receiver, b.receiver)
    return False


def candidates(value: AV) -> tuple[AV, ...]:
    """The candidates of a value: itself, or those of a OneOf."""
    return value.values if isinstance(value, OneOf) else (value,)


def one_of(values: Iterable[AV]) -> AV:
    """Joins values: equal ones once; any Unk makes an Unk; more than eight become an Unk of a common type."""
    distinct: list[AV] = []
    values = tuple(values)
    for value in values:
        for item in candidates(value):
            if isinstance(item, Unk):
                return _unk_join(item, values)
            if not any(same(item, seen) for seen in distinct):
                distinct.append(item)
    if len(distinct) == 1:
        return distinct[0]
    if len(distinct) > MAX_CANDIDATES:
        return Unk(f"more than {MAX_CANDIDATES} candidates", _common_type(distinct))
    return OneOf(tuple(distinct))


def _unk_join(unknown: Unk, values: Iterable[AV]) -> Unk:
    types = {_type_of(item) for value in values for item in candidates(value) if item is not ABSENT}
    lacking = any(value is ABSENT or may_lack(value) for value in values)
    if types == {unknown.typ} and lacking is unknown.lacking:
        return unknown
    return Unk(unknown.reason, types.pop() if len(types) == 1 else "object" if not types & {"", "NoneType"} else "", lacking=lacking)


def given(value: AV) -> AV:
    """The value on the paths on which there is one."""
    if isinstance(value, Unk) and value.lacking:
        return Unk(value.reason, value.typ)
    return one_of(item for item in value.values if item is not ABSENT) if isinstance(value, OneOf) and ABSENT in value.values else value


def may_lack(value: AV) -> bool:
    """Whether on some path, though not on all, there is no such attribute, variable or key."""
    return value.lacking if isinstance(value, Unk) else isinstance(value, OneOf) and ABSENT in value.values


def _type_of(value: AV) -> str:
    if isinstance(value, Unk):
        return value.typ
    return type(value.v).__name__ if isinstance(value, Const) else "object"


def _common_type(values: list[AV]) -> str:
    types = {_type_of(v) for v in values}
    return types.pop() if len(types) == 1 else "object" if not types & {"", "NoneType"} else ""


def perhaps(item: AV) -> Perhaps:
    """The item as one that may be missing."""
    return item if isinstance(item, Perhaps) else Perhaps(item)


def present(item: AV) -> AV:
    """The item where it is not missing."""
    return item.value if isinstance(item, Perhaps) else item
