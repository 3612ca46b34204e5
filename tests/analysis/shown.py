"""IR nodes as one line of text, for expectations that stand in sample files."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from agent.analysis import ir

PLACE = frozenset({"line", "end", "start_byte", "end_byte"})


def shown(value: Any) -> str:
    """``Kind(field, ...)`` in field order: absent parts are ``-``, flags that are off are left out, names stand without quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if value is None:
        return "-"
    if not isinstance(value, ir.Node):
        return repr(value) if not value or "\n" in str(value) else str(value)
    if isinstance(value, ir.Constant):
        return repr(value.value)
    if isinstance(value, ir.Name):
        return value.id
    parts = [(item.name, getattr(value, item.name)) for item in fields(value) if item.name not in PLACE]
    listed = [name if part is True else shown(part) for name, part in parts if part is not False]
    return f"{type(value).__name__}({', '.join(listed)})"
