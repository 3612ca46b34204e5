"""``enum``: members were made with the class; here are ``auto``, ``unique`` and what a class and its members offer."""

from __future__ import annotations

from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee
from agent.evaluation.values import AV, ClassV, Const, ExternV, Instance, PropertyV


def _auto(m: Machine, args: list[AV], kwargs: dict[str, AV]) -> AV:
    return Instance(ExternV("enum.auto"))


def class_attribute(m: Machine, cls: ClassV, name: str) -> AV | None:
    """``__members__`` of an enumeration."""
    if cls.enum_members is None:
        return None
    if name in ("__members__", "_member_map_"):
        return m.new_dict({n: (Const(n), member) for n, member in cls.enum_members.items()})
    if name == "_value2member_map_":
        pairs = {}
        for member in cls.enum_members.values():
            value = m.load((member, "_value_"))
            if isinstance(value, Const):
                pairs[value.v] = (value, member)
        return m.new_dict(dict(pairs))
    return None


FUNCTIONS: dict[str, Callee] = {
    "enum.auto": _auto,
    "enum.unique": lambda m, a, k: a[0],
    "enum.verify": lambda m, a, k: Instance(ExternV("enum.verify")),
    "enum.property": lambda m, a, k: PropertyV(a[0]),
}
CONSTANTS: dict[str, Attribute] = {}
METHODS: dict[str, dict[str, Callee]] = {}
