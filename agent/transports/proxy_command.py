"""ssh_config's ProxyCommand: a process of the user's own whose standard streams are the connection."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile

from agent.domain.errors import ConnectFailed, HostError
from agent.transports.handshakes import HungUp
from agent.transports.ssh_config import Target

_END_SECONDS = 2.0
_SAID_LIMIT = 10_000


class ProxyProcess:
    """``socket`` is our end of the connection; ``close`` ends the process, and blocks until it has."""

    def __init__(self, target: Target) -> None:
        self.socket, theirs = socket.socketpair()
        self._target = target
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 -- a pipe that nobody reads would stop a command that says much
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {target.proxy_command}"], stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=self._said
            )
        except OSError as error:
            self.socket.close()
            self._said.close()
            raise ConnectFailed(f"the ProxyCommand of {target.name} cannot be started: {error}", host=target.name) from error
        finally:
            theirs.close()

    def explained(self, error: HostError) -> HostError:
        """A connection that ended since the command did: with its last words, and not to be tried again. Blocks until it has ended."""
        if not isinstance(error, HungUp):
            return error
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return error
        self._said.seek(0)
        rows = self._said.read(_SAID_LIMIT).decode("utf-8", "replace").split("\n")
        said = next((row.strip() for row in reversed(rows) if row.strip()), "it said nothing")
        what = f"the ProxyCommand of {self._target.name} ended with status {status}: {said}"
        return ConnectFailed(what, host=self._target.name, hint="run it by itself: `ssh -G` shows it")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.close()
        self._said.close()
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
