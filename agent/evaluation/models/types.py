"""``isinstance``, ``issubclass``, ``type`` and ``hasattr`` on abstract values."""

from __future__ import annotations

from typing import Any

from agent.evaluation.exceptions import builtin_type, checks_itself, subclass_of
from agent.evaluation.machine import Machine
from agent.evaluation.values import (
    ABSENT,
    AV,
    FALSE,
    TRUE,
    AliasV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    ListObj,
    OneOf,
    Tup,
    Unk,
    candidates,
    metaclass,
    one_of,
)

_ABSTRACT: dict[str, tuple[type, ...]] = {
    "collections.abc.Mapping": (dict,),
    "collections.abc.MutableMapping": (dict,),
    "collections.abc.Sequence": (list, tuple, str, bytes, range),
    "collections.abc.MutableSequence": (list,),
    "collections.abc.Iterable": (list, tuple, str, bytes, dict, set, frozenset, range),
    "collections.abc.Callable": (),
    "collections.abc.Set": (set, frozenset),
    "collections.abc.Hashable": (str, int, float, tuple, bytes, type(None)),
    "numbers.Number": (int, float, complex),
    "numbers.Integral": (int,),
    "numbers.Real": (int, float),
    "typing.Mapping": (dict,),
    "typing.Dict": (dict,),
    "typing.List": (list,),
    "typing.Tuple": (tuple,),
    "typing.Sequence": (list, tuple, str, bytes),
    "typing.Iterable": (list, tuple, str, bytes, dict, set, frozenset),
    "collections.OrderedDict": (),
    "os.PathLike": (),
    "types.NoneType": (type(None),),
}
_TYPES = {"list": list, "set": set, "frozenset": frozenset, "iterator": iter, "dict_keys": type({}.keys()), "deque": object}


def type_name(value: AV) -> str:
    """Name of the Python type of a value, "" where it is not known."""
    if isinstance(value, Const):
        return type(value.v).__name__
    if isinstance(value, Tup):
        return "tuple"
    if isinstance(value, (ListObj, DictObj)):
        return value.kind
    return value.typ if isinstance(value, Unk) else ""


def class_of(m: Machine, value: AV) -> AV:
    """``type(value)``."""
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, Tup) and value.cls is not None:
        return value.cls
    name = type_name(value)
    if name == "NoneType":
        return ExternV("types.NoneType")
    if name and name != "object":
        return ExternV(f"builtins.{name}") if name != "defaultdict" else ExternV("collections.defaultdict")
    if isinstance(value, ClassV):
        return metaclass(value) or ExternV("builtins.type")
    if isinstance(value, FuncV):
        return ExternV("types.FunctionType")
    return Unk(value.reason if isinstance(value, Unk) else f"type of {value!r}"[:120], "type")


def as_class(cls: AV) -> AV:
    """Built-in types are modelled callables; as classes they are names, and a subscripted type is its origin."""
    if isinstance(cls, AliasV):
        cls = cls.origin
    if isinstance(cls, BuiltinV):
        return ExternV(cls.name if "." in cls.name else f"builtins.{cls.name}")
    return cls


def _members(cls: AV) -> tuple[AV, ...] | None:
    """Of a tuple or a union of classes."""
    from agent.evaluation.models.typing_forms import is_union

    return cls.items if isinstance(cls, Tup) else cls.args if is_union(cls) else None


def isinstance_truth(m: Machine, value: AV, cls: AV) -> bool | None:
    """``isinstance(value, cls)``; None is undecided."""
    members = _members(cls)
    if members is not None:
        verdicts = [isinstance_truth(m, value, item) for item in members]
        return True if True in verdicts else None if None in verdicts else False
    if isinstance(value, OneOf):
        parts = {isinstance_truth(m, item, cls) for item in value.values if item is not ABSENT}
        return parts.pop() if len(parts) == 1 else None
    if isinstance(cls, (Unk, OneOf)):
        return None
    cls = as_class(cls)
    if isinstance(value, Instance):
        return subclass_of(value.cls, cls)
    if isinstance(cls, ClassV) and checks_itself(cls):
        return None
    if isinstance(cls, ClassV):
        if isinstance(value, Unk):
            return False if value.typ not in ("", "object") else None
        return isinstance(value, Tup) and value.cls is cls
    if isinstance(cls, Const):
        return cls.v is None and isinstance(value, Const) and value.v is None
    return _builtin_instance(value, cls) if isinstance(cls, ExternV) else None


def _builtin_instance(value: AV, cls: ExternV) -> bool | None:
    dotted = cls.dotted
    if dotted == "builtins.object":
        return True
    if dotted in ("collections.abc.Callable", "typing.Callable", "types.FunctionType", "types.MethodType"):
        return isinstance(value, (FuncV, BoundV, BuiltinV, ClassV)) if not isinstance(value, (Unk, ExternV, Instance)) else None
    if dotted == "builtins.type":
        return True if isinstance(value, ClassV) else None if isinstance(value, (Unk, ExternV, BuiltinV)) else False
    actual = _python_type(value)
    if actual is None:
        return None if isinstance(value, (Unk, ExternV, BuiltinV)) else False
    expected = builtin_type(cls)
    if expected is not None:
        return issubclass(actual, expected)
    if dotted in _ABSTRACT:
        return issubclass(actual, _ABSTRACT[dotted]) if _ABSTRACT[dotted] else False
    return False if dotted.partition(".")[0] != "typing" else None


def _python_type(value: AV) -> type | None:
    if isinstance(value, Const):
        return type(value.v)
    if isinstance(value, Tup):
        return tuple
    if isinstance(value, DictObj):
        return dict
    if isinstance(value, ListObj):
        found = _TYPES.get(value.kind, object)
        return found if isinstance(found, type) else object
    if isinstance(value, Unk):
        return _UNKNOWN_TYPES.get(value.typ)
    return None


_UNKNOWN_TYPES: dict[str, type] = {kind.__name__: kind for kind in (str, int, bool, float, list, dict, bytes, tuple)}


def verdict(truth: bool | None, reason: str) -> AV:
    """A bool value, unknown with its reason."""
    return Unk(reason, "bool") if truth is None else TRUE if truth else FALSE


def isinstance_(m: Machine, args: list[AV], kwargs: dict[str, AV]) -> AV:
    """``isinstance``."""
    return verdict(isinstance_truth(m, args[0], args[1]), _reason(args[0], args[1]))


def issubclass_(m: Machine, args: list[AV], kwargs: dict[str, AV]) -> AV:
    """``issubclass``."""
    parents = _members(args[1]) or (args[1],)
    verdicts = [subclass_of(as_class(args[0]), as_class(p)) if isinstance(as_class(args[0]), (ClassV, ExternV)) else None for p in parents]
    truth = True if True in verdicts else None if None in verdicts else False
    return verdict(truth, _reason(*args))


def _reason(*values: AV) -> str:
    return next((v.reason for v in values if isinstance(v, Unk)), f"the type of {values[0]!r}"[:160])


def hasattr_truth(m: Machine, obj: AV, name: str) -> bool | None:
    """``hasattr(obj, name)``; None is undecided."""
    from agent.evaluation.attributes import lookup_attribute
    from agent.evaluation.facts import table

    verdicts: set[bool | None] = set()
    for item in candidates(obj):
        if isinstance(item, ExternV):
            known = table(m).named.get(f"{item.dotted}.{name}")
            from agent.evaluation.models import extern_has

            verdicts.add(True if known is not None else extern_has(m, item.dotted, name))
            continue
        value = quiet_lookup(m, lookup_attribute, item, name)
        parts = candidates(value)
        undecided = (isinstance(value, Unk) and _vague(value)) or (ABSENT in parts and value is not ABSENT)
        verdicts.add(None if undecided else value is not ABSENT)
    return verdicts.pop() if len(verdicts) == 1 else None


def _vague(value: Unk) -> bool:
    return value.lacking or "may come from" in value.reason or "may have" in value.reason or value.typ == ""


def quiet_lookup(m: Machine, lookup: Any, item: AV, name: str) -> AV:
    """The attribute; ABSENT, or maybe absent, where ``__getattr__`` or a property raises AttributeError."""
    from agent.evaluation.frames import Catcher, Dead
    from agent.evaluation.state import State

    catcher, raised = Catcher(), len(m.raised)
    catchers, m.catchers = m.catchers, [catcher]
    throws, entry = m.throws, m.state
    try:
        found: AV = lookup(m, item, name)
    except Dead:
        if not catcher.leaves or not all(_is_attribute_error(leaf.value) for leaf in catcher.leaves):
            raise
        m.state = State(entry, certain=entry.certain)
        return ABSENT
    finally:
        m.catchers, m.throws = catchers, throws
        del m.raised[raised:]
    thrown = any(isinstance(leaf.value, Instance) and _is_attribute_error(leaf.value) for leaf in catcher.leaves)
    return one_of([found, ABSENT]) if thrown and found is not ABSENT else found


def _is_attribute_error(exc: AV) -> bool:
    if not isinstance(exc, Instance):
        return True
    name = exc.cls.dotted if isinstance(exc.cls, ExternV) else ""
    return name == "builtins.AttributeError" or (isinstance(exc.cls, ClassV) and "builtins.AttributeError" in exc.cls.opaque)
