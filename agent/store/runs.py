"""The store of runs: begin, checkpoint, save, load, list, compare, prune."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.domain.errors import StoreError, UsageError
from agent.domain.fingerprint import cause_fingerprint, fingerprint
from agent.domain.investigation import Finding, Investigation
from agent.domain.restore import restore
from agent.domain.serialize import Plain
from agent.store.blobs import BlobStore
from agent.store.diff import RunDiff, compare
from agent.store.faults import reported
from agent.store.history import Seen, seen
from agent.store.schema import open_index, writing

_SETTLED = ("cause_confirmed", "no_fault_found")
"""Outcomes after which there is nothing to resume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry(Plain):
    """One line of ``rca runs list``. ``status``: finished, running, or interrupted (its process is gone)."""

    id: str
    status: str
    started_at: str
    host: str
    symptom: str
    outcome: str
    title: str
    package: str
    version: str
    playbook: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned(Plain):
    """What a prune removed, or would remove; ``bytes`` freed."""

    runs: tuple[str, ...]
    blobs: int
    bytes: int


class RunStore:
    """Every run that was made on this machine. Opened on first use, usable from any thread; methods raise StoreError with what to do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.blobs = BlobStore(directory / "blobs")
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        """Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # -- writing a run ------------------------------------------------------------------------------------------

    def begin(self, run_id: str, *, host: str, symptom: str, started_at: str, request: Mapping[str, Any] | None = None) -> None:
        """Registers a run before it asks its host anything. ``request``: the options that a resumed run must repeat."""
        row = (run_id, os.getpid(), started_at, _text(host), _text(symptom), json.dumps(request or {}))
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO runs (id, status, pid, started_at, host, symptom, request) VALUES (?, 'running', ?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET status = 'running', pid = excluded.pid",
                row,
            )

    def checkpoint(self, run_id: str, name: str, payload: Any) -> None:
        """Keeps one step's result, so that a resumed run need not ask the host again. Bytes, or any plain JSON value."""
        self.checkpoint_all(run_id, {name: payload})

    def checkpoint_all(self, run_id: str, payloads: Mapping[str, Any]) -> None:
        """Several at once, in their order: all of them or none."""
        contents = {name: one if isinstance(one, bytes) else json.dumps(one).encode() for name, one in payloads.items()}
        digests = {name: self.blobs.put(content, durable=False) for name, content in contents.items()}
        with self._writing() as connection:
            for name, content in contents.items():
                self._ensure(digests[name], content)
                kind = "bytes" if isinstance(payloads[name], bytes) else "json"
                connection.execute(
                    "INSERT INTO checkpoints (run_id, name, kind, sha256, position) VALUES (?, ?, ?, ?,"
                    " (SELECT COALESCE(MAX(position), 0) + 1 FROM checkpoints WHERE run_id = ?))"
                    " ON CONFLICT (run_id, name) DO UPDATE SET kind = excluded.kind, sha256 = excluded.sha256",
                    (run_id, _text(name), kind, digests[name], run_id),
                )

    def save(self, investigation: Investigation, artefacts: Mapping[str, bytes] | None = None) -> str:
        """Stores a finished run whole, or not at all; saving the same id again replaces it. Gives the run's id."""
        contents = {"": json.dumps(investigation.as_dict(), default=str).encode(), **(artefacts or {})}
        digests = {name: self.blobs.put(content) for name, content in contents.items()}
        run_id = investigation.run.id
        with self._writing() as connection:
            for name, content in contents.items():
                self._ensure(digests[name], content)
            _write_run(connection, investigation, digests[""])
            _write_artefacts(connection, run_id, {name: (digests[name], len(contents[name])) for name in contents if name})
            if investigation.outcome in _SETTLED:
                connection.execute("DELETE FROM checkpoints WHERE run_id = ?", (run_id,))
        return run_id

    # -- reading ------------------------------------------------------------------------------------------------

    def resolve(self, reference: str) -> str:
        """The run's id from an id, a unique prefix of one, or "last"; raises UsageError naming the candidates."""
        with self._reading() as connection:
            if reference == "last":
                row = connection.execute("SELECT id FROM runs ORDER BY seq DESC LIMIT 1").fetchone()
                found = [row["id"]] if row else []
            else:
                found = _matching(connection, reference)
        if len(found) == 1:
            return str(found[0])
        if not found:
            raise UsageError(f"no run {reference!r} in {self.directory}", hint="`rca runs list` shows what is stored")
        raise UsageError(f"{reference!r} fits {len(found)} runs: {', '.join(found[:5])}", hint="give more of the id")

    def load(self, reference: str) -> Investigation:
        """A finished run's investigation; raises StoreError for one that was interrupted."""
        row = self._row(reference)
        if not row["report"]:
            raise StoreError(f"run {row['id']} did not finish", hint=f"continue it with `rca run --resume {row['id']}`")
        return restore(Investigation, json.loads(self.blobs.get(row["report"])))

    def entry(self, reference: str) -> RunEntry:
        """What the index knows of one run, finished or not."""
        return _entry(self._row(reference))

    def request(self, reference: str) -> dict[str, Any]:
        """The options that the run was begun with."""
        options: dict[str, Any] = json.loads(self._row(reference)["request"])
        return options

    def list(self, *, host: str = "", limit: int = -1) -> tuple[RunEntry, ...]:
        """Newest first."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT * FROM runs WHERE ? IN ('', host) ORDER BY started_at DESC, seq DESC LIMIT ?", (host, limit)
            ).fetchall()
        return tuple(_entry(row) for row in rows)

    def artefacts(self, reference: str) -> dict[str, int]:
        """Names and sizes of what was stored beside the report."""
        run_id = self.resolve(reference)
        with self._reading() as connection:
            rows = connection.execute("SELECT name, size FROM artefacts WHERE run_id = ? ORDER BY name", (run_id,)).fetchall()
        return {row["name"]: row["size"] for row in rows}

    def artefact(self, reference: str, name: str) -> bytes:
        """One of them."""
        run_id = self.resolve(reference)
        with self._reading() as connection:
            row = connection.execute("SELECT sha256 FROM artefacts WHERE run_id = ? AND name = ?", (run_id, name)).fetchone()
        if row is None:
            raise UsageError(f"run {run_id} has no {name!r}", hint=f"it has: {', '.join(self.artefacts(run_id)) or 'nothing'}")
        return self.blobs.get(row["sha256"])

    def checkpoints(self, run_id: str) -> dict[str, Any]:
        """What was kept, in the order of keeping. One that a power cut damaged is left out: it is asked for again."""
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM checkpoints WHERE run_id = ? ORDER BY position", (run_id,)).fetchall()
        return {row["name"]: payload for row in rows for payload in self._payloads(row)}

    def diff(self, before: str, after: str) -> RunDiff:
        """Two finished runs side by side."""
        return compare(self.load(before), self.load(after))

    def history(self, investigation: Investigation) -> tuple[Seen, ...]:
        """For each finding with a past, its earlier runs. Not part of a report: it would differ from run to run."""
        package = investigation.subject.package if investigation.subject else ""
        with self._reading() as connection:
            past = [seen(connection, finding, package, but=investigation.run.id) for finding in investigation.findings]
        return tuple(one for one in past if one is not None)

    # -- forgetting ---------------------------------------------------------------------------------------------

    def prune(self, *, keep: int | None = None, days: float | None = None, now: datetime | None = None, dry_run: bool = False) -> Pruned:
        """Drops finished and interrupted runs beyond the newest ``keep``, or older than ``days``, and blobs nobody uses.

        With neither, only unused blobs go. Running ones stay.
        """
        horizon = None if days is None else ((now or datetime.now(UTC)) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._writing() as connection:
            gone = tuple(_droppable(connection, keep, horizon))
            used = _used_blobs(connection, without=gone)
            if not dry_run:
                connection.executemany("DELETE FROM runs WHERE id = ?", [(run_id,) for run_id in gone])
            blobs, size = self.blobs.sweep(used, dry_run=dry_run)
        return Pruned(runs=gone, blobs=blobs, bytes=size)

    # -- inside -------------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        path = self.directory / "runs.sqlite3"
        with self._lock:
            if self._connection is None:
                self._connection = open_index(path)
            with reported(path):
                yield self._connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection, writing(connection):
            yield connection

    def _ensure(self, digest: str, content: bytes) -> None:
        """Inside the transaction no prune can run: a blob that one took away just before is written again."""
        if not self.blobs.has(digest):
            self.blobs.put(content)

    def _row(self, reference: str) -> sqlite3.Row:
        run_id = self.resolve(reference)
        with self._reading() as connection:
            row: sqlite3.Row = connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        return row

    def _payloads(self, row: sqlite3.Row) -> Iterator[Any]:
        try:
            content = self.blobs.get(row["sha256"])
        except StoreError:
            return
        yield content if row["kind"] == "bytes" else json.loads(content)


def _write_run(connection: sqlite3.Connection, investigation: Investigation, report: str) -> None:
    first = investigation.findings[0] if investigation.findings else None
    subject = investigation.subject
    package = subject.package if subject else ""
    values = {
        "id": investigation.run.id,
        "status": "finished",
        "pid": os.getpid(),
        "started_at": investigation.run.started_at,
        "host": investigation.run.host,
        "symptom": investigation.symptom.text,
        "outcome": investigation.outcome,
        "title": first.title if first else "",
        "package": package,
        "version": subject.version if subject else "",
        "playbook": investigation.playbook,
        "report": report,
    }
    updates = ", ".join(f"{name} = excluded.{name}" for name in values if name != "id")
    connection.execute(
        f"INSERT INTO runs ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) ON CONFLICT (id) DO UPDATE SET {updates}",
        tuple(_text(value) for value in values.values()),
    )
    connection.execute("DELETE FROM findings WHERE run_id = ?", (investigation.run.id,))
    for position, finding in enumerate(investigation.findings):
        _write_finding(connection, investigation.run.id, position, finding, package)


def _write_finding(connection: sqlite3.Connection, run_id: str, position: int, finding: Finding, package: str) -> None:
    connection.execute(
        "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?)",
        (run_id, position, fingerprint(finding, package), cause_fingerprint(finding, package), _text(finding.title), finding.confidence),
    )


def _write_artefacts(connection: sqlite3.Connection, run_id: str, artefacts: Mapping[str, tuple[str, int]]) -> None:
    connection.execute("DELETE FROM artefacts WHERE run_id = ?", (run_id,))
    rows = [(run_id, name, digest, size) for name, (digest, size) in artefacts.items()]
    connection.executemany("INSERT INTO artefacts VALUES (?, ?, ?, ?)", rows)


def _text(value: Any) -> Any:
    """SQLite holds UTF-8: a surrogate that stands for an undecodable byte is written as its escape."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _matching(connection: sqlite3.Connection, reference: str) -> list[str]:
    exact = connection.execute("SELECT id FROM runs WHERE id = ?", (reference,)).fetchall()
    rows = exact or connection.execute("SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY seq", (len(reference), reference))
    return [row["id"] for row in rows]


def _entry(row: sqlite3.Row) -> RunEntry:
    status = "interrupted" if row["status"] == "running" and not _alive(row["pid"]) else row["status"]
    rest = {name: row[name] for name in ("id", "started_at", "host", "symptom", "outcome", "title", "package", "version", "playbook")}
    return RunEntry(status=status, **rest)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _droppable(connection: sqlite3.Connection, keep: int | None, horizon: str | None) -> Iterator[str]:
    rows = connection.execute("SELECT * FROM runs ORDER BY started_at DESC, seq DESC").fetchall()
    for position, row in enumerate(rows):
        old = (keep is not None and position >= keep) or (horizon is not None and row["started_at"] < horizon)
        if old and _entry(row).status != "running":
            yield row["id"]


def _used_blobs(connection: sqlite3.Connection, *, without: tuple[str, ...]) -> set[str]:
    rows = connection.execute(
        "SELECT id AS run_id, report AS sha256 FROM runs UNION ALL SELECT run_id, sha256 FROM artefacts"
        " UNION ALL SELECT run_id, sha256 FROM checkpoints"
    )
    return {row["sha256"] for row in rows if row["run_id"] not in without}
