"""Content-addressed files: a blob is either whole under its SHA-256 or not there."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path

from agent.domain.errors import StoreError
from agent.domain.source import sha256
from agent.store.faults import reported

_GRACE = 3600.0
"""Seconds a blob may stand unreferenced: its writer may be about to refer to it."""


class BlobStore:
    """``directory/ab/cdef...``; unfinished files live in ``directory/tmp`` and are renamed when complete."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def put(self, content: bytes, *, durable: bool = True) -> str:
        """Stores ``content`` and gives its digest. ``durable``: also survives a power cut, at the price of a sync."""
        digest = sha256(content)
        path = self._path(digest)
        with reported(self.directory):
            if self._whole(path, len(content)):
                os.utime(path)
            else:
                self._write(path, content, durable)
        return digest

    def get(self, digest: str) -> bytes:
        """The content, checked against its digest; raises StoreError where it is gone or damaged."""
        path = self._path(digest)
        with reported(path):
            content = path.read_bytes()
        if sha256(content) != digest:
            raise StoreError(f"{path}: damaged, its content does not match its name")
        return content

    def has(self, digest: str) -> bool:
        return self._path(digest).is_file()

    def sweep(self, keep: Collection[str], *, dry_run: bool = False) -> tuple[int, int]:
        """Removes blobs that nothing refers to and that are older than an hour; gives their count and bytes."""
        horizon = time.time() - _GRACE
        count = total = 0
        with reported(self.directory):
            for digest, path, status in self._all():
                if digest in keep or status.st_mtime > horizon:
                    continue
                count, total = count + 1, total + status.st_size
                if not dry_run:
                    path.unlink(missing_ok=True)
        return count, total

    def _all(self) -> Iterator[tuple[str, Path, os.stat_result]]:
        """Another writer may rename its unfinished files meanwhile; those that are gone by then are not ours to sweep."""
        for path in sorted(self.directory.glob("*/*")):
            try:
                yield path.parent.name + path.name, path, path.stat()
            except FileNotFoundError:
                continue

    def _path(self, digest: str) -> Path:
        return self.directory / digest[:2] / digest[2:]

    @staticmethod
    def _whole(path: Path, size: int) -> bool:
        try:
            return path.stat().st_size == size
        except FileNotFoundError:
            return False

    def _write(self, path: Path, content: bytes, durable: bool) -> None:
        unfinished = self.directory / "tmp" / uuid.uuid4().hex
        for directory in (unfinished.parent, path.parent):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(unfinished, path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        if durable:
            _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """Makes a rename durable; platforms that cannot open a directory do without."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
