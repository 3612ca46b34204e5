"""Saving, finding, comparing and forgetting runs."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.domain.errors import StoreError, UsageError
from agent.domain.investigation import Investigation, Subject
from agent.store import RunStore
from agent.store import schema as store_schema
from tests.reports import samples

GOLDEN = Path(__file__).parent.parent / "golden" / "store"


@pytest.fixture
def store(tmp_path: Path):
    opened = RunStore(tmp_path / "data")
    yield opened
    opened.close()


def numbered(at: int, **changes: object) -> Investigation:
    run = samples.run(id=f"run-{at:03d}", started_at=f"2026-05-{at:02d}T10:00:00Z", **changes)
    return samples.founding(run=run)


def test_a_saved_run_comes_back_equal(store: RunStore) -> None:
    saved = samples.founding()
    assert store.save(saved, {"report.md": b"# report"}) == saved.run.id
    assert store.load(saved.run.id) == saved
    assert store.artefact("last", "report.md") == b"# report"
    assert store.artefacts("last") == {"report.md": 8}


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_any_text_can_be_stored(store: RunStore, text: str) -> None:
    hostile = replace(samples.hostile(text), run=samples.run(host=text))
    store.begin(hostile.run.id, host=text, symptom=text, started_at="2026-05-01T00:00:00Z")
    store.save(hostile)
    assert store.load("last") == hostile
    assert len(store.list()) == 1


def test_saving_again_replaces(store: RunStore) -> None:
    store.save(samples.founding(), {"a": b"1", "b": b"2"})
    store.save(samples.nothing_found(), {"b": b"3"})
    assert [entry.outcome for entry in store.list()] == ["no_fault_found"]
    assert store.artefacts("last") == {"b": 1}
    assert store.artefact("last", "b") == b"3"


def test_references(store: RunStore) -> None:
    with pytest.raises(UsageError, match="no run 'last'"):
        store.resolve("last")
    for at in (1, 2, 11):
        store.save(numbered(at))
    assert store.resolve("run-002") == "run-002"
    assert store.resolve("run-01") == "run-011"
    assert store.resolve("last") == "run-011"
    with pytest.raises(UsageError, match="'run-00' fits 2 runs: run-001, run-002"):
        store.resolve("run-00")
    with pytest.raises(UsageError, match="no run 'run%'"):
        store.resolve("run%")


def test_the_newest_stand_first_and_hosts_can_be_chosen(store: RunStore) -> None:
    store.save(numbered(2))
    store.save(numbered(3, host="gpu-09"))
    store.save(numbered(1))
    assert [entry.id for entry in store.list()] == ["run-003", "run-002", "run-001"]
    assert [entry.id for entry in store.list(host="gpu-09")] == ["run-003"]
    assert [entry.id for entry in store.list(limit=1)] == ["run-003"]


def test_an_interrupted_run_can_be_resumed(store: RunStore) -> None:
    store.begin("r1", host="gpu-07", symptom="7168", started_at="2026-05-01T00:00:00Z", request={"pid": 42})
    store.checkpoint("r1", "launch", {"argv": ["python3"], "pid": 42})
    store.checkpoint("r1", "log", b"\x00raw")
    store.checkpoint("r1", "launch", {"argv": ["python4"]})
    assert store.entry("r1").status == "running"
    with pytest.raises(StoreError, match=r"run r1 did not finish .*rca run --resume r1"):
        store.load("r1")

    again = RunStore(store.directory)
    assert again.checkpoints("r1") == {"launch": {"argv": ["python4"]}, "log": b"\x00raw"}
    assert again.request("r1") == {"pid": 42}
    again.save(samples.founding(run=samples.run(id="r1")))
    assert again.entry("r1").status == "finished"
    assert again.checkpoints("r1") == {}
    again.close()


def test_a_run_that_failed_keeps_what_it_found(store: RunStore) -> None:
    run_id = samples.failed().run.id
    store.begin(run_id, host="gpu-07", symptom="7168", started_at="2026-05-01T00:00:00Z")
    store.checkpoint(run_id, "launch", [1, 2])
    store.save(samples.failed())
    assert store.checkpoints(run_id) == {"launch": [1, 2]}


def test_a_process_that_is_gone_was_interrupted(store: RunStore) -> None:
    store.begin("r1", host="gpu-07", symptom="7168", started_at="2026-05-01T00:00:00Z")
    with sqlite3.connect(store.directory / "runs.sqlite3") as index:
        index.execute("UPDATE runs SET pid = 4194305")  # above the largest pid that Linux gives
    index.close()
    assert [entry.status for entry in store.list()] == ["interrupted"]


def test_a_checkpoint_needs_its_run(store: RunStore) -> None:
    with pytest.raises(StoreError):
        store.checkpoint("nobody", "launch", {})


def test_history_knows_the_fault_on_other_lines_and_hosts(store: RunStore) -> None:
    assert store.history(numbered(1)) == ()
    store.save(numbered(1, host="gpu-03"))
    assert store.history(numbered(1)) == (), "a run is not its own past"
    store.save(numbered(2, host="gpu-07"))
    store.save(numbered(3, host="gpu-07"))
    moved = numbered(4)
    finding = moved.findings[0]
    assert finding.guard
    moved = replace(
        moved,
        subject=Subject(package="sglang", version="0.5.10", root="/elsewhere"),
        findings=(replace(finding, guard=replace(finding.guard, line=356, path="sglang/other.py")),),
    )
    (past,) = store.history(moved)
    assert past.same_guard
    assert past.runs == ("run-001", "run-002", "run-003")
    assert past.sentence() == "seen 3 times since May 2026, on gpu-03 and gpu-07; playbook eagle3-aux-capture"


def test_history_tells_the_same_cause_behind_another_guard_apart(store: RunStore) -> None:
    store.save(numbered(1))
    other = numbered(2)
    finding = other.findings[0]
    assert finding.guard
    other = replace(other, findings=(replace(finding, guard=replace(finding.guard, condition="spec.is_eagle3()")),))
    (past,) = store.history(other)
    assert not past.same_guard
    assert past.sentence().startswith("the same cause behind another guard was seen once before, in May 2026, on gpu-07")
    other = replace(other, findings=(replace(finding, cause=replace(finding.cause, actual="NGRAM")),))
    assert store.history(other) == ()


def test_many_hosts_are_counted(store: RunStore) -> None:
    for at in range(1, 6):
        store.save(numbered(at, host=f"gpu-{at}"))
    (past,) = store.history(numbered(9))
    assert "on gpu-1, gpu-2, gpu-3 and 2 more;" in past.sentence()


def test_diff_names_what_differs(store: RunStore) -> None:
    store.save(numbered(1))
    fixed = samples.nothing_found()
    assert fixed.launch
    argv = (*samples.launch_command("EAGLE3").split(), "--enable-metrics")
    fixed = replace(fixed, run=samples.run(id="run-002"), launch=replace(fixed.launch, argv=argv, env={}))
    store.save(fixed)
    diff = store.diff("run-001", "run-002")
    told = {(d.area, d.name): (d.before, d.after) for d in diff.differences}
    assert told["outcome", ""] == ("cause_confirmed", "no_fault_found")
    assert told["flag", "--speculative-algorithm"] == ("EAGLE", "EAGLE3")
    assert told["flag", "--enable-metrics"] == (None, True)
    assert told["env", "NCCL_DEBUG"] == ("WARN", None)
    assert told["finding", "EAGLE was asked for, the draft is an EAGLE3 draft"] == ("proved", None)
    assert ("flag", "--port") not in told
    assert store.diff("run-001", "run-001").differences == ()


def test_prune_by_count_and_by_age(store: RunStore) -> None:
    for at in range(1, 6):
        store.save(numbered(at), {"own": f"{at}".encode(), "shared": b"same"})
    would = store.prune(keep=3, dry_run=True)
    assert would.runs == ("run-002", "run-001")
    assert len(store.list()) == 5
    assert store.prune(keep=3).runs == ("run-002", "run-001")
    assert store.prune(days=2.5, now=datetime(2026, 5, 6, tzinfo=UTC)).runs == ("run-003",)
    assert [entry.id for entry in store.list()] == ["run-005", "run-004"]
    assert store.artefact("run-005", "shared") == b"same"


def test_prune_removes_only_blobs_that_are_unused_and_old(store: RunStore) -> None:
    import os

    store.save(numbered(1), {"own": b"mine"})
    store.save(numbered(2), {"own": b"other"})
    fresh = store.blobs.put(b"about to be referred to")
    for path in store.blobs.directory.glob("*/*"):
        if not path.name.endswith(fresh[2:]):
            os.utime(path, (0, 0))
    pruned = store.prune(keep=1)
    assert pruned.blobs == 2, "the dropped run's report and artefact"
    assert store.blobs.has(fresh)
    assert store.artefact("run-002", "own") == b"other"
    assert store.load("run-002").run.id == "run-002"


def test_a_running_run_is_never_pruned(store: RunStore) -> None:
    store.begin("r1", host="h", symptom="s", started_at="2020-01-01T00:00:00Z")
    assert store.prune(keep=0).runs == ()


def test_a_damaged_blob_is_an_error_and_a_damaged_checkpoint_is_left_out(store: RunStore) -> None:
    store.begin("r1", host="h", symptom="s", started_at="2020-01-01T00:00:00Z")
    store.checkpoint("r1", "step", {"a": 1})
    store.save(numbered(1))
    for path in store.blobs.directory.glob("*/*"):
        path.write_bytes(b"")
    assert store.checkpoints("r1") == {}
    with pytest.raises(StoreError, match="damaged"):
        store.load("run-001")
    store.save(numbered(1))
    assert store.load("run-001") == numbered(1), "saving again repairs"


def test_files_are_for_the_owner_only(store: RunStore) -> None:
    store.save(numbered(1))
    modes = {path.stat().st_mode & 0o077 for path in store.directory.rglob("*") if path.is_file()}
    assert modes == {0}


def test_a_first_release_file_still_opens(tmp_path: Path) -> None:
    """tests/golden/store/v1.sql is never changed: it is what the first release wrote."""
    with sqlite3.connect(tmp_path / "runs.sqlite3") as index:
        index.executescript((GOLDEN / "v1.sql").read_text())
    index.close()
    store = RunStore(tmp_path)
    assert [(entry.id, entry.host, entry.outcome) for entry in store.list()] == [("run-001", "gpu-07", "cause_confirmed")]
    (past,) = store.history(numbered(2))
    assert past.runs == ("run-001",)
    store.close()


def test_a_migration_keeps_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = RunStore(tmp_path)
    first.save(numbered(1))
    first.close()
    step = ("ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT ''",)
    monkeypatch.setattr(store_schema, "MIGRATIONS", (*store_schema.MIGRATIONS, step))
    second = RunStore(tmp_path)
    assert second.load("run-001") == numbered(1)
    second.close()
    monkeypatch.undo()
    third = RunStore(tmp_path)
    with pytest.raises(StoreError, match="written by a newer rca"):
        third.list()


def test_what_is_no_database_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite3").write_bytes(b"not a database, just some text that is long enough" * 100)
    with pytest.raises(StoreError, match=r"not an SQLite file .*move it away"):
        RunStore(tmp_path).list()


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        RunStore(tmp_path / "file" / "rca").list()
