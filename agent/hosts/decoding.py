"""Undoes on arrival what the host compressed, so that both ends work at the same time; the first bytes tell the format."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

MOST_AT_ONCE = 1_000_000
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's way to say "with a gzip header"


class Damaged(ValueError):
    """What arrived is not the stream that was sent."""


class Decoder:
    """Feed it pieces in order; ``complete`` tells at the end whether the stream came to its own end."""

    def __init__(self) -> None:
        self._first = b""
        self._inner: Any = None
        self._plain = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The decoded bytes that are certain now, a bounded piece at a time: few bytes may stand for gigabytes. Raises Damaged."""
        if self._inner is None and not self._plain:
            piece = self._first + piece
            if len(piece) < len(_ZSTD):
                self._first = piece
                return
            self._inner = _opened(piece)
            self._plain = self._inner is None
        if self._plain:
            yield piece
            return
        if self._inner.eof and piece:
            raise Damaged("it goes on behind its own end")
        more = bool(piece)
        while more and not self._inner.eof:
            try:
                decoded = self._inner.decompress(piece, MOST_AT_ONCE)
            except Exception as error:  # each library has its own class
                raise Damaged(str(error)) from error
            more = len(decoded) == MOST_AT_ONCE
            piece = getattr(self._inner, "unconsumed_tail", b"")  # zlib gives back what it has not looked at, zstd keeps it
            yield decoded

    @property
    def complete(self) -> bool:
        return self._inner is None or bool(self._inner.eof)

    @property
    def rest(self) -> bytes:
        """Bytes too few to tell a format by, which are then plain."""
        return self._first if self._inner is None and not self._plain else b""


def formats() -> str:
    """The compressions this machine can undo: ``z`` zstd, ``g`` gzip."""
    return "zg" if _zstd() else "g"


def _opened(piece: bytes) -> Any:
    if piece.startswith(_GZIP):
        return zlib.decompressobj(_GZIP_WINDOW)
    return _zstd().ZstdDecompressor() if piece.startswith(_ZSTD) else None


def _zstd() -> Any:
    """The standard library's module from Python 3.14 on, its backport before; None where neither is there."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
