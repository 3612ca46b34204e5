"""One conversation with a model: every turn is counted, bounded, made to fit and written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.domain.errors import ModelError
from agent.domain.redaction import redact_text
from agent.domain.serialize import Plain
from agent.llm.interface import ContextOverflow, Message, ModelClient, Reply, Request, ToolCall, ToolSpec
from agent.llm.replay import error_event
from agent.llm.tokens import estimate_prompt
from agent.llm.transcript import Transcript, message_event, reply_event
from agent.subagents.model.budget import Meter
from agent.tools.registry import shortened

_LEAST_ANSWER = 64
_OVERFLOWS = 6
_STEPS_OF_SHORTENING = (1200, 400, 120)
"""Characters that are left of an older tool result, harder from step to step."""


@dataclass(slots=True, kw_only=True)
class Window:
    """Tokens that the endpoint takes, answer included; learned from its refusals and shared by a run's conversations."""

    tokens: int

    def learn(self, overflow: ContextOverflow, tried: int) -> None:
        """The limit that the endpoint named, or three quarters of what it refused."""
        named = overflow.limit if 256 <= overflow.limit < tried else 0
        self.tokens = max(256, min(self.tokens - 1, named or tried * 3 // 4))


def _masked(text: str) -> str:
    return redact_text(text.encode("utf-8", "replace").decode(), literals_only=True)


@dataclass(slots=True, kw_only=True)
class Talk:
    """``name`` is "planner", "investigator-1", ...; ``answer``: tokens of one answer at most."""

    name: str
    client: ModelClient
    meter: Meter
    transcript: Transcript
    window: Window
    answer: int = 1024
    messages: list[Message] = field(default_factory=list)
    recorded: Sequence[Mapping[str, Any]] = ()
    """In a replay, this conversation's events as they were recorded."""
    scale: float = 1.0
    """How many times the estimate the endpoint counts; learned from its reports, so that a budget is not passed twice."""

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self.transcript.note(self.name, "message", **message_event(message))

    def tell(self, text: str) -> None:
        """A turn of the user's role."""
        self.add(Message(role="user", content=text))

    def result(self, call: ToolCall, text: str, pointer: str = "") -> None:
        """The answer to a call."""
        self.add(Message(role="tool", content=text, call_id=call.id, tool=call.name[:60], pointer=pointer))

    @property
    def last_words(self) -> str:
        """What the model said last in prose."""
        return next((m.content for m in reversed(self.messages) if m.role == "assistant" and m.content), "")

    def is_recorded_next(self, content: str) -> bool:
        """Whether the recording goes on with a message of these words: what took too long then is not waited for now."""
        at = len(self.transcript.conversations.get(self.name, ()))
        return at < len(self.recorded) and self.recorded[at].get("content") == content

    @property
    def last_step(self) -> bool:
        """Whether the conversation's own limit leaves one more answer."""
        return bool(self.meter.limits.steps) and self.meter.limits.steps - self.meter.steps <= 1

    @property
    def last_step_taken(self) -> bool:
        """Whether there will be no other answer."""
        return bool(self.meter.limits.steps) and self.meter.limits.steps <= self.meter.steps

    def note_claim(self, checked: Plain) -> None:
        """A claim and what came of it."""
        kept = {key: value for key, value in checked.as_dict().items() if key in ("id", "claim", "status", "said", "counter", "evidence")}
        self.transcript.note(self.name, "claim", **kept)

    def end(self, reason: str) -> None:
        self.transcript.note(self.name, "end", why=reason)

    async def ask(self, tools: tuple[ToolSpec, ...]) -> Reply:
        """The next reply, added to the conversation. Raises BudgetSpent or ModelError, written down as well."""
        try:
            reply = await self._fitted(tools)
        except ModelError as error:
            self.transcript.note(self.name, "error", **error_event(error))
            raise
        safe = self._safe(reply)
        self.transcript.note(self.name, "reply", **reply_event(safe))
        self.messages.append(Message(role="assistant", content=safe.text, calls=safe.calls))
        return safe

    def _safe(self, reply: Reply) -> Reply:
        """Masked before anybody uses it, so that what is stored is what was used; call ids made unique."""
        turn = sum(m.role == "assistant" for m in self.messages) + 1
        calls = tuple(
            ToolCall(id=f"c{turn}_{n}", name=_masked(call.name), arguments=_masked(call.arguments)) for n, call in enumerate(reply.calls, 1)
        )
        return replace(reply, text=_masked(reply.text), calls=calls)

    async def _fitted(self, tools: tuple[ToolSpec, ...]) -> Reply:
        for _ in range(_OVERFLOWS):
            self._shorten_to(self.window.tokens - self._answer_room(), tools)
            tried = self._size(tools)
            try:
                return await self._once(tools, tried)
            except ContextOverflow as overflow:
                self.transcript.note(self.name, "error", **error_event(overflow))
                self.window.learn(overflow, tried + self._answer_room())
        raise ModelError("the conversation does not fit the model's context, however short it is made")

    def _answer_room(self) -> int:
        return min(self.answer, self.window.tokens // 4)

    async def _once(self, tools: tuple[ToolSpec, ...], prompt: int) -> Reply:
        answer = self.meter.reserve(prompt, _LEAST_ANSWER, self._answer_room())
        seconds = self.meter.seconds_left
        request = Request(
            conversation=self.name, messages=tuple(self.messages), tools=tools, max_tokens=answer,
            seconds=0.0 if seconds == float("inf") else max(seconds, 0.01),
        )  # fmt: skip
        usage = None
        try:
            reply = await self.client.complete(request)
            usage = reply.usage
            if not usage.estimated:
                self.scale = max(1.0, self.scale * usage.prompt / prompt)
        finally:
            self.meter.settle(prompt + answer, usage)
        return reply

    def _size(self, tools: tuple[ToolSpec, ...]) -> int:
        """Tokens of the conversation as it stands."""
        return int(estimate_prompt(self.messages, tools) * self.scale)

    def _shorten_to(self, tokens: int, tools: tuple[ToolSpec, ...]) -> None:
        """Shortens tool results, the oldest first and the newest last, until the conversation fits or nothing is left to shorten."""
        for most in _STEPS_OF_SHORTENING:
            for at, message in enumerate(self.messages):
                if self._size(tools) <= tokens:
                    return
                if message.role == "tool" and len(message.content) > most + 100:
                    self.messages[at] = replace(message, content=shortened(message.content, message.pointer, most))
                    self.transcript.note(self.name, "shortened", call_id=message.call_id, to=most)
