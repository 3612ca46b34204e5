"""POSIX basic regular expressions, as grep reads them without flags, as Python's."""

from __future__ import annotations

import re

_CLASSES = {
    "alpha": "A-Za-z", "digit": "0-9", "alnum": "A-Za-z0-9", "upper": "A-Z", "lower": "a-z", "space": r" \t\n\r\f\v", "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "word": "A-Za-z0-9_",
}  # fmt: skip
_SPECIAL_WHEN_ESCAPED = frozenset("(){}|+?")
_GNU = {"w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S", "b": r"\b", "B": r"\B", "<": r"\b(?=\w)", ">": r"\b(?<=\w)"}
_ASSERTIONS = frozenset(_GNU[letter] for letter in "bB<>")


def basic_regex(pattern: str, *, fixed: bool = False, ignore_case: bool = False) -> re.Pattern[bytes]:
    """The pattern over bytes in the C locale. Raises ``re.error`` for one that grep would refuse too."""
    text = re.escape(pattern) if fixed else _translated(pattern)
    return re.compile(text.encode("utf-8", "surrogateescape"), re.IGNORECASE if ignore_case else 0)


def _translated(pattern: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        piece, at = _one(pattern, at, pieces)
        pieces.append(piece)
    return "".join(pieces)


def _one(pattern: str, at: int, before: list[str]) -> tuple[str, int]:
    """The next element and where the one after it begins. Most signs mean themselves unless escaped: the other way round than in Python."""
    sign = pattern[at]
    if before and before[-1] in _ASSERTIONS and (sign == "*" or pattern.startswith((r"\+", r"\?", r"\{"), at)):
        raise re.error("a repeated word boundary, on which grep's own two matchers disagree", pattern, at)
    if sign == "\\" and at + 1 < len(pattern):
        following = pattern[at + 1]
        if following in _SPECIAL_WHEN_ESCAPED or following.isdigit():
            return (following if following in _SPECIAL_WHEN_ESCAPED else f"\\{following}"), at + 2
        return _GNU.get(following, re.escape(following)), at + 2
    if sign == "[":
        return _bracket(pattern, at)
    at_start = not before or before[-1] in ("(", "|")
    if sign == "*":
        return (r"\*" if at_start or before == ["^"] else "*"), at + 1
    if sign == "^":
        return ("^" if at_start else r"\^"), at + 1
    if sign == "$":
        at_end = at + 1 == len(pattern) or pattern.startswith((r"\)", r"\|"), at + 1)
        return ("$" if at_end else r"\$"), at + 1
    return ("." if sign == "." else re.escape(sign)), at + 1


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """``[...]``: a ``]`` at the beginning is a member, a backslash is itself, ``[:name:]`` is a class."""
    start = at + 1 + pattern.startswith("^", at + 1)
    end = pattern.find("]", start + 1)
    while end >= 0 and re.search(r"\[:[a-z]*:?$", pattern[start:end]):
        end = pattern.find("]", end + 1)
    if end < 0:
        raise re.error("unmatched [", pattern, at)
    members = pattern[start:end].replace("\\", "\\\\").replace("[:", "\0").replace("[", r"\[").replace("]", r"\]")
    members = re.sub("\0([a-z]+):\\\\]", lambda match: _CLASSES.get(match[1], ""), members).replace("\0", r"\[:")
    return f"[{'^' if start > at + 1 else ''}{members}]", end + 1
