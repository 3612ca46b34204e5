"""Frozen dataclasses to plain JSON values: field order kept, tuples to lists, enums to their value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def to_plain(value: Any) -> Any:
    """A dataclass becomes a dict of its fields; a trailing underscore (``from_``) is dropped."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name.rstrip("_"): to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (frozenset, set)):
        return sorted((to_plain(item) for item in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    return value


class Plain:
    """Mixin: ``as_dict()`` gives the JSON form of contract.md."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = to_plain(self)
        return plain
