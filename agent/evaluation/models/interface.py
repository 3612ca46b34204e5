"""What a family of library models offers: three tables by dotted name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent.evaluation.machine import Machine
from agent.evaluation.values import AV

Kwargs = dict[str, AV]
Callee = Callable[[Machine, list[AV], Kwargs], AV]
Attribute = Callable[[Machine], AV]


class Family(Protocol):
    """One library, one module."""

    FUNCTIONS: dict[str, Callee]
    CONSTANTS: dict[str, Attribute]
    METHODS: dict[str, dict[str, Callee]]


def argument(args: list[AV], kwargs: Kwargs, position: int, name: str) -> AV | None:
    """An argument given by position or name."""
    return args[position] if len(args) > position else kwargs.get(name)
