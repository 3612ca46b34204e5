"""A stored conversation as a model: it answers what was answered, so that a run can be followed again without any endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.config import Settings
from agent.domain.errors import ModelError, StoreError
from agent.llm.interface import BudgetSpent, ContextOverflow, Reply, Request
from agent.llm.transcript import Transcript, reply_of


def open_replay(path: str, settings: Settings) -> ReplayClient:
    """The conversation in a file; raises StoreError."""
    try:
        return ReplayClient(Transcript.load(Path(path).read_bytes()))
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}", hint="write --model replay:FILE") from None


class ReplayClient:
    """A ModelClient that gives the recorded replies and errors of each conversation in order."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._replies: dict[str, Iterator[Mapping[str, Any]]] = {}

    @property
    def name(self) -> str:
        return str(self._transcript.header.get("model", "a stored conversation"))

    @property
    def nonce(self) -> str:
        """The recorded run's fence: with another one the same run would say other bytes."""
        return str(self._transcript.header.get("nonce", ""))

    def recorded(self, conversation: str) -> Sequence[Mapping[str, Any]]:
        """The events of one conversation as they were stored."""
        return self._transcript.conversations.get(conversation, ())

    async def complete(self, request: Request) -> Reply:
        replies = self._replies.setdefault(request.conversation, self._transcript.replies(request.conversation))
        event = next(replies, None)
        if event is None:
            # The recorded run stopped asking here, because its time or tokens were used up.
            raise BudgetSpent("the stored conversation ends here")
        if event["event"] == "error":
            raise _ERRORS.get(event["kind"], _plain)(event)
        return reply_of(event)

    async def close(self) -> None:
        self._replies.clear()


def _plain(event: Mapping[str, Any]) -> ModelError:
    return ModelError(event["what"], hint=event.get("hint", ""))


def _overflow(event: Mapping[str, Any]) -> ModelError:
    return ContextOverflow(event["what"], limit=event.get("limit", 0))


def _spent(event: Mapping[str, Any]) -> ModelError:
    return BudgetSpent(event["what"])


_ERRORS: dict[str, Callable[[Mapping[str, Any]], ModelError]] = {"ContextOverflow": _overflow, "BudgetSpent": _spent}


def error_event(error: ModelError) -> dict[str, Any]:
    """How an error is stored."""
    event = {"kind": type(error).__name__, "what": error.what, "hint": error.hint}
    return {**event, "limit": error.limit} if isinstance(error, ContextOverflow) else event
