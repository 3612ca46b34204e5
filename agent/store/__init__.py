"""Runs on disk: an SQLite index over content-addressed blobs, safe under kill -9, a full disk and two writers."""

from agent.store.diff import Difference, RunDiff, compare
from agent.store.history import Seen
from agent.store.runs import Pruned, RunEntry, RunStore

__all__ = ["Difference", "Pruned", "RunDiff", "RunEntry", "RunStore", "Seen", "compare"]
