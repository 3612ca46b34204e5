"""A stored conversation as a person reads it: who said what, which tool answered, what became of each claim."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent.domain.visible import visible
from agent.llm.tokens import Price
from agent.llm.transcript import Transcript, reply_of

_SHOWN = 1500
_MARKS = {"supported": "+", "refuted": "-", "unverifiable": "?"}

Event = Mapping[str, Any]


def show(stored: bytes, *, full: bool = False, price: Price | None = None) -> Iterator[str]:
    """Lines for a terminal; long texts are cut unless ``full``. Raises StoreError where ``stored`` is no conversation."""
    transcript = Transcript.load(stored)
    yield f"model: {transcript.header.get('model', 'unknown')}"
    for name in transcript.conversations:
        events = transcript.conversations[name]
        yield ""
        yield f"== {name} ({_cost(events, price)})"
        for event in events:
            for line in _SHOWS.get(event["event"], _other)(event):
                yield from _cut(line, full)


def _cost(events: list[dict[str, Any]], price: Price | None) -> str:
    usages = [reply_of(event).usage for event in events if event["event"] == "reply"]
    guessed = " (partly estimated)" if any(usage.estimated for usage in usages) else ""
    paid = f", {sum(price.of(usage) for usage in usages):.4f}" if price else ""
    replies = "1 reply" if len(usages) == 1 else f"{len(usages)} replies"
    return f"{replies}, {sum(usage.total for usage in usages)} tokens{guessed}{paid}"


def _message(event: Event) -> Iterator[str]:
    pointer = f" {event['pointer']}" if event.get("pointer") else ""
    yield f"[{event['role']}{' ' + event['tool'] if event.get('tool') else ''}{pointer}] {event.get('content', '')}"


def _reply(event: Event) -> Iterator[str]:
    if event["text"] or not event["calls"]:
        yield f"[model] {event['text'] or '(empty)'}"
    yield from (f"[model] calls {call['name']} {call['arguments']}" for call in event["calls"])


def _claim(event: Event) -> Iterator[str]:
    claim = {key: value for key, value in event["claim"].items() if value or key == "value"}
    found = event["said"] or event["counter"]
    yield f"  {_MARKS.get(event['status'], '?')} {event['status']}: {found}  {json.dumps(claim, ensure_ascii=False)}"


def _error(event: Event) -> Iterator[str]:
    yield f"  ! {event['what']}"


def _shortened(event: Event) -> Iterator[str]:
    yield f"  (result {event['call_id']} shortened to {event['to']} characters to fit the context)"


def _end(event: Event) -> Iterator[str]:
    yield f"  ended: {event['why']}"


def _other(event: Event) -> Iterator[str]:
    yield f"  {event['event']}"


_SHOWS: dict[str, Callable[[Event], Iterator[str]]] = {
    "message": _message,
    "reply": _reply,
    "claim": _claim,
    "error": _error,
    "shortened": _shortened,
    "end": _end,
}


def _cut(text: str, full: bool) -> Iterator[str]:
    text = visible(text)
    if not full and len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}\n... {len(text) - _SHOWN} more characters"
    yield from text.split("\n")
