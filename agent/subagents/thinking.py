"""Runs thinking code beside the event loop, in a thread that never keeps the program from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_STACK_BYTES = 256 * 1024 * 1024
"""Address space, not memory: evaluation follows calls of any depth, and a thread's usual 8 MB end where Python cannot catch it."""
_STARTING = threading.Lock()


async def think(work: Callable[[], T]) -> T:
    """The result of ``work``, or its exception. Cancelled, the caller goes on at once, and the thread ends with its work or the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as problem:
            _tell(loop, done, lambda problem=problem: done.set_exception(problem))  # type: ignore[misc]
        else:
            _tell(loop, done, lambda: done.set_result(result))

    with _STARTING:
        before = threading.stack_size(_STACK_BYTES)
        try:
            threading.Thread(target=run, name="rca-think", daemon=True).start()
        finally:
            threading.stack_size(before)
    return await done


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Future[T], settle: Callable[[], None]) -> None:
    """From the thread; nobody may be listening any more."""

    def settle_once() -> None:
        if not done.done():
            settle()

    if not loop.is_closed():
        loop.call_soon_threadsafe(settle_once)
