"""An investigator: one hypothesis, its own budget, and a conclusion made of claims that are checked before anybody believes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.domain.visible import one_line
from agent.llm.interface import Message, ToolSpec
from agent.subagents.model.briefing import Briefing
from agent.subagents.model.checking import check
from agent.subagents.model.claims import FIELDS, SUPPORTED, Checked, read_claim
from agent.subagents.model.planner import Proposal
from agent.subagents.model.talk import Talk
from agent.tools.interface import Bench, parameters, text, whole

_MOST_CLAIMS = 8
_SECOND_THOUGHTS = 2
"""Conclusions that are given back because their claims do not hold."""
VERDICTS = ("confirmed", "refuted", "undecided")


@dataclass(slots=True, kw_only=True)
class Conclusion:
    """What an investigator concluded, every claim checked. ``cut``: bytes of the model's text that stands for nothing checked."""

    proposal: Proposal
    number: int
    bench: Bench
    talk: Talk
    verdict: str = ""
    target: str = ""
    note: str = ""
    checked: tuple[Checked, ...] = ()
    _attempts: int = 0
    _pending: tuple[str, str, str, tuple[Checked, ...]] | None = None

    def accept(self, given: dict[str, Any]) -> str:
        """Checks the claims; a conclusion that does not hold is given back, with what was found instead."""
        self._attempts += 1
        final = self._attempts > _SECOND_THOUGHTS or self.talk.last_step_taken
        read = [read_claim(raw) for raw in given.get("claims", [])[:_MOST_CLAIMS]]
        problems = [claim for claim in read if isinstance(claim, str)]
        if problems and not final:
            return "; ".join(dict.fromkeys(problems))
        claims = [claim for claim in read if not isinstance(claim, str)]
        checked = tuple(check(claim, f"h{self.number}.{n}", self.bench) for n, claim in enumerate(claims, 1))
        self._pending = (given["verdict"], given.get("target", "").strip(), one_line(given.get("note", "")), checked)
        failing = [one for one in checked if one.status != SUPPORTED]
        return "" if final or not failing or given["verdict"] != "confirmed" else self._given_back(failing)

    def accepted(self) -> None:
        """Takes what ``accept`` checked, and writes it down; what was checked too late is never taken."""
        if self._pending is not None:
            self.verdict, self.target, self.note, self.checked = self._pending
            self._pending = None
            for one in self.checked:
                self.talk.note_claim(one)

    def _given_back(self, failing: list[Checked]) -> str:
        rows = [f"{one.claim.kind} is {one.status}: {one.counter}" for one in failing]
        return "Not every claim holds:\n" + "\n".join(rows)


CONCLUDE = ToolSpec(
    name="conclude",
    description="Ends this investigation with claims that will be checked.",
    parameters=parameters(
        ("verdict", "claims"),
        verdict={"type": "string", "enum": list(VERDICTS)},
        target=text("path:line that should have run and does not"),
        claims={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": list(FIELDS)},
                    "path": {"type": "string"},
                    "line": whole("line"),
                    "text": {"type": "string"},
                    "name": {"type": "string"},
                    "value": {},
                    "pattern": {"type": "string"},
                    "scope": {"type": "string"},
                    "target": {"type": "string"},
                },
                "required": ["kind"],
            },
        },
        note=text("one sentence", longest=2000),
    ),
)


def opening(briefing: Briefing, proposal: Proposal, steps: int) -> tuple[Message, ...]:
    """The first messages of an investigator's conversation."""
    sections = briefing.sections()
    known = "\n\n".join(sections[name] for name in ("launch", "facts", "audit", "files") if name in sections)
    # What the planner wrote may repeat text of the host: it is fenced like that.
    hypothesis = briefing.fence.wrap("hypothesis", f"{proposal.claim}\nlook at: {proposal.where or 'not known'}")
    task = f"{briefing.task}\n\n{hypothesis}\n\n{known}"
    return (briefing.system("investigator", steps=steps), Message(role="user", content=task))
