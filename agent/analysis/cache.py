"""Lowered modules as bytes, for a cache that lives elsewhere: loading one costs a quarter of lowering it again."""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any, Protocol

from agent.analysis import ir

LOWERING_SOURCES = (
    "imports.py",
    "index.py",
    "ir.py",
    "lower_displays.py",
    "lower_expressions.py",
    "lower_patterns.py",
    "lower_statements.py",
    "lower_stdlib.py",
    "lower_strings.py",
    "lowering.py",
    "source_text.py",
    "syntax.py",
    "words.py",
)
"""The files of this package that decide what is kept, modules and what was found in texts: a cache is good for one edition of them."""


class SummaryCache(Protocol):
    """Bytes by key; losing an entry costs time, never an answer."""

    def get(self, key: str) -> bytes | None:
        """None when it is not there, or cannot be read."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Keeps it if it can; never raises for want of room or rights."""
        ...


def pack(module: ir.Module) -> bytes | None:
    """None for a tree too deep to be written down."""
    try:
        return zlib.compress(pickle.dumps((module.body, module.errors), 5), 1)
    except RecursionError:
        return None


def unpack(content: bytes, path: str, sha256: str, source: bytes) -> ir.Module | None:
    """None for anything that ``pack`` did not write."""
    try:
        body, errors = _Unpickler(io.BytesIO(zlib.decompress(content))).load()
    except _DAMAGE:
        return None
    return ir.Module(path, sha256, source, body, errors)


_DAMAGE = (zlib.error, pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError, MemoryError)
_ADMITTED: dict[tuple[str, str], Any] = {
    ("builtins", "complex"): complex,
    ("builtins", "Ellipsis"): ...,
    **{(ir.__name__, name): kind for name, kind in vars(ir).items() if isinstance(kind, type) and issubclass(kind, ir.Node)},
}


class _Unpickler(pickle.Unpickler):
    """Admits the classes of the IR and nothing else, whoever wrote the bytes."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a syntax tree") from None
