"""The audit log: one JSON line per read on a host, appended to a local file; arguments are redacted before."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.redaction import redact_argv
from agent.domain.source import sha256


class AuditLog:
    """Append-only. ``path`` None keeps nothing. Each line: time, host, id, argv, status, bytes, sha256, seconds, truncated, error.

    A log that cannot be written ends no run: ``tell`` is told once why reads are missing from it.
    """

    def __init__(self, path: Path | None, tell: Callable[[str], None] = lambda problem: None) -> None:
        self._path = path
        self._tell = tell
        self._number = 0
        self._told = False

    def answered(self, host: str, result: CommandResult) -> None:
        """A read and its result."""
        if self._path is None:  # twenty megabytes of sources take a while to digest
            return
        self._append(
            host,
            result.command,
            status=result.status,
            bytes=len(result.stdout),
            sha256=sha256(result.stdout),
            seconds=round(result.seconds, 4),
            truncated=result.truncated,
        )

    def failed(self, host: str, command: Command, error: RcaError) -> None:
        """A read without a result."""
        self._append(host, command, error=type(error).__name__)

    def _append(self, host: str, command: Command, **what: object) -> None:
        if self._path is None:
            return
        self._number += 1
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = {"time": now, "host": host, "id": self._number, "argv": list(redact_argv(command.argv)), **what}
        line = json.dumps(row, ensure_ascii=True) + "\n"
        try:
            self._write(line.encode("ascii"))
        except OSError as problem:
            if not self._told:
                self._told = True
                self._tell(f"reads are not logged: {self._path}: {problem.strerror or problem}")

    def _write(self, line: bytes) -> None:
        """A line that a full disk cut is ended before the next one."""
        assert self._path is not None
        if self._number == 1 or self._told:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "rb+", buffering=0) as file:
            end = os.fstat(file.fileno()).st_size
            if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
                line = b"\n" + line
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
