"""Files of this machine, for launches that are judged offline."""

from __future__ import annotations

import os
from pathlib import Path

from agent.domain.source import Absent, Unreadable
from agent.hosts.redact import Redactor


class LocalFiles:
    """``Files`` by absolute path, or relative to ``cwd``; their secrets are masked, as in those that come from a host."""

    def __init__(self, cwd: str | Path = ".") -> None:
        self._cwd = os.fspath(cwd)
        self._redactor = Redactor()

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """A regular file's bytes; anything else that is there cannot hang the reader."""
        place = os.path.join(self._cwd, path)
        try:
            if os.path.exists(place) and not os.path.isfile(place):
                return Unreadable(path=path, reason="not a regular file")
            with open(place, "rb") as handle:
                return self._redactor.file(os.path.abspath(place), handle.read())
        except (FileNotFoundError, NotADirectoryError):
            return Absent(path=path)
        except (OSError, ValueError) as problem:
            return Unreadable(path=path, reason=getattr(problem, "strerror", None) or str(problem))

    def is_dir(self, path: str) -> bool | None:
        try:
            return os.path.isdir(os.path.join(self._cwd, path))
        except ValueError:
            return None
