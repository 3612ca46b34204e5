"""The planner: from symptom, facts and audit to a few hypotheses, each with a place to look."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent.domain.visible import one_line
from agent.llm.interface import Message, ToolSpec
from agent.subagents.model.briefing import Briefing
from agent.tools.interface import parameters

_LONGEST = 300
_ITEM = re.compile(r"\s*(?:\d+[.)]|[-*])\s+(\S.{15,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What to look into, in the model's words: a working title, never a result."""

    claim: str
    where: str = ""


@dataclass(slots=True, kw_only=True)
class Proposals:
    """Collects what the planner proposes; ``most`` is the number of investigators."""

    most: int
    accepted: tuple[Proposal, ...] = ()

    def accept(self, given: dict[str, Any]) -> str:
        """Takes what is usable; asks again where nothing is."""
        read = [proposal for raw in given["hypotheses"] if (proposal := _read(raw)) is not None]
        unique = {proposal.claim.casefold(): proposal for proposal in reversed(read)}
        self.accepted = tuple(reversed(unique.values()))[: self.most]
        return "" if self.accepted else 'hypotheses is a list of {"claim": text, "where": path:line or setting}'

    def take_list(self, text: str) -> None:
        """The items of a list in prose, for models that cannot call: a proposal is no more than a working title anyway."""
        items = [match.group(1) for line in text.split("\n") if (match := _ITEM.match(line))]
        self.accept({"hypotheses": items})


def _read(raw: Any) -> Proposal | None:
    raw = {"claim": raw} if isinstance(raw, str) else raw
    if not isinstance(raw, dict) or not isinstance(raw.get("claim"), str) or not raw["claim"].strip():
        return None
    where = raw.get("where")
    return Proposal(claim=one_line(raw["claim"])[:_LONGEST], where=one_line(where)[:_LONGEST] if isinstance(where, str) else "")


PROPOSE = ToolSpec(
    name="propose",
    description="Ends planning with hypotheses to investigate.",
    parameters=parameters(
        ("hypotheses",),
        hypotheses={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"claim": {"type": "string"}, "where": {"type": "string", "description": "path:line, function or setting"}},
                "required": ["claim"],
            },
        },
    ),
)


def opening(briefing: Briefing, most: int) -> tuple[Message, ...]:
    """The first messages of the planner's conversation."""
    sections = "\n\n".join(briefing.sections().values())
    task = f"{briefing.task}\n\n{sections}\n\nPropose up to {most} hypotheses."
    return (briefing.system("planner", most=most), Message(role="user", content=task))
