"""Strong Kleene three-valued logic."""

from __future__ import annotations

from enum import Enum
from typing import NoReturn


class Truth(Enum):
    """TRUE, FALSE or UNKNOWN; combine with ``&``, ``|``, ``~`` (Kleene 1952, strong tables)."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, value: bool | None) -> Truth:
        """None is UNKNOWN."""
        return cls.UNKNOWN if value is None else cls.TRUE if value else cls.FALSE

    def __and__(self, other: Truth) -> Truth:
        if Truth.FALSE in (self, other):
            return Truth.FALSE
        return Truth.UNKNOWN if Truth.UNKNOWN in (self, other) else Truth.TRUE

    def __or__(self, other: Truth) -> Truth:
        return ~(~self & ~other)

    def __invert__(self) -> Truth:
        return _NEGATION[self]

    def __bool__(self) -> NoReturn:
        raise TypeError("a Truth has three values: compare with `is Truth.TRUE`")


_NEGATION = {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE, Truth.UNKNOWN: Truth.UNKNOWN}
