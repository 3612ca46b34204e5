"""The snapshot cache: source trees as read from hosts, content-addressed, safe under two runs at once and a kill at any moment.

``packs/NAME``: file contents one after another, named by a digest of their digests, never changed after its rename.
``trees/KEY.json``: the files of one tree on one host (stat fields, digest, place in a pack), replaced as a whole.
Whatever does not agree with its digest counts as absent and is read from the host again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from agent.domain.source import sha256

SCHEMA = "rca.snapshot/1"
LIMIT_BYTES = 2_000_000_000
COMPACT_AT = 6  # packs of one tree, before they are rewritten as one
_GRACE_SECONDS = 3600.0  # a pack younger than this may belong to a tree that another run is about to write


class Entry(NamedTuple):
    """One file: what ``stat`` said (whole seconds), the digest of the stored bytes, where they lie.

    ``racy``: it was changed so shortly before it was read that the next change may not show in its times.
    """

    size: int
    mtime: int
    ctime: int
    device: int
    inode: int
    sha256: str
    pack: str
    offset: int
    length: int
    racy: bool = False


_PACK = Entry._fields.index("pack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The files of one tree by path; ``unreadable`` and ``notes`` as in SnapshotTree."""

    files: Mapping[str, Entry] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class SnapshotCache:
    """``directory`` None keeps nothing: every run reads everything. So does one that cannot be written; ``tell`` is told why."""

    def __init__(
        self,
        directory: Path | None,
        *,
        limit: int = LIMIT_BYTES,
        clock: Callable[[], float] = time.time,
        tell: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self._directory = directory / "snapshots" if directory is not None else None
        self._limit = limit
        self._clock = clock
        self._tell = tell

    def load(self, key: str) -> tuple[Manifest, dict[str, memoryview]] | None:
        """The last snapshot with its contents, every file checked against its digest; None where there is none that holds."""
        if self._directory is None:
            return None
        manifest = self._manifest(self._tree(key))
        if manifest is None:
            return None
        self._used(key)
        return manifest, self._contents(manifest)

    def like(self, packages: Sequence[str], *, most: int = 3) -> dict[str, memoryview]:
        """Contents by digest from the latest trees of the same packages, on whatever host: they need not be sent again."""
        found: dict[str, memoryview] = {}
        if self._directory is None:
            return found
        for path in self._newest_first()[:most]:
            document = _json(path)
            if document.get("packages") == list(packages) and (manifest := self._manifest(path)):
                contents = self._contents(manifest)
                found |= {manifest.files[name].sha256: content for name, content in contents.items()}
        return found

    def holding(self, digests: Iterable[str]) -> dict[str, memoryview] | None:
        """Contents by digest, each checked, from whatever trees have them; None where one of them is gone."""
        missing, found = set(digests), dict[str, memoryview]()
        for path in self._newest_first() if missing else ():
            manifest = self._manifest(path) or Manifest()
            wanted = Manifest(files={name: entry for name, entry in manifest.files.items() if entry.sha256 in missing})
            found |= {wanted.files[name].sha256: content for name, content in self._contents(wanted).items()}
            missing -= found.keys()
        return None if missing else found

    def save(self, key: str, packages: Sequence[str], manifest: Manifest, contents: Mapping[str, memoryview | bytes]) -> None:
        """Stores a tree. Entries whose ``pack`` is empty are written to a new pack; too many packs are rewritten as one."""
        if self._directory is None:
            return
        try:
            packs = {entry.pack for entry in manifest.files.values()}
            again = len(packs) > COMPACT_AT
            new = {path: entry for path, entry in manifest.files.items() if again or not entry.pack}
            files = {**manifest.files, **self._write_pack(new, contents)}
            self._write_tree(key, packages, Manifest(files=files, unreadable=manifest.unreadable, notes=manifest.notes))
            self._used(key)
            self._evict()
        except OSError as problem:
            self._tell(f"the source tree is not cached: {self._directory}: {problem.strerror or problem}")

    # Reading.

    def _manifest(self, path: Path) -> Manifest | None:
        document = _json(path)
        if document.get("schema") != SCHEMA:
            return None
        try:
            files = {name: Entry(*row) for name, row in document["files"].items()}
            return Manifest(files=files, unreadable=document["unreadable"], notes=tuple(document["notes"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _contents(self, manifest: Manifest) -> dict[str, memoryview]:
        packs = {pack: self._pack(pack) for pack in {entry.pack for entry in manifest.files.values()}}
        found = {}
        for path, entry in manifest.files.items():
            content = packs[entry.pack][entry.offset : entry.offset + entry.length]
            if len(content) == entry.length and hashlib.sha256(content).hexdigest() == entry.sha256:
                found[path] = content
        return found

    def _pack(self, name: str) -> memoryview:
        assert self._directory is not None
        try:
            with (self._directory / "packs" / name).open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # gone, or empty, which cannot be mapped
            return memoryview(b"")

    # Writing.

    def _write_pack(self, entries: Mapping[str, Entry], contents: Mapping[str, memoryview | bytes]) -> dict[str, Entry]:
        """The entries with their places in a new pack; equal contents are stored once. A pack is named by the digests in it."""
        if not entries:
            return {}
        places: dict[str, tuple[int, int]] = {}
        at = 0
        with self._new_file("packs") as (file, publish):
            once = {entry.sha256: contents[path] for path, entry in entries.items()}
            for digest, content in once.items():
                places[digest] = (at, len(content))
                at += len(content)
            file.writelines(once.values())
            name = sha256("".join(places).encode("ascii"))
            publish(name)
        return {
            path: entry._replace(pack=name, offset=places[entry.sha256][0], length=places[entry.sha256][1])
            for path, entry in entries.items()
        }

    def _write_tree(self, key: str, packages: Sequence[str], manifest: Manifest) -> None:
        document = {
            "schema": SCHEMA,
            "packages": list(packages),
            "files": dict(sorted(manifest.files.items())),
            "unreadable": dict(sorted(manifest.unreadable.items())),
            "notes": list(manifest.notes),
        }
        with self._new_file("trees") as (file, publish):
            file.write(json.dumps(document, separators=(",", ":")).encode("ascii"))
            publish(f"{key}.json")

    @contextlib.contextmanager
    def _new_file(self, folder: str) -> Iterator[tuple[IO[bytes], Callable[[str], None]]]:
        """A file under another name until it is whole; a run that is killed leaves a ``tmp`` name, which eviction removes."""
        assert self._directory is not None
        home = self._directory / folder
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = tempfile.NamedTemporaryFile(dir=home, prefix="tmp", delete=False)  # noqa: SIM115

        def publish(name: str) -> None:
            file.flush()
            os.replace(file.name, home / name)

        try:
            with file:
                yield file.file, publish
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file.name)

    # Eviction.

    def _used(self, key: str) -> None:
        """Trees are ordered by when they were used last, which is their file's modification time."""
        with contextlib.suppress(OSError):
            os.utime(self._tree(key), (self._clock(),) * 2)

    def _evict(self) -> None:
        """Trees used longest ago go first, then the packs that no tree names. Another run that evicts now is left to it."""
        assert self._directory is not None
        with (self._directory / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            trees = self._newest_first()
            size = _sizes(self._directory / "packs")
            while len(trees) > 1 and sum(size[pack] for pack in size if pack.name in self._named(trees)) > self._limit:
                trees.pop().unlink(missing_ok=True)
            kept = self._named(trees)
            for path in [*size, *(self._directory / "trees").glob("tmp*")]:
                with contextlib.suppress(OSError):
                    if path.name not in kept and self._clock() - path.stat().st_mtime > _GRACE_SECONDS:
                        path.unlink()

    def _named(self, trees: Sequence[Path]) -> set[str]:
        return {row[_PACK] for path in trees for row in _json(path).get("files", {}).values()}

    def _newest_first(self) -> list[Path]:
        if self._directory is None:
            return []
        found = []
        for path in (self._directory / "trees").glob("*.json"):
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def _tree(self, key: str) -> Path:
        assert self._directory is not None
        return self._directory / "trees" / f"{key}.json"


def tree_key(host: str, container: str, root: str, packages: Sequence[str]) -> str:
    """The name of a tree in the cache."""
    return sha256(json.dumps([host, container, root, list(packages)]).encode())[:32]


def _sizes(folder: Path) -> dict[Path, int]:
    """Of the files that are there now: another run may rename its own meanwhile."""
    found = {}
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_size
    return found


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
