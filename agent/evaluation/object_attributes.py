"""``Class.attribute``: what the objects of any class of the tree hold there, and the lines that write it.

Settings are taken over, renamed and worked out further by objects that are no configuration; their attributes are asked for by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.domain.values import Known, OneOf, Unknown, Value
from agent.domain.verdict import Asked, ChangedBy, Setting
from agent.evaluation.audit import effective, masked, shared_row, source_line
from agent.evaluation.models.argument_parser import command_line
from agent.evaluation.settings import holders, outward
from agent.evaluation.values import ABSENT, ClassV, candidates, one_of

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine


def attribute_row(engine: LaunchEngine, name: str) -> Setting | None:
    """The attribute as a row of the audit; None where the tree has no such class, or several, or nothing in it writes the attribute."""
    m = engine.machine
    owner, _, attribute = name.rpartition(".")
    if owner and holders(m, name):
        return masked(shared_row(m, command_line(m), name))
    cls = _class_called(engine, owner)
    if cls is None:
        return None
    demand = engine.demand
    demand.begin()
    value = demand.attribute_of(cls, attribute)
    if value is None or value is ABSENT:
        return None
    held = demand.receivers.of(cls)
    value = one_of([each for each in candidates(demand.attributes.overridden(held, attribute, value)) if each is not ABSENT])
    places = demand.attributes.writers.get((held, attribute), ())
    found = effective(outward(m, value))
    written = tuple(ChangedBy(path=place.path, line=place.line, text=source_line(m, place.path, place.line)) for place in places)
    verdict = "defaulted" if found.status == "known" else "unknown"
    asked = Asked(value=None, source="default")
    return masked(Setting(name=name, flag="", asked=asked, effective=found, changed_by=written, verdict=verdict))


def attribute_value(engine: LaunchEngine, name: str) -> Value | None:
    """The attribute's value alone; None as above."""
    row = attribute_row(engine, name)
    if row is None:
        return None
    found = row.effective
    if found.status == "unknown":
        return Unknown(reason=found.why)
    return Known(value=found.value) if found.status == "known" else OneOf(values=found.values)


def _class_called(engine: LaunchEngine, name: str) -> ClassV | None:
    importable = engine.demand.call_sites.importable
    found = [each for each in engine.index.classes_named(name) if not each.chain and each.path in importable] if name else []
    return engine.demand.definitions.class_of(found[0]) if len(found) == 1 else None
