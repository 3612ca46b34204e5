"""Every setting of a launch: asked, effective, changed by what; configuration keys that nobody reads; what will raise; smells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.domain.redaction import redact_text
from agent.domain.secrets import mask
from agent.domain.values import Known, OneOf, Unknown, Value
from agent.domain.verdict import Asked, AuditAnswer, ChangedBy, Effective, Raise, Setting
from agent.evaluation import explain, settings
from agent.evaluation.dead_config import dead_and_unread
from agent.evaluation.dead_inputs import dead_inputs, unnamed_inputs
from agent.evaluation.frames import Raised
from agent.evaluation.handed_on import LaterChange, final, handed_on
from agent.evaluation.machine import Machine
from agent.evaluation.models.argument_parser import CommandLine, command_line
from agent.evaluation.models.environment import environ
from agent.evaluation.settings import NO_SUCH, agreed, configurations, field_name, holders, outward, parsed_cell, records
from agent.evaluation.smells import smells
from agent.evaluation.state import Cell, Place
from agent.evaluation.values import ClassV, Const, Instance

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine
    from agent.evaluation.interface import Engine


_UNFINISHED = "this launch fails while it works its settings out: they are shown as they stand when it does"


def audit(engine: LaunchEngine) -> AuditAnswer:
    """The whole answer; everything is read off the one forward run but for the dead keys, and for what changes a setting later."""
    m = engine.machine
    rows, resting = _followed(engine, (*_fields(m), *_environment(engine)))
    dead, unread = dead_and_unread(engine)
    inputs = dead_inputs(engine, rows)
    never = {key.key for key in inputs}
    rows = tuple(replace(row, verdict="never_read") if (row.flag or row.name.removeprefix("env:")) in never else row for row in rows)
    return AuditAnswer(
        settings=tuple(map(masked, rows)), dead_config=(*dead, *inputs), raises=raises(m), smells=smells(engine),
        unread_keys=(*unread, *unnamed_inputs(engine, rows)),
        assumptions=(*m.assumptions, *resting), notices=(_UNFINISHED,) if m.unfinished else (),
    )  # fmt: skip


def value_of(engine: LaunchEngine, name: str) -> Value:
    """The effective value of one setting; ``Class.field`` and ``class.field`` ask for what another object makes of it."""
    m = engine.machine
    name = field_name(m, name)
    taker, _, field = name.rpartition(".")
    copied = bool(taker) and not holders(m, name) and handed_on(engine).takes(field, taker)
    if taker and not copied and not holders(m, name):
        from agent.evaluation.object_attributes import attribute_value

        found = attribute_value(engine, name)
        if found is not None:
            return found
    value = settings.effective(m, field if copied else name)
    return final(value, handed_on(engine).changes(field, taker if copied else "")) if copied or _is_given(m, name) else value


def masked(row: Setting) -> Setting:
    """The row without secrets: a launch that was read is masked already, a default that stands in the tree is not."""
    asked, found = mask(row.name, row.asked.value), row.effective
    shown = replace(found, value=mask(row.name, found.value), values=tuple(mask(row.name, value) for value in found.values))
    return replace(row, asked=replace(row.asked, value=asked), effective=shown)


def row_of(engine: Engine, answer: AuditAnswer, name: str) -> Setting | None:
    """The row of one setting by field, ``--flag`` or ``env:NAME``; ``object.field``: the field's, with what that object makes of it.

    ``Class.attribute`` of any other class: what its objects hold there.
    """
    plain = name.strip().lstrip("-").replace("-", "_")
    found = next((row for row in answer.settings if name in (row.name, row.flag) or row.name == plain), None)
    owner, _, field = plain.rpartition(".")
    row = next((row for row in answer.settings if row.name == field), None) if owner and found is None else None
    if row is None:
        return found or (engine.attribute(plain) if owner else None)
    value, held = engine.setting(plain), engine.attribute(plain)
    if isinstance(value, Unknown) and (value.reason.startswith(NO_SUCH) or (held is not None and held.effective.status != "unknown")):
        return held
    asked = Known(value=row.asked.value)
    lines = tuple(dict.fromkeys((*(held.changed_by if held is not None else ()), *row.changed_by)))
    verdict = _verdict(asked, value, row.asked.source == "flag")
    return replace(row, name=plain, effective=effective(value), changed_by=lines, verdict=verdict)


# --- after the configuration is complete --------------------------------------------------------------------------------------


def _followed(engine: LaunchEngine, rows: tuple[Setting, ...]) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """The rows with what changes a given setting later, and what that rests on. A launch that fails comes to no later change."""
    if engine.refused is not None or any(item.certain for item in engine.machine.raised):
        return rows, ()
    found, resting = [], dict[str, None]()
    for row in rows:
        held = Known(value=row.effective.value) if row.effective.status == "known" else OneOf(values=row.effective.values)
        later = handed_on(engine).changes(row.name) if row.asked.source == "flag" and row.effective.status != "unknown" else ()
        value = final(held, later)
        if later and value != held:
            resting |= {each.assumption: None for each in later if each.assumption}
            row = _later(row, value, later)
        found.append(row)
    return tuple(found), tuple(resting)


def _later(row: Setting, value: Value, later: Sequence[LaterChange]) -> Setting:
    verdict = _verdict(Known(value=row.asked.value), value, True)
    return replace(row, effective=effective(value), verdict=verdict, changed_by=(*row.changed_by, *(each.change for each in later)))


def _is_given(m: Machine, name: str) -> bool:
    option = command_line(m).options.get(name)
    return option is not None and bool(option.given)


# --- fields ------------------------------------------------------------------------------------------------------------------


def _fields(m: Machine) -> list[Setting]:
    """Fields of the configuration records, options that no such record takes over, and where there is none the fields of other records."""
    line = command_line(m)
    configured = configurations(m)
    found: dict[str, Setting] = {}
    for name in dict.fromkeys(name for obj in configured for name in records(m)[obj]):
        found[name] = _beside_the_command_line(m, shared_row(m, line, name))
    for namespace in line.namespaces:
        for name, option in line.options.items():
            stored = m.state.get((namespace, name))
            if name not in found and stored is not None and (option.given or not configured):
                found[name] = _option(m, line, name, stored)
    for obj in () if configured else m.settled:
        assert isinstance(obj.cls, ClassV)
        for field in m.settled[obj]:
            name = f"{obj.cls.name}.{field}"
            if name not in found:
                found[name] = shared_row(m, line, name)
    return list(found.values())


def shared_row(m: Machine, line: CommandLine, name: str) -> Setting:
    """A field of one record, or of several: where they disagree, with the lines that change it in any of them."""
    found = holders(m, name)
    row = _field(m, line, *found[0], name)
    disagreement = agreed(m, found)
    if disagreement is None:
        return row
    lines = dict.fromkeys(change for obj, cell in found for change in _field(m, line, obj, cell, name).changed_by)
    return replace(row, effective=effective(disagreement), verdict="unknown", changed_by=tuple(lines))


def _beside_the_command_line(m: Machine, row: Setting) -> Setting:
    """A record that was filled from elsewhere, as from a file, does not hold what the command line gives under the same name."""
    parsed = parsed_cell(m, row.name) if row.asked.source == "flag" and row.effective.status != "unknown" else None
    if parsed is None:
        return row
    first = _first(parsed[1])
    given = outward(m, first.value)
    obj, _ = holders(m, row.name)[0]
    asked = m.initial.get(obj, {}).get(row.name)
    if asked is None or outward(m, asked.value) == given or _rests_on(asked, first):
        return row
    assert isinstance(obj.cls, ClassV)
    words, kept = plain_value(given), mask(row.name, row.asked.value)
    why = f"the command line gives {mask(row.name, words)!r}, {obj.cls.name} holds {kept!r} from elsewhere"
    return replace(row, asked=Asked(value=words, source="flag"), effective=effective(Unknown(reason=why)), verdict="unknown")


def _first(cell: Cell) -> Cell:
    """What was stored before anything changed it."""
    while cell.previous is not None:
        cell = cell.previous
    return cell


def _rests_on(cell: Cell, source: Cell) -> bool:
    """Whether a value was worked out from another, over any number of statements."""
    queue, seen = [cell], {id(cell)}
    while queue:
        current = queue.pop()
        if current is source:
            return True
        for dep in current.deps:
            if id(dep) not in seen:
                seen.add(id(dep))
                queue.append(dep)
    return False


def _field(m: Machine, line: CommandLine, obj: Instance, cell: Cell, name: str) -> Setting:
    first = m.initial.get(obj, {}).get(name.rpartition(".")[2])
    asked = outward(m, first.value) if first is not None else Unknown(reason="it has no value before the configuration is completed")
    final = outward(m, cell.value)
    return _setting(m, line, name, asked, final, _writes(m, cell, first))


def _option(m: Machine, line: CommandLine, name: str, cell: Cell) -> Setting:
    first = _first(cell)
    final = outward(m, cell.value)
    if any(item.certain and item.type != "SystemExit" for item in m.raised):
        final = Unknown(reason="the launch raises before its configuration is complete")
    return _setting(m, line, name, outward(m, first.value), final, _writes(m, cell, first))


def _setting(m: Machine, line: CommandLine, name: str, asked: Value, final: Value, writes: tuple[ChangedBy, ...]) -> Setting:
    option = line.options.get(name) or next((o for o in line.options.values() if _flag_name(o.flags) == name), None)
    given = bool(option and option.given)
    verdict = _verdict(asked, final, given)
    flag = next((f for f in option.flags if f.startswith("--")), option.flags[0]) if option is not None else ""
    return Setting(
        name=name, flag=flag, asked=Asked(value=plain_value(asked), source="flag" if given else "default"), effective=effective(final),
        changed_by=writes if verdict in ("overridden", "defaulted", "unknown") else (), verdict=verdict,
    )  # fmt: skip


def _flag_name(flags: tuple[str, ...]) -> str:
    return next((f for f in flags if f.startswith("--")), "").lstrip("-").replace("-", "_")


def _verdict(asked: Value, final: Value, given: bool) -> str:
    if isinstance(final, Known) and isinstance(asked, Known):
        same = type(final.value) is type(asked.value) and final.value == asked.value
        if same:
            return "as_asked"
        return "overridden" if given or asked.value not in (None, "auto") else "defaulted"
    return "as_asked" if asked == final and not isinstance(final, Unknown) else "unknown"


def plain_value(value: Value) -> Any:
    """A value for ``asked``: candidates and unknowns read as text."""
    return value.value if isinstance(value, Known) else list(value.values) if isinstance(value, OneOf) else f"unknown: {value.reason}"


def effective(value: Value) -> Effective:
    """The contract's effective value."""
    if isinstance(value, Known):
        return Effective(status="known", value=value.value)
    if isinstance(value, OneOf):
        return Effective(status="candidates", values=value.values)
    return Effective(status="unknown", why=value.reason)


def _writes(m: Machine, cell: Cell, first: Cell | None) -> tuple[ChangedBy, ...]:
    """Statements that wrote the field after its first value, in order; those of undecided branches too."""
    found: dict[tuple[str, int], ChangedBy] = {}
    queue = [cell]
    seen: set[int] = set()
    while queue:
        current = queue.pop()
        if id(current) in seen or current is first:
            continue
        seen.add(id(current))
        if current.place is not None and current.place.line and not _is_join(current):
            key = (current.place.path, current.place.line)
            found.setdefault(key, _change(m, current))
        if _is_join(current):
            queue += list(current.deps)
        if current.previous is not None:
            queue.append(current.previous)
    return tuple(found[key] for key in sorted(found, key=lambda k: k[1]))


def _is_join(cell: Cell) -> bool:
    """A meeting of branches holds the cells that it was made of under the same name; a statement that runs again, the one before it."""
    return any(dep.name == cell.name and dep.place == cell.place and dep is not cell.previous for dep in cell.deps)


def _change(m: Machine, cell: Cell, place: Place | None = None) -> ChangedBy:
    """``place``: where it is told to have been changed, if that is not the statement itself."""
    place = place or cell.place
    assert place is not None
    return ChangedBy(
        path=place.path, line=place.line, text=source_line(m, place.path, place.line),
        guards=explain.control_guards(m, cell.control), logged=_logged_near(m, cell, place),
    )  # fmt: skip


def source_line(m: Machine, path: str, line: int) -> str:
    """The line as written, without secrets."""
    from agent.analysis.targets import line_text

    return redact_text(line_text(m.index, path, line)) if path in m.index.files else ""


def _logged_near(m: Machine, cell: Cell, place: Place) -> str:
    """A log call under the same decision as the change tells of it."""
    for logged, level, message, control, _ in m.logged:
        if logged.path == place.path and control is cell.control and control is not None:
            return f"{level}: {message}"
    return ""


# --- environment -------------------------------------------------------------------------------------------------------------


def _environment(engine: LaunchEngine) -> list[Setting]:
    """Variables that were given, and those that the program rewrote."""
    m = engine.machine
    obj = environ(m)
    content = m.state.get((obj, "{}"))
    found: list[Setting] = []
    items = getattr(content.value, "items", {}) if content is not None else {}
    for name, (_, value) in items.items():
        if not isinstance(name, str):
            continue
        asked = engine.launch.env.get(name)
        final = outward(m, value)
        same = isinstance(final, Known) and final.value == asked
        if asked is None and isinstance(final, Unknown):
            continue
        found.append(
            Setting(
                name=f"env:{name}",
                flag="",
                asked=Asked(value=asked, source="env" if asked is not None else "default"),
                effective=effective(final),
                changed_by=() if same else _env_writes(m, obj, name),
                verdict="as_asked" if same else "overridden" if asked is not None else "defaulted",
            )
        )
    return found


def _env_writes(m: Machine, obj: object, name: str) -> tuple[ChangedBy, ...]:
    cell = m.state.get((obj, "{}"))
    found: list[ChangedBy] = []
    seen: set[int] = set()
    queue = [cell] if cell is not None else []
    while queue:
        current = queue.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        before = current.previous
        now = getattr(current.value, "items", {}).get(name)
        then = getattr(before.value, "items", {}).get(name) if before is not None else None
        written = now is not None and (then is None or then[1] is not now[1])
        if written and current.place is not None and current.place.line and not _is_join(current):
            found.append(_change(m, current, _handed_in(m, current, name)))
        queue += [d for d in current.deps if d.name == "{}" and hasattr(d.value, "items")] if _is_join(current) else []
        if before is not None:
            queue.append(before)
    return tuple(sorted(found, key=lambda c: (c.path, c.line)))


def _handed_in(m: Machine, cell: Cell, name: str) -> Place | None:
    """Where a setter was called that writes whatever it is given: its own line, without the variable's name, tells nobody who set what."""
    if cell.place is None or name in source_line(m, cell.place.path, cell.place.line):
        return None
    return next((dep.place for dep in cell.deps if dep.text.endswith("()") and dep.name not in ("self", "cls")), None)


# --- raises ------------------------------------------------------------------------------------------------------------------


def ends_well(m: Machine, item: Raised) -> bool:
    """``sys.exit()``, ``sys.exit(0)``: the program has done what it is for."""
    code = m.state.get((item.value, "args"))
    return item.type == "SystemExit" and (code is None or (isinstance(code.value, Const) and code.value.v in (0, None)))


def raises(m: Machine) -> tuple[Raise, ...]:
    """What the launch raises and nothing catches: certainly, or where a condition is undecided."""
    found: dict[tuple[str, int, str], Raise] = {}
    for item in m.raised:
        for path, line in _surfaces(item) if not ends_well(m, item) else ():
            key = (path, line, item.type)
            certain = item.certain
            if key in found and (found[key].certainty == "always" or not certain):
                continue
            found[key] = Raise(
                path=path, line=line, type=item.type or "Exception", message=item.message, guards=explain.control_guards(m, item.control),
                certainty="always" if certain else "may",
            )  # fmt: skip
    return tuple(sorted(found.values(), key=lambda r: (r.certainty != "always", r.path, r.line, r.type)))


def _surfaces(item: Raised) -> list[tuple[str, int]]:
    return [(item.place.path, item.place.line)]
