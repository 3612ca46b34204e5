"""A source tree from files given by path."""

from __future__ import annotations

from collections.abc import Mapping

from agent.analysis.index import Index
from agent.hosts.local_tree import MemoryTree


def index_of(files: Mapping[str, str | bytes]) -> Index:
    return Index(MemoryTree(files, root="tree"))
