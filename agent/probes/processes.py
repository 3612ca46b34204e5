"""Which processes are servers: launchers told from their renamed workers, wrappers and forks, with parent and start time."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.probes.products import Product, ServerCommand, server_command

_AT_CLKTCK = 17
"""getauxval(3): clock ticks per second, the unit of start times in /proc/PID/stat."""
_NEWER_TOLERANCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStat:
    """From /proc/PID/stat (proc(5)): ``started``: clock ticks after boot."""

    parent: int
    started: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProcess:
    """A launcher: the process whose command line is the one somebody typed."""

    pid: int
    command: ServerCommand

    @property
    def label(self) -> str:
        """One line for a person who has to choose."""
        shown = " ".join(self.command.argv)
        return f"{self.pid}: {shown if len(shown) <= 100 else shown[:97] + '...'}"


def servers(command_lines: Mapping[int, Sequence[str]], products: Sequence[Product]) -> tuple[ServerProcess, ...]:
    """Every process whose command line starts a server, in order of process id; workers with a title of their own are none."""
    found = []
    for pid, argv in sorted(command_lines.items()):
        command = server_command(argv, products)
        if command and not command.product.is_worker(" ".join(argv)):
            found.append(ServerProcess(pid=pid, command=command))
    return tuple(found)


def launchers(found: Sequence[ServerProcess], stats: Mapping[int, ProcessStat]) -> tuple[ServerProcess, ...]:
    """Without the forks that still show their parent's command line."""
    pids = {process.pid: process for process in found}

    def is_fork(process: ServerProcess) -> bool:
        stat = stats.get(process.pid)
        parent = pids.get(stat.parent) if stat else None
        return parent is not None and parent.command.argv == process.command.argv

    return tuple(process for process in found if not is_fork(process))


def parse_stat(raw: bytes) -> ProcessStat | None:
    """/proc/PID/stat: the name in parentheses may hold anything, so fields are counted after the last one."""
    fields = raw.rpartition(b")")[2].split()
    try:
        return ProcessStat(parent=int(fields[1]), started=int(fields[19]))
    except (IndexError, ValueError):
        return None


def boot_time(proc_stat: bytes) -> int | None:
    """Seconds since 1970 from the ``btime`` row of /proc/stat."""
    for row in proc_stat.splitlines():
        name, _, value = row.partition(b" ")
        if name == b"btime" and re.fullmatch(rb"[0-9]{1,12}", value.strip()):
            return int(value)
    return None


def ticks_per_second(auxv: bytes) -> int | None:
    """From a 64-bit /proc/PID/auxv; None where it is unreadable or of another word size."""
    if not auxv or len(auxv) % 16:
        return None
    for key, value in struct.iter_unpack("=QQ", auxv):
        if key == _AT_CLKTCK:
            return int(value)
    return None


def started_at(stat: ProcessStat | None, boot: int | None, ticks: int | None) -> float | None:
    """Start in seconds since 1970; None where a part is missing."""
    return None if stat is None or boot is None or not ticks else boot + stat.started / ticks


def newer_files(times: Mapping[str, float], started: float | None) -> tuple[str, ...] | None:
    """Files changed after the process began; two seconds of slack, as ``btime`` is rounded. None is unknown."""
    if started is None:
        return None
    return tuple(sorted(path for path, changed in times.items() if changed > started + _NEWER_TOLERANCE))
