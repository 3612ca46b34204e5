"""The snapshot cache: a second run reads only what changed; two runs at once, a kill at any moment and damage do no harm."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from agent.domain.errors import NotFoundOnHost
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, Unreadable, sha256
from agent.hosts.remote import RemoteHost
from agent.hosts.snapshot_tree import SnapshotTree
from agent.hosts.snapshots import Entry, Manifest, SnapshotCache, tree_key
from agent.transports.local import LocalTransport
from tests.remote.conftest import Connect

LONG_AGO = 1_600_000_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "site-packages"
    for number in range(30):
        path = root / "pkg" / f"sub{number % 3}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n")
        os.utime(path, (LONG_AGO, LONG_AGO))
    (root / "pkg" / "data.json").write_text("{}")
    info = root / "pkg-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: pkg\nVersion: 1.2\n")
    (info / "direct_url.json").write_text('{"url": "https://user:hunter2@example.com/pkg"}')
    (info / "other.txt").write_text("x")
    (root / "unrelated-1.0.dist-info").mkdir()
    (root / "unrelated-1.0.dist-info" / "METADATA").write_text("Name: unrelated\n")
    return root


async def sync(connect: Connect, tree: Path, cache: Path | None, name: str = "here") -> SnapshotTree:
    host = await connect("local", HostSpec(name=name), cache_dir=cache)
    found = await host.sync_tree(str(tree), ["pkg"])
    assert isinstance(found, SnapshotTree)
    return found


@pytest.fixture(autouse=True)
def _everything_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """ctime cannot be set: without this every file of a test is as new as the test."""
    monkeypatch.setattr("agent.hosts.sync._RACY_SECONDS", -(10**9))


async def test_the_tree_holds_the_package_and_its_metadata(connect: Connect, tree: Path) -> None:
    found = await sync(connect, tree, None)
    assert [path for path in found.files() if "dist-info" in path] == ["pkg-1.2.dist-info/METADATA", "pkg-1.2.dist-info/direct_url.json"]
    assert len(list(found.files())) == 32
    assert found.read("pkg/sub1/m1.py") == b"VALUE = 1\n"
    assert found.read("pkg/sub1/none.py") == Absent(path="pkg/sub1/none.py")
    assert isinstance(found.read("pkg/data.json"), Unreadable), "it was not asked for, which is not the same as absent"
    assert list(found.containing([b"VALUE = 7", b"VALUE = 29"])) == ["pkg/sub1/m7.py", "pkg/sub2/m29.py"]
    assert b"hunter2" not in found.read("pkg-1.2.dist-info/direct_url.json")  # type: ignore[operator]
    assert found.digests["pkg/sub1/m1.py"] == sha256(b"VALUE = 1\n")


async def test_a_second_run_reads_only_what_changed(connect: Connect, tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert (await sync(connect, tree, cache)).fetched == 32
    assert (await sync(connect, tree, cache)).fetched == 0
    (tree / "pkg/sub1/m1.py").write_text("VALUE = 100\n")
    (tree / "pkg/sub1/new.py").write_text("NEW = 1\n")
    (tree / "pkg/sub2/m2.py").unlink()
    third = await sync(connect, tree, cache)
    assert third.fetched == 2
    assert third.read("pkg/sub1/m1.py") == b"VALUE = 100\n"
    assert third.read("pkg/sub1/new.py") == b"NEW = 1\n"
    assert isinstance(third.read("pkg/sub2/m2.py"), Absent)
    assert third.read("pkg/sub0/m3.py") == b"VALUE = 3\n"
    assert (await sync(connect, tree, cache)).fetched == 0


async def test_a_change_that_keeps_size_and_time_is_seen(connect: Connect, tree: Path, tmp_path: Path) -> None:
    """By the time of change, which nobody can set; in the same second, by reading again what was changed shortly before."""
    cache = tmp_path / "cache"
    await sync(connect, tree, cache)
    seen_earlier(cache, "pkg/sub1/m1.py")
    path = tree / "pkg/sub1/m1.py"
    path.write_text("VALUE = 9\n")
    os.utime(path, (LONG_AGO, LONG_AGO))
    changed = await sync(connect, tree, cache)
    assert (changed.fetched, changed.read("pkg/sub1/m1.py")) == (1, b"VALUE = 9\n")


async def test_a_change_within_the_second_is_seen(connect: Connect, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hosts.sync._RACY_SECONDS", 2)
    cache = tmp_path / "cache"
    await sync(connect, tree, cache)
    path = tree / "pkg/sub1/m1.py"
    path.write_text("VALUE = 9\n")
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert (await sync(connect, tree, cache)).read("pkg/sub1/m1.py") == b"VALUE = 9\n"


def seen_earlier(cache: Path, path: str) -> None:
    """As if the snapshot had been taken ten seconds before the file was changed: tests have no time to wait."""
    (manifest,) = (cache / "snapshots" / "trees").glob("*.json")
    document = json.loads(manifest.read_text())
    document["files"][path][Entry._fields.index("ctime")] -= 10
    manifest.write_text(json.dumps(document))


async def test_a_file_changed_just_before_it_was_read_is_read_again(
    connect: Connect, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.hosts.sync._RACY_SECONDS", 10**9)
    cache = tmp_path / "cache"
    await sync(connect, tree, cache)
    assert (await sync(connect, tree, cache)).fetched == 32


async def test_another_host_with_the_same_files_sends_none_of_them(connect: Connect, tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    await sync(connect, tree, cache, "first")
    (tree / "pkg/sub1/m1.py").write_text("VALUE = 'patched here'\n")
    second = await sync(connect, tree, cache, "second")
    assert second.fetched == 3, "the changed file, and two files of metadata that are never matched by digest"
    assert second.read("pkg/sub1/m1.py") == b"VALUE = 'patched here'\n"
    assert len(list(second.files())) == 32
    assert (await sync(connect, tree, cache, "first")).read("pkg/sub1/m1.py") == b"VALUE = 'patched here'\n"


async def test_files_that_cannot_be_read_are_unreadable(connect: Connect, tree: Path, tmp_path: Path) -> None:
    (tree / "pkg/sub1/dangling.py").symlink_to("/no/such/file")
    (tree / "pkg/sub1/linked.py").symlink_to(tree / "pkg/sub1/m1.py")
    os.mkfifo(tree / "pkg/sub1/fifo.py")
    found = await sync(connect, tree, tmp_path / "cache")
    assert found.read("pkg/sub1/linked.py") == b"VALUE = 1\n"
    assert "pkg/sub1/fifo.py" not in set(found.files())


async def test_a_missing_tree_says_where_it_looked(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(NotFoundOnHost) as caught:
        await sync(connect, tmp_path / "nowhere", None)
    assert "No such file" in caught.value.what


async def test_a_damaged_pack_is_read_from_the_host_again(connect: Connect, tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    await sync(connect, tree, cache)
    (pack,) = (cache / "snapshots" / "packs").iterdir()
    content = bytearray(pack.read_bytes())
    content[3] ^= 0xFF
    pack.write_bytes(content)
    again = await sync(connect, tree, cache)
    assert again.fetched == 1
    assert {path: again.read(path) for path in again.files()} == {
        path: found.read(path) for found in [await sync(connect, tree, None)] for path in found.files()
    }


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"schema": "rca.snapshot/1"}', b'{"schema": "rca.snapshot/1", "files": {"a": [1]}}']
)
async def test_a_damaged_manifest_is_no_snapshot(content: bytes, connect: Connect, tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    await sync(connect, tree, cache)
    (manifest,) = (cache / "snapshots" / "trees").glob("*.json")
    manifest.write_bytes(content)
    assert (await sync(connect, tree, cache)).fetched == 32


WRITER = """
import sys, random
from pathlib import Path
from agent.domain.source import sha256
from agent.hosts.snapshots import Entry, Manifest, SnapshotCache
cache, seed = SnapshotCache(Path(sys.argv[1]), limit=int(sys.argv[3])), int(sys.argv[2])
draw = random.Random(seed)
for turn in range(10**6):
    contents = {f"f{n}.py": b"%d %d " % (seed, draw.randrange(10**9)) * 2000 for n in range(8)}
    entries = {path: Entry(1, 1, 1, 1, 1, sha256(raw), "", 0, len(raw)) for path, raw in contents.items()}
    cache.save("shared", ["pkg"], Manifest(files=entries), contents)
    cache.save(f"own{seed}", ["pkg"], Manifest(files=entries), contents)
    print(turn, flush=True)
"""


@contextlib.contextmanager
def writing(directory: Path, seed: int) -> Iterator[IO[bytes]]:
    """A process that stores snapshots without end, and what it says after each; killed wherever it is at the end of the block."""
    argv = [sys.executable, "-c", WRITER, str(directory), str(seed), "3000000"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        try:
            yield writer.stdout
        finally:
            writer.kill()


def test_killed_writers_leave_whole_snapshots(tmp_path: Path) -> None:
    draw = random.Random(7)
    seen = 0
    for turn in range(6):
        with writing(tmp_path, turn * 2) as one, writing(tmp_path, turn * 2 + 1) as other:
            for said in (one, other):
                for _ in range(draw.randrange(1, 30)):
                    assert said.readline(), "a writer takes no harm from the other"
        for key in ("shared", f"own{turn * 2}", f"own{turn * 2 + 1}"):
            found = SnapshotCache(tmp_path).load(key)
            if found is not None:
                manifest, contents = found
                seen += 1
                assert set(contents) == set(manifest.files), "a snapshot that can be loaded is whole"
                assert all(sha256(bytes(raw)) == manifest.files[path].sha256 for path, raw in contents.items())
    assert seen > 6


def _store(cache: SnapshotCache, key: str, size: int) -> None:
    raw = os.urandom(size)
    cache.save(key, [key], Manifest(files={"a.py": Entry(1, 1, 1, 1, 1, sha256(raw), "", 0, size)}), {"a.py": raw})


def test_the_cache_keeps_its_limit_and_the_latest_trees(tmp_path: Path) -> None:
    cache = SnapshotCache(tmp_path, limit=350_000, clock=itertools.count(time.time() + 7200).__next__)
    for number in range(8):
        _store(cache, f"tree{number}", 100_000)
        cache.load("tree1")
    assert cache.load("tree1") is not None, "used again and again"
    assert [number for number in range(8) if cache.load(f"tree{number}")] == [1, 6, 7]
    assert sum(path.stat().st_size for path in (tmp_path / "snapshots" / "packs").iterdir()) <= 350_000


def test_a_young_pack_is_left_for_the_run_that_wrote_it(tmp_path: Path) -> None:
    cache = SnapshotCache(tmp_path, limit=1000)
    _store(cache, "one", 100)
    orphan = tmp_path / "snapshots" / "packs" / "orphan"
    orphan.write_bytes(b"x")
    _store(cache, "two", 100)
    assert orphan.exists()


async def test_many_small_changes_do_not_pile_up_packs(connect: Connect, tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for turn in range(12):
        (tree / f"pkg/sub1/m{turn * 3 % 30 // 3 * 3 + 1}.py").write_text(f"VALUE = 'turn {turn}'\n")
        found = await sync(connect, tree, cache)
    manifest, contents = SnapshotCache(cache).load(tree_key("here", "", str(tree), ["pkg"])) or (Manifest(), {})
    assert len({entry.pack for entry in manifest.files.values()}) <= 7
    assert {path: bytes(raw) for path, raw in contents.items()} == {path: found.read(path) for path in found.files()}


async def test_the_local_transport_is_a_host_like_any_other(tree: Path) -> None:
    host = RemoteHost(LocalTransport(), HostSpec(name="x"))
    assert len(list((await host.sync_tree(str(tree), [])).files())) == 30
    await host.close()
