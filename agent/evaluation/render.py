"""Abstract values as text: for messages, f-strings and answers."""

from __future__ import annotations

from typing import Any

from agent.analysis import ir
from agent.evaluation.concrete import NotConcrete, concrete
from agent.evaluation.machine import Machine
from agent.evaluation.values import ABSENT, AV, ClassV, Const, DictObj, ExternV, FuncV, Instance, ListObj, OneOf, Tup, Unk, class_name


def source_of(m: Machine, node: ir.Node, module: ir.Module | None = None) -> str:
    """The node's text on one line."""
    source = module if module is not None else m.frame.module.ir
    if source is None:
        return ""
    return " ".join(source.source[node.start_byte : node.end_byte].decode("utf-8", "replace").split())


def format_value(m: Machine, value: AV, conversion: str, spec: AV) -> str | None:
    """``f"{value!conversion:spec}"``; None where it is not known."""
    if not isinstance(spec, Const):
        return None
    try:
        raw = concrete(m, value)
    except NotConcrete:
        text = to_text(m, value)
        return None if text is None or spec.v else text
    try:
        shown = repr(raw) if conversion == "r" else ascii(raw) if conversion == "a" else str(raw) if conversion == "s" else raw
        return format(shown, spec.v)
    except (TypeError, ValueError):
        return None


def to_text(m: Machine, value: AV) -> str | None:
    """``str(value)`` where it is known."""
    try:
        return str(concrete(m, value))
    except NotConcrete:
        pass
    if isinstance(value, Instance) and isinstance(value.cls, ClassV):
        if value.cls.enum_members is not None and value.origin:
            return value.origin
        if value.cls.opaque and any(base.startswith("builtins.") for base in value.cls.opaque):
            return exception_text(m, value)[1] or None
    if isinstance(value, Instance) and isinstance(value.cls, ExternV):
        return exception_text(m, value)[1] or None
    return None


def exception_text(m: Machine, exc: AV) -> tuple[str, str]:
    """Type name and message of a raised value."""
    if not isinstance(exc, Instance):
        return ("", repr(exc)) if isinstance(exc, Unk) else (repr(exc), "")
    cell = m.state.get((exc, "args"))
    text = ""
    if cell is not None:
        value = cell.value
        text = to_text(m, value) or (value.reason and f"<{value.reason}>" if isinstance(value, Unk) else repr(value))
    return class_name(exc.cls), text


def show(m: Machine, value: AV) -> str:
    """A short text of a value for a reader."""
    if isinstance(value, Unk):
        return repr(value.masked) if value.masked else f"unknown: {value.reason}"
    if isinstance(value, OneOf):
        return " | ".join(show(m, item) for item in value.values)
    if value is ABSENT:
        return "absent"
    try:
        text = repr(concrete(m, value))
    except NotConcrete:
        text = value.origin if isinstance(value, Instance) and _is_member(value) else _shape(value)
    return text if len(text) <= 160 else text[:157] + "..."


def _is_member(value: Instance) -> bool:
    return isinstance(value.cls, ClassV) and bool(value.cls.enum_members)


def _shape(value: AV) -> str:
    if isinstance(value, (ListObj, DictObj)):
        return f"a {value.kind}"
    return value.qualname if isinstance(value, FuncV) else repr(value)


def plain(m: Machine, value: AV) -> Any:
    """A JSON-like Python value; raises NotConcrete where there is none."""
    if isinstance(value, Instance) and isinstance(value.cls, ClassV) and value.cls.enum_members is not None:
        return value.origin
    if isinstance(value, Tup):
        return [plain(m, item) for item in value.items]
    if isinstance(value, ListObj):
        items = m.items(value)
        if items.open:
            raise NotConcrete
        return [plain(m, item) for item in items.items if item is not ABSENT]
    if isinstance(value, DictObj):
        entries = m.entries(value)
        if entries.open:
            raise NotConcrete
        return {str(concrete(m, k)): plain(m, v) for k, v in entries.items.values() if v is not ABSENT}
    if isinstance(value, (FuncV, ClassV, ExternV)):
        return repr(value)
    if isinstance(value, Unk) and value.masked:
        return value.masked
    return concrete(m, value)
