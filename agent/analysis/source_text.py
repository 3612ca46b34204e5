"""Bytes of a file to the UTF-8 that a parser reads, and offsets in that UTF-8 back to offsets in the file's own bytes."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"
_LONE_CR = re.compile(rb"\r(?!\n)")
_UTF8 = frozenset({"utf-8", "utf-8-sig"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """``utf8`` has no BOM and ends each line in LF or CRLF; ``offset`` maps a position in it to one in the file (None: shift by ``shift``).

    ``fault``: position (in ``utf8``) and text of what makes CPython refuse the file before it parses, else None.
    """

    utf8: bytes
    shift: int = 0
    offset: Callable[[int], int] | None = None
    fault: tuple[int, str] | None = None


def read(source: bytes) -> SourceText:
    """Decodes by PEP 263 (BOM, coding cookie, else UTF-8). Never raises: what cannot be decoded is kept byte for byte with a fault."""
    shift = len(BOM) if source.startswith(BOM) else 0
    encoding, fault = _encoding(source)
    if encoding in _UTF8 or fault:
        utf8 = source[shift:]
        return SourceText(utf8=unify_newlines(utf8), shift=shift, fault=fault or _utf8_fault(utf8))
    try:
        text = source.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        return SourceText(utf8=unify_newlines(source), fault=(getattr(error, "start", 0), f"not {encoding} as its coding line says"))
    utf8 = text.encode("utf-8", "surrogatepass")
    table = _offset_table(text, encoding)
    offset = None if table is None else table.__getitem__
    return SourceText(utf8=unify_newlines(utf8), offset=offset, fault=_nul_fault(utf8))


def unify_newlines(utf8: bytes) -> bytes:
    """A lone CR ends a line in Python and nowhere else: it becomes LF, so that no offset moves."""
    return _LONE_CR.sub(b"\n", utf8) if b"\r" in utf8 else utf8


def _encoding(source: bytes) -> tuple[str, tuple[int, str] | None]:
    head = source[:2048].split(b"\n", 2)[:2]
    if not source.startswith(BOM) and not any(b"coding" in line for line in head):
        return "utf-8", None
    try:
        return tokenize.detect_encoding(io.BytesIO(source).readline)[0], None
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        return "utf-8", (0, str(error) or "unknown encoding")


def _utf8_fault(utf8: bytes) -> tuple[int, str] | None:
    try:
        utf8.decode()
    except UnicodeDecodeError as error:
        return error.start, "not UTF-8, and no coding line"
    return _nul_fault(utf8)


def _nul_fault(utf8: bytes) -> tuple[int, str] | None:
    at = utf8.find(b"\0")
    return None if at < 0 else (at, "a NUL byte")


def _offset_table(text: str, encoding: str) -> list[int] | None:
    """For each byte of the UTF-8 form of ``text`` the offset of that character in its ``encoding``; None where both agree."""
    if text.isascii() and len(text.encode(encoding, "replace")) == len(text):
        return None
    table: list[int] = []
    at = 0
    for character in text:
        table.extend([at] * len(character.encode("utf-8", "surrogatepass")))
        at += len(character.encode(encoding, "replace"))
    table.append(at)
    return table
