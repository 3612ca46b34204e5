"""An OpenAI-compatible endpoint over real HTTP on loopback whose answers, and faults, are written down beforehand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from queue import Queue
from threading import Thread
from typing import Any

Behaviour = Callable[["Exchange"], Any]


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and the socket it came on."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def status(self, code: int, message: str = "", *, code_name: str | None = None, headers: dict[str, str] | None = None) -> None:
        error = {"error": {"message": message, "type": "error", "code": code_name}}
        await self.send(code, json.dumps(error).encode(), headers=headers)

    async def send(self, code: int, content: bytes, *, kind: str = "application/json", headers: dict[str, str] | None = None) -> None:
        rows = [f"HTTP/1.1 {code} X", f"content-type: {kind}", f"content-length: {len(content)}", "connection: close"]
        rows += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.writer.write("\r\n".join(rows).encode() + b"\r\n\r\n" + content)
        await self.writer.drain()

    async def open_stream(self) -> None:
        self.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
        await self.writer.drain()

    async def event(self, payload: dict[str, Any] | str) -> None:
        text = payload if isinstance(payload, str) else json.dumps(payload)
        await self.raw(f"data: {text}\n\n".encode())

    async def raw(self, content: bytes) -> None:
        self.writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        await self.writer.drain()

    async def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """``requests`` in the order of arrival; the last behaviour is repeated for ever."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@asynccontextmanager
async def serving(*behaviours: Behaviour) -> AsyncIterator[Endpoint]:
    """Serves on a free port of 127.0.0.1 until the block ends."""
    endpoint = Endpoint(url="")
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            exchange = await _read(reader, writer)
            behaviour = behaviours[min(len(endpoint.requests), len(behaviours) - 1)]
            endpoint.requests.append(exchange.body)
            endpoint.headers.append(exchange.headers)
            await behaviour(exchange)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def serving_beside(*behaviours: Behaviour) -> Iterator[Endpoint]:
    """The same in a thread of its own, for programs that run in another process."""
    started: Queue[Endpoint] = Queue()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with serving(*behaviours) as endpoint:
            started.put(endpoint)
            await over.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield started.get(timeout=30)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *rows = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows if row)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Exchange(path=first.split()[1], headers=headers, body=json.loads(body) if body else {}, writer=writer)


# --- behaviours ----------------------------------------------------------------------------------------------------------------


def chunk(delta: dict[str, Any] | None = None, *, finish: str | None = None, usage: dict[str, int] | None = None) -> dict[str, Any]:
    """One event of the wire format."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    event: dict[str, Any] = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return {**event, "usage": usage} if usage else event


def _usage(exchange: Exchange, prompt: int, completion: int) -> dict[str, int] | None:
    wanted = exchange.body.get("stream_options", {}).get("include_usage")
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion} if wanted else None


def says(text: str, *, finish: str = "stop", pieces: int = 3) -> Behaviour:
    """A streamed answer in prose."""

    async def behave(exchange: Exchange) -> None:
        if not exchange.body.get("stream"):
            await exchange.send(200, json.dumps(_whole({"role": "assistant", "content": text}, finish)).encode())
            return
        await exchange.open_stream()
        await exchange.event(chunk({"role": "assistant", "content": ""}))
        step = max(1, len(text) // pieces)
        for at in range(0, len(text), step):
            await exchange.event(chunk({"content": text[at : at + step]}))
        await exchange.event(chunk({}, finish=finish))
        if usage := _usage(exchange, 50, 10):
            await exchange.event(chunk(usage=usage))
        await exchange.event("[DONE]")
        await exchange.end_stream()

    return behave


def _whole(message: dict[str, Any], finish: str) -> dict[str, Any]:
    usage = {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def calls(*made: tuple[str, dict[str, Any] | str], index: Callable[[int], int | None] = lambda n: n) -> Behaviour:
    """Streamed tool calls, arguments cut in two; ``index``: how this server numbers them."""

    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        for n, (name, arguments) in enumerate(made):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            half = len(text) // 2
            first = {"index": index(n), "id": f"id{n}", "type": "function", "function": {"name": name, "arguments": text[:half]}}
            await exchange.event(chunk({"tool_calls": [first]}))
            await exchange.event(chunk({"tool_calls": [{"index": index(n), "function": {"arguments": text[half:]}}]}))
        await exchange.event(chunk({}, finish="tool_calls"))
        if usage := _usage(exchange, 80, 20):
            await exchange.event(chunk(usage=usage))
        await exchange.event("[DONE]")
        await exchange.end_stream()

    return behave


def fails(code: int, message: str = "", *, code_name: str | None = None, headers: dict[str, str] | None = None) -> Behaviour:
    """An HTTP error in the wire format."""

    async def behave(exchange: Exchange) -> None:
        await exchange.status(code, message, code_name=code_name, headers=headers)

    return behave


def refuses_if(wrong: Callable[[dict[str, Any]], bool], code: int, message: str, otherwise: Behaviour) -> Behaviour:
    """Refuses requests of one shape and serves the others."""

    async def behave(exchange: Exchange) -> None:
        await (exchange.status(code, message) if wrong(exchange.body) else otherwise(exchange))

    return behave


def stalls(text: str = "half of") -> Behaviour:
    """Begins to stream, then says nothing more and keeps the connection."""

    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        await exchange.event(chunk({"content": text}))
        await exchange.gone.wait()

    return behave


def never_answers() -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await exchange.gone.wait()

    return behave


def breaks_off(*, politely: bool) -> Behaviour:
    """Ends in the middle of an answer: with a proper end of the body, or by closing the socket."""

    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        await exchange.event(chunk({"content": "half of"}))
        if politely:
            await exchange.end_stream()
        else:
            exchange.writer.transport.abort()

    return behave


def streams_garbage() -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        await exchange.event('{"choices": [{"delta"')
        await exchange.end_stream()

    return behave


def streams_error(message: str) -> Behaviour:
    """An error inside of a stream that began well."""

    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        await exchange.event(chunk({"content": "half of"}))
        await exchange.event({"error": {"message": message, "type": "server_error"}})
        await exchange.end_stream()

    return behave


def streams_for_ever(text: str = "and so on ") -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        while not exchange.writer.is_closing():
            await exchange.event(chunk({"content": text * 50}))

    return behave


def events(made: Iterable[dict[str, Any] | str]) -> Behaviour:
    """Exactly these events."""

    async def behave(exchange: Exchange) -> None:
        await exchange.open_stream()
        for event in made:
            await exchange.event(event)
        await exchange.end_stream()

    return behave
