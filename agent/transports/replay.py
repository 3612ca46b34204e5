"""The replay transport: a shell that answers from a recording, byte for byte; what was not recorded fails and says so."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.domain.errors import ConnectionLost, StoreError
from agent.domain.launch import HostSpec

SCHEMA = "rca.recording/1"
NOT_RECORDED = 125
_REQUEST = re.compile(r"(?P<way>[qgcz]) (?P<number>\d+)(?P<rest>(?: .*)?)", re.DOTALL)
_NONCE = re.compile(r"^n=([0-9a-f]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a shell said to one request."""

    stdout: bytes
    stderr: bytes
    status: str


@dataclass(slots=True, kw_only=True)
class Recording:
    """``ready``: the features line; ``replies``: request without its number to reply."""

    ready: str = ""
    replies: dict[str, Reply] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """As JSON, in a stable order."""
        rows = {key: [_encode(reply.stdout), _encode(reply.stderr), reply.status] for key, reply in sorted(self.replies.items())}
        path.write_text(json.dumps({"schema": SCHEMA, "ready": self.ready, "replies": rows}, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Raises StoreError for anything that is no recording."""
        try:
            document: dict[str, Any] = json.loads(path.read_text())
            rows = document["replies"].items()
            replies = {key: Reply(stdout=_decode(out), stderr=_decode(err), status=status) for key, (out, err, status) in rows}
            return cls(ready=document["ready"], replies=replies)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{path} is not a recording: {error}") from error


class ReplayTransport:
    """Never connects to anything."""

    name = "replay"

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def connect(self, spec: HostSpec) -> None:
        """Nothing to do."""

    async def open(self, command: str = "exec /bin/sh -s") -> ReplayPipe:
        return ReplayPipe(self._recording)

    async def close(self) -> None:
        """Nothing to do."""


class ReplayPipe:
    """Understands the prelude's nonce and the requests, and nothing else."""

    signals = True

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._out: asyncio.Queue[bytes] = asyncio.Queue()
        self._err: asyncio.Queue[bytes] = asyncio.Queue()
        self._nonce = ""
        self._ended = False

    async def write(self, payload: bytes) -> None:
        if self._ended:
            raise ConnectionLost("the replayed shell has ended", host="replay")
        text = payload.decode("utf-8", "surrogateescape")
        if not self._nonce and (found := _NONCE.search(text)):
            self._nonce = found[1]
            self._say(b"", b"", f"ready {self._recording.ready}")
        for number, request in requests_in(text):
            reply = self._recording.replies.get(request)
            if reply is None:
                reply = Reply(stdout=b"", stderr=f"this read is not in the recording: {request}\n".encode(), status=str(NOT_RECORDED))
            self._say(reply.stdout, reply.stderr, f"{number} {reply.status}")

    async def read(self) -> bytes:
        return await self._take(self._out)

    async def read_err(self) -> bytes:
        return await self._take(self._err)

    async def signal(self, name: str) -> None:
        await self.close()

    async def close(self) -> None:
        self._ended = True
        self._out.put_nowait(b"")
        self._err.put_nowait(b"")

    def _say(self, out: bytes, err: bytes, frame: str) -> None:
        end = f"{self._nonce} {frame}\n".encode()
        self._out.put_nowait(out + end)
        self._err.put_nowait(err + end)

    async def _take(self, queue: asyncio.Queue[bytes]) -> bytes:
        return b"" if self._ended and queue.empty() else await queue.get()


def requests_in(text: str) -> Iterator[tuple[int, str]]:
    """The requests that a worker wrote: number, and the request without it (a stable key). A quoted line break is within one."""
    held = ""
    for line in text.split("\n"):
        held = f"{held}\n{line}" if held else line
        if held.replace("'\"'\"'", "").count("'") % 2:
            continue
        match = _REQUEST.fullmatch(held)
        if match:
            yield int(match["number"]), f"{match['way']}{match['rest']}"
        held = ""


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _decode(text: str) -> bytes:
    return base64.b64decode(text)
