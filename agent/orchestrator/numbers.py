"""Where the numbers of a symptom may come from: equal to a config value, or a small product of config values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.domain.investigation import NumberExplained
from agent.probes.model_config import flat_items

_MOST = 3
_LEAST = 32
"""Smaller numbers equal too many values by chance."""


def explain(numbers: tuple[float, ...], configs: Mapping[str, Any]) -> tuple[NumberExplained, ...]:
    """At most three readings of each number, plain equality first; a number without one is left out."""
    leaves = [
        (role, key, value) for role, config in sorted(configs.items()) if isinstance(config, Mapping) for key, value in flat_items(config)
    ]
    return tuple(found for number in dict.fromkeys(numbers) if abs(number) >= _LEAST for found in _readings(number, leaves))


Leaf = tuple[str, str, Any]


def _readings(number: float, leaves: list[Leaf]) -> list[NumberExplained]:
    formulas = list(dict.fromkeys([*_equal(number, leaves), *_products(number, leaves)]))
    return [NumberExplained(number=number, formula=formula) for formula in formulas[:_MOST]]


def _equal(number: float, leaves: list[Leaf]) -> Iterator[str]:
    for role, key, value in leaves:
        if _is_number(value) and value == number:
            yield f"config.{role}.{key}"


def _products(number: float, leaves: list[Leaf]) -> Iterator[str]:
    """The length of a list times a value: one entry per layer, expert or stage."""
    lists = [(role, key, len(value)) for role, key, value in leaves if isinstance(value, list) and len(value) > 1]
    values = [(role, key, value) for role, key, value in leaves if _is_number(value) and value > 1]
    for list_role, list_key, count in lists:
        for role, key, value in values:
            if count * value == number:
                yield f"len(config.{list_role}.{list_key}) * config.{role}.{key} = {count} x {value}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
