"""The typed builders of every read on a host: arguments in, a ``Command`` out, and the parsers of their output.

There is no builder that takes shell text. ``shell.py`` refuses every program and flag that is not in its table, so
a builder added here without a row there cannot run. Remote paths are text with ``surrogateescape`` for other bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.domain.command import Command, CommandResult
from agent.domain.errors import UsageError

MEGABYTE = 1_000_000
_SMALL = 256_000
_STAT_ROW = re.compile(r"([0-9a-f]{1,8}) (\d{1,19}) (-?\d{1,19}) (-?\d{1,19}) (\d{1,20}) (\d{1,20}) (\d{1,10}) (\d{1,10}) (.+)", re.ASCII)
_STAT_FORMAT = "%f %s %Y %Z %d %i %u %g %n"
PROC_FILES = frozenset(
    "auxv cgroup cmdline comm environ io limits loginuid maps mountinfo mounts sched schedstat smaps_rollup stat statm status wchan".split()
)
PROC_LINKS = frozenset("cwd exe root fd/0 fd/1 fd/2 ns/mnt ns/pid ns/net ns/user ns/cgroup".split())
METADATA_FILES = ("METADATA", "RECORD", "direct_url.json", "top_level.txt", "entry_points.txt", "INSTALLER")
MACHINE_FILES = frozenset(
    """/proc/cpuinfo /proc/meminfo /proc/mounts /proc/stat /proc/uptime /proc/version /proc/loadavg /proc/cmdline /proc/net/tcp
    /proc/net/tcp6 /proc/sys/kernel/osrelease /proc/sys/kernel/hostname /proc/driver/nvidia/version /etc/os-release""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One line that grep printed; ``line`` counts from 1, 0 where only the name was asked for."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrepAnswer:
    """What grep found, and what it could not look at: no hits with problems is "unknown", no hits without is "absent"."""

    hits: tuple[Hit, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """One ``stat``: ``mode`` as in st_mode, times in whole seconds."""

    path: str
    mode: int
    size: int
    mtime: int
    ctime: int
    device: int
    inode: int
    uid: int
    gid: int


def to_text(raw: bytes) -> str:
    """Remote bytes as text that keeps every byte."""
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The inverse of ``to_text``."""
    return text.encode("utf-8", "surrogateescape")


def operand(path: str) -> str:
    """A path that no program can take for a flag: ``./`` goes before everything that is not absolute."""
    if not path or "\0" in path:
        raise UsageError(f"not a path on a host: {path!r}")
    return path if path.startswith("/") else f"./{path}"


def grep(
    patterns: str | Sequence[str],
    paths: Sequence[str],
    *,
    fixed: bool = False,
    include: Sequence[str] = ("*.py",),
    ignore_case: bool = False,
    names_only: bool = False,
    as_text: bool = False,
    limit: int = 4 * MEGABYTE,
    timeout: float = 60.0,
) -> Command:
    """Lines (or names of files) below ``paths`` that match any pattern; basic regular expressions, or ``fixed`` strings.

    ``as_text``: NUL bytes make no file binary, as logs have them after a rotation.
    Regular files only, and links to regular files: a FIFO in the tree cannot hang it. Read it with ``parse_grep``.
    """
    words = [patterns] if isinstance(patterns, str) else list(patterns)
    if not words:
        raise UsageError("grep needs a pattern")
    flags = ["-a" if as_text else "-I", "-Z", "-l" if names_only else "-n"]
    flags += ["-F"] * fixed + ["-i"] * ignore_case
    wanted = [part for word in words for part in ("-e", word)]
    run = ("-exec", "grep", *flags, *wanted, "--", "/dev/null", "{}", "+")
    return Command(argv=("find", *map(operand, paths), *_regular(include), *run), limit=limit, timeout=timeout)


def parse_grep(result: CommandResult) -> GrepAnswer:
    """The hits of ``grep`` in the order of path and line; of GNU grep, which puts NUL after the name, and of others."""
    split = _names if "-l" in result.command.argv else _rows
    found = sorted(split(to_text(result.stdout)))
    return GrepAnswer(hits=tuple(Hit(path=path, line=line, text=text) for path, line, text in found), problems=problems(result))


def lines(path: str, start: int, end: int, *, limit: int = MEGABYTE, timeout: float = 30.0) -> Command:
    """Lines ``start`` to ``end`` (from 1, inclusive); the host stops reading at ``end``."""
    if not 1 <= start <= end:
        raise UsageError(f"no such line range: {start}-{end}")
    return Command(argv=("sed", "-n", "-e", f"{start},{end}p;{end}q", "--", operand(path)), limit=limit, timeout=timeout)


def read_bytes(path: str, *, offset: int = 0, size: int = 4 * MEGABYTE, timeout: float = 30.0) -> Command:
    """At most ``size`` bytes from byte ``offset`` (from 0).

    From an offset within a line, the rest of that line is left out: the name that makes it a secret may stand before it.
    (The host sends one byte more, to tell whether a line begins there.)
    """
    if offset:
        return Command(argv=("tail", "-c", f"+{offset}", "--", operand(path)), limit=size + 1, timeout=timeout)
    return Command(argv=("head", "-c", str(size), "--", operand(path)), limit=size, timeout=timeout)


def whole(path: str, *, limit: int = 4 * MEGABYTE, timeout: float = 30.0) -> Command:
    """A whole file; the answer is truncated where the file is longer than ``limit`` bytes, which ``read_bytes`` would not tell."""
    return Command(argv=("head", "-c", str(limit + 1), "--", operand(path)), limit=limit, timeout=timeout)


def tail_bytes(path: str, size: int = 64_000, *, timeout: float = 30.0) -> Command:
    """The last ``size`` bytes; of a log of any length in constant time. A part line at the beginning is left out, as in ``read_bytes``."""
    return Command(argv=("tail", "-c", str(size + 1), "--", operand(path)), limit=size + 1, timeout=timeout)


def stat(paths: Sequence[str], *, follow: bool = True, timeout: float = 30.0) -> Command:
    """Type, size, times and owner of each path; read it with ``parse_stat``. A missing path is on standard error."""
    flags = ("-L",) if follow else ()
    return Command(argv=("stat", *flags, "-c", _STAT_FORMAT, "--", *map(operand, paths)), limit=_limit(paths), timeout=timeout)


def parse_stat(result: CommandResult) -> dict[str, FileStat]:
    """One entry per line of ``stat`` or ``list_dir``; a path that is missing has none."""
    found = {}
    for row in to_text(result.stdout).split("\n"):
        match = _STAT_ROW.fullmatch(row)
        if match:  # else it is the second row of a name with a line break
            size, mtime, ctime, device, inode, uid, gid = (int(match[number]) for number in range(2, 9))
            found[match[9]] = FileStat(
                path=match[9], mode=int(match[1], 16), size=size, mtime=mtime, ctime=ctime, device=device, inode=inode, uid=uid, gid=gid
            )
    return found


def find(
    paths: Sequence[str],
    *,
    names: Sequence[str] = (),
    kind: str = "f",
    min_depth: int = 0,
    max_depth: int | None = None,
    newer_than: str = "",
    limit: int = 4 * MEGABYTE,
    timeout: float = 60.0,
) -> Command:
    """Paths, each ended by NUL: ``kind`` is ``f``, ``d``, ``l`` or empty for all. Links are never followed."""
    depth = [*(("-mindepth", str(min_depth)) if min_depth else ()), *(("-maxdepth", str(max_depth)) if max_depth is not None else ())]
    tests = [*(("-type", kind) if kind else ()), *_named(names), *(("-newer", operand(newer_than)) if newer_than else ())]
    return Command(argv=("find", *map(operand, paths), *depth, *tests, "-print0"), limit=limit, timeout=timeout)


def list_dir(path: str, *, timeout: float = 30.0) -> Command:
    """The entries of one directory with their ``stat``; read it with ``parse_stat``."""
    run = ("-exec", "stat", "-c", _STAT_FORMAT, "--", "{}", "+")
    return Command(argv=("find", operand(path.rstrip("/") + "/"), "-mindepth", "1", "-maxdepth", "1", *run), timeout=timeout)


def stat_tree(paths: Sequence[str], *, include: Sequence[str] = ("*.py",), limit: int = 64 * MEGABYTE, timeout: float = 60.0) -> Command:
    """``stat`` (links followed) of every regular file below the paths whose name matches; read it with ``parse_stat``."""
    return _each(paths, (), include, ("stat", "-L", "-c", _STAT_FORMAT), limit, timeout)


def tar_tree(paths: Sequence[str], *, include: Sequence[str] = ("*.py",), limit: int = 512 * MEGABYTE, timeout: float = 120.0) -> Command:
    """A tar stream of every regular file below the paths whose name matches; archives may follow each other."""
    return _each(paths, (), include, ("tar", "-c", "-h", "-f", "-"), limit, timeout)


def sha256_tree(paths: Sequence[str], *, include: Sequence[str] = ("*.py",), limit: int = 64 * MEGABYTE, timeout: float = 120.0) -> Command:
    """The digest of every regular file below the paths whose name matches; read it with ``parse_sha256``."""
    return _each(paths, (), include, ("sha256sum",), limit, timeout)


def stat_metadata(root: str, packages: Sequence[str], *, timeout: float = 30.0) -> Command:
    """``stat`` of the METADATA_FILES of the packages' ``*.dist-info`` directories in ``root``; read it with ``parse_stat``."""
    return _each([root], _dist_infos(root, packages), METADATA_FILES, ("stat", "-L", "-c", _STAT_FORMAT), MEGABYTE, timeout)


def tar_metadata(root: str, packages: Sequence[str], *, timeout: float = 30.0) -> Command:
    """A tar stream of the same files."""
    return _each([root], _dist_infos(root, packages), METADATA_FILES, ("tar", "-c", "-h", "-f", "-"), 64 * MEGABYTE, timeout)


def tar(paths: Sequence[str], *, limit: int = 512 * MEGABYTE, timeout: float = 120.0) -> Command:
    """A tar stream of those of the paths that are regular files, links followed; what cannot be read is on standard error."""
    return _each(paths, ("-maxdepth", "0"), (), ("tar", "-c", "-h", "-f", "-"), limit, timeout)


def proc_file(pid: int | str, name: str, *, limit: int = 4 * MEGABYTE, timeout: float = 10.0) -> Command:
    """``/proc/PID/NAME`` for a name of PROC_FILES; ``pid`` may be ``self``. Environments come back with secrets masked."""
    if name not in PROC_FILES:
        raise UsageError(f"/proc/PID/{name} is not one of the files that may be read", hint=", ".join(sorted(PROC_FILES)))
    return Command(argv=("cat", "--", f"/proc/{_pid(pid)}/{name}"), limit=limit, timeout=timeout)


def proc_link(pid: int | str, name: str, *, timeout: float = 10.0) -> Command:
    """Where ``/proc/PID/NAME`` points: cwd, exe, root, fd/0-2, ns/*."""
    if name not in PROC_LINKS:
        raise UsageError(f"/proc/PID/{name} is not one of the links that may be read")
    return Command(argv=("readlink", "--", f"/proc/{_pid(pid)}/{name}"), limit=_SMALL, timeout=timeout)


def machine_file(path: str, *, limit: int = MEGABYTE, timeout: float = 10.0) -> Command:
    """One of MACHINE_FILES: what the kernel and the distribution say of the machine."""
    if path not in MACHINE_FILES:
        raise UsageError(f"{path} is not one of the machine files that may be read")
    return Command(argv=("cat", "--", path), limit=limit, timeout=timeout)


def command_lines(*, limit: int = 8 * MEGABYTE, timeout: float = 20.0) -> Command:
    """The argument vector of every process, exactly (NUL-separated), where the kernel shows it; read it with ``parse_command_lines``."""
    run = ("-exec", "grep", "-s", "-a", "-Z", "-e", "", "--", "/dev/null", "{}", "+")
    argv = ("find", "/proc", "-mindepth", "2", "-maxdepth", "2", "-path", "/proc/[0-9]*/cmdline", *run)
    return Command(argv=argv, limit=limit, timeout=timeout)


def parse_command_lines(result: CommandResult) -> dict[int, tuple[str, ...]]:
    """Process id to argv; a line break inside an argument is kept."""
    found: dict[int, str] = {}
    for row in to_text(result.stdout).split("\n"):
        match = re.match(r"/proc/([0-9]{1,10})/cmdline[:\0]", row)
        if match:
            pid, text = int(match[1]), row[match.end() :]
            found[pid] = f"{found[pid]}\n{text}" if pid in found else text
    return {pid: tuple(text.removesuffix("\0").split("\0")) for pid, text in sorted(found.items())}


def ps(*, fields: Sequence[str] = ("pid", "ppid", "user", "args"), timeout: float = 20.0) -> Command:
    """All processes; ``fields`` as in POSIX ``ps -o``. Arguments are joined by spaces: ``command_lines`` keeps them apart."""
    return Command(argv=("ps", "-e", "-o", ",".join(fields)), limit=8 * MEGABYTE, timeout=timeout)


def readlink(path: str, *, final: bool = True, timeout: float = 10.0) -> Command:
    """Where a link points; ``final`` follows to the end."""
    return Command(argv=("readlink", *(("-f",) if final else ()), "--", operand(path)), limit=_SMALL, timeout=timeout)


def sha256(paths: Sequence[str], *, timeout: float = 60.0) -> Command:
    """The digest of each file; read it with ``parse_sha256``."""
    return Command(argv=("sha256sum", "--", *map(operand, paths)), limit=_limit(paths), timeout=timeout)


def parse_sha256(result: CommandResult) -> dict[str, str]:
    """Path to hex digest (GNU marks a name with a backslash or line break by a leading backslash)."""
    found = {}
    for row in to_text(result.stdout).split("\n"):
        match = re.fullmatch(r"(\\?)([0-9a-f]{64}) [ *](.+)", row)
        if match:
            name = match[3].replace("\\n", "\n").replace("\\\\", "\\") if match[1] else match[3]
            found[name] = match[2]
    return found


def uname(*, timeout: float = 10.0) -> Command:
    """Kernel name, host name, release, version, machine."""
    return Command(argv=("uname", "-a"), limit=_SMALL, timeout=timeout)


def identity(*, timeout: float = 10.0) -> Command:
    """The account and its groups."""
    return Command(argv=("id",), limit=_SMALL, timeout=timeout)


def clock(*, timeout: float = 10.0) -> Command:
    """The host's time, in seconds since 1970."""
    return Command(argv=("date", "-u", "+%s"), limit=_SMALL, timeout=timeout)


def gpus(fields: Sequence[str] = ("index", "name", "compute_cap", "memory.total", "driver_version"), *, timeout: float = 20.0) -> Command:
    """One CSV row per GPU, as nvidia-smi knows them."""
    return Command(argv=("nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv"), limit=_SMALL, timeout=timeout)


def journal(pid: int, *, count: int = 2000, limit: int = 4 * MEGABYTE, timeout: float = 30.0) -> Command:
    """The last lines a process wrote to the systemd journal."""
    return Command(argv=("journalctl", "--no-pager", "-o", "cat", "-n", str(count), f"_PID={_pid(pid)}"), limit=limit, timeout=timeout)


def container_logs(engine: str, name: str, *, count: int = 2000, limit: int = 4 * MEGABYTE, timeout: float = 30.0) -> Command:
    """The last lines a container wrote; ``engine`` is docker or podman."""
    return Command(argv=(engine, "logs", "--tail", str(count), "--", name), limit=limit, timeout=timeout)


def problems(result: CommandResult) -> tuple[str, ...]:
    """What a program could not do, from its standard error; a missing program is one line of its own."""
    found = [row for row in result.stderr.decode("utf-8", "replace").splitlines() if row.strip()]
    if result.status in (126, 127) and not found:
        found = [f"{result.command.argv[0]}: not available on this host (status {result.status})"]
    return (*found, "the output was cut at its limit") if result.truncated else tuple(found)


def _each(
    paths: Sequence[str], tests: Sequence[str], include: Sequence[str], program: Sequence[str], limit: int, timeout: float
) -> Command:
    """A program over every regular file that find selects, as many at once as an argument list holds."""
    argv = ("find", *map(operand, paths), *tests, *_regular(include), "-exec", *program, "--", "{}", "+")
    return Command(argv=argv, limit=limit, timeout=timeout)


def _dist_infos(root: str, packages: Sequence[str]) -> tuple[str, ...]:
    """Find tests: two levels deep, and into no other directory than the packages' dist-info."""
    base = operand(root.rstrip("/") or "/").rstrip("/")
    paths = [part for package in packages for part in ("-o", "-path", f"{base}/{_escaped(package)}-*.dist-info*")][1:]
    return ("-mindepth", "1", "-maxdepth", "2", "!", "(", "!", "(", *paths, ")", "-prune", ")")


def _escaped(text: str) -> str:
    """A literal inside a pattern of find."""
    return re.sub(r"([\\*?\[\]])", r"\\\1", text)


def _regular(include: Sequence[str]) -> tuple[str, ...]:
    """Find tests: regular files, and links to regular files (a link to a FIFO or device is left out), by name."""
    kinds = ("(", "-type", "f", "-o", "-type", "l", "-exec", "test", "-f", "{}", ";", ")")
    return (*_named(include), *kinds)


def _named(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    alternatives = [part for name in names for part in ("-o", "-name", name)][1:]
    return tuple(alternatives) if len(names) == 1 else ("(", *alternatives, ")")


def _pid(pid: int | str) -> str:
    if not re.fullmatch(r"\d+|self", str(pid)):
        raise UsageError(f"not a process id: {pid!r}")
    return str(pid)


def _limit(paths: Sequence[str]) -> int:
    return _SMALL + sum(len(path) + 200 for path in paths)


def _names(stdout: str) -> list[tuple[str, int, str]]:
    names = stdout.split("\0") if "\0" in stdout else stdout.split("\n")
    return [(name, 0, "") for name in names if name]


def _rows(stdout: str) -> list[tuple[str, int, str]]:
    """``path NUL line:text`` of GNU grep, ``path:line:text`` elsewhere; a row cut short is dropped."""
    found = (re.match(r"([^\0]*)\0([0-9]{1,12}):|(.*?):([0-9]{1,12}):", row) for row in stdout.split("\n"))
    rows = zip(stdout.split("\n"), found, strict=True)
    return [(m[1] or m[3], int(m[2] or m[4]), row[m.end() :]) for row, m in rows if m]


def http_get(port: int, path: str, *, version: int = 4, limit: int = 4 * MEGABYTE, timeout: float = 30.0) -> Command:
    """What a server on the host answers to one GET over the host's own loopback; no redirect is followed, no proxy and no ``.curlrc`` used.

    A program that answers may do more than answer: only for a person who asked for it. ``version``: of the internet protocol.
    """
    if not 1 <= port <= 65535:
        raise UsageError(f"no such port: {port}")
    address = f"http://{'[::1]' if version == 6 else '127.0.0.1'}:{port}/{path.lstrip('/')}"
    seconds = str(max(1, int(timeout) - 5))
    flags = ("-s", "-S", "-f", "-g", "-m", seconds, "--noproxy", "*", "--proto", "=http")
    return Command(argv=("curl", "-q", *flags, "--", address), limit=limit, timeout=timeout)
