"""The answer of ``rca audit`` for people: what is certain first, then what may be, and the rest on request."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.domain.counting import counted
from agent.domain.redaction import is_secret, placeholder
from agent.domain.verdict import (
    COMMAND_LINE,
    ENVIRONMENT,
    AuditAnswer,
    ChangedBy,
    Counterfactual,
    DeadKey,
    Effective,
    Guard,
    Observed,
    Raise,
    Setting,
    Smell,
)
from agent.domain.visible import in_backticks, one_line

if TYPE_CHECKING:
    from rich.console import Console

_PIPED = 10_000
_VALUE = 40
_COLUMN = 30
"""Names up to this width stand beside their text."""
_GUARDS = 2
_NAME = re.compile(r"\w+")
_OPEN = (None, "auto")
"""Values by which a program is left to work a setting out for itself, at some later time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, which of the settings or keys stand under it, and how each is told; ``always``: also without ``--all``."""

    title: str
    rows: Callable[[AuditAnswer], Iterable[tuple[str, ...]]]
    always: bool = True


def show_audit(answer: AuditAnswer, console: Console, *, everything: bool = False) -> None:
    """Prints every section that has rows; first and last line count what is where, so that nothing is hidden silently.

    A pipe has no width: there each row is one line, and nothing is padded.
    """
    print_rows(console, heading(answer), _shown(answer, everything), _hidden(answer, everything))


def print_rows(console: Console, head: str, sections: Iterable[tuple[str, Sequence[tuple[str, ...]]]], hidden: str) -> None:
    """A heading, sections of rows, and what is hidden; as ``show_audit`` tells."""
    from rich.text import Text

    if not console.is_terminal:
        console.width = _PIPED
    console.print(Text(head, style="bold"))
    for title, rows in sections:
        console.print()
        console.print(Text(title, style="bold"))
        if console.is_terminal:
            _print_table(rows, console)
        else:
            _print_lines(rows, console)
    if hidden:
        console.print()
        console.print(Text(hidden, style="dim"))


def _shown(answer: AuditAnswer, everything: bool) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    for section in _SECTIONS:
        if (section.always or everything) and (rows := list(section.rows(answer))):
            yield section.title, rows


def _print_table(rows: Sequence[tuple[str, ...]], console: Console) -> None:
    """Names beside their text; a name wider than the column stands above it. Words are kept whole, paths too where they fit."""
    from rich.text import Text

    shown = [(one_line(row[0]), "  ".join(map(one_line, row[1:]))) for row in rows]
    column = max((len(name) for name, text in shown if text and len(name) <= _COLUMN), default=0) + 4
    for name, text in shown:
        above = len(name) + 4 > column
        parts = _wrapped(text or name, console.width - 1 - (column if text else 2))
        if above and text:
            console.print(Text(f"  {name}", style="cyan"), soft_wrap=True)
        for number, part in enumerate(parts):
            first = "" if number or above or not text else f"  {name}"
            line = Text(f"{first:<{column if text else 2}}{part}")
            line.stylize("cyan", 0, len(first))
            console.print(line, soft_wrap=True)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False) or [""]


def _print_lines(rows: Sequence[tuple[str, ...]], console: Console) -> None:
    from rich.text import Text

    width = max((len(one_line(row[0])) for row in rows if len(row) > 1), default=0)
    for name, *rest in rows:
        line = "  ".join([f"{one_line(name):<{width}}", *map(one_line, rest)])
        console.print(Text(f"  {line}"), soft_wrap=True)


def audit_markdown(answer: AuditAnswer, *, everything: bool = False) -> str:
    """The same sections in Markdown."""
    from agent.reports.markup import prose

    parts = [prose(heading(answer))]
    for title, rows in _shown(answer, everything):
        parts.append("\n".join([f"## {title}", "", *("- " + ": ".join(map(prose, row)) for row in rows)]))
    if hidden := _hidden(answer, everything):
        parts.append(prose(hidden))
    return "\n\n".join(parts) + "\n"


def heading(answer: AuditAnswer) -> str:
    """How many of what."""
    counts = {name: sum(setting.verdict == name for setting in answer.settings) for name in _VERDICTS}
    parts = [f"{count} {words}" for (name, words) in _VERDICTS.items() if (count := counts[name])]
    rest = f"{counted(len(answer.dead_config), 'dead config key')}; {_failures(answer)}"
    return f"{counted(len(answer.settings), 'setting')}: {', '.join(parts) or 'none'}; {rest}"


def _failures(answer: AuditAnswer) -> str:
    certain = sum(found.certainty == "always" for found in answer.raises)
    possible = len(answer.raises) - certain
    told = counted(certain, "certain failure") if certain else "no certain failure"
    return f"{told}, {possible} that cannot be ruled out" if possible else told


def _hidden(answer: AuditAnswer, everything: bool) -> str:
    """What stands in no section because nobody asked for it."""
    if everything:
        return ""
    verdicts = [setting.verdict for setting in answer.settings]
    counts = (
        (sum(verdict in ("as_asked", "defaulted") for verdict in verdicts), "setting", " as asked or at the default"),
        (len(list(_unknown(answer))), "unknown setting", " that nobody asked for"),
        (len(list(_elsewhere(answer))), "possible failure", " for reasons outside of this launch"),
        (len(list(_unread(answer))), "config key", " that nothing in the tree reads"),
    )
    parts = [f"{counted(count, noun)}{words}" for count, noun, words in counts if count]
    return f"Not shown: {', '.join(parts)}; `--all` shows them" if parts else ""


_VERDICTS = {
    "overridden": "overridden",
    "never_read": "never read",
    "unknown": "unknown",
    "as_asked": "as asked",
    "defaulted": "at their default",
}


def told(name: str, value: Any) -> str:
    """A value as Python writes it, short, and never a secret; in backticks where it could be taken for words of the sentence."""
    if is_secret(name, str(value)):
        return placeholder(name)
    shown = repr(value)
    shown = shown if len(shown) <= _VALUE else f"{shown[: _VALUE - 3]}..."
    return in_backticks(shown) if " " in shown else shown


def _asked(setting: Setting) -> str:
    value = told(setting.name, setting.asked.value)
    return f"default {value}" if setting.asked.source == "default" else f"asked {value} ({setting.asked.source})"


def effective(setting: Setting) -> str:
    """What the server makes of the setting, in words."""
    return value_words(setting.name, setting.effective)


def value_words(name: str, found: Effective) -> str:
    """The value of what is called so: one, several, or why it is not known."""
    if found.status == "known":
        return told(name, found.value)
    if found.status == "candidates":
        return " or ".join(told(name, value) for value in found.values)
    return f"unknown: {found.why}"


def _disagreements(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    """What the running server says against what its code makes of the launch."""
    for setting in answer.settings:
        observed = setting.observed
        if observed is not None and _contradicts(setting, observed):
            yield setting.name, f"effective {effective(setting)}, observed {told(setting.name, observed.value)} ({observed.source})"


def _contradicts(setting: Setting, observed: Observed) -> bool:
    """A later line that tells what the server worked out for an open setting is no contradiction."""
    found = setting.effective
    possible = found.values if found.status == "candidates" else (found.value,)
    if found.status == "unknown" or (observed.source == "limits_log" and any(value in _OPEN for value in possible)):
        return False
    return all(_plain(value) != _plain(observed.value) for value in possible)


def _plain(value: Any) -> Any:
    """As it is printed: a tuple was read as a list, and an enumeration's member as its name."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _overridden(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict == "overridden":
            yield setting.name, f"{_asked(setting)}, is {effective(setting)}{by(setting.changed_by)}"


def by(changes: Sequence[ChangedBy]) -> str:
    """The last line that changed a setting, and why it ran."""
    if not changes:
        return ""
    change = changes[-1]
    guards = " and ".join(condition(guard) for guard in change.guards[-_GUARDS:])
    logs = f"; it logs {in_backticks(change.logged)}" if change.logged else ""
    return f", by {change.path}:{change.line}{f' under {guards}' if guards else ''}{logs}"


def condition(guard: Guard) -> str:
    """A guard on one line, and how it came out."""
    shown = " ".join(guard.condition.split())
    return f"`{shown}` {guard.truth}"


def _never_read(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    """Those that are not told with their readers."""
    dead = {key.key for key in answer.dead_config}
    for setting in answer.settings:
        if setting.verdict == "never_read" and (setting.flag or setting.name.removeprefix("env:")) not in dead:
            yield setting.name, _asked(setting)


def _undecided(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    """What somebody asked for and what became of it is not known: the reason says which fact would tell."""
    for setting in answer.settings:
        if setting.verdict == "unknown" and setting.asked.source != "default":
            yield setting.name, f"{_asked(setting)}, {_perhaps(setting)}{_if(setting.changed_by)}"


def _perhaps(setting: Setting) -> str:
    return f"is {effective(setting)}" if setting.effective.status == "candidates" else effective(setting)


def _if(changes: Sequence[ChangedBy]) -> str:
    """The last line that may change a setting, and what would tell whether it does."""
    if not changes:
        return ""
    change = changes[-1]
    asked = [guard for guard in change.guards if guard.truth == "unknown"][-_GUARDS:]
    return f"; {change.path}:{change.line} changes it or not: {' and '.join(map(condition, asked))}" if asked else by(changes)


def _unknown(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict == "unknown" and setting.asked.source == "default":
            yield setting.name, f"{_asked(setting)}, {_perhaps(setting)}"


def _rest(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for setting in answer.settings:
        if setting.verdict in ("as_asked", "defaulted"):
            seen = f", observed {told(setting.name, setting.observed.value)} ({setting.observed.source})" if setting.observed else ""
            yield setting.name, f"{effective(setting)}{seen}", f"{_VERDICTS[setting.verdict]} ({setting.asked.source})"


def _dead(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for key in answer.dead_config:
        yield key.key, f"{told(key.key, key.value)} in {key.file}{_reader(key)}{_opened(key.counterfactuals)}"


def _reader(key: DeadKey) -> str:
    reader = next((reader for reader in key.readers if reader.decisive), None)
    if reader is None or reader.decisive is None:
        return ""
    others = len(key.readers) - 1
    runs = f" and {counted(others, 'more line')} would read it, and never run" if others else " would read it, and never runs"
    return f": {reader.path}:{reader.line}{runs}: {reader.decisive.path}:{reader.decisive.line} {condition(reader.decisive)}"


def _opened(counterfactuals: Sequence[Counterfactual]) -> str:
    changes = [", ".join(f"{one.name} {one.to}" for one in found.change) for found in counterfactuals[:1]]
    return f"; it is read with {changes[0]}" if changes else ""


_GIVEN = (COMMAND_LINE, ENVIRONMENT)


def _unnamed(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return ((key.key, f"{told(key.key, key.value)} ({key.file})") for key in answer.unread_keys if key.file in _GIVEN)


def _unread(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    for key in answer.unread_keys:
        if key.file not in _GIVEN:
            yield key.key, f"{told(key.key, key.value)} in {key.file}: nothing in the tree reads it"


def _certain(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return (raised(found) for found in answer.raises if found.certainty == "always")


def _possible(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    """Those whose conditions speak of what this launch asks for."""
    asked = _asked_for(answer)
    return (raised(found) for found in answer.raises if found.certainty != "always" and _speaks_of(found, asked))


def _elsewhere(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    """The others: a missing driver, another platform, a broken installation."""
    asked = _asked_for(answer)
    return (raised(found) for found in answer.raises if found.certainty != "always" and not _speaks_of(found, asked))


def _asked_for(answer: AuditAnswer) -> frozenset[str]:
    return frozenset(setting.name.removeprefix("env:") for setting in answer.settings if setting.asked.source != "default")


def _speaks_of(found: Raise, names: frozenset[str]) -> bool:
    return any(not names.isdisjoint(_NAME.findall(guard.condition)) for guard in found.guards)


def raised(found: Raise) -> tuple[str, ...]:
    """A failure as a row."""
    guards = " and ".join(condition(guard) for guard in found.guards[-_GUARDS:])
    said = f": {in_backticks(found.message)}" if one_line(found.message) else ""
    return found.type, f"{found.path}:{found.line}{said}{f', under {guards}' if guards else ''}"


def _smells(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return (_smell(smell) for smell in answer.smells)


def _smell(smell: Smell) -> tuple[str, ...]:
    return smell.kind.replace("_", " "), f"{smell.path}:{smell.line} {smell.why}"


def _assumed(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return ((text,) for text in answer.assumptions)


def _noticed(answer: AuditAnswer) -> Iterable[tuple[str, ...]]:
    return ((text,) for text in answer.notices)


_SECTIONS = (
    Section(title="Note", rows=_noticed),
    Section(title="Said otherwise by the running server", rows=_disagreements),
    Section(title="Will fail", rows=_certain),
    Section(title="Overridden", rows=_overridden),
    Section(title="Dead config: provided, and no reader runs", rows=_dead),
    Section(title="Never read", rows=_never_read),
    Section(title="Asked for, and not known what becomes of it", rows=_undecided),
    Section(title="May fail, for what this launch asks", rows=_possible),
    Section(title="Named by nothing in the tree: a typo, or read by another library", rows=_unnamed),
    Section(title="Smells: where such faults grow, whether or not it runs here", rows=_smells),
    Section(title="Unknown, and not asked for", rows=_unknown, always=False),
    Section(title="May fail, for reasons outside of this launch", rows=_elsewhere, always=False),
    Section(title="Config keys that nothing in the tree reads", rows=_unread, always=False),
    Section(title="As asked, or at their default", rows=_rest, always=False),
    Section(title="Assuming", rows=_assumed),
)
