"""String literals of every kind to Constant and FString."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from agent.analysis import ir
from agent.analysis.lowering import Lowering, SyntaxNode

_OPENING = re.compile(rb"([A-Za-z]*)('''|\"\"\"|'|\")")
_ESCAPE = re.compile(r"\\(?:(\n)|([\\'\"abfnrtv])|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^}]+)\})")
_BYTES_ESCAPE = re.compile(r"\\(?:(\n)|([\\'\"abfnrtv])|([0-7]{1,3})|x([0-9a-fA-F]{2}))")
_SIMPLE = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_BRACES = re.compile(r"\{\{|\}\}")


def string(lo: Lowering, node: SyntaxNode) -> Any:
    """One literal as written."""
    raw = lo.utf8[node.start_byte : node.end_byte]
    opening = _OPENING.match(raw)
    if opening is None:
        return lo.unsupported(node)
    prefix = opening[1].lower()
    if b"f" in prefix:
        return ir.FString(_merged(_f_parts(lo, node, prefix, len(opening[2]))))
    if b"t" in prefix:
        return lo.unsupported(node, "template_string")
    value = _literal(raw, prefix, len(opening[0]), len(opening[2]))
    return lo.unsupported(node, "malformed string") if value is None else ir.Constant(value)


def concatenated_string(lo: Lowering, node: SyntaxNode) -> Any:
    """Adjacent literals are one; with an f-string among them the whole is an FString."""
    pieces = [lo.expr(child) for child in lo.named(node)]
    if any(isinstance(piece, ir.FString) for piece in pieces):
        parts = [part for piece in pieces for part in (piece.parts if isinstance(piece, ir.FString) else [piece])]
        return ir.FString(_merged(parts))
    if not all(isinstance(piece, ir.Constant) for piece in pieces) or len({type(piece.value) for piece in pieces}) != 1:
        return lo.unsupported(node)
    values = [piece.value for piece in pieces]
    return ir.Constant(values[0][:0].join(values))


def _literal(raw: bytes, prefix: bytes, start: int, quotes: int) -> str | bytes | None:
    if len(raw) < start + quotes:
        return None
    body = raw[start : len(raw) - quotes]
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if b"b" in prefix:
        if not text.isascii():
            return None
        return (text if b"r" in prefix else unescape(text, _BYTES_ESCAPE)).encode("latin-1")
    if "\\" not in text or b"r" in prefix:
        return text
    try:
        return unescape(text)
    except (KeyError, ValueError):
        return None


def unescape(text: str, pattern: re.Pattern[str] = _ESCAPE) -> str:
    """Backslash escapes of a literal's body; an unknown one keeps its backslash.

    Raises KeyError or ValueError for a bad ``\\N`` or ``\\U``.
    """
    return pattern.sub(_character if pattern is _ESCAPE else _byte, text)


def _character(match: re.Match[str]) -> str:
    newline, simple, octal, *hexes, name = match.groups()
    if newline:
        return ""
    if simple:
        return _SIMPLE[simple]
    if octal:
        return chr(int(octal, 8))
    if name:
        return unicodedata.lookup(name)
    return chr(int(next(digits for digits in hexes if digits), 16))


def _byte(match: re.Match[str]) -> str:
    newline, simple, octal, digits = match.groups()
    if newline:
        return ""
    if simple:
        return _SIMPLE[simple]
    return chr((int(octal, 8) if octal else int(digits, 16)) & 0xFF)


# --- f-strings ---------------------------------------------------------------------------------------------------------------


def _f_parts(lo: Lowering, node: SyntaxNode, prefix: bytes, quotes: int) -> list[ir.Expr]:
    """Fields, and the text between them by its place: the grammar's own pieces of text leave out ``\\'`` at the end of a raw string."""
    start, end = node.start_byte + len(prefix) + quotes, node.end_byte - quotes
    return _fields_and_text(lo, node, "interpolation", start, end, b"r" in prefix)


def _fields_and_text(lo: Lowering, node: SyntaxNode, kind: str, start: int, end: int, raw: bool) -> list[ir.Expr]:
    parts: list[ir.Expr] = []
    at = start
    for child in node.children:
        if child.type == kind:
            _text(lo, parts, node, at, child.start_byte, raw)
            parts.append(_field(lo, child, raw))
            at = child.end_byte
    _text(lo, parts, node, at, end, raw)
    return parts


def _text(lo: Lowering, parts: list[ir.Expr], node: SyntaxNode, start: int, end: int, raw: bool) -> None:
    if start < end:
        made = _piece(lo, start, end, raw)
        made.start_byte, made.end_byte = start, end
        made.line = node.start_point[0] + 1 + lo.utf8.count(b"\n", node.start_byte, start)
        made.end = made.line + lo.utf8.count(b"\n", start, end)
        parts.append(made)


def _piece(lo: Lowering, start: int, end: int, raw: bool) -> Any:
    """Literal text between fields: doubled braces are one, escapes are decoded."""
    text = lo.slice(start, end).replace("\r\n", "\n")
    pieces = _BRACES.split(text) if raw or "\\" not in text else None
    if pieces is not None:
        return ir.Constant(_BRACES.sub(lambda match: match[0][0], text))
    try:
        return ir.Constant("".join(_undoubled(text)))
    except (KeyError, ValueError):
        return ir.Unsupported("malformed string", text)


def _undoubled(text: str) -> list[str]:
    """Escapes first: the braces of ``\\N{DASH}`` are none of the field's."""
    out: list[str] = []
    at = 0
    for match in _ESCAPE.finditer(text):
        out.append(_BRACES.sub(lambda brace: brace[0][0], text[at : match.start()]))
        out.append(_character(match))
        at = match.end()
    out.append(_BRACES.sub(lambda brace: brace[0][0], text[at:]))
    return out


def _field(lo: Lowering, node: SyntaxNode, raw: bool) -> Any:
    """``{value = !r : spec}``. As in Python, ``=`` alone means ``!r``."""
    conversion, spec, self_text = "", None, ""
    after = node.end_byte - 1
    for child in node.children:
        kind = child.type
        if kind == "type_conversion":
            conversion = lo.text(child)[1:]
            after = min(after, child.start_byte)
        elif kind == "format_specifier":
            spec = _format_spec(lo, child, raw)
            after = min(after, child.start_byte)
    if any(child.type == "=" for child in node.children):
        self_text = lo.slice(node.start_byte + 1, after).replace("\r\n", "\n")
        conversion = conversion or ("" if spec else "r")
    value = _field_value(lo, node)
    return lo.place(ir.FormattedValue(value, conversion, spec, self_text), node)


def _field_value(lo: Lowering, node: SyntaxNode) -> Any:
    inner = [child for child in lo.named(node) if child.type not in ("type_conversion", "format_specifier")]
    if len(inner) != 1 or inner[0].type == "named_expression":  # {x:=5} is x in the format "=5"
        return lo.misreading(node)
    return lo.expr(inner[0])


def _format_spec(lo: Lowering, node: SyntaxNode, raw: bool) -> Any:
    parts = _fields_and_text(lo, node, "format_expression", node.start_byte + 1, node.end_byte, raw)
    return lo.place(ir.FString(_merged(parts)), node)


def _merged(parts: list[Any]) -> list[ir.Expr]:
    """Neighbouring text is one Constant, empty text none, as in the standard library's tree."""
    out: list[Any] = []
    for part in parts:
        if isinstance(part, ir.Constant):
            if part.value == "":
                continue
            if out and isinstance(out[-1], ir.Constant):
                before = out[-1]
                before.value += part.value
                before.end, before.end_byte = part.end, part.end_byte
                continue
        out.append(part)
    return out


ROWS = {"string": string, "concatenated_string": concatenated_string}
