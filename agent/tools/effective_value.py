"""``effective_value``: what the server made of a setting, beside what was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from agent.domain.redaction import is_secret, placeholder
from agent.domain.values import Known, OneOf, Unknown, Value
from agent.domain.verdict import AuditAnswer, Setting
from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Sources, Tool, ToolResult, parameters, text


def setting_name(name: str) -> str:
    """``--some-flag`` and ``some_flag`` are one setting."""
    return name.strip().lstrip("-").replace("-", "_")


def in_audit(audit: AuditAnswer | None, name: str) -> Setting | None:
    """The audit's row for a setting."""
    return next((s for s in audit.settings if setting_name(s.name) == setting_name(name)), None) if audit else None


def value_of(sources: Sources, name: str) -> Value:
    """The audit's answer; a bare name that is none of its settings may be a field of many records, of which one is ``Class.field``."""
    audit = sources.audit if sources.audit is not None else sources.engine.audit()
    row = in_audit(audit, name)
    if row is None and "." in name:
        return sources.engine.setting(setting_name(name))
    if row is None:
        return Unknown(reason=f"no setting of this launch is called {name}; a field of a record is asked for as Class.field")
    known: dict[str, Value] = {"known": Known(value=row.effective.value), "candidates": OneOf(values=row.effective.values)}
    return known.get(row.effective.status, Unknown(reason=row.effective.why or "it was not worked out"))


def told(value: Value, name: str) -> str:
    """A value in words, masked where it is a secret by its name."""
    if isinstance(value, Known):
        return plain(name, value.value)
    if isinstance(value, OneOf):
        return "one of " + ", ".join(plain(name, v) for v in value.values)
    return f"unknown, because {value.reason}"


def plain(name: str, value: object) -> str:
    """One value as Python writes it, or the placeholder of a secret."""
    return placeholder(name) if is_secret(name, str(value)) else repr(value)


def _run(bench: Bench, given: Arguments) -> ToolResult:
    name = setting_name(given["name"])
    value = value_of(bench.sources, name)
    said = bench.sources.masked("\n".join([f"{name} = {told(value, name)}", *_asked(in_audit(bench.sources.audit, name))]))
    id_ = bench.ledger.add("command", said, command=f"rca audit  # {name}")
    return ToolResult(text=f"[{id_}] {said}", evidence=(id_,))


def _asked(row: Setting | None) -> Iterator[str]:
    if row is None:
        return
    yield f"asked: {plain(row.name, row.asked.value)} by {row.asked.source}; verdict: {row.verdict}"
    if row.observed is not None:
        yield f"observed in {row.observed.source}: {plain(row.name, row.observed.value)}"
    for change in row.changed_by[:5]:
        guards = " and ".join(f"`{g.condition}` is {g.truth}" for g in change.guards[-3:])
        yield f"written at {change.path}:{change.line} `{change.text}`{' when ' + guards if guards else ''}"


TOOL = Tool(
    spec=ToolSpec(
        name="effective_value",
        description="What a flag or setting is in the running server: asked, effective, and which line changed it.",
        parameters=parameters(("name",), name=text("flag, or Class.field")),
    ),
    run=_run,
)
