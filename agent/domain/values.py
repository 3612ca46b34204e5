"""What is known of a value: exactly, as a few candidates, or not at all and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.domain.serialize import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Plain):
    """Exactly this (JSON-like Python value)."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(Plain):
    """One of two to eight candidates."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Plain):
    """Not known; ``reason`` names the missing fact. ``may_raise``: reading it can fail."""

    reason: str
    may_raise: bool = False


Value = Known | OneOf | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Plain):
    """A named value of the host or launch, with the evidence ids behind it.

    ``name``: dotted, e.g. ``torch.cuda.is_available``, ``package.flashinfer``, ``env.NCCL_DEBUG``.
    ``scope``: "host", "process" or "workload".
    """

    name: str
    value: Value
    scope: str = "host"
    evidence: tuple[str, ...] = ()
