"""The shells of one host: one at the start, up to four on demand, fewer where the host refuses more channels."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from itertools import count

from agent.domain.errors import ConnectFailed, ConnectionLost, RcaError, RestrictedHost
from agent.hosts.prelude import Ready
from agent.hosts.worker import Worker
from agent.transports.interface import Transport

LIMIT = 4
PATIENCE_SECONDS = 0.25  # a shell busy for less than this is about to be free: writing behind costs no round trip
_WAITS, _FREED_SECONDS = 20, 0.1  # sshd frees a channel late: so often, and so long, that is waited for
SHELLS = ("exec /bin/sh -s", "sh -s")  # the second is for restricted shells, which refuse `exec` and `/`


class Pool:
    """Hands out workers. ``shells``: the commands that start a shell, tried in order until one answers; ``container``: where."""

    def __init__(self, transport: Transport, host: str, shells: Sequence[str] = SHELLS, *, container: str = "") -> None:
        self._transport = transport
        self._host = host
        self._container = container
        self._shells = list(shells)
        self._workers: list[Worker] = []
        self._growing: asyncio.Task[None] | None = None
        self._first = asyncio.Lock()
        self._refused = False
        self.limit = LIMIT

    @property
    def size(self) -> int:
        """Shells that live now."""
        return len(self._living())

    @property
    def received(self) -> int:
        """Bytes of answers that came from all shells so far. Not of what frames them: process ids, and how many shells it took, are
        others in every run.
        """
        return sum(worker.received for worker in self._workers)

    async def worker(self) -> Worker:
        """A shell to write to now: an idle one, or the one that will be free first; more are opened meanwhile."""
        while True:
            living = self._living()
            if not living:
                async with self._first:
                    living = self._living() or [await self._open_anew()]
            best = min(living, key=lambda worker: (worker.load > 0, worker.busy_for))
            if best.load == 0:
                return best
            growing = self._grow()
            if growing is None or best.busy_for < PATIENCE_SECONDS:
                return best
            await asyncio.wait([growing])

    async def extra(self) -> Worker | None:
        """A shell of its own for a long transfer, or None where the host allows no more; the caller closes it."""
        if self._refused and self.size >= self.limit:
            return None
        try:
            return await self._open()
        except ConnectFailed:
            self._shrink()
            return None

    async def mend(self, cause: RcaError, tries: int) -> bool:
        """After a lost or refused shell, for the ``tries``-th time: whether the reason is one that another try mends; then prepares it."""
        if isinstance(cause, RestrictedHost) and len(self._shells) > 1:
            del self._shells[0]
            return True
        if not isinstance(cause, ConnectFailed):
            return False
        if self.size:
            self._shrink()
            return True
        return await self._freed(tries)

    async def _freed(self, tries: int) -> bool:
        """Whether a shell that is ending may hold the only channel, which sshd frees late: waits for it, and a moment more."""
        ending = [worker for worker in self._workers if worker.ending]
        if tries > _WAITS or not ending:
            return False
        await asyncio.gather(*(worker.over() for worker in ending))
        await asyncio.sleep(_FREED_SECONDS)
        return True

    def _shrink(self) -> None:
        """The host allows no more than live now."""
        self._refused = True
        self.limit = max(self.size, 1)

    async def close(self) -> None:
        if self._growing is not None:
            self._growing.cancel()
            await asyncio.gather(self._growing, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in self._workers))

    def _living(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.alive]

    def _grow(self) -> asyncio.Task[None] | None:
        """The task that opens one more shell; None where the pool is as large as it may be."""
        if self._growing is not None and not self._growing.done():
            return self._growing
        self._growing = asyncio.create_task(self._open_more(), name="rca-grow") if self.size < self.limit else None
        return self._growing

    async def _open_more(self) -> None:
        try:
            await self._open()
        except RcaError:
            self._shrink()  # where it is more than a refusal, whoever needs a shell next meets the same error

    async def _open_anew(self) -> Worker:
        for tries in count(1):
            try:
                return await self._open()
            except ConnectFailed as refused:
                if not await self.mend(refused, tries):
                    raise
        raise AssertionError("unreachable")

    async def _open(self) -> Worker:
        worker = Worker(await self._transport.open(self._shells[0]), self._host, self._kill, container=self._container)
        self._workers.append(worker)
        return worker

    async def _kill(self, signal: str, shell: Ready) -> None:
        """Signals a shell of our own; its whole group where it leads one, so that the running read ends too.

        From a second pipe; where the host refuses that, by another shell as soon as it comes to it. Raises ConnectFailed without either:
        the read then ends at its own time limit.
        """
        if not shell.pid:
            return
        statement = f"kill -{signal} {'-' if shell.group == shell.pid else ''}{shell.pid}\n".encode("ascii")
        try:
            await self._say(statement)
        except ConnectFailed:
            if not self._living():
                raise
            await self._living()[0].tell(statement)

    async def _say(self, statement: bytes) -> None:
        """To a shell that is started for nothing else. Its streams are read to their ends: what refused it may be said there alone."""
        pipe = await self._transport.open(self._shells[0])
        try:
            with contextlib.suppress(ConnectionLost):
                await pipe.write(statement + b"exit\n")
            await asyncio.gather(_drained(pipe.read), _drained(pipe.read_err))
        finally:
            await pipe.close()


async def _drained(read: Callable[[], Awaitable[bytes]]) -> None:
    while await read():
        pass
