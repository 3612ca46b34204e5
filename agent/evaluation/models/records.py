"""``dataclasses``, ``typing.NamedTuple``, ``collections.namedtuple``, ``msgspec``, ``pydantic``: classes made of fields."""

from __future__ import annotations

from agent.analysis import ir
from agent.evaluation import classes
from agent.evaluation.concrete import is_off, reason_of
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Machine
from agent.evaluation.models import plain_objects
from agent.evaluation.models.interface import Attribute, Callee, Kwargs, argument
from agent.evaluation.models.typing_forms import hint, own_annotations
from agent.evaluation.render import source_of
from agent.evaluation.values import (
    ABSENT,
    AV,
    NONE,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    Field,
    FuncV,
    Instance,
    Lazy,
    Tup,
    Unk,
)


def _dataclass(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if not args:
        return BuiltinV("dataclasses.dataclass", lambda machine, a, k: _make(machine, a[0], kwargs))
    return _make(m, args[0], kwargs)


def _make(m: Machine, cls: AV, options: Kwargs) -> AV:
    if not isinstance(cls, ClassV):
        return cls
    cls.dataclass = dict(options)
    cls.fields = classes.inherited_fields(cls)
    frame = m.frame
    declared: list[ir.AnnAssign] = m.singletons.get(f"fields {cls.serial}", [])
    named = "kw_only" in options and not is_off(options["kw_only"])
    for node in declared:
        annotation = source_of(m, node.annotation, cls.module.ir)
        if "ClassVar" in annotation or not isinstance(node.target, ir.Name):
            continue
        if annotation.rpartition(".")[2] == "KW_ONLY":
            named = True
            continue
        _add(m, cls, node)
        field = cls.fields[node.target.id]
        field.kw_only = field.kw_only or named
        field.passed_on = "InitVar" in annotation
    m.frame = frame
    return cls


def _add(m: Machine, cls: ClassV, node: ir.AnnAssign) -> None:
    """The default is what the class body stored, so it is not evaluated twice."""
    assert isinstance(node.target, ir.Name) and cls.fields is not None
    stored = m.load((cls, node.target.id)) if node.value is not None else None
    field = Field(node.target.id, stored, None, cls.module.path, node.line)
    field.annotation = node.annotation
    if isinstance(stored, Instance) and isinstance(stored.cls, ExternV) and stored.cls.dotted.endswith(".field"):
        classes.describe_field(m, field, stored)
        m.store((cls, field.name), field.default if field.default is not None else ABSENT)
    cls.fields[field.name] = field


def _field(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = Instance(ExternV("dataclasses.field"))
    for name, value in kwargs.items():
        m.store((obj, name), value)
    return obj


def _fields(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _described(m, args[0], "dataclasses.Field", ExternV("dataclasses.MISSING"))


def _struct_fields(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _described(m, args[0], "msgspec.structs.FieldInfo", ExternV("msgspec.NODEFAULT"))


def _described(m: Machine, target: AV, kind: str, missing: ExternV) -> AV:
    """The fields of a record as objects of the library's own kind; ``missing`` is what it says where there is no default."""
    cls = target.cls if isinstance(target, Instance) else target
    if not isinstance(cls, ClassV) or cls.fields is None:
        return m.missing(f"fields of {target!r}", "tuple")
    found = []
    for field in cls.fields.values():
        if field.passed_on:
            continue
        obj = Instance(ExternV(kind))
        m.store((obj, "name"), Const(field.name))
        m.store((obj, "encode_name"), Const(field.name))
        m.store((obj, "default"), field.default if field.default is not None else missing)
        m.store((obj, "default_factory"), field.factory if field.factory is not None else missing)
        m.store((obj, "required"), Const(field.default is None and field.factory is None))
        m.store((obj, "metadata"), field.metadata if field.metadata is not None else m.new_dict())
        m.store((obj, "init"), Const(field.init))
        annotation = field.annotation
        m.store((obj, "type"), Lazy(lambda a=annotation: hint(m, cls, a)) if annotation is not None else NONE)  # type: ignore[misc]
        found.append(obj)
    return Tup(tuple(found))


def _defstruct(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``msgspec.defstruct(name, fields, bases=..., namespace=...)``: a class of fields made at run time.

    Its methods come from ``namespace``; when they stand in the body of one class of the tree, the new class takes that one's place.
    """
    name, given, open_ = args[0], *iterate(m, args[1])
    if not isinstance(name, Const) or open_:
        return m.missing("a struct whose fields are not known", "type")
    bases, _ = iterate(m, kwargs["bases"]) if "bases" in kwargs else ((ExternV("msgspec.Struct"),), "")
    namespace = kwargs.get("namespace")
    members = dict(m.entries(namespace).items) if isinstance(namespace, DictObj) else {}
    owners = {value.owner for _, value in members.values() if isinstance(value, FuncV) and value.owner is not None}
    origin = owners.pop() if len(owners) == 1 else None
    cls = ClassV(str(name.v), m.frame.module, origin.node if origin is not None else None, tuple(bases))
    classes.link(cls)
    for key, value in members.values():
        assert isinstance(key, Const)
        cls.names.append(str(key.v))
        m.store((cls, str(key.v)), value)
    cls.fields = classes.inherited_fields(cls)
    if not all(_add_made(m, cls, row) for row in given):
        return m.missing("a struct of which not every field is known", "type")
    m.store((cls, "__annotations__"), m.new_dict({n: (Const(n), f.hint or Unk(f"the type of {n}")) for n, f in cls.fields.items()}))
    return cls


def _add_made(m: Machine, cls: ClassV, row: AV) -> bool:
    """A field as a name, ``(name, type)`` or ``(name, type, default)``; its place is known if only one class declares the name."""
    parts = row.items if isinstance(row, Tup) else (row,)
    if not isinstance(parts[0], Const) or cls.fields is None:
        return False
    name, default = str(parts[0].v), parts[2] if len(parts) > 2 else None
    declared = m.singletons.get("declared fields", {}).get(name, ())
    place = declared[0] if len(declared) == 1 else m.place()
    field = Field(name, default, None, place.path, place.line)
    field.hint = parts[1] if len(parts) > 1 else None
    if isinstance(default, Instance) and isinstance(default.cls, ExternV) and default.cls.dotted.endswith(".field"):
        classes.describe_field(m, field, default)
    cls.fields[name] = field
    return True


def _asdict(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = args[0]
    if not isinstance(obj, Instance) or not isinstance(obj.cls, ClassV) or obj.cls.fields is None:
        return m.missing(f"asdict of {obj!r}", "dict")
    return m.new_dict(
        {name: (Const(name), _plain(m, m.getattr(obj, name))) for name, field in obj.cls.fields.items() if not field.passed_on}
    )


def _plain(m: Machine, value: AV) -> AV:
    record = isinstance(value, Instance) and isinstance(value.cls, ClassV) and value.cls.dataclass is not None
    return _asdict(m, [value], {}) if record else value


def _replace(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = args[0]
    if not isinstance(obj, Instance) or not isinstance(obj.cls, ClassV) or obj.cls.fields is None:
        return m.missing(f"a changed copy of {obj!r}")
    given = {f.name: m.getattr(obj, f.name) for f in obj.cls.fields.values() if f.init}
    return m.call(obj.cls, [], {**given, **kwargs})


def _is_dataclass(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    target = args[0]
    cls = target.cls if isinstance(target, Instance) else target
    if isinstance(cls, ClassV):
        return Const(cls.dataclass is not None)
    return Unk(reason_of(target), "bool") if isinstance(target, Unk) else Const(False)


def _namedtuple(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    name, names = args[0], args[1]
    spelled = Tup(tuple(Const(n) for n in names.v.replace(",", " ").split())) if isinstance(names, Const) else names
    items, open_ = iterate(m, spelled)
    if open_ or not isinstance(name, Const):
        return Unk("a named tuple", "type")
    fields = tuple(str(i.v) for i in items if isinstance(i, Const))
    defaults = argument(args, kwargs, 9, "defaults")
    extra = iterate(m, defaults)[0] if defaults is not None else ()

    def make(machine: Machine, given: list[AV], named: Kwargs) -> AV:
        filled = dict(zip(fields[len(fields) - len(extra) :], extra, strict=False))
        filled.update(zip(fields, given, strict=False))
        filled.update(named)
        return Tup(tuple(filled.get(f, Unk(f"field {f}")) for f in fields), fields)

    return BuiltinV(f"namedtuple {name.v}", make)


def _pydantic_init(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = args[0]
    if isinstance(obj, Instance) and isinstance(obj.cls, ClassV) and obj.cls.fields is not None:
        classes.fill_fields(m, obj.cls, obj, args[1:], kwargs)
    return NONE


def _to_dict(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _asdict(m, args[:1], {})


def record_method(m: Machine, obj: Instance, name: str) -> AV | None:
    """What record classes give their instances besides fields."""
    cls = obj.cls
    if not isinstance(cls, ClassV) or cls.fields is None:
        return None
    if name in ("_asdict", "dict", "model_dump") and not cls.dataclass:
        return BuiltinV(name, lambda machine, args, kwargs: _asdict(machine, [obj], {}))
    if name == "_replace":
        return BuiltinV(name, lambda machine, args, kwargs: _replace(machine, [obj], kwargs))
    return None


def class_attribute(m: Machine, cls: ClassV, name: str) -> AV | None:
    """``__dataclass_fields__``, ``_fields``, ``__annotations__``."""
    if name == "__annotations__":
        return own_annotations(m, cls)
    if cls.fields is None:
        return None
    if name in ("__dataclass_fields__", "model_fields", "__struct_fields__"):
        return m.new_dict({n: (Const(n), Unk(f"field {n}", "object")) for n in cls.fields})
    if name in ("_fields", "__match_args__"):
        return Tup(tuple(Const(n) for n in cls.fields))
    return None


FUNCTIONS: dict[str, Callee] = {
    "dataclasses.dataclass": _dataclass,
    "pydantic.dataclasses.dataclass": _dataclass,
    "dataclasses.field": _field,
    "pydantic.Field": _field,
    "pydantic.fields.Field": _field,
    "msgspec.field": _field,
    "attr.s": _dataclass,
    "attrs.define": _dataclass,
    "attr.ib": _field,
    "attrs.field": _field,
    "dataclasses.fields": _fields,
    "dataclasses.asdict": _asdict,
    "msgspec.structs.asdict": _asdict,
    "msgspec.to_builtins": _asdict,
    "dataclasses.replace": _replace,
    "msgspec.structs.replace": _replace,
    "msgspec.structs.fields": _struct_fields,
    "msgspec.defstruct": _defstruct,
    **{f"msgspec.Struct.{name}": row for name, row in plain_objects.METHODS.items() if name not in ("__new__", "__init_subclass__")},
    "dataclasses.is_dataclass": _is_dataclass,
    "collections.namedtuple": _namedtuple,
}
CONSTANTS: dict[str, Attribute] = {}
METHODS: dict[str, dict[str, Callee]] = {
    "msgspec.Struct": {"__closed__": _is_dataclass},
    "pydantic.BaseModel": {"__init__": _pydantic_init, "model_dump": _to_dict, "dict": _to_dict},
    "pydantic.main.BaseModel": {"__init__": _pydantic_init, "model_dump": _to_dict, "dict": _to_dict},
}
