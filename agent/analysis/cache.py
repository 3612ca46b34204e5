"""Lowered modules as bytes, for a cache that lives elsewhere: loading one costs a quarter of lowering it again."""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Mapping
from typing import Any, Protocol

from agent.analysis import ir


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
        body, errors = load(zlib.decompress(content), _ADMITTED)
    except DAMAGE:
        return None
    return ir.Module(path, sha256, source, body, errors)


DAMAGE = (
    zlib.error,
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    RecursionError,
)
"""What loading bytes may raise that were not written to be loaded."""
_ADMITTED: dict[tuple[str, str], Any] = {
    ("builtins", "complex"): complex,
    ("builtins", "Ellipsis"): ...,
    **{(ir.__name__, name): kind for name, kind in vars(ir).items() if isinstance(kind, type) and issubclass(kind, ir.Node)},
}


def load(content: bytes, admitted: Mapping[tuple[str, str], Any]) -> Any:
    """What was pickled, of the named classes and plain values alone, whoever wrote the bytes. Raises one of ``DAMAGE``."""
    return _Unpickler(content, admitted).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, admitted: Mapping[tuple[str, str], Any]) -> None:
        super().__init__(io.BytesIO(content))
        self._admitted = admitted

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._admitted[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not what was kept here") from None
