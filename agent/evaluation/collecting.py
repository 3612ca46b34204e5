"""The cyclic garbage collector while a question is worked out: it looks at what lives on far too often for a store that mostly grows."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

OBJECTS = 100_000
"""New objects between two collections; Python's own 700 cost a ninth of a question's time and save no memory."""

OLDER = (5, 4)
"""Collections between two of the next generation: with Python's own (10, 10) the engines of launches that are over pile up."""

_LOCK = Lock()
_under_way: list[tuple[int, int, int]] = []
"""What was set before, once for each question that is being worked out."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Also a decorator. What the program had set comes back when the last question ends; a collector that is off or rarer stays so."""
    with _LOCK:
        before = _under_way[0] if _under_way else gc.get_threshold()
        _under_way.append(before)
        if 0 < before[0] < OBJECTS:
            gc.set_threshold(OBJECTS, *OLDER)
    try:
        yield
    finally:
        with _LOCK:
            _under_way.pop()
            if not _under_way:
                gc.set_threshold(*before)
