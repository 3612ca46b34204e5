"""A source tree as it was read from a host at one moment: immutable, every file by its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from agent.domain.source import Absent, Unreadable
from agent.hosts.local_tree import Haystack

_ABOUT = re.compile(r"find: [`'‘\"]?(?P<path>/.*?)[`'’\"]?: ")


class SnapshotTree:
    """``contents``: relative path to bytes. ``unreadable``: path to reason. ``notes``: what the listing could not look into.

    A ``*.py`` path that is not listed is absent; any other kind of file was not asked for, and is "unreadable".
    """

    def __init__(
        self,
        *,
        root: str,
        contents: Mapping[str, memoryview | bytes],
        unreadable: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
        digests: Mapping[str, str] | None = None,
        fetched: int = 0,
    ) -> None:
        self._root = root
        self.contents = contents
        self.unreadable = dict(unreadable or {})
        self.notes = tuple(notes)
        self.digests = dict(digests or {})
        """Path to SHA-256, of the files for which it is known."""
        self.fetched = fetched
        """Files that were sent by the host for this snapshot; the others came from the cache."""

    @property
    def root(self) -> str:
        return self._root

    def files(self) -> Iterable[str]:
        return sorted({*self.contents, *self.unreadable})

    def read(self, path: str) -> bytes | Absent | Unreadable:
        if path in self.contents:
            return bytes(self.contents[path])
        if path in self.unreadable:
            return Unreadable(path=path, reason=self.unreadable[path])
        if not path.endswith(".py"):
            return Unreadable(path=path, reason="not part of the snapshot, which holds *.py files and package metadata")
        blind = next((note for note in self.notes if self._hides(note, path)), "")
        return Unreadable(path=path, reason=blind) if blind else Absent(path=path)

    def containing(self, words: Iterable[bytes]) -> Iterator[str]:
        yield from self._haystack.containing(words)

    @cached_property
    def _haystack(self) -> Haystack:
        return Haystack((path, bytes(self.contents[path])) for path in sorted(self.contents) if path.endswith(".py"))

    def _hides(self, note: str, path: str) -> bool:
        """Whether a message of ``find`` speaks of a directory above the path; one that cannot be read so hides everything."""
        about = _ABOUT.match(note)
        return about is None or f"{self._root}/{path}".startswith(about["path"].rstrip("/") + "/")
