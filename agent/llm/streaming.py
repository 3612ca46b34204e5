"""One streamed answer put together from its chunks, with stalls, cuts and answers without end told apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from agent.llm.interface import Reply, TransientFailure, Usage
from agent.llm.interface import ToolCall as Call

_BYTES_PER_TOKEN_AT_MOST = 16
"""An endpoint that ignores the answer's limit is cut off here."""


@dataclass(slots=True, kw_only=True)
class _Part:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Assembly:
    """Collects deltas. Servers differ: ids only in the first delta, an index that is missing or always 0, arguments as an object."""

    size_limit: int
    text: list[str] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    by_index: dict[int, int] = field(default_factory=dict)
    finish: str = ""
    usage: Usage | None = None
    size: int = 0
    events: int = 0

    def add(self, chunk: Any) -> None:
        self.events += 1
        if usage := getattr(chunk, "usage", None):
            self.usage = Usage(prompt=int(usage.prompt_tokens or 0), completion=int(usage.completion_tokens or 0))
        for choice in (getattr(chunk, "choices", None) or [])[:1]:
            self.finish = getattr(choice, "finish_reason", None) or self.finish
            delta = getattr(choice, "delta", None) or getattr(choice, "message", None)
            if delta is not None:
                self._take(delta)

    @property
    def full(self) -> bool:
        return self.size > self.size_limit

    def _take(self, delta: Any) -> None:
        piece = getattr(delta, "content", None)
        if isinstance(piece, str):
            self.text.append(piece)
            self.size += len(piece)
        for thought in (getattr(delta, "reasoning_content", None), getattr(delta, "reasoning", None)):
            # Thinking is progress, and it counts against the limit; it is never an answer.
            self.size += len(thought) if isinstance(thought, str) else 0
        for call in getattr(delta, "tool_calls", None) or []:
            self._take_call(call)

    def _take_call(self, call: Any) -> None:
        part = self._part(getattr(call, "index", None), getattr(call, "id", None))
        part.id = part.id or getattr(call, "id", None) or ""
        function = getattr(call, "function", None)
        part.name = part.name or getattr(function, "name", None) or ""
        arguments = getattr(function, "arguments", None)
        if isinstance(arguments, str):
            part.arguments.append(arguments)
            self.size += len(arguments)

    def _part(self, index: int | None, id_: str | None) -> _Part:
        key = len(self.parts) - (0 if id_ else 1) if index is None else index
        known = self.by_index.get(key)
        if known is not None and not (id_ and self.parts[known].id not in ("", id_)):
            return self.parts[known]
        self.by_index[key] = len(self.parts)
        self.parts.append(_Part())
        return self.parts[-1]

    def reply(self, estimated: Usage) -> Reply:
        calls = tuple(
            Call(id=part.id or f"call_{n}", name=part.name, arguments="".join(part.arguments)) for n, part in enumerate(self.parts)
        )
        return Reply(text="".join(self.text), calls=calls, usage=self.usage or estimated, finish=self.finish or "length")


async def assemble(chunks: AsyncIterator[Any], *, max_tokens: int, first_seconds: float, stall_seconds: float) -> Assembly:
    """Reads to the end. TransientFailure where nothing comes for too long, or the stream ends before it said that it ends."""
    assembly = Assembly(size_limit=max_tokens * _BYTES_PER_TOKEN_AT_MOST)
    patience = first_seconds
    while not assembly.full:
        try:
            chunk = await asyncio.wait_for(anext(chunks), patience)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise TransientFailure(f"the model's answer stalled: nothing came for {patience:g} s") from None
        assembly.add(chunk)
        patience = stall_seconds
    if assembly.events and not assembly.finish and not assembly.full:
        raise TransientFailure("the model's answer was cut off: the stream ended before its last event")
    return assembly
