"""Reads the tables of ``playbooks/metrics``: which log lines measure what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.domain.errors import PlaybookInvalid
from agent.domain.metrics import Meaning, MetricTable


def read_metric_tables(directory: Path) -> tuple[MetricTable, ...]:
    """Every table of the directory, by file name; raises PlaybookInvalid."""
    return tuple(_read(path) for path in sorted(directory.glob("*.yaml")))


def table_for(tables: tuple[MetricTable, ...], package: str) -> MetricTable | None:
    """The table of a package; None where nobody wrote down how it logs its numbers."""
    return next((table for table in tables if package in table.packages), None)


def _read(path: Path) -> MetricTable:
    import yaml

    raw: Any = yaml.safe_load(path.read_bytes())
    try:
        return MetricTable(
            product=str(raw["product"]),
            packages=tuple(raw["packages"]),
            line=re.compile(raw["line"]),
            fields={name: _with_group(name, pattern) for name, pattern in _mapping(raw["fields"]).items()},
            rank=re.compile(raw["rank"]) if "rank" in raw else None,
            meanings=tuple(Meaning(**row) for row in raw.get("meanings", ())),
        )
    except KeyError as problem:
        raise PlaybookInvalid("is required", where=str(problem.args[0]), file=str(path)) from None
    except (TypeError, ValueError, re.error) as problem:
        raise PlaybookInvalid(str(problem), where="table", file=str(path)) from None


def _mapping(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("fields is a mapping of metric to pattern")
    return value


def _with_group(name: str, pattern: str) -> re.Pattern[str]:
    compiled = re.compile(pattern)
    if compiled.groups < 1:
        raise ValueError(f"fields.{name}: the pattern needs a group around the number")
    return compiled
