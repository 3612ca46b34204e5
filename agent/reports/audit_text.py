"""The answer of ``rca audit`` for people: what is not as asked first, then what nobody reads, what will fail, and the rest on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.domain.counting import counted
from agent.domain.redaction import is_secret, placeholder
from agent.domain.verdict import AuditAnswer, ChangedBy, Counterfactual, DeadKey, Guard, Observed, Raise, Setting, Smell
from agent.domain.visible import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPED = 100
_VALUE = 40
_GUARDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, which of the settings or keys stand under it, and how each is told; ``always``: also without ``--all``."""

    title: str
    rows: Callable[[AuditAnswer], Iterable[tuple[str, ...]]]
    always: bool = True


def show_audit(answer: AuditAnswer, console: Console, *, everything: bool = False) -> None:
    """Prints every section that has rows; the first line counts what is where, so that nothing is hidden silently."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if not console.is_terminal:
        console.width = _PIPED
    console.print(Text(heading(answer), style="bold"))
    for section in _SECTIONS:
        rows = list(section.rows(answer))
        if not rows or not (section.always or everything):
            continue
        console.print()
        console.print(Text(section.title, style="bold"))
        table = Table.grid(padding=(0, 2))
        for position in range(max(len(row) for row in rows)):
            table.add_column(overflow="fold", ratio=1 if position else None, style="" if position else "cyan")
        for row in rows:
            table.add_row(*(_cell(text) for text in row))
        console.print(Padding(table, (0, 0, 0, 2)))
    hidden = sum(1 for setting in answer.settings if setting.verdict in ("as_asked", "defaulted"))
    if hidden and not everything:
        console.print()
        console.print(Text(f"{hidden} more settings are as asked or at their default: --all shows them", style="dim"))


def audit_markdown(answer: AuditAnswer, *, everything: bool = False) -> str:
    """The same sections in Markdown."""
    from agent.reports.markup import prose

    parts = [prose(heading(answer))]
    for section in _SECTIONS:
        rows = list(section.rows(answer))
        if rows and (section.always or everything):
            parts.append("\n".join([f"## {section.title}", "", *("- " + ": ".join(map(prose, row)) for row in rows)]))
    return "\n\n".join(parts) + "\n"


def heading(answer: AuditAnswer) -> str:
    """How many of what."""
    counts = {name: sum(setting.verdict == name for setting in answer.settings) for name in _VERDICTS}
    parts = [f"{count} {words}" for (name, words) in _VERDICTS.items() if (count := counts[name])]
    rest = f"{counted(len(answer.dead_config), 'dead config key')}; {counted(len(answer.raises), 'failure')}"
    return f"{counted(len(answer.settings), 'setting')}: {', '.join(parts) or 'none'}; {rest}"


_VERDICTS = {
    "overridden": "overridden",
    "never_read": "never read",
    "unknown": "unknown",
    "as_asked": "as asked",
    "defaulted": "at their default",
}


def _cell(text: str) -> Text:
    from rich.text import Text

    return Text(one_line(text))


def told(name: str, value: Any) -> str:
    """A value as Python writes it, short, and never a secret."""
    if is_secret(name, str(value)):
        return placeholder(name)
    shown = repr(value)
    return shown if len(shown) <= _VALUE else f"{shown[: _VALUE - 3]}..."


def _asked(setting: Setting) -> str:
    return f"{told(setting.name, setting.asked.value)} ({setting.asked.source})"


def _effective(setting: Setting) -> str:
    effective = setting.effective
    if effective.status == "known":
        return told(setting.name, effective.value)
    if effective.status == "candidates":
        return " or ".join(told(setting.name, value) for value in effective.values)
    return f"unknown: {effective.why}"


def _disagreements(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    """What the running server says against what its code makes of the launch."""
    for setting in answer.settings:
        observed = setting.observed
        if observed is not None and _contradicts(setting, observed):
            yield setting.name, f"effective {_effective(setting)}, observed {told(setting.name, observed.value)} ({observed.source})"


def _contradicts(setting: Setting, observed: Observed) -> bool:
    """A later line that tells what the server worked out for an empty setting is no contradiction."""
    effective = setting.effective
    if effective.status == "unknown" or (effective.value is None and observed.source != "log" and effective.status == "known"):
        return False
    possible = effective.values if effective.status == "candidates" else (effective.value,)
    return all(_plain(value) != _plain(observed.value) for value in possible)


def _plain(value: Any) -> Any:
    """As it is printed: a tuple was read as a list, and an enumeration's member as its name."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _overridden(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict == "overridden":
            yield setting.name, f"asked {_asked(setting)}, is {_effective(setting)}{_by(setting.changed_by)}"


def _by(changes: Sequence[ChangedBy]) -> str:
    if not changes:
        return ""
    change = changes[-1]
    guards = " and ".join(_condition(guard) for guard in change.guards[-_GUARDS:])
    silent = "" if change.logged else "; no log line tells of it"
    return f", by {change.path}:{change.line}{f' under {guards}' if guards else ''}{silent}"


def _condition(guard: Guard) -> str:
    shown = " ".join(guard.condition.split())
    return f"`{shown}` {guard.truth}"


def _never_read(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict == "never_read":
            yield setting.name, f"asked {_asked(setting)}"


def _unknown(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict == "unknown":
            yield setting.name, f"asked {_asked(setting)}, {_effective(setting)}"


def _rest(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict in ("as_asked", "defaulted"):
            seen = f", observed {told(setting.name, setting.observed.value)} ({setting.observed.source})" if setting.observed else ""
            yield setting.name, f"{_effective(setting)}{seen}", f"{_VERDICTS[setting.verdict]} ({setting.asked.source})"


def _dead(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for key in answer.dead_config:
        yield key.key, f"{told(key.key, key.value)} in {key.file}{_reader(key)}{_opened(key.counterfactuals)}"


def _reader(key: DeadKey) -> str:
    reader = next((reader for reader in key.readers if reader.decisive), None)
    if reader is None or reader.decisive is None:
        return ""
    return f": {reader.path}:{reader.line} never reads it, {reader.decisive.path}:{reader.decisive.line} {_condition(reader.decisive)}"


def _opened(counterfactuals: Sequence[Counterfactual]) -> str:
    changes = [", ".join(f"{one.name} {one.to!r}" for one in found.change) for found in counterfactuals[:1]]
    return f"; read with {changes[0]}" if changes else ""


def _unread(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for key in answer.unread_keys:
        yield key.key, f"{told(key.key, key.value)} in {key.file}: nothing in the tree reads it"


def _raises(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for found in answer.raises:
        yield f"{found.type} ({found.certainty})", f"{found.path}:{found.line} {found.message}{_raised_under(found)}"


def _raised_under(found: Raise) -> str:
    guards = " and ".join(_condition(guard) for guard in found.guards[-_GUARDS:])
    return f" under {guards}" if guards else ""


def _smells(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return (_smell(smell) for smell in answer.smells)


def _smell(smell: Smell) -> tuple[str, ...]:
    return smell.kind.replace("_", " "), f"{smell.path}:{smell.line} {smell.why}"


def _assumed(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return ((text,) for text in answer.assumptions)


_SECTIONS = (
    Section(title="Said otherwise by the running server", rows=_disagreements),
    Section(title="Will fail", rows=_raises),
    Section(title="Overridden", rows=_overridden),
    Section(title="Dead config: provided, and no reader runs", rows=_dead),
    Section(title="Never read", rows=_never_read),
    Section(title="Smells", rows=_smells),
    Section(title="Unknown", rows=_unknown, always=False),
    Section(title="Read by nothing in the tree", rows=_unread, always=False),
    Section(title="As asked, or at their default", rows=_rest, always=False),
    Section(title="Assuming", rows=_assumed),
)
