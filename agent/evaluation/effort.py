"""What a question may still spend, what it is in the middle of working out, and what the values that it kept rest on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent.evaluation.machine import Machine

MAX_NESTING = 9
TOTAL_FUEL = 24_000
"""Statements run for one question as a whole."""


class Effort:
    """One for all questions of a launch; ``begin`` starts the next one."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.nesting = 0
        self.total = 0
        self.limit = TOTAL_FUEL
        self.cuts = 0
        self.longest: int | None = None
        """Statements that one run may take within a look that is to be short."""
        self.kept: tuple[dict[Any, Any], ...] = ()
        """What questions keep."""
        self.pending: set[object] = set()
        self.provisional: set[object] = set()
        self.assumed = dict(m.assumptions)
        self.rests: dict[object, dict[str, None]] = {}
        """What each value that is kept rests on."""

    def begin(self) -> None:
        """A new question: of the values that are ``kept``, those that an earlier one had to cut short are worked out anew."""
        self.total = 0
        self.m.assumptions = dict(self.assumed)
        self.forget_cut()

    def forget_cut(self) -> None:
        """Values that had to be cut short are worked out anew when they are next asked for."""
        for known in self.kept:
            for key in self.provisional.intersection(known):
                del known[key]
        self.provisional.clear()

    @contextmanager
    def at_most(self, statements: int) -> Iterator[None]:
        """A part of the question that must leave fuel for the others."""
        kept, self.limit = self.limit, min(self.limit, self.total + statements)
        try:
            yield
        finally:
            self.limit = kept

    @contextmanager
    def look(self, statements: int) -> Iterator[None]:
        """A short look: what it has to cut short is forgotten with it, so that nothing else rests on that."""
        longest, calls, before = self.longest, self.m.call_fuel, set(self.provisional)
        self.longest = statements if longest is None else min(longest, statements)
        self.m.call_fuel = min(calls, self.longest)
        try:
            with self.at_most(statements):
                yield
        finally:
            self.longest, self.m.call_fuel = longest, calls
            for known in self.kept:
                for key in (self.provisional - before).intersection(known):
                    del known[key]

    @contextmanager
    def apart(self, statements: int) -> Iterator[None]:
        """What one run finds for all questions: none of them pays for it, it may take more than one of them, and leads no further."""
        kept, calls = (self.total, self.limit, self.nesting), self.m.call_fuel
        self.total, self.limit, self.nesting, self.m.call_fuel = 0, statements, max(self.nesting, MAX_NESTING), statements
        try:
            yield
        finally:
            (self.total, self.limit, self.nesting), self.m.call_fuel = kept, calls

    def spent(self) -> bool:
        """Whether the question, or this part of it, has used up what it may."""
        return self.total > self.limit

    def stops(self) -> bool:
        """Whether to go no further; what rests on that is kept for this question only."""
        stops = self.nesting > MAX_NESTING or self.spent()
        self.cuts += stops
        return stops

    @contextmanager
    def working_out(self, key: object) -> Iterator[None]:
        """Around what finds one value: meanwhile it depends on itself, and what is assumed is noted with it."""
        before, outer = self.cuts, self.m.assumptions
        self.pending.add(key)
        self.m.assumptions = {}
        try:
            yield
        finally:
            self.pending.discard(key)
            self.rests[key] = self.m.assumptions
            self.m.assumptions = outer | self.m.assumptions
            if self.cuts != before:
                self.provisional.add(key)
