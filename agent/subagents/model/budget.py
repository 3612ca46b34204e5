"""Steps, tokens and seconds: counted before they are spent, for one investigator and for the whole run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.llm.interface import BudgetSpent, Usage

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds; 0 is without. ``tokens`` counts prompts and answers together."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Meter:
    """What one conversation has left; ``whole`` is the run's meter, which every conversation draws on too."""

    limits: Limits
    whole: Meter | None = None
    clock: Clock = time.monotonic
    steps: int = 0
    tokens: int = 0
    estimated: bool = False
    _held: int = 0
    _started: float = field(default=-1.0)

    def start(self) -> None:
        """The clock runs from here."""
        self._started = self.clock()

    @property
    def seconds_left(self) -> float:
        """Infinite without a limit."""
        own = self.limits.seconds - (self.clock() - self._started) if self.limits.seconds and self._started >= 0 else float("inf")
        return min(own, self.whole.seconds_left) if self.whole else own

    @property
    def steps_left(self) -> int:
        own = self.limits.steps - self.steps if self.limits.steps else 1_000_000
        return min(own, self.whole.steps_left) if self.whole else own

    @property
    def tokens_left(self) -> int:
        own = self.limits.tokens - self.tokens - self._held if self.limits.tokens else 1_000_000_000
        return min(own, self.whole.tokens_left) if self.whole else own

    def reserve(self, prompt: int, least_answer: int, most_answer: int) -> int:
        """Takes one step and holds its tokens; gives how long the answer may be. Raises BudgetSpent where there is no room for it."""
        if self.steps_left < 1:
            raise BudgetSpent("the steps are used up")
        if self.seconds_left <= 0:
            raise BudgetSpent("the time is used up")
        room = self.tokens_left - prompt
        if room < least_answer:
            raise BudgetSpent("the tokens are used up")
        answer = min(room, most_answer)
        self._hold(prompt + answer)
        self._step()
        return answer

    def settle(self, held: int, usage: Usage | None) -> None:
        """Gives back what was held and counts what was used; without an answer nothing is known to be used."""
        self._hold(-held)
        if usage is not None:
            self._spend(usage)

    def _hold(self, tokens: int) -> None:
        self._held += tokens
        if self.whole:
            self.whole._hold(tokens)

    def _step(self) -> None:
        self.steps += 1
        if self.whole:
            self.whole._step()

    def _spend(self, usage: Usage) -> None:
        self.tokens += usage.total
        self.estimated = self.estimated or usage.estimated
        if self.whole:
            self.whole._spend(usage)
