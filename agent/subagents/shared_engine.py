"""One engine for many askers: a question is worked out once, by one thread at a time, and the answer is kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

from agent.domain.errors import RcaError
from agent.domain.launch import Launch
from agent.domain.source import SourceTree
from agent.domain.values import Value
from agent.domain.verdict import AuditAnswer, Change, Counterfactual, ReachAnswer, Setting, Target, WhyAnswer
from agent.evaluation.interface import Engine
from agent.subagents.thinking import think

T = TypeVar("T")


class SharedEngine:
    """An ``Engine`` over another one. What is asked in ``turn`` is asked in the same order in every run."""

    def __init__(self, engine: Engine, lock: threading.RLock | None = None) -> None:
        self._engine = engine
        self._lock = lock or threading.RLock()
        self._turn = asyncio.Lock()
        self._answers: dict[Hashable, Any] = {}
        self.tree: SourceTree = engine.tree
        self.launch: Launch = engine.launch

    @property
    def inner(self) -> Engine:
        """The engine behind it, for a question about two engines: ask it while nobody else asks."""
        return self._engine

    async def turn(self, work: Callable[[], T]) -> T:
        """Thinks for one asker after the other, in the order in which they came: side by side they would only wait for each other."""
        async with self._turn:
            return await think(work)

    @property
    def assumed(self) -> Mapping[str, Any]:
        return self._engine.assumed

    def targets(self, query: str) -> tuple[Target, ...]:
        return self._once(("targets", query), lambda: self._engine.targets(query))

    def why(self, query: str, *, counterfactuals: bool = True) -> WhyAnswer:
        """An answer with counterfactuals serves a question without."""
        if not counterfactuals and ("why", query, True) in self._answers:
            return self.why(query)
        return self._once(("why", query, counterfactuals), lambda: self._engine.why(query, counterfactuals=counterfactuals))

    def after(self, query: str, changes: Sequence[Change]) -> Counterfactual | None:
        return self._once(("after", query, *_named(changes)), lambda: self._engine.after(query, changes))

    def reach(self, path: str) -> ReachAnswer:
        return self._once(("reach", path), lambda: self._engine.reach(path))

    def audit(self) -> AuditAnswer:
        return self._once(("audit",), self._engine.audit)

    def setting(self, name: str) -> Value:
        return self._once(("setting", name), lambda: self._engine.setting(name))

    def attribute(self, name: str) -> Setting | None:
        return self._once(("attribute", name), lambda: self._engine.attribute(name))

    def under(self, changes: Sequence[Change]) -> Engine:
        return self._once(("under", *_named(changes)), lambda: SharedEngine(self._engine.under(changes), self._lock))

    def _once(self, key: Hashable, answer: Callable[[], T]) -> T:
        """Errors are answers too: the same question fails the same way."""
        with self._lock:
            if key not in self._answers:
                try:
                    self._answers[key] = answer()
                except RcaError as problem:
                    self._answers[key] = problem
            found = self._answers[key]
        if isinstance(found, RcaError):
            raise found
        return cast(T, found)


def _named(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """What tells changes apart: the values that they change from are the engine's own."""
    return [(change.name, repr(change.to)) for change in changes]
