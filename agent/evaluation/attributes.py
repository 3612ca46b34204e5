"""``obj.name``: instances, classes, modules, names from outside, and the protocol of properties and descriptors."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from agent.evaluation.concrete import is_off
from agent.evaluation.exceptions import builtin_type, is_exception
from agent.evaluation.frames import Dead
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell, Location
from agent.evaluation.values import (
    ABSENT,
    AV,
    FALSE,
    NONE,
    AliasV,
    BoundV,
    BuiltinV,
    ClassMethodV,
    ClassV,
    Const,
    ContextFuncV,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    ListObj,
    Map,
    ModuleV,
    OneOf,
    PropertyV,
    StaticV,
    SuperV,
    Tup,
    Unk,
    class_name,
    given,
    may_lack,
    metaclass,
    one_of,
)


def get_attribute(m: Machine, obj: AV, name: str) -> AV:
    """The attribute's value; raises AttributeError in the analysed program where it is absent."""
    value = lookup_attribute(m, obj, name)
    if value is ABSENT:
        kind = class_name(obj.cls) if isinstance(obj, Instance) else type(obj.v).__name__ if isinstance(obj, Const) else repr(obj)
        m.throw_new("AttributeError", f"{kind!r} object has no attribute {name!r}")
    if isinstance(value, OneOf) and any(item is ABSENT for item in value.values):
        m.may_raise(f"attribute {name!r} may be absent", "AttributeError")
        return one_of([item for item in value.values if item is not ABSENT])
    return value


def lookup_attribute(m: Machine, obj: AV, name: str) -> AV:
    """The attribute's value, ABSENT where there is certainly none."""
    row = _LOOKUPS.get(type(obj))
    return row(m, obj, name) if row is not None else Unk(f"attribute {name!r} of {obj!r}")


def special_method(m: Machine, obj: AV, name: str) -> AV:
    """A special method as Python finds it for its own use: in the class, past the object itself and what answers for its attributes."""
    cls = obj.cls if isinstance(obj, Instance) else None
    if not isinstance(obj, Instance) or not isinstance(cls, ClassV) or not _answers_for_attributes(m, cls):
        return lookup_attribute(m, obj, name)
    found = class_attribute(m, cls, name)
    if found is not None:
        return bind_to(m, found[0], obj, found[1], name)
    bases = [builtin_type(ExternV(base)) for base in cls.opaque]
    return ABSENT if not any(base is None or hasattr(base, name) for base in bases) else Unk(f"{name} of {cls.name}", "object")


def _answers_for_attributes(m: Machine, cls: ClassV) -> bool:
    return _read_hook(m, cls) is not None or class_attribute(m, cls, "__getattr__") is not None


def class_attribute(m: Machine, cls: ClassV, name: str) -> tuple[AV, ClassV] | None:
    """The attribute as stored on the class or one of its bases; where a class perhaps has none, joined with what its bases have."""
    found: list[AV] = []
    first: ClassV | None = None
    for klass in cls.mro:
        value = m.load((klass, name))
        if value is None or value is ABSENT:
            continue
        first = first or klass
        found.append(value)
        if not may_lack(value):
            return one_of([*(given(each) for each in found[:-1]), value]), first
    return (one_of(found), first) if first is not None else None


def instance_cell(m: Machine, obj: Instance, name: str) -> tuple[Location, Cell] | None:
    """The instance's own cell, unless a property stands before it."""
    cell = m.cell((obj, name))
    if cell is None or (isinstance(obj.cls, ClassV) and _descriptor(m, obj.cls, name) is not None):
        return None
    return (obj, name), cell


def _descriptor(m: Machine, cls: ClassV, name: str) -> AV | None:
    for klass in cls.mro:
        cell = m.state.get((klass, name))
        if cell is not None:
            return cell.value if isinstance(cell.value, (PropertyV, Instance)) else None
    return None


def _instance(m: Machine, obj: Instance, name: str) -> AV:
    cls = obj.cls
    if isinstance(cls, ClassV):
        hook = _read_hook(m, cls)
        if hook is not None:
            return m.call(BoundV(hook, obj), [Const(name)], {})
        descriptor = _descriptor(m, cls, name)
        if isinstance(descriptor, PropertyV) and not descriptor.cached:
            return _of_derived_too(m, obj, name, m.call(descriptor.fget, [obj], {}))
    return _of_derived_too(m, obj, name, _own_or_class(m, obj, name))


def _of_derived_too(m: Machine, obj: Instance, name: str, value: AV) -> AV:
    """An object known only by its class may be one of a derived class."""
    return m.demand.attributes.overridden(obj, name, value) if m.demand is not None and obj in m.demand.receivers.contexts else value


def _own_or_class(m: Machine, obj: Instance, name: str) -> AV:
    own = m.load((obj, name))
    if name == "args" and own is not None and not isinstance(own, (Tup, Unk)) and is_exception(obj.cls):
        return Tup((own,))
    if own is not None and own is not ABSENT and not (isinstance(own, OneOf) and any(v is ABSENT for v in own.values)):
        return own
    if own is None and m.demand is not None:
        written = m.demand.attributes.value(obj, name)
        if written is not None and written is not ABSENT:
            return written
    if isinstance(own, OneOf):  # the class is asked only where the object has none of its own
        asked = dict(m.fork([lambda: ABSENT, lambda: _from_class(m, obj, name)]))
        return one_of([*(v for v in own.values if v is not ABSENT), *([asked[1]] if 1 in asked else [])])
    return _from_class(m, obj, name)


def _read_hook(m: Machine, cls: ClassV) -> FuncV | None:
    """The class's own ``__getattribute__``; what ``__getattr__`` would add where it fails is left out."""
    known: dict[ClassV, FuncV | None] = m.singletons.setdefault("read hooks", {})
    if cls not in known:
        found = class_attribute(m, cls, "__getattribute__")
        known[cls] = found[0] if found is not None and isinstance(found[0], FuncV) else None
    return known[cls]


def _from_class(m: Machine, obj: Instance, name: str) -> AV:
    cls = obj.cls
    if name == "__class__":
        return cls
    if name == "__dict__":
        return instance_dict(m, obj)
    if isinstance(cls, ClassV):
        found = class_attribute(m, cls, name)
        if found is not None:
            value = bind_to(m, found[0], obj, found[1], name)
            plain = value is found[0]
            if may_lack(value):
                asked = dict(m.fork([lambda: ABSENT, lambda: _past_class(m, obj, name)]))
                value = one_of([given(value), *([asked[1]] if 1 in asked else [])])
            if plain and m.demand is not None:
                value = m.demand.later.of_class_alone(obj, name, value)
            return one_of([value, Unk(obj.open)]) if obj.open and plain else value
    return _past_class(m, obj, name)


def _past_class(m: Machine, obj: Instance, name: str) -> AV:
    """What an object has that no class of the tree gives it."""
    from agent.evaluation.models import instance_attribute

    cls = obj.cls
    if isinstance(cls, ClassV):
        hook = class_attribute(m, cls, "__getattr__")
        if hook is not None and not _of_builtin_base(cls, name):
            return m.call(BoundV(hook[0], obj), [Const(name)], {})
    modelled = instance_attribute(m, obj, name)
    if modelled is not None:
        return modelled
    if obj.open:
        return m.missing(f"{class_name(cls)}.{name}: {obj.open}")
    opaque = cls.opaque if isinstance(cls, ClassV) else (cls.dotted,) if isinstance(cls, ExternV) else ("?",)
    for base in opaque:
        if builtin_type(ExternV(base)) is None:
            return m.missing(f"attribute {name!r} of {class_name(cls)} may come from {base}, which is outside the tree")
        if hasattr(builtin_type(ExternV(base)), name):
            return Unk(f"{base}.{name}", "object")
    return ABSENT


def _of_builtin_base(cls: ClassV, name: str) -> bool:
    """Whether a builtin type that the class derives from, ``object`` too, has the attribute: then no ``__getattr__`` is asked for it."""
    bases = [builtin_type(ExternV(base)) for base in cls.opaque]
    return any(hasattr(base, name) for base in (object, *bases) if base is not None)


def instance_dict(m: Machine, obj: Instance | ModuleV) -> DictObj:
    """``vars(obj)``, ``globals()``: reading and writing it is reading and writing the object."""
    found = DictObj()
    found.mirrors = obj
    return found


def instance_map(m: Machine, obj: Instance | ModuleV) -> Map:
    """The attributes that an object has of its own."""
    names: dict[str, tuple[AV, AV]] = {}
    layer = m.state
    chain = []
    while layer is not None:
        chain.append(layer)
        layer = layer.parent  # type: ignore[assignment]
    for state in reversed(chain):
        for (owner, name), cell in state.own.items():
            if owner is obj and not name.startswith("<"):
                names[name] = (Const(name), cell.value)
    if isinstance(obj, ModuleV):
        return Map({k: v for k, v in names.items() if v[1] is not ABSENT}, f"a global of {obj.dotted} that was not read")
    from agent.evaluation.models import more_attributes

    more = more_attributes(m, obj)
    if more is not None:
        names = {**{n: (Const(n), v) for n, v in more.items()}, **names}
    return Map({k: v for k, v in names.items() if v[1] is not ABSENT}, "" if more is not None else obj.open)


def bind_to(m: Machine, value: AV, obj: AV, owner: ClassV, name: str) -> AV:
    """What a class attribute is when read through an instance."""
    if isinstance(value, OneOf):
        return one_of(bound for _, bound in m.fork([lambda each=each: bind_to(m, each, obj, owner, name) for each in value.values]))  # type: ignore[misc]
    if isinstance(value, (FuncV, BuiltinV, ContextFuncV)):
        return BoundV(value, obj)
    if isinstance(value, StaticV):
        return value.func
    if isinstance(value, ClassMethodV):
        return BoundV(value.func, obj.cls if isinstance(obj, Instance) else owner)
    if isinstance(value, PropertyV):
        result = m.call(value.fget, [obj], {})
        if value.cached:
            m.store((obj, name), result)
        return result
    if isinstance(value, Instance) and isinstance(value.cls, ClassV):
        getter = class_attribute(m, value.cls, "__get__")
        if getter is not None:
            return m.call(BoundV(getter[0], value), [obj, owner], {})
    return value


def _class(m: Machine, cls: ClassV, name: str) -> AV:
    from agent.evaluation.models import class_extra

    found = class_attribute(m, cls, name)
    if found is not None:
        value, owner = found
        if isinstance(value, StaticV):
            return value.func
        if isinstance(value, ClassMethodV):
            return BoundV(value.func, cls)
        if isinstance(value, Instance) and isinstance(value.cls, ClassV):
            getter = class_attribute(m, value.cls, "__get__")
            if getter is not None:
                return m.call(BoundV(getter[0], value), [NONE, owner], {})
        return value
    simple = {"__name__": cls.name, "__qualname__": cls.qualname, "__module__": _module_name(m, cls.module), "__doc__": None}
    if name in simple:
        return Const(simple[name])
    if name == "__mro__":
        return Tup((*cls.mro, ExternV("builtins.object")))
    if name == "__dict__":
        return m.new_dict({n: (Const(n), m.load((cls, n)) or NONE) for n in cls.names})
    if name in ("__init__", "__new__", "__setattr__", "__eq__") and not cls.opaque:
        from agent.evaluation.models import plain_objects

        return plain_objects.method(name) or Unk(f"{cls.name}.{name}", "object")
    extra = class_extra(m, cls, name)
    if extra is not None:
        return extra
    for base in cls.opaque:
        if builtin_type(ExternV(base)) is None:
            return m.missing(f"attribute {name!r} of {cls.name} may come from {base}, which is outside the tree")
        if hasattr(builtin_type(ExternV(base)), name):
            return ExternV(f"{base}.{name}")
    meta = metaclass(cls)
    if isinstance(meta, ClassV):
        inherited = class_attribute(m, meta, name)
        if inherited is not None:
            return bind_to(m, inherited[0], cls, meta, name)
        hook = class_attribute(m, meta, "__getattr__")
        if hook is not None:
            return m.call(BoundV(hook[0], cls), [Const(name)], {})
    return Unk(f"{cls.name}.{name}", "object") if hasattr(type, name) else ABSENT


def _module_name(m: Machine, module: ModuleV) -> object:
    """Of the module that is run as the program it is ``__main__``."""
    cell = m.state.get((module, "__name__"))
    return cell.value.v if cell is not None and isinstance(cell.value, Const) else module.dotted


def _builtin(m: Machine, obj: BuiltinV, name: str) -> AV:
    from agent.evaluation.models import plain_objects
    from agent.evaluation.models.typing_forms import module_of

    if name in ("__name__", "__qualname__") and hasattr(builtins, obj.name):
        return Const(obj.name)
    if name == "__module__" and module_of(obj):
        return Const(module_of(obj))
    found = plain_objects.method(name) if obj.name == "object" else None
    return found or Unk(f"attribute {name!r} of {obj!r}")


def plain_attribute(m: Machine, obj: AV, name: str) -> AV:
    """What is found without ``__getattr__``; ABSENT where there is certainly nothing."""
    if not isinstance(obj, Instance) or not isinstance(obj.cls, ClassV):
        return lookup_attribute(m, obj, name)
    if _read_hook(m, obj.cls) is None and class_attribute(m, obj.cls, "__getattr__") is None:
        return lookup_attribute(m, obj, name)
    own = m.load((obj, name))
    if own is not None:
        return own
    found = class_attribute(m, obj.cls, name)
    return bind_to(m, found[0], obj, found[1], name) if found is not None else Unk(obj.open) if obj.open else ABSENT


def _module(m: Machine, module: ModuleV, name: str) -> AV:
    from agent.evaluation.modules import module_attribute

    return module_attribute(m, module, name)


def _extern(m: Machine, obj: ExternV, name: str) -> AV:
    from agent.evaluation.modules import extern_attribute

    return extern_attribute(m, obj, name)


def _native(m: Machine, obj: AV, name: str) -> AV:
    from agent.evaluation.models import native_method

    return native_method(m, obj, name)


def _unknown(m: Machine, obj: Unk, name: str) -> AV:
    if obj.typ in _NATIVE_TYPES and not hasattr(_NATIVE_TYPES[obj.typ], name):
        return ABSENT
    return m.missing(obj.reason)


_NATIVE_TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "float": float, "bytes": bytes, "NoneType": type(None)}


def _one_of(m: Machine, obj: OneOf, name: str) -> AV:
    found = []
    for item in obj.values:
        if item is not ABSENT:
            found.append(lookup_attribute(m, item, name))
    return one_of(found)


def _super(m: Machine, obj: SuperV, name: str) -> AV:
    receiver = obj.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    mro = cls.mro if isinstance(cls, ClassV) else ()
    after = mro[mro.index(obj.cls) + 1 :] if obj.cls in mro else ()
    for klass in after:
        value = m.load((klass, name))
        if value is not None and value is not ABSENT:
            if isinstance(receiver, ClassV) and isinstance(value, FuncV):
                return value if name == "__new__" else BoundV(value, receiver)
            return bind_to(m, value, receiver, klass, name)
    from agent.evaluation.models import super_method

    return super_method(m, obj, name)


def _function(m: Machine, obj: FuncV, name: str) -> AV:
    own = m.load((obj, name))
    if own is not None:
        return own
    simple = {"__name__": obj.name, "__qualname__": obj.qualname, "__module__": _module_name(m, obj.module), "__wrapped__": None}
    if name in simple and name != "__wrapped__":
        return Const(simple[name])
    return Unk(f"attribute {name!r} of function {obj.qualname}") if name.startswith("__") else ABSENT


def _subscripted(m: Machine, obj: AliasV, name: str) -> AV:
    from agent.evaluation.models.typing_forms import module_of

    if name == "__module__" and module_of(obj):
        return Const(module_of(obj))
    return {"__origin__": obj.origin, "__args__": Tup(obj.args)}.get(name) or lookup_attribute(m, obj.origin, name)


def _bound(m: Machine, obj: BoundV, name: str) -> AV:
    if name == "__self__":
        return obj.receiver
    return obj.func if name == "__func__" else lookup_attribute(m, obj.func, name)


def _property(m: Machine, obj: PropertyV, name: str) -> AV:
    return {"fget": obj.fget, "fset": obj.fset or NONE}.get(name, Unk(f"property.{name}"))


_LOOKUPS: dict[type[AV], Callable[[Machine, Any, str], AV]] = {
    Instance: _instance,
    ClassV: _class,
    ModuleV: _module,
    ExternV: _extern,
    Const: _native,
    ListObj: _native,
    DictObj: _native,
    Tup: _native,
    Unk: _unknown,
    OneOf: _one_of,
    SuperV: _super,
    FuncV: _function,
    BoundV: _bound,
    PropertyV: _property,
    BuiltinV: _builtin,
    AliasV: _subscripted,
}


def set_attribute(m: Machine, obj: AV, name: str, value: AV) -> None:
    """``obj.name = value``."""
    if isinstance(obj, OneOf):
        for item in obj.values:
            _weak_set(m, item, name, value)
        return
    if isinstance(obj, Instance):
        _set_instance(m, obj, name, value)
    elif isinstance(obj, (ClassV, ModuleV, FuncV)):
        if isinstance(obj, ClassV) and name not in obj.names:
            obj.names.append(name)
        m.store((obj, name), value)
    elif isinstance(obj, Unk):
        m.may_raise(obj.reason)
        for each in m.singletons.get("given to others", ()):  # what code outside the tree gives may be what it was given
            if m.load((each, name)) is not None:
                _weak_set(m, each, name, value)
    elif isinstance(obj, Const):
        m.throw_new("AttributeError", f"{type(obj.v).__name__!r} object has no attribute {name!r}")


def _weak_set(m: Machine, obj: AV, name: str, value: AV) -> None:
    if isinstance(obj, Instance):
        old = m.load((obj, name))
        m.store((obj, name), one_of([old if old is not None else ABSENT, value]))


def _set_instance(m: Machine, obj: Instance, name: str, value: AV) -> None:
    cls = obj.cls
    if isinstance(cls, ClassV):
        reads = list(m.reads)
        found = class_attribute(m, cls, name)
        if found is not None and isinstance(found[0], PropertyV) and not found[0].cached:
            if found[0].fset is None:
                m.throw_new("AttributeError", f"property {name!r} of {cls.name!r} object has no setter")
            else:
                m.call(found[0].fset, [obj, value], {})
            return
        if found is not None and isinstance(found[0], Instance) and isinstance(found[0].cls, ClassV):
            setter = class_attribute(m, found[0].cls, "__set__")
            if setter is not None:
                m.call(BoundV(setter[0], found[0]), [obj, value], {})
                return
        hook = class_attribute(m, cls, "__setattr__")
        if hook is not None and isinstance(hook[0], FuncV):
            m.call(BoundV(hook[0], obj), [Const(name), value], {})
            return
        m.reads = reads
        if cls.dataclass is not None and not is_off(cls.dataclass.get("frozen", FALSE)):
            m.may_raise(f"{cls.name} is frozen")
    m.store((obj, name), value)


def raw_set(m: Machine, obj: AV, name: str, value: AV) -> None:
    """``object.__setattr__``: past every hook."""
    if isinstance(obj, Instance):
        m.store((obj, name), value)


def delete_attribute(m: Machine, obj: AV, name: str) -> None:
    """``del obj.name``."""
    if isinstance(obj, Instance) and isinstance(obj.cls, ClassV):
        found = class_attribute(m, obj.cls, name)
        if found is not None and isinstance(found[0], (PropertyV, Instance)):
            from agent.evaluation.invocation import forget_all

            m.may_raise(f"what deleting {name} does is not followed")
            forget_all(m, obj, f"what deleting {name} does is not followed")
            return
    if isinstance(obj, (Instance, ClassV, ModuleV)):
        if m.load((obj, name)) in (None, ABSENT) and not (isinstance(obj, Instance) and obj.open):
            m.throw_new("AttributeError", name)
            raise Dead
        m.store((obj, name), ABSENT)
