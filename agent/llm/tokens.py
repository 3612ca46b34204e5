"""Token estimates for endpoints that report none, and the price of a run where the user gave one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.llm.interface import Message, ToolSpec, Usage

_BYTES_PER_TOKEN = 3.2
"""Source code needs about 3.2 bytes a token with the common vocabularies; prose needs fewer tokens, so this errs on the safe side."""
_PER_MESSAGE = 6


def estimate(text: str) -> int:
    """Tokens of a text, guessed from its bytes."""
    return int(len(text.encode()) / _BYTES_PER_TOKEN) + 1


def estimate_prompt(messages: Iterable[Message], tools: Iterable[ToolSpec] = ()) -> int:
    """Tokens of a request, guessed."""
    turns = sum(estimate(m.content) + sum(estimate(c.name + c.arguments) for c in m.calls) + _PER_MESSAGE for m in messages)
    return turns + sum(estimate(f"{t.name}{t.description}{t.parameters}") for t in tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What the user says a million tokens cost, in any currency; nothing is built in."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        return (usage.prompt * self.prompt + usage.completion * self.completion) / 1e6
