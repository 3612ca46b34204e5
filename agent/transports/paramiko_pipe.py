"""One paramiko channel as a Pipe: a thread per stream reads, and stops reading while nobody takes."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import paramiko

from agent.domain.errors import ConnectionLost

_CHUNK = 64 * 1024
_HIGH_WATER = 4 * 1024 * 1024


class _Stream:
    """Chunks between a reading thread and the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._room = threading.Condition()
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._arrived = asyncio.Event()
        self._ended = False
        self.closed = False

    def pump(self, receive: Callable[[int], bytes]) -> None:
        """The thread: until the end of the stream, or of interest in it."""
        try:
            while not self.closed and (chunk := receive(_CHUNK)):
                with self._room:
                    self._chunks.append(chunk)
                    self._held += len(chunk)
                self._wake()
                with self._room:
                    self._room.wait_for(lambda: self._held < _HIGH_WATER or self.closed)
        except OSError:
            pass
        self._ended = True
        self._wake()

    async def read(self) -> bytes:
        while not self._chunks:
            if self._ended or self.closed:
                return b""
            self._arrived.clear()
            if not self._chunks and not self._ended:
                await self._arrived.wait()
        with self._room:
            chunk = self._chunks.popleft()
            self._held -= len(chunk)
            self._room.notify()
        return chunk

    def close(self) -> None:
        with self._room:
            self.closed = True
            self._room.notify_all()
        self._arrived.set()

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError:  # the loop is closed: nobody waits
            self.closed = True


class ParamikoPipe:
    """paramiko has no call for signals: a shell is ended from a second pipe."""

    signals = False

    def __init__(self, channel: paramiko.Channel, host: str, loop: asyncio.AbstractEventLoop) -> None:
        self._channel = channel
        self._host = host
        self._out, self._err = _Stream(loop), _Stream(loop)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rca-paramiko-write")  # one, so that writes keep their order
        self._threads = [
            threading.Thread(target=stream.pump, args=(receive,), daemon=True, name="rca-paramiko")
            for stream, receive in ((self._out, channel.recv), (self._err, channel.recv_stderr))
        ]
        for thread in self._threads:
            thread.start()

    async def write(self, payload: bytes) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._writer, self._channel.sendall, payload)
        except (OSError, paramiko.SSHException, EOFError, RuntimeError) as error:
            raise self._gone() from error

    async def read(self) -> bytes:
        return await self._read(self._out)

    async def read_err(self) -> bytes:
        return await self._read(self._err)

    async def signal(self, name: str) -> None:
        """Not here: see ``signals``."""

    async def close(self) -> None:
        self._out.close()
        self._err.close()
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            await asyncio.to_thread(self._channel.close)
        self._writer.shutdown(wait=False)
        for thread in self._threads:
            await asyncio.to_thread(thread.join, 2.0)

    async def _read(self, stream: _Stream) -> bytes:
        chunk = await stream.read()
        transport = self._channel.get_transport()
        if not chunk and not stream.closed and not (transport and transport.is_active()):
            raise self._gone()
        return chunk

    def _gone(self) -> ConnectionLost:
        return ConnectionLost(f"the connection to {self._host} was lost", host=self._host, hint="run the same command again")
