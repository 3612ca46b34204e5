"""The whole conversation of a run, as lines of JSON that say the same when it is replayed; it holds no times and no secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.domain.errors import StoreError
from agent.llm.interface import Message, Reply, ToolCall, Usage

SCHEMA = "rca.conversation/1"


@dataclass(slots=True, kw_only=True)
class Transcript:
    """Events of every conversation of one run; each conversation is written in order, whatever ran beside it.

    ``header`` holds what a replay needs to say the same again: the nonce and the name of the model.
    """

    header: dict[str, Any] = field(default_factory=dict)
    conversations: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def note(self, conversation: str, event: str, **what: Any) -> None:
        """Adds an event. Events: message, reply, error, shortened, end, and the claims that were checked."""
        self.conversations.setdefault(conversation, []).append({"event": event, **what})

    def dump(self) -> bytes:
        """JSON lines: the header, then each conversation in the order of its name's numbers."""
        lines: list[dict[str, Any]] = [{"schema": SCHEMA, **self.header}]
        for name in sorted(self.conversations, key=_order):
            lines += [{"conversation": name, **event} for event in self.conversations[name]]
        return b"".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n" for line in lines)

    @classmethod
    def load(cls, stored: bytes) -> Transcript:
        """Raises StoreError where the bytes are no conversation."""
        try:
            first, *rest = (json.loads(line) for line in stored.decode("utf-8").split("\n") if line)
            if first.pop("schema") != SCHEMA:
                raise ValueError("another schema")
            transcript = cls(header=first)
            for event in rest:
                transcript.conversations.setdefault(event.pop("conversation"), []).append(event)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise StoreError(f"this is no stored conversation: {error}") from None
        return transcript

    def replies(self, conversation: str) -> Iterator[Mapping[str, Any]]:
        """What the model answered, errors included, in order."""
        return (e for e in self.conversations.get(conversation, ()) if e["event"] in ("reply", "error"))


def _order(name: str) -> tuple[int, int, str]:
    kinds = ("planner", "investigator", "synthesiser")
    kind, _, number = name.partition("-")
    return (kinds.index(kind) if kind in kinds else len(kinds), int(number) if number.isdigit() else 0, name)


def message_event(message: Message) -> dict[str, Any]:
    """The fields of a message that hold something."""
    return {key: value for key, value in message.as_dict().items() if value}


def reply_event(reply: Reply) -> dict[str, Any]:
    return reply.as_dict()


def reply_of(event: Mapping[str, Any]) -> Reply:
    """The inverse of ``reply_event``."""
    return Reply(
        text=event["text"],
        calls=tuple(ToolCall(**call) for call in event["calls"]),
        usage=Usage(**event["usage"]),
        finish=event["finish"],
    )
