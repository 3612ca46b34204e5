"""What a place holds after paths meet: the least upper bound of values, and of what containers hold."""

from __future__ import annotations

from typing import Any

from agent.evaluation.values import ABSENT, AV, Map, Perhaps, Seq, Tup, one_of, perhaps, present, same

MAX_WOVEN = 400
"""Items of a list that is joined from branches with different ones."""


def join(a: AV, b: AV) -> AV:
    """Least upper bound of two values; contents of the same object join item by item."""
    if same(a, b):
        return a
    if isinstance(a, Seq) or isinstance(b, Seq):
        return _join_seq(a, b)
    if isinstance(a, Map) or isinstance(b, Map):
        return _join_map(a, b)
    if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items) and a.names == b.names:
        return Tup(tuple(map(join, a.items, b.items)), a.names, a.cls)
    return one_of((a, b))


def _join_seq(a: AV, b: AV) -> AV:
    if not (isinstance(a, Seq) and isinstance(b, Seq)):
        return a if isinstance(a, Seq) else b
    if len(a.items) == len(b.items) and not a.vague and not b.vague:
        return Seq(tuple(map(join, a.items, b.items)), a.open or b.open)
    if a.open or b.open:
        return Seq((), a.open or b.open)
    woven = _woven(a.items, b.items)
    return Seq(woven) if len(woven) <= MAX_WOVEN else Seq((), f"{len(a.items)} or {len(b.items)} items")


def _woven(a: tuple[AV, ...], b: tuple[AV, ...]) -> tuple[AV, ...]:
    """A row of items of which both ``a`` and ``b`` are selections; what is certain in both stays certain."""
    woven: list[AV] = []
    at = 0
    for item in b:
        found = next((number for number in range(at, len(a)) if same(present(a[number]), present(item))), None)
        if found is None:
            woven.append(perhaps(item))
            continue
        woven += map(perhaps, a[at:found])
        woven.append(a[found] if type(a[found]) is Perhaps else item)
        at = found + 1
    return (*woven, *map(perhaps, a[at:]))


def _join_map(a: AV, b: AV) -> AV:
    if not (isinstance(a, Map) and isinstance(b, Map)):
        return a if isinstance(a, Map) else b
    merged: dict[Any, tuple[AV, AV]] = {}
    for key in [*a.items, *(k for k in b.items if k not in a.items)]:
        left, right = a.items.get(key), b.items.get(key)
        known = left or right
        assert known is not None
        merged[key] = (known[0], join(left[1] if left else ABSENT, right[1] if right else ABSENT))
    return Map(merged, a.open or b.open)
