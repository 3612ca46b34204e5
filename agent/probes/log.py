"""A server's log: the effective configuration it prints, its limits, its periodic figures, and lines that tell of trouble."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.probes.products import LogPatterns

_PAIR = re.compile(r"(?P<key>[#\w][\w #()/.-]*?)\s*[:=]\s*(?P<value>\[[^\]]*\]|[^,\s]+(?: (?:GB|MB|ms|s)\b)?)")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_CLOSE = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line and where it stands: ``number`` from 1, 0 where only its place from the end is known."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The effective configuration as printed; ``unread``: fields whose value is no literal."""

    line: LogLine
    values: Mapping[str, Any]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """What one log says about the last start in it."""

    record: Record | None = None
    limits: tuple[LogLine, ...] = ()
    batches: tuple[LogLine, ...] = ()
    notable: tuple[LogLine, ...] = ()
    starts: int = 0


def read_log(lines: Sequence[LogLine], patterns: LogPatterns) -> LogReading:
    """Reads lines in file order; of several starts in one file the last counts, as logs are appended to."""
    records = [record for line in lines if (record := _record(line, patterns.record))]
    last = records[-1] if records else None
    since = [line for line in lines if last is None or _after(line, last.line)]
    return LogReading(
        record=last,
        limits=tuple(_matching(since, patterns.limits)),
        batches=tuple(_matching(since, patterns.batch)),
        notable=tuple(_unlike(_matching(since, patterns.notable), patterns.record)),
        starts=len(records),
    )


def _after(line: LogLine, record: LogLine) -> bool:
    """Lines without a number come from the end of the file."""
    return line is not record and (line.number == 0 or line.number > record.number)


def _matching(lines: Sequence[LogLine], patterns: Sequence[re.Pattern[str]]) -> Iterator[LogLine]:
    return (line for line in lines if any(pattern.search(line.text) for pattern in patterns))


def _unlike(lines: Iterator[LogLine], patterns: Sequence[re.Pattern[str]]) -> Iterator[LogLine]:
    return (line for line in lines if not any(pattern.search(line.text) for pattern in patterns))


def _record(line: LogLine, patterns: Sequence[re.Pattern[str]]) -> Record | None:
    for pattern in patterns:
        found = pattern.search(line.text)
        if found:
            values, unread = parse_repr(found["record"])
            return Record(line=line, values=values, unread=unread) if values or unread else None
    return None


def parse_repr(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """``Name(key=value, ...)`` or ``{'key': value, ...}`` to values, and the keys whose value is no literal.

    What follows the closing bracket is ignored; a text that was cut ends with the last whole pair.
    """
    opening = re.match(r"[\w.]*[({]", text)
    if not opening:
        return {}, ()
    colon = text[opening.end() - 1] == "{"
    values: dict[str, Any] = {}
    unread: list[str] = []
    for piece in _pieces(text[opening.end() :]):
        key, literal = _split_pair(piece, ":" if colon else "=")
        if not key:
            continue
        try:
            values[key] = ast.literal_eval(literal)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            unread.append(key)
    return values, tuple(unread)


def _split_pair(piece: str, mark: str) -> tuple[str, str]:
    if mark == "=":
        key, _, value = piece.partition("=")
        return (key.strip(), value.strip()) if key.strip().isidentifier() else ("", "")
    found = re.match(r"\s*(['\"])(?P<key>.*?)\1\s*:\s*(?P<value>.*)\Z", piece, re.DOTALL)
    return (found["key"], found["value"]) if found else ("", "")


def _pieces(text: str) -> Iterator[str]:
    """The text up to its closing bracket, split at commas outside quotes and brackets."""
    start, stack, quote, at = 0, list[str](), "", 0
    while at < len(text):
        char = text[at]
        if quote:
            at += 1 if char == "\\" else 0
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _CLOSE:
            stack.append(_CLOSE[char])
        elif stack and char == stack[-1]:
            stack.pop()
        elif char in ")]}":
            yield text[start:at]
            return
        elif char == "," and not stack:
            yield text[start:at]
            start = at + 1
        at += 1


def parse_pairs(text: str) -> dict[str, Any]:
    """``key: value`` and ``key=value`` pairs of a limit or batch line, numbers as numbers; units stay in the text."""
    return {match["key"].strip(): _plain(match["value"]) for match in _PAIR.finditer(text)}


def _plain(word: str) -> Any:
    if len(word) < 40 and _NUMBER.match(word):
        return float(word) if any(mark in word for mark in ".eE") else int(word)
    return {"True": True, "False": False, "None": None}.get(word, word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Figures of periodic lines by name, in file order."""

    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def mean(self, name: str) -> float | None:
        """None where the name never appeared."""
        found = self.values.get(name)
        return sum(found) / len(found) if found else None


def batch_series(lines: Sequence[LogLine]) -> Series:
    """Numeric figures of the batch lines, e.g. ``accept len`` and ``gen throughput (token/s)``."""
    found: dict[str, list[float]] = {}
    for line in lines:
        for key, value in parse_pairs(line.text).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                found.setdefault(key, []).append(float(value))
    return Series(values={key: tuple(values) for key, values in sorted(found.items())})
