"""A model whose answers are written down beforehand: for tests, demonstrations and bug reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from agent.domain.errors import ModelError
from agent.llm.interface import Reply, Request, ToolCall, Usage

Answer = Reply | ModelError | Callable[[Request], Reply]


class ScriptedClient:
    """Answers each conversation from its own list, ``investigator-2`` before ``investigator``; keeps every request it was given.

    An answer may be a function of the request. A conversation that goes on after its script says ``done`` in prose.
    """

    def __init__(self, script: Mapping[str, Iterable[Answer]], *, name: str = "scripted") -> None:
        self._script = {key: list(answers) for key, answers in script.items()}
        self._running: dict[str, Iterator[Answer]] = {}
        self._name = name
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        who = request.conversation
        answers = self._script.get(who, self._script.get(who.partition("-")[0], []))
        answer = next(self._running.setdefault(who, iter(answers)), None)
        if isinstance(answer, ModelError):
            raise answer
        if answer is None:
            return Reply(text="done", usage=Usage(prompt=1, completion=1))
        return answer if isinstance(answer, Reply) else answer(request)

    async def close(self) -> None:
        self._running.clear()


def call(tool: str, /, *, usage: tuple[int, int] = (100, 20), **arguments: Any) -> Reply:
    """A reply that calls one tool."""
    made = ToolCall(id=f"call_{tool}", name=tool, arguments=json.dumps(arguments))
    return Reply(text="", calls=(made,), usage=Usage(prompt=usage[0], completion=usage[1]), finish="tool_calls")


def say(text: str, *, usage: tuple[int, int] = (100, 20)) -> Reply:
    """A reply in prose."""
    return Reply(text=text, usage=Usage(prompt=usage[0], completion=usage[1]))
