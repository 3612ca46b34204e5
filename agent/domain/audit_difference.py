"""Two audits side by side: settings that differ, and lines that run under one launch and not under the other."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.serialize import Plain
from agent.domain.verdict import DeadKey, Guard, Raise, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingDifference(Plain):
    """One setting on both sides; None where a side has no such setting."""

    name: str
    a: Setting | None
    b: Setting | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDifference(Plain):
    """Lines that certainly never run on one side and run, or may, on the other; ``a`` and ``b`` are their verdicts.

    ``guard`` decides on the side where they never run; ``settings``: those that differ and that the decision speaks of, directly or
    through attributes that are made of them.
    """

    path: str
    first: int
    last: int
    text: str
    a: str
    b: str
    guard: Guard | None = None
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDifference(Plain):
    """``rca.audit-diff/1``. ``not_compared``: what the lines say nothing about, in words."""

    schema: str = "rca.audit-diff/1"
    a: str
    b: str
    settings: tuple[SettingDifference, ...]
    lines: tuple[LineDifference, ...] = ()
    dead_a: tuple[DeadKey, ...] = ()
    dead_b: tuple[DeadKey, ...] = ()
    raises_a: tuple[Raise, ...] = ()
    raises_b: tuple[Raise, ...] = ()
    not_compared: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
