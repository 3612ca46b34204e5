"""The configuration records of the forward run: what a field was first, what it became, and through which statements."""

from __future__ import annotations

from agent.domain.secrets import mask
from agent.domain.values import Known, OneOf, Unknown, Value
from agent.evaluation import values as av
from agent.evaluation.concrete import NotConcrete
from agent.evaluation.decided_aside import decided_aside
from agent.evaluation.machine import Machine
from agent.evaluation.models.argument_parser import command_line
from agent.evaluation.render import plain, show
from agent.evaluation.state import Cell
from agent.evaluation.values import ABSENT, AV, Instance, Unk, candidates


def records(m: Machine) -> dict[Instance, dict[str, Cell]]:
    """Every record with its fields: as completed, or as they stood where the launch failed while it was being completed."""
    return m.settled | m.unfinished if m.unfinished else m.settled


def configurations(m: Machine) -> list[Instance]:
    """Records that take over options of the command line, in the order in which they were completed."""
    options = command_line(m).options
    found = []
    for obj, cells in records(m).items():
        shared = sum(name in options for name in cells)
        if shared >= 3 and shared * 5 >= len(cells):
            found.append(obj)
    return found


def holders(m: Machine, name: str) -> list[tuple[Instance, Cell]]:
    """Every configuration record that has the field, and its last value; ``Class.field`` and ``class.field`` name any record of that class.

    A bare name never means a field of a record that is no configuration: unrelated objects have attributes of the same name.
    """
    owner, _, field = name.rpartition(".")
    chosen = configurations(m) if owner in _ANY_RECORD else [obj for obj in records(m) if _is_called(obj, owner)]
    return [(obj, _left(m, obj, field)) for obj in chosen if field in records(m)[obj]]


def _left(m: Machine, obj: Instance, field: str) -> Cell:
    """The field as the forward run leaves it: code beyond the record's own completion may still have changed it."""
    if obj in m.unfinished:
        return m.unfinished[obj][field]
    now = m.state.get((obj, field))
    return m.settled[obj][field] if now is None or now.value is ABSENT else now


NO_SUCH = "no setting of this launch is called"
_ANY_RECORD = ("", "args", "config")


def _is_called(obj: Instance, owner: str) -> bool:
    from agent.evaluation.receivers import snake_case

    assert isinstance(obj.cls, av.ClassV)
    return owner in (obj.cls.name, snake_case(obj.cls.name))


def final_cell(m: Machine, name: str) -> tuple[Instance, Cell] | None:
    """The last value of a field, or of an option that is none; None also where records do not agree on it."""
    found = holders(m, name)
    if not found:
        owner, _, field = name.rpartition(".")
        return parsed_cell(m, field) if owner in _ANY_RECORD else None
    return found[0] if agreed(m, found) is None else None


def agreed(m: Machine, found: list[tuple[Instance, Cell]]) -> Unknown | None:
    """None where all records hold the same value and it is decided nowhere else, else why it is not one value: which record holds what."""
    for obj, cell in found:
        aside = decided_aside(m, obj, cell.name, outward(m, cell.value), frozenset(records(m)[obj]))
        if aside is not None:
            return aside
    if len({repr(outward(m, cell.value)) for _, cell in found}) < 2:
        return None
    held = dict.fromkeys(f"{obj.cls.name} {_held(m, cell)}" for obj, cell in found if isinstance(obj.cls, av.ClassV))
    return Unknown(reason=f"{len(found)} records hold different values of it: {', '.join(held)}")


def _held(m: Machine, cell: Cell) -> str:
    value = outward(m, cell.value)
    if isinstance(value, Known):
        return repr(mask(cell.name, value.value))
    return " or ".join(repr(mask(cell.name, each)) for each in value.values) if isinstance(value, OneOf) else "an unknown value"


def parsed_cell(m: Machine, name: str) -> tuple[Instance, Cell] | None:
    """An option that no record takes over, as the parsed command line holds it."""
    for namespace in reversed(command_line(m).namespaces):
        cell = m.state.get((namespace, name))
        if cell is not None and cell.value is not ABSENT:
            return namespace, cell
    return None


def outward(m: Machine, value: AV) -> Value:
    """An engine value as the answers' Value."""
    if isinstance(value, Unk) and not value.masked:
        return Unknown(reason=value.reason)
    try:
        if isinstance(value, av.OneOf):
            return OneOf(values=tuple(plain(m, item) for item in candidates(value) if item is not ABSENT))
        return Known(value=plain(m, value))
    except NotConcrete:
        return Unknown(reason=_why(m, value))


def _why(m: Machine, value: AV) -> str:
    for part in _parts(m, value):
        if isinstance(part, Unk):
            return part.reason
    return f"it is {show(m, value)}"


def _parts(m: Machine, value: AV) -> list[AV]:
    found = list(candidates(value))
    for item in list(found):
        if isinstance(item, av.ListObj):
            content = m.items(item)
            found += [Unk(content.open)] if content.open else list(content.items)
        elif isinstance(item, av.DictObj):
            entries = m.entries(item)
            found += [Unk(entries.open)] if entries.open else [v for _, v in entries.items.values()]
        elif isinstance(item, av.Tup):
            found += item.items
    return found


def effective(m: Machine, name: str) -> Value:
    """Effective value of a field or flag."""
    name = field_name(m, name)
    found = final_cell(m, name)
    if found is not None:
        return outward(m, found[1].value)
    return agreed(m, holders(m, name)) or Unknown(
        reason=f"no setting of this launch is called {name}; a field of another record is asked for as Class.field"
    )


def field_name(m: Machine, name: str) -> str:
    """``--some-flag`` by the field or option that it sets."""
    plain_name = name.strip().lstrip("-").replace("-", "_")
    option = next((dest for dest, each in command_line(m).options.items() if name.strip() in each.flags), None)
    return option if option is not None and not holders(m, plain_name) else plain_name
