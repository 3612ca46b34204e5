"""The local transport: this machine's own ``/bin/sh`` as a subprocess, in a session of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Callable, Sequence
from typing import TypeVar

from agent.domain.errors import ConnectFailed, ConnectionLost
from agent.domain.launch import HostSpec

_CHUNK = 256 * 1024
_END_SECONDS = 1.0


class ProcessPipe:
    """A subprocess as a Pipe; signals go to its whole process group."""

    signals = True

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr

    async def write(self, payload: bytes) -> None:
        try:
            self._stdin.write(payload)
            await self._stdin.drain()
        except OSError as error:
            raise ConnectionLost(f"the local shell does not take input: {error}", host="localhost") from error

    async def read(self) -> bytes:
        return await self._stdout.read(_CHUNK)

    async def read_err(self) -> bytes:
        return await self._stderr.read(_CHUNK)

    async def signal(self, name: str) -> None:
        self._signal_group(name)

    def _signal_group(self, name: str) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.Signals[f"SIG{name}"])

    async def close(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()
        await end(self._process, lambda: self._signal_group("KILL"))


async def end(process: asyncio.subprocess.Process, force: Callable[[], None]) -> None:
    """Waits until a process has ended, and forces it to after a second.

    asyncio calls a process ended when its pipes are at their end too, which others may hold for ever: a control connection keeps those
    of its clients. They are closed here first.
    """
    transport: asyncio.SubprocessTransport = process._transport  # type: ignore[attr-defined]  # asyncio offers no public way
    try:
        await asyncio.wait_for(process.wait(), _END_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            force()
        for number in range(3):
            pipe = transport.get_pipe_transport(number)
            if pipe is not None:
                pipe.close()
        await process.wait()
    transport.close()


P = TypeVar("P", bound=ProcessPipe)


async def spawn(argv: Sequence[str], host: str, kind: type[P]) -> P:
    """Starts a program with three pipes in its own session; raises ConnectFailed where it cannot start."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, limit=_CHUNK)
    except OSError as error:
        raise ConnectFailed(f"cannot start {shlex.join(argv[:1])}: {error}", host=host) from error
    return kind(process)


class LocalTransport:
    """No connection at all: each pipe is a child process."""

    name = "local"

    def __init__(self) -> None:
        self._pipes: list[ProcessPipe] = []

    async def connect(self, spec: HostSpec) -> None:
        """Nothing to do: this machine is always here."""

    async def open(self, command: str = "exec /bin/sh -s") -> ProcessPipe:
        pipe = await spawn(["/bin/sh", "-c", command], "localhost", ProcessPipe)
        self._pipes.append(pipe)
        return pipe

    async def close(self) -> None:
        pipes, self._pipes = self._pipes, []
        await asyncio.gather(*(pipe.close() for pipe in pipes))
