"""A source tree from a host: what changed since the last snapshot is read, the rest comes from the cache.

A first sync is one round trip: the listing and the archive together. Where the cache knows the same packages from another host,
digests are asked first, and only what differs is sent. A later sync is one round trip, and a second one if something changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent.domain.command import Command, CommandResult
from agent.domain.errors import NotFoundOnHost, RcaError, Truncated
from agent.hosts import commands
from agent.hosts.archive import Archive, BadArchive
from agent.hosts.commands import FileStat
from agent.hosts.redact import Redactor
from agent.hosts.snapshot_tree import SnapshotTree
from agent.hosts.snapshots import Entry, Manifest, SnapshotCache, tree_key

_RACY_SECONDS = 2  # stat shows whole seconds: a file changed this recently may change again without showing it
Answer = CommandResult | RcaError
Content = memoryview | bytes


class Source(Protocol):
    """What a sync needs of a host: batches whose archives are taken as they arrive, as exact bytes."""

    async def batch_exact(self, commands: Sequence[tuple[Command, Archive | None]]) -> list[Answer]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which tree, on which host, and what is there now: relative path to its stat."""

    host: str
    root: str
    packages: tuple[str, ...]
    now: float = 0.0
    stats: Mapping[str, FileStat] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def places(self) -> list[str]:
        """The packages' directories; the slash at the end enters one that is a link."""
        return [f"{self.root}/{package}/" for package in self.packages] if self.packages else [f"{self.root}/"]

    def relative(self, path: str) -> str:
        """A path as the host prints it, or as an archive names it, below the root."""
        return f"/{path.lstrip('/')}".replace("//", "/").removeprefix(self.root.rstrip("/") + "/")

    def absolute(self, path: str) -> str:
        return f"{self.root.rstrip('/')}/{path}"


async def sync_tree(
    host: Source, name: str, container: str, root: str, packages: Sequence[str], cache: SnapshotCache, redactor: Redactor
) -> SnapshotTree:
    """``root/PACKAGE/**/*.py`` and the packages' dist-info; raises NotFoundOnHost where there are none, HostError where nobody can tell."""
    wanted = Wanted(host=name, root=root.rstrip("/") or "/", packages=tuple(packages))
    key = tree_key(name, container, wanted.root, packages)
    before, known = cache.load(key) or (None, {})
    alike = {} if before else cache.like(packages)
    listing = [commands.clock(), commands.stat_tree(wanted.places), commands.stat_metadata(wanted.root, packages)]
    digests = [commands.sha256_tree(wanted.places)] if alike else []
    archives = [] if before or alike else [commands.tar_tree(wanted.places), commands.tar_metadata(wanted.root, packages)]
    taken = [Archive() for _ in archives]
    asked = [(command, None) for command in (*listing, *digests)]
    answers = await host.batch_exact([*asked, *zip(archives, taken, strict=True)])
    wanted = _listed(wanted, answers[: len(listing)])
    held = _by_digest(wanted, answers[-1], alike) if alike else _unchanged(wanted, before, known) if before else {}
    sent = _sent(wanted, taken, answers[len(asked) :], redactor)
    missing = [wanted.absolute(path) for path in wanted.stats if path not in held and path not in sent]
    if missing and not archives:
        rest = Archive()
        answers += await host.batch_exact([(commands.tar(missing), rest)])
        sent = _sent(wanted, [rest], answers[-1:], redactor)
    contents = {path: found for path in wanted.stats if (found := sent[path][0] if path in sent else held.get(path)) is not None}
    unreadable = {path: _reason(path, answers) for path in wanted.stats if path not in contents}
    manifest = _manifest(wanted, before or Manifest(), sent, contents, unreadable)
    if sent or before is None or set(before.files) != set(manifest.files):
        cache.save(key, packages, manifest, contents)
    seen = {path: entry.sha256 for path, entry in manifest.files.items()}
    return SnapshotTree(root=wanted.root, contents=contents, unreadable=unreadable, notes=wanted.notes, digests=seen, fetched=len(sent))


def _listed(wanted: Wanted, answers: Sequence[Answer]) -> Wanted:
    clock, sources, metadata = answers
    for answer in (sources, metadata):
        if isinstance(answer, RcaError):
            raise answer
        if answer.truncated:
            raise Truncated(f"the listing of {wanted.root} is too long", host=wanted.host, hint="name the package with --tree")
    assert isinstance(sources, CommandResult) and isinstance(metadata, CommandResult)
    notes = commands.problems(sources)
    found = {wanted.relative(path): stat for path, stat in commands.parse_stat(sources).items()}
    if not found:
        said = f": {notes[0]}" if notes else ""
        where = f"{wanted.host}:{wanted.root}"
        raise NotFoundOnHost(
            f"no Python files below {', '.join(wanted.places)}{said}",
            looked_for="*.py",
            where=where,
            hint="--tree DIR is the directory that holds the package, as site-packages does",
        )
    found |= {wanted.relative(path): stat for path, stat in commands.parse_stat(metadata).items()}
    told = clock.stdout.strip() if isinstance(clock, CommandResult) and clock.status == 0 else b""
    now = float(told) if re.fullmatch(rb"[0-9]{1,12}", told) else 0.0
    return Wanted(host=wanted.host, root=wanted.root, packages=wanted.packages, now=now, stats=dict(sorted(found.items())), notes=notes)


def _unchanged(wanted: Wanted, before: Manifest, known: Mapping[str, memoryview]) -> dict[str, Content]:
    """Files whose size, times, device and inode are as they were."""
    found: dict[str, Content] = {}
    for path, stat in wanted.stats.items():
        entry = before.files.get(path)
        if entry and path in known and not entry.racy and _identity(entry) == _identity(stat):
            found[path] = known[path]
    return found


def _identity(item: Entry | FileStat) -> tuple[int, int, int, int, int]:
    return item.size, item.mtime, item.ctime, item.device, item.inode


def _by_digest(wanted: Wanted, answer: Answer, alike: Mapping[str, memoryview]) -> dict[str, Content]:
    """Files that some other host's snapshot has byte for byte."""
    digests = commands.parse_sha256(answer) if isinstance(answer, CommandResult) and not answer.truncated else {}
    return {
        relative: alike[digest]
        for path, digest in digests.items()
        if digest in alike and (relative := wanted.relative(path)) in wanted.stats
    }


def _sent(wanted: Wanted, archives: Sequence[Archive], answers: Sequence[Answer], redactor: Redactor) -> dict[str, tuple[bytes, str]]:
    """The files in the archives with their digests, by relative path; what is no Python is redacted here, before it is kept."""
    found: dict[str, tuple[bytes, str]] = {}
    for archive, answer in zip(archives, answers, strict=True):
        _whole(archive, answer, wanted.host)
        for name, content in archive.files.items():
            path = wanted.relative(name)
            kept = content if path.endswith(".py") else redactor.file(path, content)
            found[path] = (kept, archive.digests[name] if kept is content else hashlib.sha256(kept).hexdigest())
    return found


def _whole(archive: Archive, answer: Answer, host: str) -> None:
    if isinstance(answer, RcaError):
        raise answer
    if answer.truncated:
        raise Truncated(f"the source tree is larger than {answer.command.limit} bytes", host=host, hint="name the package with --tree")
    try:
        archive.finish()
    except BadArchive as error:
        raise Truncated(f"the archive from {host} is damaged: {error}", host=host) from error


def _manifest(
    wanted: Wanted,
    before: Manifest,
    sent: Mapping[str, tuple[bytes, str]],
    contents: Mapping[str, Content],
    unreadable: Mapping[str, str],
) -> Manifest:
    files = {}
    racy_from = wanted.now - _RACY_SECONDS
    for path, content in contents.items():
        stat, old = wanted.stats[path], before.files.get(path)
        racy = max(stat.mtime, stat.ctime) >= racy_from
        if old is not None and path not in sent:
            files[path] = old._replace(racy=racy)
        else:
            size, mtime, ctime, device, inode = _identity(stat)
            digest = sent[path][1] if path in sent else hashlib.sha256(content).hexdigest()
            files[path] = Entry(size, mtime, ctime, device, inode, digest, "", 0, len(content), racy)
    return Manifest(files=files, unreadable=unreadable, notes=wanted.notes)


def _reason(path: str, answers: Iterable[Answer]) -> str:
    said = (row for answer in answers if isinstance(answer, CommandResult) for row in commands.problems(answer))
    return next((row for row in said if path in row), "listed, but not in the archive that the host sent")
