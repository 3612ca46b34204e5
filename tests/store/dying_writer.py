"""A program for test_crashes: saves run after run, or dies by SIGKILL at the nth thing it does to the file system or index."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from agent.store import RunStore
from tests.reports import samples

ARTEFACTS = {"report.md": b"# report\n" * 1000, "shared": b"the same in every run"}


def save(store: RunStore, run_id: str) -> None:
    """One whole run: begun, checkpointed, finished."""
    store.begin(run_id, host="gpu-07", symptom="7168", started_at="2026-05-01T10:00:00Z")
    store.checkpoint(run_id, "launch", {"argv": ["python3"], "run": run_id})
    store.save(samples.founding(run=samples.run(id=run_id)), {**ARTEFACTS, "own": run_id.encode()})


def save_many(directory: Path, prefix: str, count: int) -> None:
    """Prints each id once it is safe, and prunes now and then as another rca might."""
    store = RunStore(directory)
    for at in range(count):
        save(store, f"{prefix}-{at:03d}")
        print(f"{prefix}-{at:03d}", flush=True)
        if at % 5 == 0:
            store.prune(keep=10_000)


def die_at_every_step(directory: Path) -> None:
    """Forks a writer that kills itself at its first step, then one at its second, until one gets through; checks each wreck.

    Each starts with no store at all, so its making and migrating are among the steps.
    """
    for step in range(1, 10_000):
        child = os.fork()
        if child == 0:
            _die_at(step)
            save(RunStore(directory / str(step)), "victim")
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        check(directory / str(step))
        if os.WIFEXITED(status):
            print(step - 1)
            sys.exit(os.WEXITSTATUS(status))
        assert os.WTERMSIG(status) == signal.SIGKILL, status


def check(directory: Path) -> None:
    """Whatever the index lists is whole, and the store can still be written."""
    store = RunStore(directory)
    for entry in store.list():
        store.checkpoints(entry.id)
        if entry.status == "finished":
            assert store.load(entry.id).run.id == entry.id
            assert store.artefact(entry.id, "own") == entry.id.encode()
            assert store.artefact(entry.id, "report.md") == ARTEFACTS["report.md"]
    save(store, "after")
    store.close()


def _die_at(step: int) -> None:
    """Python tells an audit hook before it opens, renames or connects anything; sqlite3 before every statement through the tracer."""
    left = step

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(lambda event, _: count() if event.split(".")[0] in ("open", "os", "sqlite3") else None)
    from agent.store import schema

    prepare = schema._prepare

    def traced(connection: object) -> None:
        connection.set_trace_callback(count)  # type: ignore[attr-defined]
        prepare(connection)  # type: ignore[arg-type]

    schema._prepare = traced


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        die_at_every_step(Path(sys.argv[2]))
    else:
        save_many(Path(sys.argv[2]), sys.argv[1], int(sys.argv[3]))
