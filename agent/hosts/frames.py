"""The framing of replies: whatever a shell prints, cut at lines ``NONCE id status`` that no output can forge.

The nonce is 96 random bits, told to the shell over standard input alone: it is in no argument vector, environment or
file, so nothing on the host can print it. Everything before the ``ready`` frame is noise of rc files.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

NONCE_BYTES = 12
_LONGEST_FRAME = 4096
_FRAME = re.compile(rb" (ready|[0-9]{1,12}) ([^\n]*)\n")


def new_nonce() -> bytes:
    """Fresh for every shell."""
    return secrets.token_hex(NONCE_BYTES).encode("ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The end of a reply: ``id`` is -1 for the ready frame; ``tail`` is the exit status, or the ready frame's features."""

    id: int
    tail: str


class FrameParser:
    """Feed it chunks as they come; it gives payload pieces and frames, in order, however the bytes were split."""

    __slots__ = ("_buffer", "_nonce")

    def __init__(self, nonce: bytes) -> None:
        self._nonce = nonce
        self._buffer = b""

    @property
    def held(self) -> bytes:
        """Bytes that may still become a frame; at the end of the stream they are payload."""
        return self._buffer

    def feed(self, chunk: bytes) -> list[bytes | Frame]:
        """Payload pieces (never empty) and frames that are now certain."""
        found: list[bytes | Frame] = []
        data = self._buffer + chunk
        start = search = 0
        while (at := data.find(self._nonce, search)) >= 0:
            match = _FRAME.match(data, at + len(self._nonce))
            if match is None:
                if self._may_grow(data, at):
                    return self._hold(found, data, start, at)
                search = at + 1  # the nonce outside a frame: a shell that echoes its input; payload like any other
                continue
            if at > start:
                found.append(data[start:at])
            found.append(Frame(id=-1 if match[1] == b"ready" else int(match[1]), tail=match[2].decode("utf-8", "replace")))
            start = search = match.end()
        return self._hold(found, data, start, max(search, len(data) - self._partial(data)))

    def _hold(self, found: list[bytes | Frame], data: bytes, start: int, at: int) -> list[bytes | Frame]:
        if at > start:
            found.append(data[start:at])
        self._buffer = data[at:]
        return found

    def _may_grow(self, data: bytes, at: int) -> bool:
        """Whether more bytes could make the text after the nonce a frame."""
        rest = data[at + len(self._nonce) :]
        return len(rest) < _LONGEST_FRAME and b"\n" not in rest and (not rest or rest.startswith(b" "))

    def _partial(self, data: bytes) -> int:
        """Length of the longest end of ``data`` that starts the nonce."""
        tail = data[-(len(self._nonce) - 1) :]
        at = tail.find(self._nonce[:1])
        while at >= 0 and not self._nonce.startswith(tail[at:]):
            at = tail.find(self._nonce[:1], at + 1)
        return len(tail) - at if at >= 0 else 0
