"""Records what any transport's shells answer, for the replay transport."""

from __future__ import annotations

import re

from agent.domain.launch import HostSpec
from agent.hosts.frames import Frame, FrameParser
from agent.transports.interface import Pipe, Transport
from agent.transports.replay import Recording, Reply, requests_in

_NONCE = re.compile(rb"^n=([0-9a-f]+)$", re.MULTILINE)


class RecordingTransport:
    """Wraps a transport; ``recording`` grows with every answer."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.name = inner.name
        self.recording = Recording()

    async def connect(self, spec: HostSpec) -> None:
        await self._inner.connect(spec)

    async def open(self, command: str = "exec /bin/sh -s") -> RecordingPipe:
        return RecordingPipe(await self._inner.open(command), self.recording)

    async def close(self) -> None:
        await self._inner.close()


class RecordingPipe:
    """Passes everything on; a request is recorded when both its frames have come."""

    def __init__(self, inner: Pipe, recording: Recording) -> None:
        self._inner = inner
        self._recording = recording
        self.signals = inner.signals
        self._requests: dict[int, str] = {}
        self._parsers: dict[str, FrameParser] = {}
        self._pieces: dict[str, list[bytes]] = {"out": [], "err": []}
        self._done: dict[int, dict[str, tuple[bytes, str]]] = {}

    async def write(self, payload: bytes) -> None:
        if not self._parsers and (found := _NONCE.search(payload)):
            self._parsers = {stream: FrameParser(found[1]) for stream in self._pieces}
        self._requests.update(requests_in(payload.decode("utf-8", "surrogateescape")))
        await self._inner.write(payload)

    async def read(self) -> bytes:
        return self._heard("out", await self._inner.read())

    async def read_err(self) -> bytes:
        return self._heard("err", await self._inner.read_err())

    async def signal(self, name: str) -> None:
        await self._inner.signal(name)

    async def close(self) -> None:
        await self._inner.close()

    def _heard(self, stream: str, chunk: bytes) -> bytes:
        for piece in self._parsers[stream].feed(chunk) if self._parsers else []:
            if not isinstance(piece, Frame):
                self._pieces[stream].append(piece)
                continue
            said, self._pieces[stream] = b"".join(self._pieces[stream]), []
            if piece.id < 0:
                self._recording.ready = piece.tail
            else:
                self._done.setdefault(piece.id, {})[stream] = (said, piece.tail)
                self._keep(piece.id)
        return chunk

    def _keep(self, number: int) -> None:
        said = self._done[number]
        if len(said) == 2 and number in self._requests:
            out, status = said["out"]
            self._recording.replies[self._requests[number]] = Reply(stdout=out, stderr=said["err"][0], status=status)
