"""Numbers of things in a sentence."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 finding``, ``2 findings``; ``many`` where an s is not enough."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def are(number: int) -> str:
    """The verb that goes with that many."""
    return "is" if number == 1 else "are"


def size(count: int) -> str:
    """Bytes as a person reads them, in powers of ten."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"
