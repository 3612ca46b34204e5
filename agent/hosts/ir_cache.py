"""Lowered modules and answers kept on disk between runs, one file each, by the hash of what they were worked out from."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import agent

LIMIT = 400_000_000
"""Bytes on disk; beyond them the oldest entries go first. All of a large tree takes about 60 million."""


ENGINE = ("analysis", "domain", "evaluation")
"""The rooms whose code decides what is kept."""
_SEAL = 32
"""Bytes before every entry's content: the digest of its key and content."""


class IrCache:
    """A SummaryCache in a directory of the user's own (0700). Safe under several processes: an entry appears by one rename.

    ``problem``: why entries are not kept, once something went wrong, else None.
    """

    def __init__(self, directory: Path | None = None, *, limit: int = LIMIT) -> None:
        self._top = directory or default_directory()
        self._directory = self._top / edition()
        self._limit = limit
        self._written = 0
        self.problem: str | None = None

    def get(self, key: str) -> bytes | None:
        try:
            return _unsealed(key, _regular(self._place(key))) if self._trusted() else None
        except OSError:
            return None

    def put(self, key: str, content: bytes) -> None:
        if self.problem is not None or not self._ready():
            return
        try:
            self._write(self._place(key), sha256(key.encode() + content).digest() + content)
        except OSError as problem:
            self.problem = problem.strerror or str(problem)
            return
        self._written += len(content)
        if self._written > self._limit // 20:
            self.trim()

    def trim(self) -> None:
        """Removes the oldest entries, those of earlier editions too, until a tenth of the limit is free."""
        entries = []
        for place in self._top.glob("*/*/*"):
            try:
                status = place.stat()
            except OSError:
                continue
            entries.append((status.st_mtime_ns, status.st_size, place))
        excess = sum(size for _, size, _ in entries) - self._limit
        if excess > 0:
            excess += self._limit // 10
            for _, size, place in sorted(entries):
                if excess <= 0:
                    break
                with suppress(OSError):  # it is no file, or not to be removed
                    place.unlink()
                    excess -= size
        self._written = 0

    def _place(self, key: str) -> Path:
        return self._directory / key[:2] / key[2:]

    def _write(self, place: Path, content: bytes) -> None:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(scratch, place)
        except OSError:
            Path(scratch).unlink(missing_ok=True)
            raise

    def _ready(self) -> bool:
        try:
            for each in (self._top, self._directory):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            self.problem = problem.strerror or str(problem)
            return False
        return self._trusted()

    def _trusted(self) -> bool:
        """Nobody else may write here: what is read back is believed."""
        try:
            status = self._top.lstat()
        except OSError:
            return False
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022:
            return True
        self.problem = f"{self._top} is not this user's own directory"
        return False


def _regular(place: Path) -> bytes:
    """A regular file's bytes; anything else that lies there cannot hang the reader."""
    with open(os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{place} is no file")
        return file.read()


def _unsealed(key: str, sealed: bytes) -> bytes | None:
    """What was put under this key; None for a damaged entry, and for one that was put under another."""
    seal, content = sealed[:_SEAL], sealed[_SEAL:]
    return content if seal == sha256(key.encode() + content).digest() else None


def default_directory() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("rca")) / "ir"


@cache
def edition() -> str:
    """Changes with everything that decides what is kept: the engine, the nouns of its answers, the parser, Python."""
    digest = sha256(f"{sys.version} {version('tree-sitter')} {version('tree-sitter-python')}".encode())
    for top in (Path(agent.__path__[0]) / room for room in ENGINE):
        for path in sorted(each for kind in ("*.py", "*.json") for each in top.rglob(kind)):
            digest.update(f"{path.relative_to(top)} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
