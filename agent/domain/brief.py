"""What a person needs to know first, as plain rows: the same for a terminal, a ticket's comment and a mail."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.serialize import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Plain):
    """``text`` is one line; ``code`` True where it is code, False where it is a sentence that may hold code spans."""

    label: str
    text: str
    code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief(Plain):
    """One investigation on one screen. ``command`` is the corrected launch command or empty; nothing here is made safe yet."""

    outcome: str
    headline: str
    summary: str
    rows: tuple[Row, ...]
    command: str = ""
