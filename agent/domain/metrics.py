"""What a server's periodic log lines measure: a table of patterns per product, and the samples read with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Final

from agent.domain.serialize import Plain

ACCEPT_LENGTH: Final = "accept_length"
"""Tokens gained per verification step, the target's own token included; 1 is speculation without any gain."""
ACCEPT_RATE: Final = "accept_rate"
THROUGHPUT: Final = "throughput"
"""Generated tokens per second."""
RUNNING: Final = "running"
"""Requests in the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning(Plain):
    """How one metric is calculated in a range of versions; numbers with different ``means`` are never compared."""

    metric: str
    versions: str
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTable:
    """``line`` selects the periodic lines; ``fields``: metric to a pattern whose first group is the number; ``rank``: who wrote it."""

    product: str
    packages: tuple[str, ...]
    line: re.Pattern[str]
    fields: Mapping[str, re.Pattern[str]]
    rank: re.Pattern[str] | None = None
    meanings: tuple[Meaning, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Plain):
    """One periodic line: its metrics by name, and the rank's name where the line says it."""

    values: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    rank: str = ""


def read_samples(lines: Iterable[str], table: MetricTable) -> Iterator[Sample]:
    """The samples of a log, in its order; a line without any number that the table knows is none, nor are 400 digits a number."""
    for line in lines:
        if not table.line.search(line):
            continue
        found = {name: float(match.group(1)) for name, pattern in table.fields.items() if (match := pattern.search(line))}
        values = {name: value for name, value in found.items() if isfinite(value)}
        rank = table.rank.search(line) if table.rank else None
        if values:
            yield Sample(values=MappingProxyType(values), rank=rank.group(0) if rank else "")
