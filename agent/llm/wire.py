"""Messages to the endpoint's JSON and back, in both protocols: function calling, and JSON written in plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from agent.llm.dialect import Dialect
from agent.llm.interface import Message, Reply, Request, ToolCall, ToolSpec

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_DECODER = json.JSONDecoder()
_NAME_KEYS = ("tool", "name", "function", "action")
_ARGUMENT_KEYS = ("arguments", "args", "parameters", "input")
_TRIES = 64
"""Braces at which JSON may begin in one answer; bounds the search in an answer made of braces."""


def encode(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Keyword arguments of ``chat.completions.create`` but for the model, streaming and sampling."""
    if dialect.tools and request.tools:
        turns: list[dict[str, Any]] = [_native(m) for m in request.messages]
        extra: dict[str, Any] = {"tools": [{"type": "function", "function": t.as_dict()} for t in request.tools]}
    else:
        turns, extra = _merged(_plain(m) for m in _with_protocol(request)), {}
    if not dialect.system_role:
        turns = _merged({**t, "role": "user"} if t["role"] == "system" else t for t in turns)
    return {"messages": turns, **extra}


def decode(reply: Reply, tools: Sequence[ToolSpec]) -> Reply:
    """The reply without its thinking; a call written as text becomes a call. A reply that has calls keeps them."""
    text = _THINKING.sub("", reply.text).strip()
    calls = reply.calls or _calls_in(text, {t.name for t in tools})
    return Reply(text=text, calls=calls, usage=reply.usage, finish=reply.finish)


def describe(tools: Sequence[ToolSpec]) -> str:
    """How to call, for a model whose endpoint has no function calling."""
    lines = [
        'To call a tool answer with one JSON object and nothing else: {"tool": NAME, "arguments": {...}}',
        "Tools:",
        *(f"- {t.name}({_signature(t)}): {t.description}" for t in tools),
    ]
    return "\n".join(lines)


def objects_in(text: str) -> Iterable[dict[str, Any]]:
    """Every outermost JSON object written in a text, in order; fences and prose around them do not matter."""
    at = 0
    for _ in range(_TRIES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        at = end
        if isinstance(found, dict):
            yield found


def _signature(tool: ToolSpec) -> str:
    required = set(tool.parameters.get("required", ()))
    names = tool.parameters.get("properties", {})
    return ", ".join(name if name in required else f"{name}?" for name in names)


def _with_protocol(request: Request) -> Iterable[Message]:
    if not request.tools:
        return request.messages
    first, *rest = request.messages
    return (Message(role=first.role, content=f"{first.content}\n\n{describe(request.tools)}"), *rest)


def _native(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        turn["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _as_json(c.arguments)}} for c in message.calls
        ]
    return turn


def _as_json(arguments: str) -> str:
    """Servers parse the arguments of earlier calls again; what was no JSON object would be refused for ever."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _plain(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "user", "content": f"Result of {message.tool}:\n{message.content}"}
    calls = "\n".join(json.dumps({"tool": c.name, "arguments": _loose(c.arguments)}, ensure_ascii=False) for c in message.calls)
    content = calls if calls and message.role == "assistant" else message.content
    return {"role": message.role, "content": content or "(empty)"}


def _loose(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _merged(turns: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Many chat templates refuse two turns of one role in a row."""
    merged: list[dict[str, Any]] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            merged[-1] = {**turn, "content": f"{merged[-1]['content']}\n\n{turn['content']}"}
        else:
            merged.append(dict(turn))
    return merged


def _calls_in(text: str, known: set[str]) -> tuple[ToolCall, ...]:
    found = [call for thing in objects_in(text) if (call := _call_of(thing, known))]
    return tuple(ToolCall(id=f"text_{n}", name=name, arguments=arguments) for n, (name, arguments) in enumerate(found))


def _call_of(thing: dict[str, Any], known: set[str]) -> tuple[str, str] | None:
    """``{"tool": n, "arguments": {}}`` and its cousins, also ``{n: {...}}`` and arguments beside the name."""
    inner = thing.get("function")
    thing = inner if isinstance(inner, dict) else thing
    name = next((thing[k] for k in _NAME_KEYS if isinstance(thing.get(k), str)), None)
    if name is None:
        only = next(iter(thing)) if len(thing) == 1 else ""
        return (only, json.dumps(thing[only])) if only in known else None
    if name not in known and not any(k in thing for k in _ARGUMENT_KEYS):
        return None
    given = next((thing[k] for k in _ARGUMENT_KEYS if k in thing), {k: v for k, v in thing.items() if k not in _NAME_KEYS})
    return name, given if isinstance(given, str) else json.dumps(given)
