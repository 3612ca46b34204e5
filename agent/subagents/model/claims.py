"""What a model claims, in a form that can be checked; its word proves nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.domain.serialize import Plain
from agent.domain.verdict import Guard, WhyAnswer

SUPPORTED, REFUTED, UNVERIFIABLE = "supported", "refuted", "unverifiable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Plain):
    """One checkable statement; which fields count depends on ``kind``, a row of ``FIELDS``."""

    kind: str
    path: str = ""
    line: int = 0
    text: str = ""
    name: str = ""
    value: Any = None
    pattern: str = ""
    scope: str = ""
    target: str = ""


FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # kind: needed fields, allowed fields
    "guard_false": (("path", "line"), ("target",)),
    "guard_true": (("path", "line"), ("target",)),
    "value_is": (("name", "value"), ()),
    "line_says": (("path", "line", "text"), ()),
    "pattern_absent": (("pattern",), ("scope",)),
    "file_absent": (("path",), ()),
}
DECIDING = ("guard_false", "guard_true", "value_is")
"""The kinds that the engine answers for; a hypothesis is not confirmed without one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Plain):
    """A claim and what came of it. ``said`` is written here from what was read, never copied from the model; ``counter`` refutes it."""

    id: str
    claim: Claim
    status: str
    said: str
    counter: str = ""
    evidence: tuple[str, ...] = ()
    answer: WhyAnswer | None = None
    guard: Guard | None = None


def read_claim(raw: Any) -> Claim | str:
    """A claim from the model's JSON, or what is wrong with it."""
    if not isinstance(raw, dict) or raw.get("kind") not in FIELDS:
        return f"a claim is an object whose kind is one of {', '.join(FIELDS)}"
    kind = str(raw["kind"])
    needed, allowed = FIELDS[kind]
    missing = [name for name in needed if name not in raw]
    if missing:
        return f"{kind} needs {', '.join(missing)}"
    given = {name: raw[name] for name in (*needed, *allowed) if raw.get(name) is not None}
    if isinstance(given.get("line"), str) and given["line"].strip().isdigit():
        given["line"] = int(given["line"])
    for name, value in given.items():
        wrong = not isinstance(value, int) or isinstance(value, bool) or value < 1 if name == "line" else not isinstance(value, str)
        if wrong and name != "value":
            return f"{kind}: {name} must be a {'line number' if name == 'line' else 'text'}"
    return Claim(kind=kind, **given)
