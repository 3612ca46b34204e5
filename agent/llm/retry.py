"""Waiting and trying again: exponential backoff with full jitter, never beyond the asker's time."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from agent.llm.interface import BudgetSpent, TransientFailure

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """``tries`` in all; waits grow from ``first`` to ``longest`` seconds, each drawn between zero and its bound.

    A ``Retry-After`` of the endpoint is a floor, up to ``longest_asked`` seconds.
    """

    tries: int = 6
    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 120.0
    sleep: Sleep = asyncio.sleep
    clock: Clock = time.monotonic
    draw: Callable[[float, float], float] = field(default_factory=lambda: random.Random().uniform)

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds before try number ``attempt`` + 1."""
        drawn = self.draw(0.0, min(self.longest, self.first * 2**attempt))
        return drawn if asked is None else min(asked, self.longest_asked) + drawn

    async def call(self, once: Callable[[], Awaitable[T]], *, seconds: float = 0.0) -> T:
        """The first success; the last TransientFailure once tries are used up; BudgetSpent where waiting would pass ``seconds``."""
        started = self.clock()
        for attempt in range(self.tries):
            try:
                return await once()
            except TransientFailure as failure:
                if attempt + 1 == self.tries:
                    raise
                pause = self.wait(attempt, failure.retry_after)
                if seconds and self.clock() - started + pause > seconds:
                    raise BudgetSpent(f"no time left to try again after: {failure.what}") from failure
            await self.sleep(pause)
        raise AssertionError("tries is at least 1")
