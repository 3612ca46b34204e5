"""Without a playbook: every setting, asked against effective, and every key that nobody reads, as the engine sees them."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.counting import counted
from agent.domain.verdict import AuditAnswer
from agent.subagents.interface import Desk
from agent.subagents.shared_engine import SharedEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsAudit:
    """The engine's audit, in a thread."""

    engine: SharedEngine
    name: str = "settings audit"
    task: str = "compare what was asked with what the server makes of it"

    async def run(self, desk: Desk) -> AuditAnswer:
        desk.say("evaluating every setting")
        return await self.engine.turn(self.engine.audit)

    def summary(self, result: AuditAnswer) -> str:
        changed = sum(setting.verdict == "overridden" for setting in result.settings)
        dead, raises = len(result.dead_config), len(result.raises)
        seen = f"{counted(len(result.settings), 'setting')}, {changed} overridden"
        return f"{seen}, {counted(dead, 'dead config key')}, {counted(raises, 'possible failure')}"
