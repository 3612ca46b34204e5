"""Is a regular expression safe to search in a text that somebody else wrote? Some take time that doubles with every character.

That is so where a repetition can read the same text in two ways, as in ``(a+)+`` or ``(a|a)*``. Asked of the automaton whose states are the
pattern's characters: is there a state from which two different paths come back to it over the same text?
"""

from __future__ import annotations

import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeVar

_PARSER: Final[Any] = importlib.import_module("re._parser")
_BEYOND: Final = 1024
"""Characters above Latin-1 share this many symbols."""
_EVERY: Final = (1 << (256 + _BEYOND)) - 1
_State = TypeVar("_State")
_COPIES, _LOOP, _CHAIN = 64, 60, 4
"""Bounded repetitions are written out up to this many times; a loop of more characters is refused, and a longer row of repetitions."""


def problem_with(pattern: str) -> str:
    """Why it is no pattern, or none to search with; empty where it is fine."""
    try:
        re.compile(pattern)
        automaton = _Automaton()
        _sequence(automaton, _PARSER.parse(pattern))
        if _explodes(automaton):
            return "it can read the same text in two ways inside a repetition, which takes for ever"
        return f"more than {_CHAIN} repetitions in a row can read the same text, which takes for ever" if _row(automaton) > _CHAIN else ""
    except (re.error, OverflowError) as problem:
        return str(problem)
    except RecursionError:
        return "nested too deeply"


@dataclass(slots=True)
class _Automaton:
    """``signs``: what each state reads; ``edges``: how many ways lead from one state to the next without reading between; ``loops``: the
    states of each repetition.
    """

    signs: list[int] = field(default_factory=list)
    edges: Counter[tuple[int, int]] = field(default_factory=Counter)
    loops: list[range] = field(default_factory=list)

    def state(self, signs: int) -> _Part:
        self.signs.append(signs)
        one = Counter({len(self.signs) - 1: 1})
        return _Part(first=one, last=one, empty=0)

    def join(self, left: Mapping[int, int], right: Mapping[int, int]) -> None:
        for before, ways in left.items():
            for after, more in right.items():
                self.edges[before, after] += ways * more


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A piece of a pattern: the states it begins and ends with, and in how many ways it matches nothing."""

    first: Counter[int]
    last: Counter[int]
    empty: int


_NOTHING: Final = _Part(first=Counter(), last=Counter(), empty=1)


def _row(automaton: _Automaton) -> int:
    """The longest row of repetitions of which each can read what the one before it reads: the power with which the time grows."""
    signs = [_together(automaton.signs[state] for state in loop) for loop in automaton.loops]
    following: dict[int, list[int]] = defaultdict(list)
    for before, after in automaton.edges:
        following[before].append(after)
    longest = [1] * len(signs)
    for last in range(len(signs)):
        for earlier in range(last):
            if signs[earlier] & signs[last] and longest[earlier] >= longest[last]:
                reached = _reached(automaton.loops[earlier], lambda one: following[one])
                if reached.intersection(automaton.loops[last]):
                    longest[last] = longest[earlier] + 1
    return max(longest, default=0)


def _together(signs: Iterable[int]) -> int:
    found = 0
    for one in signs:
        found |= one
    return found


def _explodes(automaton: _Automaton) -> bool:
    inside = {state for loop in automaton.loops for state in loop}
    following: dict[int, list[int]] = defaultdict(list)
    for before, after in automaton.edges:
        if before in inside and after in inside:
            following[before].append(after)
    reach = {state: _reached([state], lambda one: following[one]) for state in inside}
    loops = {state: {other for other in reach[state] if state in reach[other]} for state in inside}
    return any(loop and _two_ways(automaton, following, state, loop) for state, loop in loops.items())


def _two_ways(automaton: _Automaton, following: Mapping[int, list[int]], state: int, loop: set[int]) -> bool:
    """Two different ways from ``state`` back to itself over one text, inside its loop."""
    if len(loop) > _LOOP or any(automaton.edges[before, after] > 1 for before in loop for after in following[before] if after in loop):
        return True

    def steps(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
        for left in following[pair[0]]:
            for right in following[pair[1]]:
                if left in loop and right in loop and automaton.signs[left] & automaton.signs[right]:
                    yield left, right

    apart = [pair for pair in _reached([(state, state)], steps) if pair[0] != pair[1]]
    return (state, state) in _reached(apart, steps)


def _reached(begin: Iterable[_State], following: Callable[[_State], Iterable[_State]]) -> set[_State]:
    """What is reached in one step or more."""
    seen: set[_State] = set()
    waiting = list(begin)
    while waiting:
        for one in following(waiting.pop()):
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return seen


def _sequence(automaton: _Automaton, items: Iterable[tuple[Any, Any]]) -> _Part:
    made = _NOTHING
    for operation, argument in items:
        made = _after(automaton, made, _PARTS.get(str(operation), _zero_width)(automaton, str(operation), argument))
    return made


def _after(automaton: _Automaton, left: _Part, right: _Part) -> _Part:
    automaton.join(left.last, right.first)
    return _Part(
        first=left.first + _times(right.first, left.empty),
        last=right.last + _times(left.last, right.empty),
        empty=left.empty * right.empty,
    )


def _times(ways: Counter[int], factor: int) -> Counter[int]:
    return Counter({state: count * factor for state, count in ways.items()}) if factor else Counter()


def _either(parts: Iterable[_Part]) -> _Part:
    first, last, empty = Counter[int](), Counter[int](), 0
    for part in parts:
        first, last, empty = first + part.first, last + part.last, empty + part.empty
    return _Part(first=first, last=last, empty=empty)


def _branch(automaton: _Automaton, _: str, argument: Any) -> _Part:
    return _either([_sequence(automaton, branch) for branch in argument[1]])


def _group(automaton: _Automaton, _: str, argument: Any) -> _Part:
    return _sequence(automaton, argument[-1])


def _repeat(automaton: _Automaton, _: str, argument: Any) -> _Part:
    low, high, body = argument
    narrow, wide = body.getwidth()
    if high <= _COPIES and (narrow == wide or high < 8):
        return _copies(automaton, low, high, body)
    began = len(automaton.signs)
    part = _sequence(automaton, body)
    automaton.loops.append(range(began, len(automaton.signs)))
    automaton.join(part.last, part.first)
    return _Part(first=part.first, last=part.last, empty=part.empty if low else 1)


def _copies(automaton: _Automaton, low: int, high: int, body: Any) -> _Part:
    """``aaa(a(a)?)?``: what may be left out is left out from the end."""
    made = _NOTHING
    for _ in range(high - low):
        made = _either([_after(automaton, _sequence(automaton, body), made), _NOTHING])
    for _ in range(low):
        made = _after(automaton, _sequence(automaton, body), made)
    return made


def _uncut(automaton: _Automaton, _: str, argument: Any) -> _Part:
    """What is never given back counts as one sign; inside, it is judged by itself."""
    inner = _Automaton()
    _sequence(inner, argument[-1] if isinstance(argument, tuple) else argument)
    return automaton.state(_together(inner.signs))


def _conditional(automaton: _Automaton, _: str, argument: Any) -> _Part:
    return _either([_sequence(automaton, one or ()) for one in argument[1:]])


def _zero_width(automaton: _Automaton, _: str, argument: Any) -> _Part:
    """Anchors, and what looks around: that is a pattern of its own."""
    if isinstance(argument, tuple):
        _sequence(automaton, argument[1])
    return _NOTHING


def _sign(automaton: _Automaton, operation: str, argument: Any) -> _Part:
    return automaton.state(_signs(operation, argument))


def _signs(operation: str, argument: Any) -> int:
    """The characters as bits; upper and lower case are one, whatever the flags say."""
    if operation == "LITERAL":
        return _bits(argument)
    if operation == "NOT_LITERAL":
        return _EVERY & ~(1 << _symbol(argument))
    if operation == "RANGE":
        return _range(*argument)
    if operation == "CATEGORY":
        return _category(str(argument))
    if operation == "IN":
        found = 0
        for kind, what in argument:
            found |= 0 if str(kind) == "NEGATE" else _signs(str(kind), what)
        return _EVERY & ~found if argument and str(argument[0][0]) == "NEGATE" else found
    return _EVERY


def _symbol(code: int) -> int:
    return code if code < 256 else 256 + code % _BEYOND


def _bits(code: int) -> int:
    both = {chr(code), chr(code).lower(), chr(code).upper()}
    found = 0
    for one in both:
        found |= 1 << _symbol(ord(one)) if len(one) == 1 else 0
    return found


def _range(low: int, high: int) -> int:
    if high >= 256:
        return _EVERY
    found = 0
    for code in range(low, high + 1):
        found |= _bits(code)
    return found


@cache
def _category(name: str) -> int:
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.rpartition("_")[2]]
    pattern = re.compile("\\" + (letter.upper() if "_NOT_" in name else letter))
    return sum(1 << symbol for symbol in range(256 + _BEYOND) if pattern.match(chr(symbol if symbol < 256 else symbol - 256 + _BEYOND)))


_PARTS: Final[Mapping[str, Callable[[_Automaton, str, Any], _Part]]] = {
    **dict.fromkeys(("LITERAL", "NOT_LITERAL", "ANY", "IN", "GROUPREF"), _sign),
    **dict.fromkeys(("MAX_REPEAT", "MIN_REPEAT"), _repeat),
    **dict.fromkeys(("ATOMIC_GROUP", "POSSESSIVE_REPEAT"), _uncut),
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "GROUPREF_EXISTS": _conditional,
}
