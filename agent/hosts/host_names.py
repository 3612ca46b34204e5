"""Host names with ranges: ``rack[1-2]-gpu[01,03-04]`` as clusters write them, ``gpu[01:32]`` and ``node-[a:f]`` as Ansible does."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from agent.domain.errors import UsageError

MOST_HOSTS = 10_000
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_NUMBERS = re.compile(r"(\d+)(?:[-:](\d+)(?:[/:](\d+))?)?")
_LETTERS = re.compile(r"([a-z]):([a-z])|([A-Z]):([A-Z])")
_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>\d+)(?P<after>\D*)")


def expand(pattern: str) -> list[str]:
    """Every name of a pattern, in order; numbers keep their leading zeros. Commas outside brackets separate patterns. Raises UsageError."""
    return [name for part in _split(pattern) for name in _expand_one(part)]


def fold(names: Iterable[str]) -> str:
    """The shortest usual way to write many names: ``gpu[01-03,07], login``. The inverse of ``expand`` up to order."""
    groups: dict[tuple[str, str, int], list[int]] = {}
    plain: list[str] = []
    for name in dict.fromkeys(names):
        match = _NUMBERED.fullmatch(name)
        if match is None or _is_address(name):
            plain.append(name)
            continue
        width = len(match["number"]) if match["number"].startswith("0") else 0
        groups.setdefault((match["before"], match["after"], width), []).append(int(match["number"]))
    folded = [_folded(before, after, width, sorted(numbers)) for (before, after, width), numbers in groups.items()]
    return ", ".join(sorted([*folded, *plain]))


def _expand_one(pattern: str) -> list[str]:
    parts = _BRACKET.split(pattern)
    if any(sign in text for text in parts[::2] for sign in "[]"):
        raise UsageError(f"{pattern!r} has a bracket without its partner", hint="write gpu[01-32]")
    choices = [[text] if index % 2 == 0 else _members(text, pattern) for index, text in enumerate(parts)]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MOST_HOSTS:
        raise UsageError(f"{pattern!r} stands for {total} hosts, more than {MOST_HOSTS}")
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def _members(text: str, pattern: str) -> list[str]:
    """The members of one bracket."""
    found: list[str] = []
    if text.count(":") > 1 and not _NUMBERS.fullmatch(text):  # an IPv6 address
        return [f"[{text}]"]
    for part in text.split(","):
        letters, numbers = _LETTERS.fullmatch(part.strip()), _NUMBERS.fullmatch(part.strip())
        if letters:
            first, last = (letters[1], letters[2]) if letters[1] else (letters[3], letters[4])
            found += [chr(code) for code in range(ord(first), ord(last) + 1)]
        elif numbers:
            found += _range(numbers, pattern)
        else:
            raise UsageError(f"{part!r} in {pattern!r} is no range", hint="write gpu[01-32] or gpu[1,3,5-8]")
    return found


def _range(match: re.Match[str], pattern: str) -> list[str]:
    first, last, step = match[1], match[2] or match[1], int(match[3] or 1)
    if int(last) < int(first) or step < 1 or int(last) - int(first) > MOST_HOSTS * step:
        raise UsageError(f"{match[0]!r} in {pattern!r} is no range", hint="write the smaller number first")
    width = len(first) if first.startswith("0") else 0
    return [str(number).zfill(width) for number in range(int(first), int(last) + 1, step)]


def _split(pattern: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(pattern):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, pattern[start:]] if part.strip()]


def _is_address(name: str) -> bool:
    return bool(re.fullmatch(r"[\d.]+|[\da-fA-F]*:[\da-fA-F:.]+", name.rpartition("@")[2].partition(":")[0] or name))


def _folded(before: str, after: str, width: int, numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]:0{width}d}" if len(run) == 1 else f"{run[0]:0{width}d}-{run[-1]:0{width}d}" for run in runs]
    return f"{before}{texts[0]}{after}" if len(numbers) == 1 else f"{before}[{','.join(texts)}]{after}"
