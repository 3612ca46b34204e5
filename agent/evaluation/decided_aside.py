"""Settings that are decided beside their record's fields: in a container that the record collects decisions in until they are published."""

from __future__ import annotations

from collections.abc import Iterator

from agent.analysis import ir
from agent.analysis.keyed import keys, keywords
from agent.analysis.words import positions
from agent.domain.secrets import mask
from agent.domain.values import Known, Unknown, Value
from agent.evaluation.attributes import instance_map
from agent.evaluation.concrete import NotConcrete
from agent.evaluation.machine import Machine
from agent.evaluation.registries import importable
from agent.evaluation.render import plain
from agent.evaluation.values import AV, ClassV, DictObj, Instance, ListObj, Tup, candidates

DEPTH = 3
"""Containers within containers that are looked through."""


def decided_aside(m: Machine, obj: Instance, field: str, held: Value, fields: frozenset[str]) -> Unknown | None:
    """Why the field does not tell the setting: a decision was put aside that is another one, or may be. ``held``: what the field tells."""
    assert isinstance(obj.cls, ClassV)
    for attribute, container in _collections(m, obj, fields):
        rows = list(_decisions(m, container, field))
        other = [row for row in rows if row is not None and row != held]
        if other:
            kept = repr(mask(field, other[-1].value)) if isinstance(other[-1], Known) else "another value"
            return Unknown(reason=f"{obj.cls.name}.{attribute} holds {kept} for it, which is to be taken over later")
        at = next(_by_text(m, attribute, field), None) if None in rows else None
        if at is not None:
            missed = f"decisions are collected in {obj.cls.name}.{attribute}, and not all of them were followed"
            return Unknown(reason=f"{missed}: {at[0]}:{at[1]} may decide it")
    return None


def _collections(m: Machine, obj: Instance, fields: frozenset[str]) -> list[tuple[str, AV]]:
    """Containers in attributes that are no fields, which some function fills with what it is given by keywords; the same for all fields."""
    known: dict[Instance, list[tuple[str, AV]]] = m.singletons.setdefault("collections of decisions", {})
    if obj not in known:
        held = [(name, value) for name, (_, value) in instance_map(m, obj).items.items() if isinstance(name, str) and name not in fields]
        known[obj] = [(name, value) for name, value in held if _contains(value) and collectors(m, name)]
    return known[obj]


def _contains(value: AV) -> bool:
    return any(isinstance(each, (ListObj, DictObj)) for each in candidates(value))


def collectors(m: Machine, attribute: str) -> tuple[str, ...]:
    """Functions that put what they are given by keywords into the attribute."""
    known: dict[str, tuple[str, ...]] = m.singletons.setdefault("collectors of decisions", {})
    if attribute not in known:
        found = dict.fromkeys(
            each.name
            for path in m.index.files_with(attribute)
            if path in importable(m)
            for each in m.index.outline(path).definitions
            if isinstance(each.node, ir.FunctionDef) and any(param.kind == "kwarg" for param in each.node.params)
            if any(positions(m.index.module(path).source[each.node.start_byte : each.node.end_byte], attribute))
        )
        known[attribute] = tuple(found)
    return known[attribute]


def _decisions(m: Machine, value: AV, field: str, depth: int = DEPTH) -> Iterator[Value | None]:
    """What is held under the field's name, and None for what was not followed."""
    for each in candidates(value):
        if isinstance(each, DictObj):
            entries = m.entries(each)
            if field in entries.items:
                yield _outward(m, entries.items[field][1])
            yield from [None] if entries.open else []
        elif isinstance(each, ListObj):
            content = m.items(each)
            yield from [None] if content.open else []
            for item in content.items if depth else ():
                yield from _decisions(m, item, field, depth - 1)
        elif isinstance(each, Tup):
            for item in each.items if depth else ():
                yield from _decisions(m, item, field, depth - 1)


def _outward(m: Machine, value: AV) -> Value | None:
    try:
        return Known(value=plain(m, value))
    except NotConcrete:
        return None


def _by_text(m: Machine, attribute: str, field: str) -> Iterator[tuple[str, int]]:
    reachable = importable(m)
    yield from keys(m.index, field, reachable)
    yield from keywords(m.index, field, collectors(m, attribute), reachable)
