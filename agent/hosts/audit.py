"""The audit log: one JSON line per read on a host, appended to a local file; arguments are redacted before."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError, StoreError
from agent.domain.redaction import redact_argv
from agent.domain.source import sha256


class AuditLog:
    """Append-only. ``path`` None keeps nothing. Each line: time, host, id, argv, status, bytes, sha256, seconds, truncated, error."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._number = 0
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

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
            with open(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w") as file:
                file.write(line)
        except OSError as error:
            raise StoreError(f"cannot write the audit log {self._path}: {error}", hint="every read must be logged") from error
