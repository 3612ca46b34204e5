"""Connection starts: at most eight at once per address, and a jittered second try where a busy server hung up before the key exchange."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from agent.domain.errors import ConnectFailed

AT_ONCE = 8  # sshd's default MaxStartups begins to drop unauthenticated connections at ten
TRIES = 4
FIRST_PAUSE = 0.25

T = TypeVar("T")
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


class HungUp(ConnectFailed):
    """The server closed the connection before the key exchange: it may be asked again.

    ``spoke``: it had told its version. A busy server has not; one that finds no algorithm in common has, and may be gone sooner than what
    it offers is read.
    """

    def __init__(self, what: str, *, host: str, hint: str = "", spoke: bool = False) -> None:
        super().__init__(what, host=host, hint=hint)
        self.spoke = spoke


class Incompatible(ConnectFailed):
    """Both ends are there and cannot agree: another SSH implementation may."""


def gate(address: str) -> asyncio.Semaphore:
    """The running loop's gate for an address."""
    return _gates.setdefault(asyncio.get_running_loop(), {}).setdefault(address, asyncio.Semaphore(AT_ONCE))


async def start(address: str, attempt: Callable[[], Awaitable[T]]) -> T:
    """Runs ``attempt`` under the gate; only HungUp is tried again, never a refused login.

    A server that spoke and hung up each time raises Incompatible: another SSH implementation may get further.
    """
    pause = FIRST_PAUSE
    for left in range(TRIES - 1, -1, -1):
        try:
            async with gate(address):
                return await attempt()
        except HungUp as error:
            if not left and error.spoke:
                raise Incompatible(f"{error.what}, {TRIES} times", host=error.host, hint=error.hint) from error
            if not left:
                raise
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))
        pause *= 2
    raise AssertionError("unreachable")
