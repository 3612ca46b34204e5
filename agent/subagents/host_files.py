"""Files of a host for code that waits: asked for on the event loop, kept, and told apart as absent or unreadable."""

from __future__ import annotations

import asyncio
import posixpath
import stat
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from agent.domain.source import Absent, Unreadable
from agent.hosts import commands
from agent.hosts.interface import Host

T = TypeVar("T")
_PATIENCE = 60.0


class HostFiles:
    """``Files`` for a thread beside the event loop. ``folders``: directories whose names are all known, so that absence costs nothing."""

    def __init__(
        self,
        host: Host,
        loop: asyncio.AbstractEventLoop,
        cwd: str | None,
        *,
        known: Mapping[str, bytes] | None = None,
        folders: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._host = host
        self._loop = loop
        self._cwd = cwd
        self._contents: dict[str, bytes | Absent | Unreadable] = dict(known or {})
        self._folders = dict(folders or {})
        self._is_dir: dict[str, bool | None] = {}

    @property
    def contents(self) -> Mapping[str, bytes]:
        """What was read so far, by absolute path."""
        return {path: content for path, content in sorted(self._contents.items()) if isinstance(content, bytes)}

    def read(self, path: str) -> bytes | Absent | Unreadable:
        place = self._absolute(path)
        if not place:
            return Unreadable(path=path, reason="the server's working directory is unknown")
        if place not in self._contents:
            self._contents[place] = self._missing(place) or self._wait(self._fetch(place))
        return self._contents[place]

    def is_dir(self, path: str) -> bool | None:
        place = self._absolute(path)
        if not place:
            return None
        if place in self._folders:
            return True
        if place not in self._is_dir:
            self._is_dir[place] = False if self._missing(place) else self._wait(self._stat(place))
        return self._is_dir[place]

    def _absolute(self, path: str) -> str:
        if not path.startswith("/") and self._cwd is None:
            return ""
        return posixpath.normpath(posixpath.join(self._cwd or "/", path))

    def _missing(self, place: str) -> Absent | None:
        names = self._folders.get(posixpath.dirname(place))
        return Absent(path=place) if names is not None and posixpath.basename(place) not in names else None

    async def _fetch(self, place: str) -> bytes | Absent | Unreadable:
        return (await self._host.fetch([place]))[place]

    async def _stat(self, place: str) -> bool | None:
        result = await self._host.run(commands.stat([place]))
        found = commands.parse_stat(result).get(place)
        if found is not None:
            return stat.S_ISDIR(found.mode)
        return False if any("No such file" in line for line in commands.problems(result)) else None

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Called from a thread; the loop that owns the connection does the work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)
