"""``typing`` at run time: subscripted types, their origin and arguments, and the hints of a class."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from agent.analysis import ir
from agent.evaluation.concrete import reason_of
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.values import AV, NONE, AliasV, BuiltinV, ClassV, Const, DictObj, ExternV, OneOf, Tup, Unk, same

if TYPE_CHECKING:
    from agent.evaluation.machine import Machine

_ORIGINS = {
    "typing.List": "list", "typing.Dict": "dict", "typing.Set": "set", "typing.Tuple": "tuple", "typing.FrozenSet": "frozenset",
    "typing.Type": "type",
}  # fmt: skip
MARKERS = frozenset({"pydantic.SkipValidation", "pydantic.InstanceOf", "pydantic.SerializeAsAny"})
"""Types of libraries that only mark what stands in their brackets."""
NONE_TYPE = ExternV("types.NoneType")
UNION = ExternV("typing.Union")
_FORWARD = ExternV("typing.ForwardRef")


def subscript(m: Machine, origin: AV, index: AV) -> AV:
    """``origin[index]`` of a type, with what ``typing`` does to the arguments; a type that only marks another is ``Annotated``."""
    args = index.items if isinstance(index, Tup) else (index,)
    name = _name(origin)
    if name == "typing.Literal":
        return _literal(origin, args)
    if name in MARKERS:
        return AliasV(ExternV("typing.Annotated"), (*args, ExternV(name)))
    if isinstance(origin, BuiltinV):
        return AliasV(origin, args)
    if name == "typing.Annotated":
        inner = _argument(args[0])
        return AliasV(origin, (*inner.args, *args[1:]) if _is_form(inner, name) else (inner, *args[1:]))
    args = tuple(map(_argument, args))
    if name in ("typing.Optional", "typing.Union"):
        return _union(UNION, (*args, NONE_TYPE) if name == "typing.Optional" else args)
    return AliasV(origin, args)


def union(a: AV, b: AV) -> AV:
    """``A | B``: a type of its own, as long as no form of ``typing`` is among them."""
    old = any(isinstance(each, AliasV) and _name(each.origin).startswith("typing.") for each in (a, b))
    return _union(UNION if old else ExternV("types.UnionType"), (_argument(a), _argument(b)))


def is_union(value: AV) -> TypeGuard[AliasV]:
    """Of either spelling."""
    return _is_form(value, "typing.Union") or _is_form(value, "types.UnionType")


def _is_form(value: AV, name: str) -> TypeGuard[AliasV]:
    return isinstance(value, AliasV) and _name(value.origin) == name


def _union(origin: AV, members: Sequence[AV]) -> AV:
    """Unions in unions become one; what stands twice counts once, and one member alone is itself."""
    flat = [part for each in members for part in (each.args if is_union(each) else (each,))]
    kept = _once(flat)
    return kept[0] if len(kept) == 1 else AliasV(origin, kept)


def _literal(origin: AV, members: Sequence[AV]) -> AV:
    """Literals in literals become one. How many values one has that is not known, nobody can say."""
    unknown = next((each for each in members if isinstance(each, (Unk, OneOf))), None)
    if unknown is not None:
        return Unk(reason_of(unknown), "object")
    return AliasV(origin, _once([part for each in members for part in (each.args if _is_form(each, "typing.Literal") else (each,))]))


def _once(values: Sequence[AV]) -> tuple[AV, ...]:
    return tuple(value for at, value in enumerate(values) if not any(same(value, before) for before in values[:at]))


def _argument(value: AV) -> AV:
    """``typing`` takes None for its type, and a text for a name that will be known later."""
    if isinstance(value, Const) and value.v is None:
        return NONE_TYPE
    return AliasV(_FORWARD, (value,)) if isinstance(value, Const) and isinstance(value.v, str) else value


def _name(value: AV) -> str:
    if isinstance(value, ExternV):
        return value.dotted.replace("typing_extensions.", "typing.")
    return f"builtins.{value.name}" if isinstance(value, BuiltinV) else ""


def module_of(value: AV) -> str:
    """``__module__`` of a type, a subscripted one included; empty where the library may keep it elsewhere than it is imported from."""
    name = _name(value)
    if isinstance(value, AliasV):
        inner = value.args[0] if _name(value.origin) == "typing.Annotated" else value.origin
        return module_of(inner)
    if name == "types.NoneType" or (isinstance(value, BuiltinV) and hasattr(builtins, value.name)):
        return "builtins"
    module, _, _ = name.rpartition(".")
    return module if module in ("builtins", "types", "typing", "collections.abc") else ""


def _get_origin(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.models import BUILTINS

    value = args[0]
    if _is_form(value, "typing.ForwardRef"):
        return NONE
    if isinstance(value, AliasV):
        builtin = _ORIGINS.get(_name(value.origin))
        if builtin is not None:
            return BUILTINS[builtin]
        return ExternV(_name(value.origin)) if isinstance(value.origin, ExternV) else value.origin
    return Unk(value.reason) if isinstance(value, Unk) else NONE


def _get_args(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    value = args[0]
    if _is_form(value, "typing.ForwardRef"):
        return Tup(())
    return Tup(value.args) if isinstance(value, AliasV) else Unk(value.reason, "tuple") if isinstance(value, Unk) else Tup(())


def _get_type_hints(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """The annotations of a class and its bases, evaluated in the module of each."""
    target = args[0]
    if not isinstance(target, ClassV):
        return m.missing("type hints of something that is no class of the tree", "dict")
    hints: dict[str, tuple[AV, AV]] = {}
    for cls in reversed(target.mro):
        stored = m.load((cls, "__annotations__"))
        hints |= m.entries(stored if isinstance(stored, DictObj) else own_annotations(m, cls)).items
    return m.new_dict(hints)


def own_annotations(m: Machine, cls: ClassV) -> DictObj:
    """What the class body itself annotates, evaluated."""
    declared = [node for node in m.singletons.get(f"fields {cls.serial}", []) if isinstance(node.target, ir.Name)]
    return m.new_dict({node.target.id: (Const(node.target.id), hint(m, cls, node.annotation)) for node in declared})


def hint(m: Machine, cls: ClassV, annotation: ir.Expr) -> AV:
    """One annotation as a value; a name that only type checkers see is unknown."""
    from agent.evaluation.frames import Dead, Frame

    outer = m.frame
    frame = Frame(cls.module, None, None, cls.qualname)
    frame.deadline, frame.stmt = outer.deadline, outer.stmt
    raised, catchers = len(m.raised), m.catchers
    m.frame, m.catchers = frame, []
    try:
        return m.eval(annotation)
    except Dead:
        return Unk("an annotation that cannot be evaluated", "object")
    finally:
        m.frame, m.catchers = outer, catchers
        del m.raised[raised:]


FUNCTIONS: dict[str, Callee] = {
    "typing.get_origin": _get_origin,
    "typing_extensions.get_origin": _get_origin,
    "typing.get_args": _get_args,
    "typing_extensions.get_args": _get_args,
    "typing.get_type_hints": _get_type_hints,
    "typing_extensions.get_type_hints": _get_type_hints,
    "inspect.get_annotations": _get_type_hints,
}
CONSTANTS: dict[str, Attribute] = {
    "types.UnionType": lambda m: ExternV("types.UnionType"),
    "types.NoneType": lambda m: NONE_TYPE,
    "types.GenericAlias": lambda m: ExternV("types.GenericAlias"),
}
METHODS: dict[str, dict[str, Callee]] = {}
