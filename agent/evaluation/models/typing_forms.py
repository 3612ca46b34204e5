"""``typing`` at run time: subscripted types, their origin and arguments, and the hints of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.values import AV, NONE, AliasV, BuiltinV, ClassV, Const, DictObj, ExternV, Tup, Unk

if TYPE_CHECKING:
    from agent.evaluation.machine import Machine

_ORIGINS = {
    "typing.List": "list", "typing.Dict": "dict", "typing.Set": "set", "typing.Tuple": "tuple", "typing.FrozenSet": "frozenset",
    "typing.Type": "type",
}  # fmt: skip
NONE_TYPE = ExternV("types.NoneType")


def subscript(m: Machine, origin: AV, index: AV) -> AV:
    """``origin[index]`` of a type."""
    args = index.items if isinstance(index, Tup) else (index,)
    args = tuple(NONE_TYPE if isinstance(a, Const) and a.v is None and _name(origin) != "typing.Literal" else a for a in args)
    if _name(origin) == "typing.Optional":
        return AliasV(ExternV("typing.Union"), (*args, NONE_TYPE))
    return AliasV(origin, args)


def union(a: AV, b: AV) -> AV:
    """``A | B``."""
    parts: list[AV] = []
    for item in (a, b):
        if isinstance(item, AliasV) and _name(item.origin) == "typing.Union":
            parts += item.args
        else:
            parts.append(NONE_TYPE if isinstance(item, Const) and item.v is None else item)
    return AliasV(ExternV("typing.Union"), tuple(parts))


def _name(value: AV) -> str:
    if isinstance(value, ExternV):
        return value.dotted.replace("typing_extensions.", "typing.")
    return f"builtins.{value.name}" if isinstance(value, BuiltinV) else ""


def _get_origin(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.models import BUILTINS

    value = args[0]
    if isinstance(value, AliasV):
        builtin = _ORIGINS.get(_name(value.origin))
        if builtin is not None:
            return BUILTINS[builtin]
        return ExternV(_name(value.origin)) if isinstance(value.origin, ExternV) else value.origin
    return Unk(value.reason) if isinstance(value, Unk) else NONE


def _get_args(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    value = args[0]
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
    "types.UnionType": lambda m: ExternV("typing.Union"),
    "types.NoneType": lambda m: NONE_TYPE,
    "types.GenericAlias": lambda m: ExternV("types.GenericAlias"),
}
METHODS: dict[str, dict[str, Callee]] = {}
