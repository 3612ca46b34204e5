"""Identifiers in the bytes of files: where one stands, and in which files, without parsing any."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator

_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_BLANKED = bytes(byte if byte in _WORD else 0x20 for byte in range(256))


def positions(content: bytes, word: str) -> Iterator[int]:
    """Byte offsets at which ``word`` stands as a whole; only ASCII letters, digits and the underscore continue a word."""
    raw = word.encode()
    at = content.find(raw)
    while at >= 0:
        end = at + len(raw)
        if (at == 0 or content[at - 1] not in _WORD) and (end == len(content) or content[end] not in _WORD):
            yield at
        at = content.find(raw, end)


def is_word(byte: bytes) -> bool:
    """Whether a slice of one byte continues a word; an empty one does not."""
    return bool(byte) and byte[0] in _WORD


_GAPS = b" \t\f\r\n\\"
"""What may stand between ``import`` and ``*``."""


class WordIndex:
    """Every whole ASCII word of many files, and ``*`` where one may import all names of a module.

    Made in one pass: 20 MB take a quarter of a second, as much as thirty searches.
    """

    def __init__(self, files: Iterable[tuple[str, bytes]] = ()) -> None:
        self._paths: list[str] = []
        self._numbers: dict[bytes, array[int] | int] = {}  # most words stand in one file alone
        for path, content in files:
            number = len(self._paths)
            self._paths.append(path)
            words = set(content.translate(_BLANKED).split())
            if b"import*" in content.translate(None, _GAPS):
                words.add(b"*")
            for word in words:
                found = self._numbers.get(word)
                if found is None:
                    self._numbers[word] = number
                elif isinstance(found, int):
                    self._numbers[word] = array("I", (found, number))
                else:
                    found.append(number)

    def files_with(self, word: str) -> tuple[str, ...]:
        """In the order in which the files came; ``word`` is an ASCII identifier, or ``*``."""
        found = self._numbers.get(word.encode(), ())
        return (self._paths[found],) if isinstance(found, int) else tuple(self._paths[number] for number in found)

    def pack(self) -> bytes:
        """As bytes, for ``unpack`` on a machine of this kind."""
        paths, words = "\0".join(self._paths).encode("utf-8", "surrogateescape"), b" ".join(self._numbers)
        counts, numbers = array("I"), array("I")
        for found in self._numbers.values():
            counts.append(1 if isinstance(found, int) else len(found))
            numbers.extend((found,) if isinstance(found, int) else found)
        parts = (paths, words, counts.tobytes(), numbers.tobytes())
        return _HEAD.pack(*map(len, parts)) + b"".join(parts)

    @classmethod
    def unpack(cls, content: bytes) -> WordIndex | None:
        """None for anything that ``pack`` did not write."""
        if len(content) < _HEAD.size:
            return None
        lengths = _HEAD.unpack_from(content)
        parts, at = [], _HEAD.size
        for length in lengths:
            parts.append(content[at : at + length])
            at += length
        made, words, counts, numbers = cls(), parts[1].split(), array("I"), array("I")
        if at != len(content) or len(parts[2]) % counts.itemsize or len(parts[3]) % numbers.itemsize:
            return None
        counts.frombytes(parts[2])
        numbers.frombytes(parts[3])
        made._paths = parts[0].decode("utf-8", "surrogateescape").split("\0") if parts[0] else []
        if len(words) != len(counts) or sum(counts) != len(numbers) or max(numbers, default=-1) >= len(made._paths):
            return None
        at = 0
        for word, count in zip(words, counts, strict=True):
            made._numbers[word] = numbers[at] if count == 1 else numbers[at : at + count]
            at += count
        return made


_HEAD = struct.Struct("=4Q")
KIND = f"{sys.byteorder} {array('I').itemsize}"
"""What machines must have in common to read each other's packed words."""
