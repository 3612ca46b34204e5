"""``RemoteHost``: the Host over any transport; batches, retries, limits, redaction, audit and costs meet here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.investigation import Cost
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, SourceTree, Unreadable
from agent.hosts.archive import Archive
from agent.hosts.audit import AuditLog
from agent.hosts.fetch import fetch
from agent.hosts.interface import Features
from agent.hosts.merging import batch_merged
from agent.hosts.pool import SHELLS, Pool
from agent.hosts.redact import Redactor
from agent.hosts.snapshots import SnapshotCache
from agent.hosts.sync import sync_tree
from agent.hosts.worker import Request, Worker, WorkerGone
from agent.transports.interface import Transport

_AHEAD = 16  # pieces of a stream that may wait for its reader
_ATTEMPTS = 2  # reads may be sent again after a shell was lost under them, once


class RemoteHost:
    """One host over one connected transport; see ``hosts.interface.Host``."""

    def __init__(
        self,
        transport: Transport,
        spec: HostSpec,
        *,
        reason: str = "",
        shells: Sequence[str] = SHELLS,
        redactor: Redactor | None = None,
        audit: AuditLog | None = None,
        cache_dir: Path | None = None,
        tell: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self.spec = spec
        self.transport_name = transport.name
        self.transport_reason = reason
        self._transport = transport
        self._pool = Pool(transport, spec.name, shells, container=spec.container)
        self._redactor = redactor or Redactor()
        self._audit = audit or AuditLog(None)
        self._cache = SnapshotCache(cache_dir, tell=tell)
        self._features: Features | None = None
        self._commands = self._round_trips = self._files = 0

    @property
    def cost(self) -> Cost:
        return Cost(commands=self._commands, round_trips=self._round_trips, bytes=self._pool.received, files=self._files)

    @property
    def shells(self) -> int:
        """Shells that are open on the host now."""
        return self._pool.size

    async def features(self) -> Features:
        for tries in count(1):
            worker = await self._pool.worker()
            if not worker.ready.done():
                self._round_trips += 1
                await worker.send([])
            try:
                return (await asyncio.shield(worker.ready)).features
            except RcaError as error:
                if not await self._pool.mend(error, tries):
                    raise
        raise AssertionError("unreachable")

    async def run(self, command: Command) -> CommandResult:
        (answer,) = await self.batch([command])
        if isinstance(answer, RcaError):
            raise answer
        return answer

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        async def send(merged: Sequence[Command]) -> list[CommandResult | RcaError]:
            return await self.batch_exact([(command, None) for command in merged])

        answers = await batch_merged(send, commands)
        return [self._redactor.result(answer) if isinstance(answer, CommandResult) else answer for answer in answers]

    async def batch_exact(self, commands: Sequence[tuple[Command, Archive | None]]) -> list[CommandResult | RcaError]:
        """A batch without redaction; a command that makes an archive of source files stands with what takes it, and answers no output."""
        answers: list[CommandResult | RcaError | None] = [None] * len(commands)
        attempt = 0
        while open_ := [number for number, answer in enumerate(answers) if answer is None]:
            attempt += 1
            requests = [self._request(*commands[number]) for number in open_]
            try:
                worker = await self._pool.worker()
            except RcaError as unreachable:
                for number, item in zip(open_, requests, strict=True):
                    answers[number] = self._finished(item, unreachable)
                break
            lost = await self._exchange(worker, requests)
            mended = lost is not None and await self._pool.mend(lost, attempt)
            for number, item in zip(open_, requests, strict=True):
                error = item.future.exception()
                if not isinstance(error, WorkerGone):
                    answers[number] = self._finished(item, error)
                elif attempt >= _ATTEMPTS and not mended:
                    answers[number] = self._finished(item, error.cause)
        return [answer for answer in answers if answer is not None]

    async def stream(self, command: Command) -> AsyncIterator[bytes]:
        async for piece in self._redactor.stream(command, self._pieces(command)):
            yield piece

    async def fetch(self, paths: Sequence[str]) -> dict[str, bytes | Absent | Unreadable]:
        found = await fetch(self, paths)
        self._files += len(found)
        return {path: self._redactor.file(path, content) if isinstance(content, bytes) else content for path, content in found.items()}

    async def sync_tree(self, root: str, packages: Sequence[str]) -> SourceTree:
        tree = await sync_tree(self, self.spec.name, self.spec.container, root, packages, self._cache, self._redactor)
        self._files += tree.fetched
        return tree

    async def close(self) -> None:
        await self._pool.close()
        await self._transport.close()

    async def _pieces(self, command: Command) -> AsyncIterator[bytes]:
        """Raw output as it comes, on a shell of its own where the host allows one; the reader's pace is the host's."""
        own = await self._pool.extra()
        worker = own or await self._pool.worker()
        item = Request(command, pieces=asyncio.Queue(maxsize=_AHEAD))
        began = False
        try:
            await self._send(worker, [item])
            async for piece in _arriving(item):
                began = True
                yield piece
            error = item.future.exception()
            if isinstance(error, WorkerGone) and not began and await self._pool.mend(error.cause, 1):
                async for piece in self._pieces(command):
                    yield piece
                return
            answer = self._finished(item, error.cause if isinstance(error, WorkerGone) else error)
            if isinstance(answer, RcaError):
                raise answer
        finally:
            worker.cancel([item])
            if own is not None:
                await own.close()

    def _request(self, command: Command, archive: Archive | None) -> Request:
        if archive is not None:
            archive.restart()
        return Request(command, archive=archive)

    async def _send(self, worker: Worker, requests: Sequence[Request]) -> None:
        self._commands += len(requests)
        self._round_trips += 1
        await worker.send(requests)

    async def _exchange(self, worker: Worker, requests: Sequence[Request]) -> RcaError | None:
        """Writes once and waits for every answer; cancelled, it takes the running command along. Returns why a shell was lost."""
        try:
            await self._send(worker, requests)
            await asyncio.wait([item.future for item in requests])
        except asyncio.CancelledError:
            worker.cancel(requests)
            raise
        gone = (item.future.exception() for item in requests)
        return next((error.cause for error in gone if isinstance(error, WorkerGone)), None)

    def _finished(self, item: Request, error: BaseException | None) -> CommandResult | RcaError:
        if isinstance(error, RcaError):
            self._audit.failed(self.spec.name, item.command, error)
            return error
        result = item.future.result()
        self._audit.answered(self.spec.name, result)
        return result


async def _arriving(item: Request) -> AsyncIterator[bytes]:
    """The pieces of a streamed request, until its answer is complete or lost."""
    assert item.pieces is not None
    while not (item.future.done() and item.pieces.empty()):
        piece = asyncio.create_task(item.pieces.get())
        both: list[asyncio.Future[Any]] = [piece, item.future]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if piece.done():
            yield piece.result()
        else:
            piece.cancel()
