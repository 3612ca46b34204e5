"""Source trees that are here: a directory on this machine, or files in memory."""

from __future__ import annotations

import os
import stat
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from agent.domain.errors import UsageError
from agent.domain.source import Absent, Unreadable

HELD_BYTES = 160_000_000
"""Python text of a tree up to this size is held as one piece: a search then costs 7 ms for 20 MB, against 65 ms file by file."""


class Haystack:
    """Many files as one byte string, so that one ``find`` runs over all of them."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        self._paths: list[str] = []
        self._starts: list[int] = []
        self._text = bytearray()  # grows in place: a join would hold every file twice
        for path, content in files:
            self._paths.append(path)
            self._starts.append(len(self._text))
            self._text += content
            self._text.append(0)

    def __contains__(self, path: str) -> bool:
        return self._number(path) is not None

    def read(self, path: str) -> bytes | None:
        number = self._number(path)
        if number is None:
            return None
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
        return bytes(self._text[self._starts[number] : end - 1])

    def containing(self, words: Iterable[bytes]) -> list[str]:
        """Paths, in their order, of the files in which a word occurs; an empty word occurs in each."""
        hits: set[int] = set()
        for word in words:
            hits.update(self._files_with(word))
        return [self._paths[number] for number in sorted(hits)]

    def _files_with(self, word: bytes) -> Iterator[int]:
        starts, at = self._starts, 0
        if b"\0" in word or not starts:
            return
        while (found := self._text.find(word, at)) >= 0:
            number = bisect_right(starts, found) - 1
            yield number
            if number + 1 == len(starts):
                return
            at = starts[number + 1]

    def _number(self, path: str) -> int | None:
        number = bisect_right(self._paths, path) - 1
        return number if number >= 0 and self._paths[number] == path else None


class DirectoryTree:
    """``root/PACKAGE/**``: every regular file, or those of ``packages`` with their dist-info alone.

    The directory is taken as it stands at first use. Symbolic links are not followed, ``__pycache__`` is not listed.
    """

    def __init__(self, root: str | Path, packages: Sequence[str] = ()) -> None:
        self._root = os.fspath(root)
        self._packages = tuple(packages)
        if not os.path.isdir(self._root):
            raise UsageError(f"there is no directory {self._root}", hint="--tree takes the directory that holds the package")

    @property
    def root(self) -> str:
        return self._root

    def files(self) -> Sequence[str]:
        return self._files

    def read(self, path: str) -> bytes | Absent | Unreadable:
        held = self.__dict__.get("_haystack")
        content = held.read(path) if held is not None else None
        return content if content is not None else _read_below(self._root, path)

    def containing(self, words: Iterable[bytes]) -> Iterator[str]:
        wanted = list(words)
        if self._haystack is not None:
            yield from self._haystack.containing(wanted)
            return
        for path in self._sizes:
            content = self.read(path)
            if isinstance(content, bytes) and any(word in content for word in wanted):
                yield path

    @cached_property
    def _files(self) -> tuple[str, ...]:
        return tuple(sorted(self._walk()))

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Bytes of each Python file."""
        return {path: os.lstat(os.path.join(self._root, path)).st_size for path in self._files if path.endswith(".py")}

    @cached_property
    def _haystack(self) -> Haystack | None:
        if sum(self._sizes.values()) > HELD_BYTES:
            return None
        contents = ((path, _read_below(self._root, path)) for path in self._sizes)
        return Haystack((path, content) for path, content in contents if isinstance(content, bytes))

    def _walk(self) -> Iterator[str]:
        pending = [""]
        while pending:
            folder = pending.pop()
            with os.scandir(os.path.join(self._root, folder)) as entries:
                for entry in entries:
                    if not folder and not self._wanted(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != "__pycache__":
                            pending.append(f"{folder}{entry.name}/")
                    elif entry.is_file(follow_symlinks=False):
                        yield folder + entry.name

    def _wanted(self, name: str) -> bool:
        if not self._packages or name in self._packages:
            return True
        return name.endswith((".dist-info", ".egg-info")) and name.partition("-")[0] in self._packages


class MemoryTree:
    """Files given as a mapping from path to content; text is taken as UTF-8."""

    def __init__(self, files: Mapping[str, bytes | str], root: str = "") -> None:
        self._contents = {path: content.encode() if isinstance(content, str) else content for path, content in sorted(files.items())}
        self._haystack = Haystack(item for item in self._contents.items() if item[0].endswith(".py"))
        self._root = root

    @property
    def root(self) -> str:
        return self._root

    def files(self) -> Sequence[str]:
        return tuple(self._contents)

    def read(self, path: str) -> bytes | Absent | Unreadable:
        return self._contents.get(path, Absent(path=path))

    def containing(self, words: Iterable[bytes]) -> Iterator[str]:
        yield from self._haystack.containing(words)


def _read_below(root: str, path: str) -> bytes | Absent | Unreadable:
    """A regular file below ``root``; what else is there cannot hang the reader or lead it elsewhere."""
    if os.path.isabs(path) or ".." in path.split("/"):
        return Unreadable(path=path, reason="outside the tree")
    place = os.path.join(root, path)
    try:
        mode = os.lstat(place).st_mode
        if not stat.S_ISREG(mode):
            return Unreadable(path=path, reason="a symbolic link" if stat.S_ISLNK(mode) else "not a regular file")
        with open(place, "rb", buffering=0) as handle:
            return handle.readall()
    except (FileNotFoundError, NotADirectoryError):
        return Absent(path=path)
    except (OSError, ValueError) as problem:
        return Unreadable(path=path, reason=getattr(problem, "strerror", None) or str(problem))
