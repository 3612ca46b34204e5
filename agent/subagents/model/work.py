"""The loop every role shares: ask, run the tools that were called, until the closing tool is called or there is nothing left to spend."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent.domain.errors import ModelError, UsageError
from agent.llm.interface import BudgetSpent, ToolCall, ToolSpec
from agent.subagents.model.fence import Fence
from agent.subagents.model.talk import Talk
from agent.subagents.thinking import think
from agent.tools.arguments import read_arguments
from agent.tools.interface import Bench
from agent.tools.registry import TOOLS, run_call

_IDLE = 3
"""Answers in a row that call nothing."""
_REPEATS = 4
"""Calls that were made before already; a loop ends here."""
_AT_ONCE = 4
"""Calls of one answer that are run."""

_TOOL_LATE = "no answer within the time of this investigation"
_CHECK_LATE = "the claims could not be checked in time"
_AGAIN = "Look again where you must, and call it again."
T = TypeVar("T")
Accept = Callable[[dict[str, Any]], str]
"""Takes the closing tool's arguments: empty text accepts them, other text says what to do better."""


@dataclass(slots=True, kw_only=True)
class Work:
    """One role at work. ``ended``: "concluded", or why it stopped without a conclusion; ``failed`` where the model is to blame."""

    talk: Talk
    bench: Bench
    fence: Fence
    closing: ToolSpec
    accept: Accept
    accepted: Callable[[], None]
    """Called on the event loop once ``accept`` is through."""
    one_at_a_time: asyncio.Lock
    say: Callable[[str], None]
    ended: str = ""
    failed: bool = False
    _asked: dict[str, str] = field(default_factory=dict)
    _repeats: int = 0
    _idle: int = 0

    async def run(self) -> None:
        """Never raises for what the model or its endpoint does; cancellation passes through with the conversation written down."""
        try:
            while not self.ended:
                await self._turn()
        except BudgetSpent as spent:
            self.ended = spent.what
        except ModelError as error:
            self.ended, self.failed = str(error), True
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        finally:
            self.talk.end(self.ended or "broken off")

    async def _turn(self) -> None:
        last = self.talk.last_step
        tools = (self.closing,) if last else (*(tool.spec for tool in TOOLS.values()), self.closing)
        reply = await self.talk.ask(tools)
        if not reply.calls:
            self._nudge(reply.text, last)
        for call in reply.calls[:_AT_ONCE]:
            if not self.ended:
                await self._answer(call)
        for call in reply.calls[_AT_ONCE:]:
            self.talk.result(call, f"not run: {_AT_ONCE} calls at once are the most")

    def _nudge(self, text: str, last: bool) -> None:
        self._idle += 1
        if self._idle >= _IDLE or last:
            self.ended, self.failed = "the model answered without calling a tool", True
            return
        self.talk.tell(f"{'That was empty.' if not text else 'Only tool calls count.'} Call a tool, or {self.closing.name} to finish.")

    async def _answer(self, call: ToolCall) -> None:
        self._idle = 0
        if call.name == self.closing.name:
            await self._close(call)
            return
        key = f"{call.name} {_canonical(call.arguments)}"
        if key in self._asked:
            self._repeats += 1
            self.talk.result(call, f"you asked this before: the answer is above ({self._asked[key]})")
            if self._repeats >= _REPEATS:
                self.ended, self.failed = "the model asks the same again and again", True
            return
        self.say(f"{self.talk.name}: {call.name if call.name in TOOLS else 'an unknown tool'}")
        await self._run_tool(call, key)

    async def _run_tool(self, call: ToolCall, key: str) -> None:
        result, pointer = await self._in_time(call, _TOOL_LATE, lambda: run_call(self.bench, call))
        self._asked[key] = pointer or "a question that could not be answered"
        text = self.fence.wrap(pointer, result.text) if pointer else self.fence.clean(result.text)
        self.talk.result(call, text, pointer)

    async def _close(self, call: ToolCall) -> None:
        try:
            given = read_arguments(self.closing, call.arguments)
            problem = await self._in_time(call, _CHECK_LATE, lambda: self.accept(given))
            self.accepted()
        except UsageError as error:
            problem = str(error)
        if not problem:
            self.ended = "concluded"
        self.talk.result(call, f"{self.fence.wrap('checks', problem)}\n{_AGAIN}" if problem else "accepted")

    async def _in_time(self, call: ToolCall, late: str, question: Callable[[], T]) -> T:
        """Asks off the event loop, one question at a time since the engine's caches are shared. Raises BudgetSpent."""
        seconds = self.talk.meter.seconds_left
        try:
            if seconds <= 0 or self.talk.is_recorded_next(late):
                raise TimeoutError
            async with asyncio.timeout(None if seconds == float("inf") else seconds), self.one_at_a_time:
                return await think(question)
        except TimeoutError:
            self.talk.result(call, late)
            raise BudgetSpent("the time is used up") from None


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
