"""One long-lived remote shell: requests are written ahead of their answers, and each answer is cut out by its frames."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Sequence

from agent.domain.command import Command, CommandResult
from agent.domain.errors import CommandTimeout, ConnectionLost, RcaError, RestrictedHost, Truncated
from agent.domain.redaction import redact_text
from agent.hosts.archive import Archive
from agent.hosts.decoding import Damaged, Decoder, formats
from agent.hosts.frames import Frame, FrameParser, new_nonce
from agent.hosts.prelude import Ready, parse_ready, prelude, request
from agent.transports.interface import Pipe

READY_SECONDS = 15.0
SIGNAL_SECONDS = 0.3  # a signal that works shows its effect within this
KILL_SECONDS = 1.0
GRACE_SECONDS = 5.0  # for the reply's way back, on top of the time the command itself may take
OVERFLOW_BYTES = 1_000_000  # past its limit by this much, an output that the host did not cut ends the shell
CUT_STATUS = 141  # what a shell reports of a program whose reader went away
_ERROR_LIMIT = 64_000
_NOISE_LIMIT = 500
_STATUS = re.compile(r"[0-9]{1,3}")
_TIMED_OUT = frozenset({124, 137, 143})  # GNU timeout; killed by its -k; busybox timeout


Killer = Callable[[str, Ready], Awaitable[None]]


class WorkerGone(Exception):
    """The shell ended before this request was answered, through no fault of the request: it may be sent again."""

    def __init__(self, cause: RcaError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Request:
    """One command under way. ``pieces``: where standard output goes when it is streamed, else None.

    ``archive``: takes the files of a tar stream, which the host may compress; then no output is kept.
    """

    __slots__ = ("_decoder", "_output", "_problems", "archive", "command", "compress", "future", "pieces", "size", "started", "status")

    def __init__(self, command: Command, *, archive: Archive | None = None, pieces: asyncio.Queue[bytes] | None = None) -> None:
        self.command = command
        self.archive = archive
        self.compress = formats() if archive is not None else ""
        self._decoder = Decoder() if archive is not None else None
        self.pieces = pieces
        self.future: asyncio.Future[CommandResult] = asyncio.get_running_loop().create_future()
        self.size = 0
        self.started = time.monotonic()
        self.status = -1
        self._output: list[bytes] = []
        self._problems = b""

    async def take_output(self, piece: bytes) -> None:
        """Keeps what the limit allows; waits where a reader of the stream is slow. Raises Damaged."""
        for part in self._decoder.feed(piece) if self._decoder is not None else (piece,):
            kept = part[: max(self.command.limit - self.size, 0)]
            self.size += len(part)
            if kept and self.pieces is not None:
                await self.pieces.put(kept)
            elif kept and self.archive is not None:
                self.archive.feed(kept)
            elif kept:
                self._output.append(kept)
            if self.broken_limit:
                return

    @property
    def broken_limit(self) -> bool:
        """Whether the host sent so much more than its limit that it will not stop by itself."""
        return self.size > self.command.limit + OVERFLOW_BYTES

    async def take_problem(self, piece: bytes) -> None:
        """Standard error, its beginning only."""
        self._problems += piece[: _ERROR_LIMIT - len(self._problems)]

    def settle(self, host: str) -> None:
        """The answer is complete: hands it to whoever waits."""
        if self.future.done():
            return
        seconds = time.monotonic() - self.started
        if self.status in _TIMED_OUT and seconds >= self.command.timeout:
            self.fail(slow(self.command, host))
            return
        if self._decoder is not None and not self._decoder.complete and self.size <= self.command.limit:
            self.fail(Truncated(f"the compressed answer from {host} ends too early", host=host))
            return
        if self._decoder is not None and self.archive is not None:
            self.archive.feed(self._decoder.rest)
        self.future.set_result(
            CommandResult(
                command=self.command,
                status=self.status,
                stdout=b"".join(self._output),
                stderr=self._problems,
                seconds=seconds,
                truncated=self.size > self.command.limit,
            )
        )

    def fail(self, error: Exception) -> None:
        """No answer will come."""
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # whoever waits still gets it; nobody waiting is no warning

    def abandon(self) -> None:
        """Nobody wants the answer any more; frees a reader that waits for room in the stream."""
        self.future.cancel()
        while self.pieces is not None and not self.pieces.empty():
            self.pieces.get_nowait()


def slow(command: Command, host: str) -> CommandTimeout:
    """The error of a read that took longer than its own limit."""
    what = f"{command.argv[0]} on {host} took longer than {command.timeout:g} s"
    return CommandTimeout(what, host=host, hint="ask for less at once, or allow it more time")


class Worker:
    """Owns one pipe. For many callers on one event loop; ``load`` is the number of requests without an answer.

    ``killer``: signals the shell's process group from outside, where the pipe itself cannot. ``container``: where on the host it runs.
    """

    def __init__(self, pipe: Pipe, host: str, killer: Killer | None = None, *, container: str = "") -> None:
        self._pipe = pipe
        self._killer = killer
        self._host = host
        self._container = container
        self._nonce = new_nonce()
        self._unsent = prelude(self._nonce)
        self._pending: dict[int, Request] = {}
        self._sent = 0
        self._began = time.monotonic()
        self._at = {"out": 1, "err": 1}  # the request that each stream is answering now
        self._noise = b""
        self._ends = 0
        self._clock: asyncio.TimerHandle | None = None
        self._killing: asyncio.Task[None] | None = None
        self.ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self.alive = True
        self.received = 0
        self._ready: Ready | None = None
        self._introduced = asyncio.Event()  # the shell has told its process, or never will
        self._pumps = (
            asyncio.create_task(self._pump("out", pipe.read), name="rca-out"),
            asyncio.create_task(self._pump("err", pipe.read_err), name="rca-err"),
        )
        self._set_clock(READY_SECONDS, self._never_ready)

    @property
    def load(self) -> int:
        return len(self._pending)

    @property
    def busy_for(self) -> float:
        """Seconds since the request at the head began; 0 when idle."""
        head = self._pending.get(self._at["out"])
        return time.monotonic() - head.started if head else 0.0

    async def send(self, requests: Sequence[Request]) -> None:
        """One write for all; each future gets a result, an RcaError of its own, or WorkerGone."""
        if not self.alive:
            for item in requests:
                item.fail(WorkerGone(ConnectionLost(f"the shell on {self._host} has ended", host=self._host)))
            return
        idle = not self._pending
        text = []
        for item in requests:
            self._sent += 1
            text.append(request(item.command, self._sent, compress=item.compress))
            self._pending[self._sent] = item
        payload, self._unsent = self._unsent + b"".join(text), b""
        if idle and self.ready.done():
            self._start_head()
        try:
            await self._pipe.write(payload)
        except RcaError as error:
            if not self.ready.done():  # what the shell said before it ended tells more than that it takes no input
                await asyncio.wait(self._pumps, timeout=KILL_SECONDS)
            if self.alive:
                self._lost(error)

    @property
    def ending(self) -> bool:
        """Whether it was, or is being, ended by force."""
        return self._killing is not None

    async def over(self) -> None:
        """Returns when its end, where one was forced, is complete."""
        if self._killing is not None:
            await asyncio.shield(self._killing)

    async def tell(self, statement: bytes) -> None:
        """A statement that prints nothing and is not answered."""
        await self._pipe.write(statement)

    def cancel(self, requests: Sequence[Request]) -> None:
        """Ends the shell if one of these is unanswered; others that waited with it get WorkerGone."""
        for item in requests:
            item.abandon()
        if any(item in requests for item in self._pending.values()):
            self._kill(ConnectionLost(f"a read on {self._host} was cancelled", host=self._host))

    async def close(self) -> None:
        """Ends the shell: by end of input when idle, by signal otherwise; idempotent."""
        if self._pending:
            self._kill(ConnectionLost(f"the connection to {self._host} was closed", host=self._host))
        self.alive = False
        self._stop_clock()
        if self._killing is not None:
            await self._killing
        else:
            await self._pipe.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        self.ready.cancel()

    # What the shell says.

    async def _pump(self, stream: str, read: Callable[[], Awaitable[bytes]]) -> None:
        parser = FrameParser(self._nonce)
        started = False
        try:
            while chunk := await read():
                for piece in parser.feed(chunk):
                    if isinstance(piece, Frame):
                        started = True
                        self._frame(stream, piece)
                    elif started:
                        self.received += len(piece)
                        await self._payload(stream, piece)
                    else:
                        self._noise = (self._noise + piece)[:_NOISE_LIMIT]
        except RcaError as error:
            self._lost(error)
            return
        finally:
            if stream == "out":
                self._introduced.set()
        self._noise = self._noise or parser.held[:_NOISE_LIMIT]
        self._ended()

    async def _payload(self, stream: str, piece: bytes) -> None:
        item = self._pending.get(self._at[stream])
        if item is None:
            return
        if stream == "err":
            await item.take_problem(piece)
            return
        try:
            await item.take_output(piece)
        except Damaged as error:
            item.fail(Truncated(f"the compressed answer from {self._host} is damaged: {error}", host=self._host))
            self._kill(ConnectionLost(f"the shell on {self._host} sent a damaged answer", host=self._host))
            return
        if item.broken_limit:
            item.status = CUT_STATUS
            item.settle(self._host)
            self._kill(ConnectionLost(f"a read on {self._host} was cut at its limit", host=self._host))

    def _frame(self, stream: str, frame: Frame) -> None:
        if frame.id < 0:
            self._is_ready(stream, frame)
            return
        item = self._pending.get(frame.id)
        if item is None or frame.id != self._at[stream]:
            self._kill(Truncated(f"the shell on {self._host} answered out of order", host=self._host))
            return
        self._at[stream] += 1
        if stream == "out":
            item.status = int(frame.tail) if _STATUS.fullmatch(frame.tail) else -1
            self._start_head()
        if frame.id < min(self._at.values()):
            del self._pending[frame.id]
            item.settle(self._host)

    def _is_ready(self, stream: str, frame: Frame) -> None:
        if stream != "out" or self._ready is not None:
            return
        self._ready = parse_ready(frame.tail)
        self._introduced.set()
        if not self.ready.done():
            self._stop_clock()
            self.ready.set_result(self._ready)
            self._start_head()

    # Clocks.

    def _start_head(self) -> None:
        """The next request runs on the host from now on: its clock starts."""
        self._stop_clock()
        item = self._pending.get(self._at["out"])
        if item is not None:
            item.started = time.monotonic()
            self._set_clock(item.command.timeout + GRACE_SECONDS, self._too_slow)

    def _set_clock(self, seconds: float, then: Callable[[], None]) -> None:
        self._clock = asyncio.get_running_loop().call_later(seconds, then)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _too_slow(self) -> None:
        item = self._pending[self._at["out"]]
        item.fail(slow(item.command, self._host))
        self._kill(ConnectionLost(f"the shell on {self._host} was ended after a time-out", host=self._host))

    def _never_ready(self) -> None:
        self._kill(self._restricted(f"no shell answered within {READY_SECONDS:g} s"))

    # Ends.

    def _restricted(self, why: str) -> RestrictedHost:
        said = redact_text(self._noise.decode("utf-8", "replace").strip())
        if self._container:
            what = f"there is no shell to be had in {self._container} on {self._host}: {why}"
            hint = "is it running, does it hold /bin/sh, and may this account use it?"
        else:
            what = f"login to {self._host} works, but {why}"
            hint = "the account may be limited to SFTP or to one command; rca needs one that may run /bin/sh"
        what += f"; it said {said!r}" if said else ""
        return RestrictedHost(what, host=self._host, hint=hint)

    def _ended(self) -> None:
        """One stream ended; the shell is gone when both have."""
        self._ends += 1
        if self._ends == 2:
            early = self._restricted("the session ended at once")
            cut = Truncated(f"the shell on {self._host} ended in the middle of an answer", host=self._host)
            self._lost(cut if self.ready.done() else early)

    def _lost(self, cause: RcaError) -> None:
        """Nothing more will come."""
        self.alive = False
        self._stop_clock()
        if not self.ready.done():
            self.ready.set_exception(cause)
            self.ready.exception()
        for item in self._pending.values():
            item.fail(WorkerGone(cause))
        self._pending.clear()

    def _kill(self, cause: RcaError) -> None:
        """TERM to the shell's process group, KILL after a second; every pending request is failed at once."""
        self._lost(cause)
        if self._killing is None:
            self._killing = asyncio.create_task(self._end_process(), name="rca-kill")

    async def _end_process(self) -> None:
        """By the pipe's own signal; where it has none or the server refuses it (sshd does for root), from a second pipe.

        A shell that was told what to do and has not answered yet is waited for: it may be at work already, under a process id that
        only its first words will tell.
        """
        with contextlib.suppress(RcaError, TimeoutError):  # the connection is gone and its shell with it, or the host takes for ever
            await self._introduction()
            async with asyncio.timeout(READY_SECONDS):
                for name in ("TERM", "KILL"):
                    await self._end_by(name)
                    if self._ended_on_host():
                        break
        await self._pipe.close()

    async def _end_by(self, name: str) -> None:
        if self._pipe.signals:
            await self._pipe.signal(name)
            await asyncio.wait(self._pumps, timeout=SIGNAL_SECONDS)
        if not self._ended_on_host() and self._killer is not None and self._ready is not None:
            await self._killer(name, self._ready)
            await asyncio.wait(self._pumps, timeout=KILL_SECONDS)

    async def _introduction(self) -> None:
        """Until the shell has told its process, cannot any more, or has had its time."""
        if self._sent:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._introduced.wait(), max(self._began + READY_SECONDS - time.monotonic(), 0))

    def _ended_on_host(self) -> bool:
        return all(pump.done() for pump in self._pumps)
