"""Whatever stands where in a playbook: it is read or refused by entry, and the JSON Schema never refuses what the program reads."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import yaml

from agent.config import shipped_directory
from agent.domain.errors import PlaybookInvalid
from agent.library.reading import parse_playbook
from agent.library.schema import json_schema
from tests.playbooks.test_library import MINIMAL

VALIDATOR = jsonschema.Draft202012Validator(json_schema())
LARGE = yaml.safe_load((shipped_directory("playbooks") / "eagle-vs-eagle3.yaml").read_text(encoding="utf-8"))
ODD: list[Any] = [None, {}, [], "", 0, True, "x", ["x"], {"x": 1}, 1.5, [None], [[]], [{}]]
Place = tuple[str | int, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*at, key))


def kinds(playbook: dict[str, Any]) -> list[Place]:
    """One place of each kind: of a list's elements the first that has it."""
    found: dict[Place, Place] = {}
    for place in places(playbook):
        found.setdefault(tuple("#" if isinstance(key, int) else key for key in place), place)
    return [place for place in found.values() if place]


def with_changed(playbook: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(playbook)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


@pytest.mark.parametrize(
    "place", kinds({**LARGE, "targets": [*LARGE["targets"], MINIMAL["targets"][1]]}), ids=lambda place: "/".join(map(str, place))
)
def test_something_odd_is_read_or_refused_by_entry(place: Place) -> None:
    playbook = {**LARGE, "targets": [*LARGE["targets"], MINIMAL["targets"][1]]}
    for odd in ODD:
        changed = with_changed(playbook, place, odd)
        try:
            parse_playbook(yaml.safe_dump(changed).encode(), "p.yaml")
        except PlaybookInvalid as problem:
            assert problem.where and problem.what.startswith(f"p.yaml: {problem.where}: ")
        else:
            assert VALIDATOR.is_valid(changed), odd


@pytest.mark.parametrize(
    "wrong",
    [
        {"match": {}},
        {"targets": [{"id": "a"}]},
        {"targets": [{"id": "a", "query": "call:x", "setting": "y"}]},
        {"hypotheses": [{**MINIMAL["hypotheses"][0], "checks": [{}]}]},
        {"hypotheses": [{**MINIMAL["hypotheses"][0], "checks": [{"guard": None}]}]},
        {"hypotheses": [{**MINIMAL["hypotheses"][0], "checks": [{"fact": "1 == 1", "log": {"pattern": "x"}}]}]},
        {"tests": [{"name": "a", "launch": "x", "expect": "silent"}]},
        {"colour": "red"},
    ],
)
def test_the_json_schema_refuses_what_an_editor_can_see(wrong: dict[str, Any]) -> None:
    changed = {**MINIMAL, **wrong}
    assert not VALIDATOR.is_valid(changed)
    with pytest.raises(PlaybookInvalid):
        parse_playbook(yaml.safe_dump(changed).encode(), "p.yaml")
