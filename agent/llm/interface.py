"""What the rest of the house asks of a language model: messages in, one reply out, tokens counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.domain.errors import ModelError
from agent.domain.serialize import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec(Plain):
    """A function the model may call; ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Plain):
    """A call as the model wrote it: ``arguments`` is its raw text and may be no JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Plain):
    """One turn. ``role``: system, user, assistant, tool.

    A tool turn answers ``call_id``; ``pointer`` names the whole of a result that may be shown shortened.
    """

    role: str
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Plain):
    """Tokens of one request; ``estimated`` where the endpoint did not report them."""

    prompt: int
    completion: int
    estimated: bool = False

    @property
    def total(self) -> int:
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Plain):
    """What is asked: ``conversation`` names who asks, ``max_tokens`` bounds the answer."""

    conversation: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 1024
    seconds: float = 0.0
    """Time left to the one who asks; 0 is without limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Plain):
    """What came back. ``finish``: stop, length, tool_calls, or what else the endpoint said."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=lambda: Usage(prompt=0, completion=0, estimated=True))
    finish: str = "stop"


class ModelClient(Protocol):
    """One model behind one endpoint."""

    @property
    def name(self) -> str:
        """Model and endpoint, for the report."""
        ...

    async def complete(self, request: Request) -> Reply:
        """One reply. Raises ContextOverflow where the messages are too long, ModelError where nothing more can be done."""
        ...

    async def close(self) -> None:
        """Ends connections; idempotent."""
        ...


class ContextOverflow(ModelError):
    """The messages do not fit; ``limit`` is the endpoint's context in tokens, 0 where it did not say."""

    def __init__(self, what: str, *, limit: int = 0) -> None:
        super().__init__(what, hint="use a model with a larger context")
        self.limit = limit


class TransientFailure(ModelError):
    """Worth another try: busy, broken, cut off. ``retry_after`` in seconds where the endpoint named it; ``status`` 0 is no answer."""

    def __init__(self, what: str, *, retry_after: float | None = None, status: int = 0) -> None:
        super().__init__(what)
        self.retry_after = retry_after
        self.status = status


class BudgetSpent(ModelError):
    """Steps, tokens or seconds are used up: what was found so far is the result."""
