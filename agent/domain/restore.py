"""The way back of ``serialize``: plain JSON values to the frozen dataclasses they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from agent.domain.errors import StoreError

T = TypeVar("T")


def restore(kind: type[T], plain: Any) -> T:
    """An instance of ``kind`` from what ``to_plain`` made of it: ``to_plain(restore(k, to_plain(x))) == to_plain(x)``.

    A key that is unknown here is ignored (a later release wrote it); a missing one takes its default.
    Raises StoreError, naming the place like ``findings[0].cause``, where the shape does not fit.
    """
    result: T = _build(kind, plain, "")
    return result


def _build(kind: Any, plain: Any, where: str) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        return _instance(kind, plain, where)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return None if plain is None else _build(_not_none(kind), plain, where)
    if origin is tuple:
        return _sequence(get_args(kind), plain, where)
    return plain


def _instance(kind: Any, plain: Any, where: str) -> Any:
    if not isinstance(plain, Mapping):
        raise StoreError(f"{where or kind.__name__}: expected an object, found {type(plain).__name__}")
    hints = _hints(kind)
    arguments = {}
    for field in fields(kind):
        key = field.name.rstrip("_")
        place = f"{where}.{key}" if where else key
        if key in plain:
            arguments[field.name] = _build(hints[field.name], plain[key], place)
        elif _required(field):
            raise StoreError(f"{place}: missing")
    return kind(**arguments)


def _sequence(kinds: tuple[Any, ...], plain: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(plain, (list, tuple)):
        raise StoreError(f"{where}: expected a list, found {type(plain).__name__}")
    each = kinds[:1] * len(plain) if kinds[1:] == (...,) else kinds
    if len(each) != len(plain):
        raise StoreError(f"{where}: expected {len(each)} entries, found {len(plain)}")
    return tuple(_build(kind, item, f"{where}[{at}]") for at, (kind, item) in enumerate(zip(each, plain, strict=True)))


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _not_none(kind: Any) -> Any:
    """The one real member of ``X | None``; a wider union stays as it is read."""
    members = [member for member in get_args(kind) if member is not type(None)]
    return members[0] if len(members) == 1 else Any


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
