"""The store under kill -9 at every step, two writers at once and a full disk."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.domain.errors import StoreError
from agent.store import RunStore
from tests.reports import samples
from tests.store import dying_writer

ROOT = Path(__file__).parent.parent.parent


def writer(*arguments: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.dying_writer", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]


def test_killed_before_each_of_its_steps(tmp_path: Path) -> None:
    done = writer("steps", tmp_path)
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, err
    assert int(out) > 60, "so many places to die were tried"


def test_killed_at_arbitrary_moments(tmp_path: Path) -> None:
    for attempt in range(6):
        process = writer(f"w{attempt}", tmp_path, 1000)
        assert process.stdout
        told = [process.stdout.readline().strip() for _ in range(attempt + 1)]
        process.send_signal(signal.SIGKILL)
        told += process.communicate(timeout=30)[0].split()
        store = RunStore(tmp_path)
        for run_id in told:
            assert store.load(run_id).run.id == run_id
        store.close()
        dying_writer.check(tmp_path)


def test_two_writers_and_their_prunes_lose_nothing(tmp_path: Path) -> None:
    writers = [writer(name, tmp_path, 25) for name in ("a", "b")]
    for process in writers:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert len(out.split()) == 25
    store = RunStore(tmp_path)
    assert len(store.list()) == 50
    for entry in store.list():
        assert store.artefact(entry.id, "own") == entry.id.encode()
    store.close()


def test_a_file_size_limit_is_told_and_keeps_what_was_there(tmp_path: Path) -> None:
    before = RunStore(tmp_path)
    dying_writer.save(before, "before")
    before.close()
    program = (
        "import sys; from pathlib import Path; from agent.store import RunStore; from agent.domain.errors import StoreError\n"
        "try: RunStore(Path(sys.argv[1])).blobs.put(b'x' * 1_000_000)\n"
        "except StoreError as error: print(error)"
    )

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, preexec_fn=limit, check=True
    )
    assert "file size limit" in done.stdout
    assert "rca runs prune" in done.stdout
    assert not list((tmp_path / "blobs" / "tmp").iterdir()), "nothing unfinished stays"
    dying_writer.check(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "rca-test", str(place)], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small file system here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_told_and_keeps_what_was_there(small_disk: Path) -> None:
    store = RunStore(small_disk / "rca")
    kept = []
    with pytest.raises(StoreError, match="rca runs prune") as caught:
        for at in range(1000):
            run_id = store.save(samples.founding(run=samples.run(id=f"run-{at:03d}")), {"own": os.urandom(20_000)})
            kept.append(run_id)
    assert "no space left" in str(caught.value)
    assert len(kept) > 2
    again = RunStore(small_disk / "rca")
    assert sorted(entry.id for entry in again.list()) == kept
    for run_id in kept:
        assert again.load(run_id).run.id == run_id
        assert len(again.artefact(run_id, "own")) == 20_000
    again.close()
    store.close()
