"""What the disk and SQLite raise, turned into StoreError with what to do about it."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.domain.errors import StoreError

_FULL = "free some space, or drop old runs with `rca runs prune`; the run itself is not affected, only its storing"
_DENIED = "check the directory's owner and mode, or point RCA_HOME to another one"
_HINTS = {
    errno.ENOSPC: ("no space left", _FULL),
    errno.EDQUOT: ("the disk quota is used up", _FULL),
    errno.EFBIG: ("the file size limit is reached", _FULL),
    errno.EACCES: ("not permitted", _DENIED),
    errno.EPERM: ("not permitted", _DENIED),
    errno.EROFS: ("the file system is read-only", _DENIED),
}
_SQLITE_HINTS = {
    sqlite3.SQLITE_FULL: ("no space left", _FULL),
    sqlite3.SQLITE_READONLY: ("it cannot be written", _DENIED),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", _DENIED),
    sqlite3.SQLITE_IOERR: ("reading or writing it failed", "is the disk full, or gone?"),
    sqlite3.SQLITE_BUSY: ("another rca has been writing to it for too long", "try again"),
    sqlite3.SQLITE_NOTADB: ("it is not an SQLite file", "move it away; a new one is made on the next run"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "move it away; a new one is made on the next run"),
}


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Within it, an OSError or sqlite3.Error about ``path`` leaves as StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        what, hint = _SQLITE_HINTS.get(code, (str(error), ""))
        raise StoreError(f"{path}: {what}", hint=hint) from error
    except OSError as error:
        what, hint = _HINTS.get(error.errno or 0, (error.strerror or str(error), ""))
        raise StoreError(f"{path}: {what}", hint=hint) from error
