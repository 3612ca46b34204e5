"""What ``object`` itself gives: reading, writing and deleting an attribute past the hooks of the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evaluation.contents import forget
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.values import ABSENT, AV, NONE, BuiltinV, Const, Instance, Unk

if TYPE_CHECKING:
    from agent.evaluation.machine import Machine


def _getattribute(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``object.__getattribute__(obj, name)``: the attribute, without ``__getattr__``."""
    from agent.evaluation.attributes import plain_attribute

    obj, name = args[0], args[1]
    if not isinstance(name, Const):
        return m.missing("an attribute whose name is not known")
    value = plain_attribute(m, obj, str(name.v))
    if value is ABSENT:
        m.throw_new("AttributeError", f"object has no attribute {name.v!r}")
    return value


def _setattr(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``object.__setattr__(obj, name, value)``."""
    from agent.evaluation.attributes import raw_set
    from agent.evaluation.models.builtin_functions import set_by_name

    if len(args) != 3:
        return m.missing("object.__setattr__ with other arguments")
    set_by_name(m, args[0], args[1], args[2], raw_set)
    return NONE


def _delattr(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.attributes import delete_attribute

    if len(args) == 2 and isinstance(args[1], Const):
        delete_attribute(m, args[0], str(args[1].v))
    elif args:
        forget(m, args[0], "an attribute whose name is not known was deleted")
    return NONE


def _new(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return Instance(args[0]) if args else Unk("object.__new__()")


def _names(m: Machine) -> AV:
    """``object.__dict__``: what every class inherits, and nothing else."""
    return m.new_dict({name: (Const(name), Unk(f"object.{name}", "object")) for name in sorted(vars(object))})


CONSTANTS: dict[str, Attribute] = {"builtins.object.__dict__": _names}
METHODS: dict[str, Callee] = {
    "__getattribute__": _getattribute,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__new__": _new,
    "__init__": lambda m, args, kwargs: NONE,
    "__init_subclass__": lambda m, args, kwargs: NONE,
}


def method(name: str, receiver: AV | None = None) -> BuiltinV | None:
    """``object.name``, or the same bound to ``receiver`` as ``super().name`` gives it; ``__new__`` is never bound."""
    row = METHODS.get(name)
    if row is None:
        return None
    bound = [receiver] if receiver is not None and name != "__new__" else []
    return BuiltinV(f"object.{name}", lambda machine, args, kwargs: row(machine, [*bound, *args], kwargs))
