"""The index: its tables, one migration per schema version, and how it is opened."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.domain.errors import StoreError
from agent.store.faults import reported

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE runs (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            status TEXT NOT NULL CHECK (status IN ('running', 'finished')),
            pid INTEGER NOT NULL,
            started_at TEXT NOT NULL,
            host TEXT NOT NULL,
            symptom TEXT NOT NULL,
            request TEXT NOT NULL DEFAULT '{}',
            outcome TEXT NOT NULL DEFAULT '',
            title TEXT NOT NULL DEFAULT '',
            package TEXT NOT NULL DEFAULT '',
            version TEXT NOT NULL DEFAULT '',
            playbook TEXT NOT NULL DEFAULT '',
            report TEXT NOT NULL DEFAULT ''
        )""",
        """CREATE TABLE findings (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            fingerprint TEXT NOT NULL,
            cause_fingerprint TEXT NOT NULL,
            title TEXT NOT NULL,
            confidence TEXT NOT NULL,
            PRIMARY KEY (run_id, position)
        )""",
        "CREATE INDEX findings_by_fingerprint ON findings (fingerprint)",
        "CREATE INDEX findings_by_cause ON findings (cause_fingerprint)",
        """CREATE TABLE artefacts (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            size INTEGER NOT NULL,
            PRIMARY KEY (run_id, name)
        )""",
        """CREATE TABLE checkpoints (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('json', 'bytes')),
            sha256 TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (run_id, name)
        )""",
    ),
)
"""Step N takes a file of schema version N to N + 1; steps are only ever added."""

_PATIENCE = 30.0
"""Seconds to wait for another writer."""


def open_index(path: Path) -> sqlite3.Connection:
    """The index at ``path``, made or migrated where needed; raises StoreError for one written by a newer release."""
    with reported(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        with reported(path):
            connection.row_factory = sqlite3.Row
            _prepare(connection)
        _migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One write transaction, exclusive among processes: all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        _roll_back(connection)
        raise
    connection.execute("COMMIT")


def _roll_back(connection: sqlite3.Connection) -> None:
    """A full disk may already have rolled back; that must not hide the error it came from."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _prepare(connection: sqlite3.Connection) -> None:
    """WAL where the file system allows it (network ones do not); a crash of the process loses nothing in either mode."""
    _switch_to_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not wait for others when it changes the mode, so we do."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection, path) == len(MIGRATIONS):
        return
    with reported(path), writing(connection):
        version = _version(connection, path)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    with reported(path):
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path}: written by a newer rca (schema {version}, this one knows {len(MIGRATIONS)})",
            hint="upgrade rca, or point RCA_HOME to another directory",
        )
    return version
