"""One session channel of an asyncssh connection as a Pipe."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any

import asyncssh

from agent.domain.errors import ConnectionLost

_WINDOW = 8 * 1024 * 1024  # 100 MB/s at 80 ms; a smaller window makes every large answer wait for the far end
_PACKET = 256 * 1024
_HIGH_WATER = 2 * 1024 * 1024
_LOW_WATER = 1024 * 1024


class _Stream:
    """Bytes of one stream between asyncssh's callbacks and a reader."""

    __slots__ = ("arrived", "chunks", "ended")

    def __init__(self) -> None:
        self.chunks: deque[bytes] = deque()
        self.arrived = asyncio.Event()
        self.ended = False

    async def read(self) -> bytes:
        while not self.chunks:
            if self.ended:
                return b""
            self.arrived.clear()
            await self.arrived.wait()
        return self.chunks.popleft()


class AsyncsshPipe(asyncssh.SSHClientSession[bytes]):
    """A Pipe that may be written to as soon as its channel is open: the command's confirmation is not waited for."""

    signals = True

    def __init__(self, host: str) -> None:
        self._host = host
        self._streams: dict[int | None, _Stream] = {None: _Stream(), asyncssh.EXTENDED_DATA_STDERR: _Stream()}
        self._held = 0
        self._paused = self._resuming = False
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._lost: Exception | None = None
        self._ended = False
        self._channel: Any = None
        self._opened = asyncio.Event()
        self._starting: asyncio.Task[Any] | None = None

    async def start(self, connection: asyncssh.SSHClientConnection, command: str) -> None:
        """Returns once the channel is open and the command is sent; raises what asyncssh raises for a refused channel.

        asyncssh calls ``connection_made`` on the open channel and sends the command before it waits again, so that a
        write that follows comes after the command: a round trip less before the first answer.
        """
        session = connection.create_session(lambda: self, command, encoding=None, window=_WINDOW, max_pktsize=_PACKET)
        self._starting = asyncio.create_task(session, name="rca-channel")
        self._starting.add_done_callback(self._started)
        opened = asyncio.create_task(self._opened.wait())
        await asyncio.wait([self._starting, opened], return_when=asyncio.FIRST_COMPLETED)
        opened.cancel()
        if self._starting.done() and self._starting.exception():
            await self._starting

    # Called by asyncssh.

    def connection_made(self, chan: Any) -> None:
        self._channel = chan
        self._opened.set()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        stream = self._streams[datatype]
        stream.chunks.append(data)
        stream.arrived.set()
        self._held += len(data)
        if not self._resuming:
            self._pause_if_full()

    def eof_received(self) -> bool:
        self._end_streams()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = exc
        self._ended = True
        self._may_write.set()
        self._end_streams()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # The Pipe.

    async def write(self, payload: bytes) -> None:
        if self._ended:
            raise self._gone()
        try:
            self._channel.write(payload)
        except (OSError, asyncssh.Error) as error:
            raise self._gone() from error
        await self._may_write.wait()

    async def read(self) -> bytes:
        return await self._take(None)

    async def read_err(self) -> bytes:
        return await self._take(asyncssh.EXTENDED_DATA_STDERR)

    async def signal(self, name: str) -> None:
        if not self._ended:
            with contextlib.suppress(OSError, asyncssh.Error):
                self._channel.send_signal(name)

    async def close(self) -> None:
        if self._channel is not None and not self._ended:
            self._channel.close()
        self._end_streams()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)

    async def _take(self, datatype: int | None) -> bytes:
        chunk = await self._streams[datatype].read()
        if not chunk and self._lost is not None:
            raise self._gone()
        self._held -= len(chunk)
        if self._paused and self._held <= _LOW_WATER:
            self._resume()
        return chunk

    def _pause_if_full(self) -> None:
        if self._held > _HIGH_WATER and not self._paused:
            self._paused = True
            self._channel.pause_reading()

    def _resume(self) -> None:
        """Takes all that asyncssh held back before pausing again: with the first piece that it delivers it grants the host a whole
        window, whatever else it still holds, so that pausing in between would let its buffer grow without end."""
        self._paused = False
        self._resuming = True
        try:
            self._channel.resume_reading()
        finally:
            self._resuming = False
        self._pause_if_full()

    def _started(self, task: asyncio.Task[Any]) -> None:
        """A command that the server refuses after its channel was opened ends the pipe."""
        if not task.cancelled() and task.exception() is not None:
            self._ended = True
            self._end_streams()

    def _end_streams(self) -> None:
        for stream in self._streams.values():
            stream.ended = True
            stream.arrived.set()

    def _gone(self) -> ConnectionLost:
        why = f": {self._lost}" if self._lost else ""
        return ConnectionLost(f"the connection to {self._host} was lost{why}", host=self._host, hint="run the same command again")
