"""The engine over one source tree under one launch: every question of the interface, each worked out when it is first asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from agent.analysis import targets as target_analysis
from agent.analysis.cache import SummaryCache
from agent.analysis.index import Index
from agent.domain.errors import LaunchRejected
from agent.domain.launch import Launch
from agent.domain.source import Files, SourceTree
from agent.domain.values import Value
from agent.domain.verdict import AuditAnswer, Change, Counterfactual, ReachAnswer, Setting, Target, WhyAnswer
from agent.evaluation import forward
from agent.evaluation.changes import changed
from agent.evaluation.collecting import seldom_collected
from agent.evaluation.demand import Demand
from agent.evaluation.entry import find_entry
from agent.evaluation.kept_answers import KeptAnswers, kept
from agent.evaluation.machine import Machine
from agent.evaluation.models.argument_parser import Refusal, refusal
from agent.evaluation.why import Why

_INDEXES: WeakKeyDictionary[SourceTree, Index] = WeakKeyDictionary()
"""One index a tree: launches of the same tree share what was parsed."""


def open_engine(
    tree: SourceTree, launch: Launch, *, files: Files, facts: Mapping[str, Any] | None = None, cache: SummaryCache | None = None
) -> LaunchEngine:
    """The engine for one launch. Raises TargetNotFound when the launch starts nothing in the tree, once something is asked."""
    index = _INDEXES.get(tree)
    if index is None:
        index = _INDEXES[tree] = Index(tree, cache)
    return LaunchEngine(index, launch, files, dict(facts or {}))


class LaunchEngine:
    """See ``interface.Engine``."""

    def __init__(self, index: Index, launch: Launch, files: Files, facts: dict[str, Any]) -> None:
        self.index = index
        self.tree = index.tree
        self.launch = launch
        self.kept = KeptAnswers(index, launch, files, facts)
        self.files: Files = self.kept.files
        self.facts = facts
        self._changed: dict[str, LaunchEngine] = {}
        self._judged: dict[Target, WhyAnswer] = {}
        self._guarded: dict[Target, WhyAnswer] = {}

    @property
    def assumed(self) -> Mapping[str, Any]:
        """The given facts."""
        return self.facts

    @property
    def machine(self) -> Machine:
        """The finished forward run."""
        return self._ran[0]

    @property
    def refused(self) -> Refusal | None:
        """The launch as the program's own command line refuses it."""
        return self._ran[1]

    @cached_property
    @seldom_collected()
    def _ran(self) -> tuple[Machine, Refusal | None]:
        """The run, and the refusal that ended it: looked up at once, as later questions may follow other programs' parsers."""
        machine = Machine(self.index, self.launch, self.files, self.facts)
        forward.run(machine, find_entry(self.index, self.launch, str(self.facts.get("entry", ""))))
        return machine, refusal(machine)

    def _started(self) -> Machine:
        """The run of a launch that starts. Raises LaunchRejected."""
        if self.refused is not None:
            words, (path, line) = self.refused.words, self.refused.place
            raise LaunchRejected(f"the program refuses this launch at {path}:{line}: {words}", path=path, line=line)
        return self.machine

    @cached_property
    def demand(self) -> Demand:
        """Questions beyond the forward run."""
        return Demand(self.machine)

    def targets(self, query: str) -> tuple[Target, ...]:
        """See the interface."""
        return target_analysis.resolve(self.index, query)

    @kept
    @seldom_collected()
    def why(self, query: str, *, counterfactuals: bool = True) -> WhyAnswer:
        """See the interface."""
        targets = self.targets(query)[:12]
        answers = []
        for target in targets:
            answer = self.judged(target)
            answers.append(answer)
            if answer.verdict == "never":
                break
        chosen = next((a for a in answers if a.verdict == "never"), answers[0])
        if not counterfactuals:
            return chosen
        if chosen.verdict != "never":
            from agent.evaluation.used_values import with_uses

            return with_uses(self.demand, chosen)
        from agent.evaluation.counterfactual import with_counterfactuals

        return with_counterfactuals(self, query, chosen)

    @seldom_collected()
    def judged(self, target: Target) -> WhyAnswer:
        """One resolved place, without counterfactuals; worked out once."""
        if target not in self._judged:
            self._judged[target] = Why(self._started(), self.demand).answer(target)
        return self._judged[target]

    @seldom_collected()
    def guarded_off(self, target: Target) -> WhyAnswer:
        """``judged`` by the guards around the place and its callers alone: whatever else may keep it from running is not asked."""
        if target not in self._judged and target not in self._guarded:
            self._guarded[target] = Why(self._started(), self.demand, guards_alone=True).answer(target)
        return self._judged.get(target) or self._guarded[target]

    @kept
    @seldom_collected()
    def after(self, query: str, changes: Sequence[Change]) -> Counterfactual | None:
        """See the interface."""
        from agent.evaluation.counterfactual import after

        return after(self, query, changes)

    @kept
    @seldom_collected()
    def reach(self, path: str) -> ReachAnswer:
        """See the interface."""
        from agent.evaluation.reach import reach

        self._started()
        return reach(self, path)

    @kept
    @seldom_collected()
    def audit(self) -> AuditAnswer:
        """See the interface."""
        from agent.evaluation.audit import audit

        return audit(self)

    @kept
    @seldom_collected()
    def setting(self, name: str) -> Value:
        """See the interface."""
        from agent.evaluation.audit import value_of

        self._started()
        return value_of(self, name)

    @kept
    @seldom_collected()
    def attribute(self, name: str) -> Setting | None:
        """See the interface."""
        from agent.evaluation.object_attributes import attribute_row

        self._started()
        return attribute_row(self, name)

    def under(self, changes: Sequence[Change]) -> LaunchEngine:
        """See the interface."""
        key = repr([(change.name, change.to) for change in changes])
        if key not in self._changed:
            launch, files, facts = changed(self.launch, self.files, self.facts, changes)
            self._changed[key] = LaunchEngine(self.index, launch, files, facts)
        return self._changed[key]
