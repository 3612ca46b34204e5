"""Classes: creation, method resolution order, dataclasses and enums, and making instances."""

from __future__ import annotations

from agent.analysis import ir
from agent.evaluation.attributes import class_attribute
from agent.evaluation.comparison import quick_equal
from agent.evaluation.concrete import for_each, reason_of
from agent.evaluation.frames import Frame
from agent.evaluation.invocation import or_default
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell, Place
from agent.evaluation.values import (
    ABSENT,
    AV,
    AliasV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    ExternV,
    Field,
    FuncV,
    Instance,
    OneOf,
    PropertyV,
    Tup,
    Unk,
    may_lack,
    metaclass,
)

_EMPTY_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
ENUM_BASES = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "enum.ReprEnum", "strenum.StrEnum"})
RECORD_BASES = frozenset(
    {
        "typing.NamedTuple",
        "msgspec.Struct",
        "pydantic.BaseModel",
        "pydantic.main.BaseModel",
        "typing.TypedDict",
        "typing_extensions.TypedDict",
        "pydantic_settings.BaseSettings",
    }
)


def create(m: Machine, node: ir.ClassDef) -> ClassV:
    """Runs a class body and links the class."""
    bases = tuple(base for expr in node.bases for base in _base(m.eval(expr)))
    frame = m.frame
    cls = ClassV(node.name, frame.module, node, bases)
    outer = "" if frame.scope is None and not frame.is_class else frame.label + "."
    cls.qualname = outer + node.name
    cls.kwargs = {k.name: m.eval(k.value) for k in node.keywords if k.name is not None}
    link(cls)
    if RECORD_BASES & set(cls.opaque):
        cls.fields = inherited_fields(cls)
    body = Frame(frame.module, frame, None, cls.qualname)
    body.is_class, body.owner, body.locals = True, cls, cls
    body.deadline = frame.deadline
    m.frame = body
    try:
        m.block(node.body)
    finally:
        m.frame = frame
    if is_enum(cls):
        _members(m, cls)
    _set_names(m, cls)
    _init_subclass(m, cls)
    return cls


def _base(value: AV) -> tuple[AV, ...]:
    if isinstance(value, AliasV):
        value = value.origin
    if isinstance(value, (ClassV, ExternV)):
        return (value,)
    if isinstance(value, BuiltinV):
        return (ExternV(value.name if "." in value.name else f"builtins.{value.name}"),)
    if isinstance(value, OneOf):
        return (value.values[0],) if isinstance(value.values[0], (ClassV, ExternV)) else (ExternV("?"),)
    return (ExternV("?"),) if not isinstance(value, Tup) else ()


def link(cls: ClassV) -> None:
    """C3 linearisation over the classes of the tree; bases from outside are kept by name."""
    parents = [base for base in cls.bases if isinstance(base, ClassV)]
    cls.mro = (cls, *_c3([list(p.mro) for p in parents] + [list(parents)]))
    opaque = [base.dotted for base in cls.bases if isinstance(base, ExternV)]
    for parent in cls.mro[1:]:
        opaque += parent.opaque
    cls.opaque = tuple(dict.fromkeys(name for name in opaque if name not in _EMPTY_BASES))


def _c3(sequences: list[list[ClassV]]) -> list[ClassV]:
    result: list[ClassV] = []
    sequences = [s for s in sequences if s]
    while sequences:
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            head = sequences[0][0]
        result.append(head)
        sequences = [[c for c in s if c is not head] for s in sequences]
        sequences = [s for s in sequences if s]
    return result


def is_enum(cls: ClassV) -> bool:
    """Whether the class is an enumeration."""
    return bool(ENUM_BASES & set(cls.opaque))


def _auto(cls: ClassV, name: str, number: int) -> Const:
    """What ``auto()`` gives the ``number``-th member."""
    if "enum.StrEnum" in cls.opaque:
        return Const(name.lower())
    return Const(1 << (number - 1)) if {"enum.Flag", "enum.IntFlag"} & set(cls.opaque) else Const(number)


def _members(m: Machine, cls: ClassV) -> None:
    members: dict[str, Instance] = {}
    number = 0
    for name in cls.names:
        value = m.load((cls, name))
        if value is None or name.startswith("_") or isinstance(value, (FuncV, PropertyV, BuiltinV)) or _is_descriptor(value):
            continue
        cell = m.state.get((cls, name))
        if isinstance(value, Instance) and isinstance(value.cls, ExternV) and value.cls.dotted == "enum.auto":
            number += 1
            value = _auto(cls, name, number)
        elif isinstance(value, Const) and isinstance(value.v, int):
            number = value.v
        alias = next((old for old in members.values() if quick_equal(m.load((old, "_value_")) or ABSENT, value) is True), None)
        member = alias or _member(m, cls, name, value, cell)
        members[name] = member
        m.state.own[(cls, name)] = Cell(member, cell.place if cell else None)
    inherited = next((base.enum_members for base in cls.mro[1:] if base.enum_members), None)
    cls.enum_members = members or dict(inherited or {})


def _is_descriptor(value: AV) -> bool:
    return type(value).__name__ in ("StaticV", "ClassMethodV")


def _member(m: Machine, cls: ClassV, name: str, value: AV, cell: Cell | None) -> Instance:
    member = Instance(cls, f"{cls.name}.{name}")
    place = cell.place if cell else Place(cls.module.path, 0)
    for attribute, content in (("_value_", value), ("value", value), ("name", Const(name)), ("_name_", Const(name))):
        m.state.own[(member, attribute)] = Cell(content, place)
    init = class_attribute(m, cls, "__init__")
    if init is not None and isinstance(init[0], FuncV):
        m.call(BoundV(init[0], member), list(value.items) if isinstance(value, Tup) else [value], {})
    return member


def _set_names(m: Machine, cls: ClassV) -> None:
    for name in list(cls.names):
        cell = m.state.get((cls, name))
        if cell is not None and isinstance(cell.value, Instance) and isinstance(cell.value.cls, ClassV) and cls.enum_members is None:
            hook = class_attribute(m, cell.value.cls, "__set_name__")
            if hook is not None:
                m.call(BoundV(hook[0], cell.value), [cls, Const(name)], {})


def _init_subclass(m: Machine, cls: ClassV) -> None:
    for base in cls.mro[1:]:
        hook = m.load((base, "__init_subclass__"))
        if isinstance(hook, FuncV):
            m.call(BoundV(hook, cls), [], {k: v for k, v in cls.kwargs.items() if k != "metaclass"})
            return
        if hook is not None:
            return


def declare_field(m: Machine, node: ir.AnnAssign) -> None:
    """Keeps the order of annotated names for dataclasses, named tuples and structs."""
    cls = m.frame.owner
    assert cls is not None and isinstance(node.target, ir.Name)
    declared: list[ir.AnnAssign] = m.singletons.setdefault(f"fields {cls.serial}", [])
    declared.append(node)
    places: dict[str, list[Place]] = m.singletons.setdefault("declared fields", {})
    places.setdefault(node.target.id, []).append(Place(cls.module.path, node.line))
    if cls.fields is not None:
        add_field(m, cls, node)


def inherited_fields(cls: ClassV) -> dict[str, Field]:
    """Fields of the bases, outermost first."""
    fields: dict[str, Field] = {}
    for base in reversed(cls.mro[1:]):
        fields.update(base.fields or {})
    return fields


def add_field(m: Machine, cls: ClassV, node: ir.AnnAssign) -> None:
    """One annotated name becomes a field; its default is evaluated in the class body."""
    assert isinstance(node.target, ir.Name) and cls.fields is not None
    default = m.eval(node.value) if node.value is not None else None
    field = Field(node.target.id, default, None, cls.module.path, node.line)
    field.annotation = node.annotation
    if isinstance(default, Instance) and isinstance(default.cls, ExternV) and default.cls.dotted.endswith(".field"):
        describe_field(m, field, default)
    cls.fields[field.name] = field


def describe_field(m: Machine, field: Field, described: Instance) -> None:
    """Takes over what ``field(...)`` was given."""
    field.default = m.load((described, "default"))
    field.factory = m.load((described, "default_factory"))
    field.metadata = m.load((described, "metadata"))
    init, kw_only = m.load((described, "init")), m.load((described, "kw_only"))
    field.init = not (isinstance(init, Const) and init.v is False)
    field.kw_only = isinstance(kw_only, Const) and kw_only.v is True


# --- instances ---------------------------------------------------------------------------------------------------------------


def instantiate(m: Machine, cls: ClassV, args: list[AV], kwargs: dict[str, AV]) -> AV:
    """``cls(*args)``: enum look-up, ``__new__``, ``__init__`` or the generated one."""
    if cls.enum_members is not None and args:
        return by_value(m, cls, args[0])
    meta = metaclass(cls)
    if isinstance(meta, ClassV):
        hook = class_attribute(m, meta, "__call__")
        if hook is not None and not m.singletons.get(f"meta {cls.serial}"):
            m.singletons[f"meta {cls.serial}"] = True
            try:
                return m.call(BoundV(hook[0], cls), args, kwargs)
            finally:
                m.singletons[f"meta {cls.serial}"] = False
    new = class_attribute(m, cls, "__new__")
    if new is not None and isinstance(new[0], FuncV):
        made = m.call(new[0], [cls, *args], kwargs)
        if not (isinstance(made, Instance) and isinstance(made.cls, ClassV) and cls in made.cls.mro):
            return made
    else:
        made = Instance(cls, _site(m))
    initialise(m, cls, made, args, kwargs)
    m.made.setdefault(cls, []).append(made)
    return made


def _site(m: Machine) -> str:
    place = m.place()
    return f"{place.path}:{place.line}"


def initialise(m: Machine, cls: ClassV, obj: Instance, args: list[AV], kwargs: dict[str, AV]) -> None:
    """Runs ``__init__``, or fills the fields of a record."""
    init = class_attribute(m, cls, "__init__")
    if init is not None:
        m.call(BoundV(init[0], obj), args, kwargs)
    elif cls.fields is not None:
        fill_fields(m, cls, obj, args, kwargs)
    elif any(base.startswith("builtins.") for base in cls.opaque):
        m.store((obj, "args"), args[0] if len(args) == 1 else Tup(tuple(args)))
    elif not cls.opaque and (args or kwargs) and class_attribute(m, cls, "__new__") is None:
        m.throw_new("TypeError", f"{cls.name}() takes no arguments")


def fill_fields(m: Machine, cls: ClassV, obj: Instance, args: list[AV], kwargs: dict[str, AV]) -> None:
    """The generated ``__init__`` of a dataclass, NamedTuple, Struct or model, then ``__post_init__``."""
    rest, positional = dict(kwargs), list(args)
    spread = rest.pop("**", None)
    reads = m.reads
    passed_on: list[AV] = []
    for field in (cls.fields or {}).values():
        if not field.init:
            value: AV | None = None
        elif positional and not field.kw_only:
            value = positional.pop(0)
        elif field.name in rest:
            default = field.default if field.factory is None or field.factory is ABSENT else Unk(f"{field.name} may be given or not")
            value = or_default(m, rest.pop(field.name), default, f"{cls.name}() may miss the argument {field.name!r}")
        else:
            value = Unk(spread.reason) if isinstance(spread, Unk) else None
        if value is None:
            value = _default(m, cls, field)
        if field.passed_on:
            passed_on.append(value if value is not None else Unk(field.name))
        elif value is not None:
            m.state.own[(obj, field.name)] = Cell(value, Place(field.path, field.line), tuple(reads[:12]), m.control, None, "", field.name)
    surplus = [name for name, value in rest.items() if not may_lack(value)]
    if rest and not spread and not _lenient(cls):
        problem = f"{cls.name}.__init__() got an unexpected keyword argument {next(iter(surplus or rest))!r}"
        m.throw_new("TypeError", problem) if surplus else m.may_raise(problem, "TypeError")
    for name, value in rest.items():
        m.store((obj, name), value)
    m.built.append(obj)
    if positional and not _lenient(cls):
        m.throw_new("TypeError", f"{cls.name}.__init__() takes fewer positional arguments")
    m.initial[obj] = {name: m.state.get((obj, name)) for name in cls.fields or ()}
    post = class_attribute(m, cls, "__post_init__")
    if post is not None:
        m.building += 1
        try:
            m.call(BoundV(post[0], obj), passed_on, {})
        finally:
            m.building -= 1
    m.record_made(obj)


def _lenient(cls: ClassV) -> bool:
    return any("pydantic" in base for base in cls.opaque)


def _default(m: Machine, cls: ClassV, field: Field) -> AV | None:
    if field.factory is not None and field.factory is not ABSENT:
        return m.call(field.factory, [], {})
    if field.default is not None:
        return field.default
    if field.init and not _lenient(cls):
        m.throw_new("TypeError", f"{cls.name}.__init__() missing required argument: {field.name!r}")
    return None


def by_value(m: Machine, cls: ClassV, value: AV) -> AV:
    """``EnumClass(value)``; ``_missing_`` is asked where no member fits."""
    return for_each(m, value, lambda item: _by_value_one(m, cls, item))


def _by_value_one(m: Machine, cls: ClassV, value: AV) -> AV:
    members = list(dict.fromkeys((cls.enum_members or {}).values()))
    if value in members:
        return value
    undecided = []
    for member in members:
        payload = m.load((member, "_value_"))
        verdict = quick_equal(payload, value) if payload is not None else None
        if verdict is True:
            return member
        if verdict is None:
            undecided.append(member)
    if undecided:
        return m.missing(reason_of(value), "object")
    hook = class_attribute(m, cls, "_missing_")
    if hook is not None:
        found = m.call(m.getattr(cls, "_missing_"), [value], {})
        if not (isinstance(found, Const) and found.v is None):
            return found
    m.throw_new("ValueError", f"{value!r} is not a valid {cls.name}")
    return ABSENT
