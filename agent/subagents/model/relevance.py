"""Whether a line has to do with a symptom: they must share a name, or a word that is rare in the code; which proves nothing yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent.domain.investigation import Symptom
from agent.domain.source import SourceTree

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]")
_LETTERS = re.compile(r"[a-z]+|\d+")
_PLAIN = re.compile(r"[A-Za-z0-9_]+")
_PARTS = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|#.*|[^"'#]+|.""")
"""A line in pieces: text in quotes, a comment, the rest."""
_BRANCH = re.compile(r"\s*(?:el(?:se|if)\b|except\b|finally\b|case\b|[)\]}])")
_PHRASE = 5
"""Words in a row that make a phrase."""
_TELLING = 3
"""Words of a phrase that are not everybody's."""
_LONGEST_BLOCK = 120
_RARE = 0.03
"""Share of the Python files in which a plain word may occur and still tell something."""
_SHORTEST = 5
_TOO_COMMON = frozenset(
    "about after again all always although and any argument are because been before but cache called code config count could default "
    "disabled does empty enabled error even every exactly extra false file flag from gives have however into length less level line lines "
    "list local longer many model models more must name never none not null number off only option options other output passed process "
    "request requests result return right same server setting should silent silently size slow some still than that the their there this "
    "true type under used user using value values very warning was were what when where which while will with without word words work "
    "works wrong your".split(" ")
)


def names_in(symptom: Symptom) -> frozenset[str]:
    """What the symptom spells like code: ``spec_accept_rate``, ``--reasoning-parser``, ``meta_info``."""
    words = (_even(word) for word in _WORD.findall(symptom.text))
    return frozenset(word for word in words if "_" in word)


def words_in(symptom: Symptom) -> frozenset[str]:
    """Its plain words that are long enough and not everybody's."""
    parts = (part for word in _WORD.findall(symptom.text) for part in _even(word).split("_"))
    return frozenset(part for part in parts if len(part) >= _SHORTEST and part not in _TOO_COMMON)


def shared_word(symptom: Symptom, code: Iterable[str], tree: SourceTree) -> str:
    """The name or rare word that symptom and code share; empty where they share none."""
    text = " ".join(without_comments(piece) for piece in code)
    found = {_even(word) for word in _WORD.findall(text)} | set(re.findall(r"[a-z0-9_]+", _even(text)))
    for name in sorted(names_in(symptom), key=lambda n: (-len(n), n)):
        if any(_contains(other, name) for other in found):
            return name
    parts = {part for word in found for part in re.split(r"[_.]", word)}
    shared = sorted(words_in(symptom) & parts, key=lambda w: (-len(w), w))
    return next((word for word in shared if _is_rare(word, tree)), "")


def shared_phrase(symptom: Symptom, lines: list[str], line: int) -> str:
    """A run of words that symptom and the branches of the condition at ``line`` (from 1) share: a message that one of them prints.

    Words of adjacent string literals follow one another. Empty where there is none that is long and telling enough.
    """
    printed = [literal for text in _branches(lines, line) for literal in _literals(text)]
    code = [word.casefold() for literal in printed for word in _PLAIN.findall(literal)]
    said = [word.casefold() for word in _PLAIN.findall(symptom.text)]
    runs = {tuple(code[at : at + _PHRASE]) for at in range(len(code) - _PHRASE + 1)}
    starts = [at for at in range(len(said) - _PHRASE + 1) if tuple(said[at : at + _PHRASE]) in runs]
    phrases = [said[first : last + _PHRASE] for first, last in _stretches(starts)]
    telling = [phrase for phrase in phrases if sum(len(word) > 2 and word not in _TOO_COMMON for word in phrase) >= _TELLING]
    return max((" ".join(phrase) for phrase in telling), key=len, default="")


def _stretches(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of numbers that follow one another."""
    for at, number in enumerate(numbers):
        if at == 0 or numbers[at - 1] != number - 1:
            last = number
            while last + 1 in numbers:
                last += 1
            yield number, last


def without_comments(code: str) -> str:
    """Code alone: what a comment says may have been written for whoever reads it."""
    return "\n".join("".join(part for part in _PARTS.findall(line) if not part.startswith("#")) for line in code.split("\n"))


def _literals(line: str) -> list[str]:
    """The texts in quotes on one line, comments and docstrings left out."""
    if line.lstrip().startswith(('"""', "'''")):
        return []
    return [part[1:-1] for part in _PARTS.findall(line) if part[0] in "\"'" and len(part) > 1]


def _branches(lines: list[str], line: int) -> list[str]:
    """The statement that begins at ``line``: what is indented deeper, and the branches at its own depth."""
    if not 0 < line <= len(lines):
        return []
    depth = _depth(lines[line - 1])
    block = []
    for text in lines[line : line + _LONGEST_BLOCK]:
        if text.strip() and _depth(text) <= depth and not (_depth(text) == depth and _BRANCH.match(text)):
            break
        block.append(text)
    return block


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def setting_is_meant(symptom: Symptom, name: str) -> bool:
    """Whether the symptom speaks of this setting: by name, or by every telling part of it."""
    name = _even(name)
    if name in names_in(symptom):
        return True
    said = {part for word in _WORD.findall(symptom.text) for part in _even(word).split("_")}
    telling = [part for part in name.split("_") if part not in ("enable", "disable", "use", "no", "max", "min")]
    return bool(telling) and all(any(_stem(part) == _stem(word) for word in said) for part in telling)


def _even(word: str) -> str:
    """Upper and lower case, flags and fields, dots and underscores read alike."""
    return word.lstrip("-").replace("-", "_").replace(".", "_").casefold()


def _contains(longer: str, name: str) -> bool:
    return f"_{name}_" in f"_{longer}_"


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def _is_rare(word: str, tree: SourceTree) -> bool:
    files = sum(path.endswith(".py") for path in tree.files())
    spellings = {word, word.upper(), word.capitalize()}
    return sum(1 for _ in tree.containing(s.encode() for s in spellings)) <= max(1, files * _RARE)
