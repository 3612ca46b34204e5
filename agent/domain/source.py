"""Where text comes from: spans, evidence, and the two read-only views of files that thinking code gets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from agent.domain.serialize import Plain


def sha256(data: bytes) -> str:
    """Hex digest, the form used in every evidence and span."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span(Plain):
    """Lines ``start`` to ``end`` (from 1, inclusive) of ``path`` (relative to the source root)."""

    path: str
    start: int
    end: int
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Plain):
    """Something read: where, by which command, with the hash of exactly the bytes that ``excerpt`` shows.

    ``kind``: "source", "log", "config", "process", "environment", "absence" (a negative result), "command".
    """

    id: str
    kind: str
    host: str
    path: str = ""
    start: int = 0
    end: int = 0
    command: str = ""
    sha256: str = ""
    observed_at: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent(Plain):
    """There is no such file; this was looked up, not guessed."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable(Plain):
    """The file may exist; its content could not be had, and ``reason`` says why."""

    path: str
    reason: str


class SourceTree(Protocol):
    """A directory of Python packages (``root/sglang/srt/...``), read on demand."""

    @property
    def root(self) -> str:
        """Where the tree lies, for messages."""
        ...

    def files(self) -> Iterable[str]:
        """Every file's path relative to the root, sorted, with ``/``."""
        ...

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """The bytes of one file."""
        ...

    def containing(self, words: Iterable[bytes]) -> Iterator[str]:
        """Python files in which at least one of the byte strings occurs, in path order."""
        ...


class Files(Protocol):
    """Files outside the source tree, by absolute path or relative to the process's directory."""

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """The bytes of one file."""
        ...

    def is_dir(self, path: str) -> bool | None:
        """None is unknown."""
        ...
