"""What every transport offers: a byte pipe to a POSIX shell on the host, and nothing more."""

from __future__ import annotations

from typing import Protocol

from agent.domain.launch import HostSpec


class Pipe(Protocol):
    """A running remote shell as two byte streams out and one in.

    ``signals``: whether ``signal`` reaches the shell's whole process group on the host; otherwise a second pipe has to.
    """

    signals: bool

    async def write(self, payload: bytes) -> None:
        """Sends bytes to the shell's standard input; returns once they are handed to the transport."""
        ...

    async def read(self) -> bytes:
        """Some bytes of standard output; empty at its end."""
        ...

    async def read_err(self) -> bytes:
        """Some bytes of standard error; empty at its end."""
        ...

    async def signal(self, name: str) -> None:
        """Sends ``TERM`` or ``KILL`` to the shell, where the transport can."""
        ...

    async def close(self) -> None:
        """Ends the pipe; idempotent."""
        ...


class Transport(Protocol):
    """One connection to one host."""

    name: str

    async def connect(self, spec: HostSpec) -> None:
        """Connects and logs in, or raises a HostError of domain/errors.py."""
        ...

    async def open(self, command: str = "exec /bin/sh -s") -> Pipe:
        """A new pipe on this connection; raises ConnectFailed when the host refuses another channel."""
        ...

    async def close(self) -> None:
        """Ends the connection and every pipe; idempotent."""
        ...
