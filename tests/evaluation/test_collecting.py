"""The garbage collector's settings during questions."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest

from agent.evaluation.collecting import OBJECTS, OLDER, seldom_collected


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(500, 7, 8)
    yield
    gc.set_threshold(*before)


def test_questions_within_questions_put_back_what_was_set() -> None:
    with seldom_collected():
        with seldom_collected():
            assert gc.get_threshold() == (OBJECTS, *OLDER)
        assert gc.get_threshold() == (OBJECTS, *OLDER)
    assert gc.get_threshold() == (500, 7, 8)


def test_the_last_of_several_threads_puts_it_back() -> None:
    started, left = Barrier(3), Barrier(2)

    def ask(stays: bool) -> None:
        with seldom_collected():
            started.wait()
            if stays:
                left.wait()

    first, second = Thread(target=ask, args=(False,)), Thread(target=ask, args=(True,))
    first.start()
    second.start()
    started.wait()
    first.join()
    assert gc.get_threshold() == (OBJECTS, *OLDER)
    left.wait()
    second.join()
    assert gc.get_threshold() == (500, 7, 8)


@pytest.mark.parametrize("rare", [0, OBJECTS * 2])
def test_a_collector_that_is_off_or_rarer_is_left_alone(rare: int) -> None:
    gc.set_threshold(rare, 7, 8)
    with seldom_collected():
        assert gc.get_threshold() == (rare, 7, 8)
    assert gc.get_threshold() == (rare, 7, 8)


def test_an_error_puts_it_back() -> None:
    with pytest.raises(ValueError, match="x"), seldom_collected():
        raise ValueError("x")
    assert gc.get_threshold() == (500, 7, 8)
