"""Traces the guards in front of one target of a playbook: every place that its query means, judged by the engine."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.facts import Facts
from agent.domain.playbook import Playbook, PlaybookTarget
from agent.subagents.interface import Desk
from agent.subagents.playbook.case import Case
from agent.subagents.playbook.targets import TargetAnswer, judge_target
from agent.subagents.shared_engine import SharedEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardTrace:
    """The engine is asked in a thread, so that the host's answers keep coming meanwhile."""

    playbook: Playbook
    target: PlaybookTarget
    engine: SharedEngine
    facts: Facts

    @property
    def name(self) -> str:
        return f"guards of {self.playbook.id}/{self.target.id}"

    @property
    def task(self) -> str:
        return f"judge {getattr(self.target, 'query', '') or self.target.id}"

    async def run(self, desk: Desk) -> TargetAnswer | None:
        desk.say(f"asking why for {getattr(self.target, 'query', '') or self.target.id}")
        return await self.engine.turn(lambda: judge_target(Case(self.playbook, self.engine, self.facts), self.target))

    def summary(self, result: TargetAnswer | None) -> str:
        return "not part of this release" if result is None else result.why
