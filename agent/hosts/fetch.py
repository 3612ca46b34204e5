"""Whole files by absolute path in one round trip: regular files as one tar stream, files of /proc one by one."""

from __future__ import annotations

import stat as modes
from collections.abc import Mapping, Sequence
from typing import Protocol

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.source import Absent, Unreadable
from agent.hosts import commands
from agent.hosts.archive import BadArchive, unpack
from agent.hosts.commands import FileStat, problems

FILE_LIMIT = 32 * commands.MEGABYTE
Found = bytes | Absent | Unreadable
Answer = CommandResult | RcaError
_ABSENT = ("No such file or directory", "Not a directory")


class Batcher(Protocol):
    """What fetching needs of a host."""

    async def batch(self, commands: Sequence[Command]) -> list[Answer]: ...


async def fetch(host: Batcher, paths: Sequence[str]) -> dict[str, Found]:
    """Every path with its bytes, or Absent (the host says there is none), or Unreadable and why."""
    wanted = list(dict.fromkeys(paths))
    special = [path for path in wanted if path.startswith(("/proc/", "/sys/"))]
    plain = [path for path in wanted if path not in special]
    asked = [commands.tar(plain, limit=FILE_LIMIT), commands.stat(plain)] if plain else []
    answers = await host.batch([*asked, *(commands.whole(path) for path in special)])
    found: dict[str, Found] = {path: _read(path, answer) for path, answer in zip(special, answers[len(asked) :], strict=True)}
    if plain:
        found |= _archived(plain, answers[0], answers[1])
        left = [path for path in plain if path not in found]
        again = await host.batch([commands.whole(path, limit=FILE_LIMIT) for path in left]) if left else []
        found |= {path: _read(path, answer) for path, answer in zip(left, again, strict=True)}
    return {path: found[path] for path in wanted}


def _archived(paths: Sequence[str], archive: Answer, stats: Answer) -> dict[str, Found]:
    """What one round trip settles; a path without an entry has to be read by itself (too large together, odd name)."""
    contents = _contents(archive)
    known = commands.parse_stat(stats) if isinstance(stats, CommandResult) else {}
    found: dict[str, Found] = {}
    for path in paths:
        if path.lstrip("/") in contents:
            found[path] = contents[path.lstrip("/")]
        elif isinstance(stats, CommandResult) and path not in known:
            found[path] = _missing(path, problems(stats))
        elif path in known and not modes.S_ISREG(known[path].mode):
            found[path] = Unreadable(path=path, reason=f"not a regular file but a {_kind(known[path])}")
    return found


def _contents(archive: Answer) -> Mapping[str, bytes]:
    if isinstance(archive, RcaError) or archive.truncated:
        return {}
    try:
        return unpack(archive.stdout)
    except BadArchive:
        return {}


def _missing(path: str, said: Sequence[str]) -> Found:
    """A path that ``stat`` did not print: absent only where the host says so."""
    about = [row for row in said if path in row] or [row for row in said if not row.endswith(_ABSENT)]
    denied = [row for row in about if not row.endswith(_ABSENT)]
    if denied:
        return Unreadable(path=path, reason=denied[0])
    return Absent(path=path) if said else Unreadable(path=path, reason="the host said nothing about it")


def _read(path: str, answer: Answer) -> Found:
    if isinstance(answer, RcaError):
        return Unreadable(path=path, reason=str(answer))
    if answer.truncated:
        return Unreadable(path=path, reason=f"larger than {answer.command.limit} bytes")
    if answer.status == 0:
        return answer.stdout
    said = problems(answer)
    if said and said[0].endswith(_ABSENT):
        return Absent(path=path)
    return Unreadable(path=path, reason=said[0] if said else f"status {answer.status}")


def _kind(found: FileStat) -> str:
    names = {modes.S_IFDIR: "directory", modes.S_IFIFO: "FIFO", modes.S_IFCHR: "device", modes.S_IFBLK: "device", modes.S_IFSOCK: "socket"}
    return names.get(modes.S_IFMT(found.mode), "special file")
