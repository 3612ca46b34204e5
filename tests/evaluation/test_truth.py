"""The strong tables of Kleene, cell by cell, and the laws that follow from them."""

from __future__ import annotations

import itertools

import pytest

from agent.domain.truth import Truth

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
AND = {(T, T): T, (T, F): F, (T, U): U, (F, T): F, (F, F): F, (F, U): F, (U, T): U, (U, F): F, (U, U): U}
OR = {(T, T): T, (T, F): T, (T, U): T, (F, T): T, (F, F): F, (F, U): U, (U, T): T, (U, F): U, (U, U): U}
NOT = {T: F, F: T, U: U}


@pytest.mark.parametrize(("left", "right"), list(itertools.product(Truth, Truth)))
def test_and_or(left: Truth, right: Truth) -> None:
    assert (left & right) is AND[left, right]
    assert (left | right) is OR[left, right]


@pytest.mark.parametrize("value", list(Truth))
def test_not(value: Truth) -> None:
    assert ~value is NOT[value]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(Truth, Truth)))
def test_an_unknown_stands_for_both_booleans(left: Truth, right: Truth) -> None:
    """A known result holds whatever the unknown is; an unknown result is one that both booleans can make."""
    for strong, plain in ((left & right, lambda a, b: a and b), (left | right, lambda a, b: a or b)):
        results = {plain(a, b) for a in _booleans(left) for b in _booleans(right)}
        assert strong is (Truth.of(results.pop()) if len(results) == 1 else U)


def _booleans(value: Truth) -> tuple[bool, ...]:
    return {T: (True,), F: (False,), U: (True, False)}[value]


def test_a_truth_is_no_boolean() -> None:
    with pytest.raises(TypeError):
        bool(U)


def test_of() -> None:
    assert [Truth.of(each) for each in (True, False, None)] == [T, F, U]
