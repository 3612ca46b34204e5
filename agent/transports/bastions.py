"""Jump-host connections that several hosts share: connected once, closed with their last user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

Ender = Callable[[Any], Awaitable[None]]


class _Shared:
    """One jump host's connection and how many use it."""

    def __init__(self, task: asyncio.Task[Any], end: Ender) -> None:
        self.task = task
        self.end = end
        self.users = 0


_open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Shared]] = WeakKeyDictionary()


class Lease:
    """A share in a connection; ``release`` gives it back, once."""

    def __init__(self, route: str, shared: _Shared) -> None:
        self._route = route
        self._shared: _Shared | None = shared
        self.connection: Any = shared.task.result()

    async def release(self) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            await _leave(self._route, shared)


async def lease(route: str, connect: Callable[[], Awaitable[Any]], end: Ender, dead: Callable[[Any], bool]) -> Lease:
    """A share in the connection along ``route``; the first to ask connects, the others wait for it (or for its error)."""
    table = _open.setdefault(asyncio.get_running_loop(), {})
    shared = table.get(route)
    if shared is None or (shared.task.done() and (shared.task.cancelled() or shared.task.exception() or dead(shared.task.result()))):
        shared = table[route] = _Shared(asyncio.ensure_future(connect()), end)
    shared.users += 1
    try:
        await asyncio.shield(shared.task)
    except BaseException:
        await _leave(route, shared)
        raise
    return Lease(route, shared)


async def _leave(route: str, shared: _Shared) -> None:
    shared.users -= 1
    if shared.users:
        return
    table = _open.get(asyncio.get_running_loop(), {})
    if table.get(route) is shared:
        del table[route]
    if not shared.task.done():
        shared.task.cancel()
        await asyncio.gather(shared.task, return_exceptions=True)
    elif not shared.task.cancelled() and shared.task.exception() is None:
        await shared.end(shared.task.result())
