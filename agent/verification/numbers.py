"""Statistics of a log's samples, and which of them may be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, quantiles
from typing import Final

from agent.domain.counting import counted
from agent.domain.metrics import ACCEPT_LENGTH, ACCEPT_RATE, RUNNING, THROUGHPUT, MetricTable, Sample, read_samples
from agent.domain.serialize import Plain
from agent.domain.truth import Truth
from agent.library.versions import in_range

ENOUGH: Final = 10
"""Samples from which on a mean is called settled: a decode line stands for some forty steps in the products known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series(Plain):
    """One metric over a log. ``low`` and ``high``: tenth and ninetieth percentile (the extremes of fewer than ten samples).

    ``means``: how the number is calculated; None where that is not known for the version that wrote it.
    ``by_running``: batch size to (samples, mean), since throughput is only comparable at one batch size. ``ranks``: how many wrote the
    lines, each its own throughput; 0 where the lines do not say.
    """

    metric: str
    count: int
    mean: float
    median: float
    low: float
    high: float
    means: str | None = ""
    by_running: Mapping[int, tuple[int, float]]
    ranks: int = 0


def summarise(samples: Iterable[Sample], metric: str, *, means: str | None = "") -> Series | None:
    """None where no sample has the metric. Idle lines (no running request) are left out."""
    busy = [sample for sample in samples if metric in sample.values and sample.values.get(RUNNING, 1) > 0]
    if not busy:
        return None
    kept = [sample.values for sample in busy]
    values = [sample[metric] for sample in kept]
    low, high = _percentiles(values)
    batches = sorted({int(sample[RUNNING]) for sample in kept if RUNNING in sample})
    return Series(
        metric=metric,
        count=len(values),
        mean=fmean(values),
        median=median(values),
        low=low,
        high=high,
        means=means,
        by_running={size: _at(kept, metric, size) for size in batches},
        ranks=len({sample.rank for sample in busy if sample.rank}),
    )


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Between them lies the median, and they lie within the values: interpolation rounds, and equal neighbours come out a little apart."""
    if len(values) < 10:
        return min(values), max(values)
    cuts, middle = quantiles(values, n=10, method="inclusive"), median(values)
    return min(max(cuts[0], min(values)), middle), max(min(cuts[-1], max(values)), middle)


def _at(kept: Sequence[Mapping[str, float]], metric: str, size: int) -> tuple[int, float]:
    values = [sample[metric] for sample in kept if sample.get(RUNNING) == size]
    return len(values), fmean(values)


def since_start(lines: Sequence[str], starts: Sequence[re.Pattern[str]]) -> list[str]:
    """The lines of the last start: logs are appended to, and numbers of an earlier process are not those of this one."""
    last = max((number for number, line in enumerate(lines) if any(start.search(line) for start in starts)), default=0)
    return list(lines[last:])


def series_of(lines: Iterable[str], table: MetricTable | None, version: str) -> dict[str, Series]:
    """Every metric that the lines have; none without a table."""
    if table is None:
        return {}
    samples = list(read_samples(lines, table))
    found = {name: summarise(samples, name, means=meaning(table, name, version)) for name in (ACCEPT_LENGTH, ACCEPT_RATE, THROUGHPUT)}
    return {name: series for name, series in found.items() if series is not None}


def meaning(table: MetricTable, metric: str, version: str) -> str | None:
    """How ``version`` calculates the metric; empty where every version does it alike, None where the version is in no row."""
    rows = [row for row in table.meanings if row.metric == metric]
    fitting = [row.means for row in rows if in_range(version, row.versions) is Truth.TRUE]
    return fitting[0] if fitting else None if rows else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Plain):
    """Two series of one metric. ``comparable`` False: ``why`` says what differs, and no difference is reported.

    ``at``: the batch size both were taken at; 0 where the lines do not say one.
    """

    metric: str
    before: float | None
    after: float | None
    comparable: bool
    why: str = ""
    at: int = 0


def compare(metric: str, before: Series | None, after: Series | None, *, per_batch: bool) -> Comparison:
    """``per_batch``: compare at the common batch size with the most samples (throughput), not over all sizes (accept length)."""
    if before is None or after is None:
        side = "before" if before is None else "after"
        return Comparison(
            metric=metric,
            before=before.mean if before else None,
            after=after.mean if after else None,
            comparable=False,
            why=f"the log {side} has no such number",
        )
    if before.means is None or before.means != after.means:
        why = f"they are calculated differently: {before.means or 'unknown'}; {after.means or 'unknown'}"
        return Comparison(metric=metric, before=before.mean, after=after.mean, comparable=False, why=why)
    return _at_one_batch_size(before, after) if per_batch else _overall(before, after)


def _overall(before: Series, after: Series) -> Comparison:
    return Comparison(metric=before.metric, before=before.mean, after=after.mean, comparable=True)


def _at_one_batch_size(before: Series, after: Series) -> Comparison:
    if before.ranks and after.ranks and before.ranks != after.ranks:
        why = f"each rank tells its own: {counted(before.ranks, 'rank')} before and {after.ranks} after"
        return Comparison(metric=before.metric, before=before.mean, after=after.mean, comparable=False, why=why)
    if not before.by_running or not after.by_running:
        return _overall(before, after)
    common = sorted(set(before.by_running) & set(after.by_running))
    if not common:
        sizes = f"{_sizes(before)} before and {_sizes(after)} after"
        why = f"the batches had different sizes: {sizes} running requests"
        return Comparison(metric=before.metric, before=before.mean, after=after.mean, comparable=False, why=why)
    best = max(common, key=lambda size: (min(before.by_running[size][0], after.by_running[size][0]), -size))
    return Comparison(metric=before.metric, before=before.by_running[best][1], after=after.by_running[best][1], comparable=True, at=best)


def _sizes(series: Series) -> str:
    sizes = list(series.by_running)
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
