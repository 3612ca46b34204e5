"""Secrets that only whole rows show: blocks below a secret's name in JSON, YAML, Python and shell, and rows of encoded bytes."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.domain.secrets import hides_all, is_strong, placeholder

_OPENERS = frozenset(":=[{(|>-+\"'")
_SHORTEST_ROW = 4
_SHORTEST_ENCODED = 20
# A secret's name at the end of its row, with what opens its value, and the value in the rows below.
_BLOCK = re.compile(
    r"(?P<indent>[ \t]*)(?:export |- )?[\"']?(?P<name>[A-Za-z_][\w.-]{0,80})[\"']?[ \t]*[:=][ \t]*(?:!\S+[ \t]+)?"
    r"(?P<open>[\[{(]?|[|>][-+\d]*|[bruf]{0,2}(?:\"\"\"|\'\'\')\\?|<<[-~]?[\"']?(?P<end>\w+)[\"']?)[ \t]*"
)
_HERE = re.compile(r"<<[-~]?[\"']?\w+[\"']?\s*\Z")
_SCALAR = re.compile(
    r"""(?P<before>^[ \t]*-[ \t]+|[:=,\[{(][ \t]*|^[ \t]*)"""
    r"""(?:(?P<quoted>\\*"[^"]*"|'[^']*')(?![ \t]*:)|(?P<bare>(?<=[:=-][ \t])[^\s"'\[\]{}(),]+))"""
)
_PAIR_OR_ITEM = re.compile(r"[ \t]*(?:-[ \t]|[\"']?[\w.-]+[\"']?[ \t]*[:=])")
_OBJECT_OF_SECRETS = re.compile(r"[\"']?kind[\"']?[ \t]*[:=][ \t]*[\"']?Secret\b")
_DATA = frozenset(("data", "stringData"))
# A row that is nothing but encoded bytes, also as grep shows it: part of a key whose first row is not shown.
_ENCODED = re.compile(r"(?P<before>(?:[^\0]*\0\d+:|/[^:]*:\d+:)?[ \t]*)(?=.*\d)(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+/]{20,}={0,2}[ \t]*")


def mask_rows(text: str) -> str:
    """The text with such rows masked; as many rows as before."""
    rows = text.split("\n")
    data = _DATA if "Secret" in text and _OBJECT_OF_SECRETS.search(text) else frozenset[str]()
    changed, behind = False, 0
    for number, row in enumerate(rows):
        if len(row) < _SHORTEST_ROW or number < behind:  # what is within a block opens no other
            continue
        if " " not in row[-_SHORTEST_ENCODED:] and (encoded := _ENCODED.fullmatch(row)):
            rows[number] = encoded["before"] + placeholder("encoded")
            changed = True
        elif opening := _opening(row, data):
            behind = _mask_block(rows, number, opening)
            changed = True
    return "\n".join(rows) if changed else text


def open_block(text: str) -> int:
    """Where the first block begins that rows after this text may belong to; the text's length where there is none."""
    ended = text.split("\n")
    rows = [row.rstrip("\r") for row in ended]
    whole = len(rows) - (rows[-1] == "")
    at = behind = 0
    for number, row in enumerate(rows):
        opening = _opening(row, _DATA) if len(row) >= _SHORTEST_ROW and number >= behind else None
        if opening is not None:
            behind = _end_of_block(rows, number, opening)
            if behind >= whole:
                return at
        at += len(ended[number]) + 1
    return len(text)


def mask_scalars(name: str, text: str) -> str:
    """Every value in one row of JSON, YAML or Python."""
    return _SCALAR.sub(_hidden(name), text)


def _opening(row: str, data: frozenset[str]) -> re.Match[str] | None:
    if row.rstrip()[-1:] not in _OPENERS and not ("<<" in row and _HERE.search(row)):
        return None
    opening = _BLOCK.fullmatch(row)
    return opening if opening and (is_strong(opening["name"]) or opening["name"] in data) else None


def _mask_block(rows: list[str], start: int, opening: re.Match[str]) -> int:
    """Masks every value of the block; the first row behind it."""
    text_alone = opening["open"][:1] not in ("", "[", "{", "(")
    end = _end_of_block(rows, start, opening)
    for number in range(start + 1, end):
        row = rows[number]
        if row.strip() and (text_alone or not (opening["open"] or _PAIR_OR_ITEM.match(row))):
            if hides_all(row):
                rows[number] = row[: len(row) - len(row.lstrip())] + placeholder(opening["name"])
        else:
            rows[number] = mask_scalars(opening["name"], row)
    return end


def _end_of_block(rows: list[str], start: int, opening: re.Match[str]) -> int:
    """The first row behind it: after the closing bracket or word, or, where there is none, the first that is not indented deeper."""
    sign, indent = opening["open"], len(opening["indent"])
    depth = 1
    for number in range(start + 1, len(rows)):
        row = rows[number]
        if sign[:1] in ("[", "{", "("):
            depth += sum(row.count(sign) for sign in "[{(") - sum(row.count(sign) for sign in "]})")
            if depth <= 0:
                return number + 1
        elif sign[:1] in ("|", ">", ""):
            deeper = len(row) - len(row.lstrip()) > indent or (not sign and row[indent : indent + 2] == "- ")
            if row.strip() and not deeper:
                return number
        elif (opening["end"] and row.strip() == opening["end"]) or (not opening["end"] and row.rstrip().endswith(sign.strip("bruf\\"))):
            return number + (not opening["end"] and row.strip() != sign.strip("bruf\\"))
    return len(rows)


def _hidden(name: str) -> Callable[[re.Match[str]], str]:
    def hide(match: re.Match[str]) -> str:
        value = match["quoted"].lstrip("\\")[1:-1] if match["quoted"] else match["bare"]
        quote = match["quoted"].lstrip("\\")[:1] if match["quoted"] else ""
        return f"{match['before']}{quote}{placeholder(name)}{quote}" if hides_all(value) else match[0]

    return hide
