"""A search pattern that cannot take for ever: pieces of literal text in order on one line, with alternatives.

A subset of regular expressions, since a model writes them anyway: ``|`` between alternatives, ``.*`` between pieces, ``^``, ``$``,
``\\b``, ``\\s*``, ``\\s+``, and ``\\`` before punctuation. What is outside of the subset is an error that says so, never a wrong answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.domain.errors import UsageError

LONGEST = 300
_TOKEN = re.compile(r"\\b|\\s[*+]|\\[sdw](?![*+?{])|\\[^A-Za-z0-9]|\.\*\??|\.\+\??|[^\\]|\\.", re.S)
_CLASSES = {"\\b": "\\b", "\\s": "\\s", "\\d": "\\d", "\\w": "\\w", "\\s*": "\\s*?", "\\s+": "\\s+?"}
"""Runs are lazy, so that the next piece starts as early as it can."""
_REGEX = frozenset("[]{}*+?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """``alternatives``: each a run of pieces that must follow one another on a line; ``literals``: one needed text for each alternative."""

    source: str
    alternatives: tuple[tuple[re.Pattern[str], ...], ...]
    literals: tuple[str, ...]

    def found_in(self, line: str) -> bool:
        return any(_in_order(pieces, line) for pieces in self.alternatives)


def compile_pattern(source: str, *, ignore_case: bool = False) -> Pattern:
    """Raises UsageError where the pattern is empty, too long or outside the subset."""
    if re.search(r"(\\s[*+]){2}", source):
        raise UsageError(f"the pattern {source!r} has two runs of white space in a row")
    if not source or len(source) > LONGEST or "\n" in source:
        raise UsageError(f"a pattern is one line of 1 to {LONGEST} characters")
    flags = re.IGNORECASE if ignore_case else 0
    if re.search(r"(?<!\\)\([^()]*(?<!\\)\|", source):
        raise UsageError(f"the pattern {source!r} has | inside parentheses, which is not supported here", hint="write the alternatives out")
    read = [_alternative(tokens, source) for tokens in _alternatives(_TOKEN.findall(source))]
    return Pattern(
        source=source,
        alternatives=tuple(tuple(re.compile(piece, flags) for piece in pieces) for pieces, _ in read),
        literals=tuple(literal for _, literal in read),
    )


def _alternatives(tokens: list[str]) -> list[list[str]]:
    split: list[list[str]] = [[]]
    for token in tokens:
        if token == "|":
            split.append([])
        else:
            split[-1].append(token)
    return split


def _alternative(tokens: list[str], source: str) -> tuple[list[str], str]:
    """The pieces as regular expressions, and the longest plain text among them."""
    pieces, literal, longest = [""], "", ""
    for at, token in enumerate(tokens):
        if token in (".*", ".*?"):
            pieces.append("")
            plain = ""
        elif token in (".+", ".+?"):
            pieces[-1] += "."
            pieces.append("")
            plain = ""
        else:
            expression, plain = _one(token, source, first=at == 0, last=at + 1 == len(tokens))
            pieces[-1] += expression
        literal = literal + plain if plain else ""
        longest = max(longest, literal, key=lambda text: len(text.strip()))
    if not longest.strip():
        raise UsageError(f"the pattern {source!r} has an alternative without any text of its own")
    return [piece for piece in pieces if piece], longest


def _one(token: str, source: str, *, first: bool, last: bool) -> tuple[str, str]:
    """The expression of one token, and its plain text where it has one."""
    if token in _CLASSES:
        return _CLASSES[token], ""
    if token == "^" and first:
        return "^", ""
    if token == "$" and last:
        return "$", ""
    if token == ".":
        # Most people mean the dot of an attribute; one that matches any character would make an absence claim weaker, not wrong.
        return ".", ""
    if len(token) == 2 and not token[1].isalnum():
        return re.escape(token[1]), token[1]
    if len(token) == 1 and token not in _REGEX and token != "\\":
        return re.escape(token), token
    raise UsageError(
        f"the pattern {source!r} uses {token!r}, which is not supported here",
        hint="use plain text, |, .*, ^, $, \\b, \\s*, \\s+, and \\ before punctuation",
    )


def _in_order(pieces: tuple[re.Pattern[str], ...], line: str) -> bool:
    at = 0
    for piece in pieces:
        found = piece.search(line, at)
        if found is None:
            return False
        at = found.end()
    return True
