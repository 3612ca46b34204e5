"""A TCP proxy that delays, counts round trips and injects faults; for measurements and tests of the remote layer.

In a test: ``async with Proxy.to(port, delay=0.04) as proxy``. As a process of its own, so that it takes no time from the
measured program: ``with running(port, delay) as (proxy_port, count)``.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_HIGH_WATER = 64 * 1024 * 1024


class _Side(asyncio.Protocol):
    """One direction: what this side receives is handed, after the delay, to the peer."""

    def __init__(self, proxy: Proxy, from_client: bool) -> None:
        self._proxy = proxy
        self._from_client = from_client
        self._queue: deque[tuple[float, bytes | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.transport: asyncio.Transport | None = None
        self.peer: _Side | None = None
        self.passed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        self._proxy.sides.append(self)
        if self._from_client:
            task = asyncio.create_task(self._connect())
            self._proxy.tasks.add(task)
            task.add_done_callback(self._proxy.tasks.discard)

    def data_received(self, data: bytes) -> None:
        self._proxy.saw(self._from_client, len(data))
        self._later(data)

    def eof_received(self) -> bool:
        self._later(None)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._later(None)

    def flush(self) -> None:
        """Hands on what is due."""
        self._timer = None
        if self._proxy.frozen or self.peer is None or self.peer.transport is None:
            return
        now = asyncio.get_running_loop().time()
        while self._queue and self._queue[0][0] <= now:
            _, data = self._queue.popleft()
            if data is None:
                self.peer.transport.close()
                return
            self.passed += len(data)
            self.peer.transport.write(data)
            if not self._from_client and self._proxy.cut_after is not None and self.passed >= self._proxy.cut_after:
                self._proxy.cut()
                return
        if self._queue:
            self._timer = asyncio.get_running_loop().call_at(self._queue[0][0], self.flush)

    async def _connect(self) -> None:
        try:
            _, peer = await asyncio.get_running_loop().create_connection(lambda: _Side(self._proxy, False), "127.0.0.1", self._proxy.target)
        except OSError:
            if self.transport is not None:
                self.transport.abort()
            return
        self.peer, peer.peer = peer, self
        self.flush()

    def _later(self, data: bytes | None) -> None:
        loop = asyncio.get_running_loop()
        self._queue.append((loop.time() + self._proxy.delay, data))
        if self._timer is None:
            self._timer = loop.call_at(self._queue[0][0], self.flush)


class Proxy:
    """``delay``: seconds each way. ``turns``: how often the client spoke after the server had: round trips as the wire saw them."""

    def __init__(self, target: int, delay: float) -> None:
        self.target = target
        self.delay = delay
        self.port = 0
        self.turns = 0
        self.received = 0
        self.connections = 0
        self.frozen = False
        self.cut_after: int | None = None
        self.sides: list[_Side] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._client_spoke = False

    @classmethod
    def to(cls, target: int, *, delay: float = 0.0) -> Proxy:
        return cls(target, delay)

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.get_running_loop().create_server(self._accept, "127.0.0.1", 0, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def saw(self, from_client: bool, size: int) -> None:
        """Counts bytes, and a turn whenever the client speaks after the server."""
        if from_client and not self._client_spoke:
            self.turns += 1
        self._client_spoke = from_client
        self.received += 0 if from_client else size

    def freeze(self) -> None:
        """From now on nothing passes and nobody is told: a half-open connection."""
        self.frozen = True

    def cut(self) -> None:
        """Resets every connection."""
        for side in self.sides:
            if side.transport is not None:
                side.transport.abort()
        self.sides.clear()

    def _accept(self) -> _Side:
        self.connections += 1
        return _Side(self, True)


@contextmanager
def running(target: int, delay: float) -> Iterator[tuple[int, Callable[[], int]]]:
    """The proxy as a process: its port, and a function that gives the turns since it was last asked."""
    command = [sys.executable, __file__, "--target", str(target), "--delay", str(delay)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def turns() -> int:
        stdin.write("turns\n")
        stdin.flush()
        return int(stdout.readline())

    try:
        yield int(stdout.readline()), turns
    finally:
        stdin.close()
        process.wait(10)
        stdout.close()


async def _serve(target: int, delay: float) -> None:
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async with Proxy.to(target, delay=delay) as proxy:
        print(proxy.port, flush=True)
        before = 0
        while await commands.readline():
            print(proxy.turns - before, flush=True)
            before = proxy.turns


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=int, required=True)
    parser.add_argument("--delay", type=float, default=0.04)
    options = parser.parse_args()
    asyncio.run(_serve(options.target, options.delay))


if __name__ == "__main__":
    _main()
