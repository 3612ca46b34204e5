"""The public cases that ask about a setting: the audit shows its right value and line, and under the healthy launch accuses nobody.

Where the answer is not worked out it says so; a wrong value is never among those.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.domain.verdict import AuditAnswer, Setting
from agent.evaluation.audit import row_of
from tests.e2e.servers import rca, written
from tests.oracle.cases import Case, Place, cases, engine_for, right_places
from tests.wheels import WheelTree

ASKING: Mapping[str, Case] = {case["id"]: case for case in cases() if case["query"]}
OBJECTS = {"S24": "TokenizerManager.context_len", "S40": "ModelRunner.sliding_window_size", "L01": "TemplateAPI.add_bos_token"}
"""Settings that no configuration holds: asked for by the class whose objects do."""
OPEN = {"L01", "L01 control", "V01 control", "S40 control", "S34"}
"""What is not worked out, and said to be unknown, or one of several: the right one is among them."""


def name_of(case: Case) -> str:
    return OBJECTS.get(case["id"], str(case["query"]["field"]))


def audited(case: Case, launch: Case, wheel_tree: WheelTree) -> tuple[AuditAnswer, Setting]:
    wheel_tree(case["package"], case["release"])
    engine = engine_for(case, launch)
    answer = engine.audit()
    row = row_of(engine, answer, name_of(case))
    assert row is not None
    return answer, row


def holds(row: Mapping[str, Any], value: object, label: str) -> None:
    """The row's effective value is this one; for what is open, it is not known, with a reason, or one of several."""
    found = row["effective"]
    if label in OPEN:
        assert (found["status"] == "unknown" and found["why"]) or (found["status"] == "candidates" and value in found["values"]), found
    else:
        assert (found["status"], found["value"]) == ("known", value)


def places(row: Mapping[str, Any]) -> set[Place]:
    """The lines that changed it, and their guards."""
    return {(each["path"], each["line"]) for change in row["changed_by"] for each in (change, *change["guards"])}


@pytest.mark.parametrize("label", ASKING)
def test_the_value_and_the_line(wheel_tree: WheelTree, label: str) -> None:
    case = ASKING[label]
    answer, found = audited(case, case, wheel_tree)
    row = next(each for each in AuditAnswer(settings=(found,)).as_dict()["settings"])
    holds(row, case["expect"]["value"]["effective"], label)
    told = places(row) | {(smell.path, smell.line) for smell in answer.smells if smell.kind == "read_before_write"}
    assert told & right_places(case)


@pytest.mark.parametrize("label", [label for label in ASKING if "value" in ASKING[label]["negative_control"] or label in OBJECTS])
def test_the_healthy_launch_is_as_asked(wheel_tree: WheelTree, label: str) -> None:
    case = ASKING[label]
    control = case["negative_control"]
    answer, row = audited(case, control, wheel_tree)
    holds(AuditAnswer(settings=(row,)).as_dict()["settings"][0], control.get("value", {}).get("effective"), f"{label} control")
    assert row.verdict not in ("overridden", "never_read")
    assert answer.dead_config == ()


def test_a_field_that_is_read_too_early_is_told_with_its_reader(wheel_tree: WheelTree) -> None:
    """S34: the line that switches graphs off asks for another switch before that one is thrown."""
    case = ASKING["S34"]
    control = engine_for(case, case["negative_control"]).audit()
    assert not [smell for smell in control.smells if smell.kind == "read_before_write"]
    row = next(row for row in control.settings if row.name == "disable_cuda_graph")
    assert row.effective.value is True and any(change.line == case["targets"][0]["line"] for change in row.changed_by)


def through_the_command(case: Case, launch: Case, tree: Path, room: Path) -> dict[str, Any]:
    models = {f"{place}/config.json": json.dumps(config) for place, config in launch["models"].items()}
    written(room, {**models, "facts.json": json.dumps(launch.get("assume") or {})})
    command = " ".join(launch["argv"])
    given = [word for name, value in (launch.get("env") or {}).items() for word in ("--env", f"{name}={value}")]
    where = ["--tree", str(tree), "--launch", command, "--cwd", str(room), "--facts", str(room / "facts.json"), *given]
    found = rca(room / "home", "audit", name_of(case), *where, "--format", "json", "-q")
    assert found.code == 0, found.err
    (row,) = found.json["settings"]
    assert isinstance(row, dict)
    return row


@pytest.mark.parametrize("label", ["S05", "S24"])
def test_through_the_command(wheel_tree: WheelTree, tmp_path: Path, label: str) -> None:
    case = ASKING[label]
    tree = wheel_tree(case["package"], case["release"])
    row = through_the_command(case, case, tree, tmp_path / "fault")
    holds(row, case["expect"]["value"]["effective"], label)
    assert places(row) & right_places(case)
    control = through_the_command(case, case["negative_control"], tree, tmp_path / "control")
    holds(control, case["negative_control"]["value"]["effective"], f"{label} control")
    assert control["verdict"] != "overridden"
