"""`rca audit --host` of a real release over a real sshd: the founding key is dead configuration, a healthy launch accuses nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.servers import Outcome, case, login, rca, serving
from tests.sshd import Sshd
from tests.wheels import WheelTree

FLAG = "--speculative-algorithm"
ACCUSING = ("Will fail", "Dead config", "Never read", "Said otherwise")


@dataclass(frozen=True, slots=True)
class Audited:
    """One server, as JSON and as a pipe gets it."""

    json: dict[str, Any]
    text: str


def audited(room: Path, sshd: Sshd, tree: Path, algorithm: str, version: str) -> Iterator[Audited]:
    what = case(changes=[(FLAG, algorithm)], version=version)
    what = replace(what, log=what.log.replace("algorithm='EAGLE'", f"algorithm='{algorithm}'"))
    with serving(room / "stage", what, tree) as stage:

        def ask(*more: str) -> Outcome:
            found = rca(room / "home", "audit", *login(sshd), "--pid", str(stage.pid), *more)
            assert found.code == 0, found.err
            return found

        yield Audited(json.loads(ask("--format", "json").out), ask().out)


@pytest.fixture(scope="module")
def founding(tmp_path_factory: pytest.TempPathFactory, sshd: Sshd, wheel_tree: WheelTree) -> Iterator[Audited]:
    yield from audited(tmp_path_factory.mktemp("founding"), sshd, wheel_tree("sglang", "0.5.9"), "EAGLE", "0.5.9")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory, sshd: Sshd, wheel_tree: WheelTree) -> Iterator[Audited]:
    yield from audited(tmp_path_factory.mktemp("healthy"), sshd, wheel_tree("sglang", "0.5.10.post1"), "EAGLE3", "0.5.10.post1")


def test_the_founding_key_is_dead(founding: Audited) -> None:
    (key,) = founding.json["dead_config"]
    assert key["key"].startswith("eagle_config") and key["file"].endswith("data/eagle3/output_10k_sglang/4/config.json")
    assert any("is_eagle3()" in reader["decisive"]["condition"] for reader in key["readers"])
    assert f"it is read with {FLAG} EAGLE3" in founding.text
    assert "1 dead config key; no certain failure" in founding.text.splitlines()[0]


def test_what_was_given_and_holds_is_not_accused(founding: Audited) -> None:
    """The variable is read for the draft, whose context length is set later; others are for the communication library."""
    rows = {row["name"]: row["verdict"] for row in founding.json["settings"]}
    assert rows["env:SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"] == rows["speculative_eagle_topk"] == "as_asked"
    assert "never_read" not in rows.values()
    given = {key["key"] for key in founding.json["unread_keys"] if key["file"] == "environment"}
    assert given == {"NCCL_DEBUG", "NCCL_IB_DISABLE"}


def test_a_healthy_server_accuses_nobody(healthy: Audited) -> None:
    assert healthy.json["dead_config"] == []
    assert not [each for each in healthy.json["raises"] if each["certainty"] == "always"]
    rows = {row["name"]: row for row in healthy.json["settings"]}
    assert "never_read" not in {row["verdict"] for row in rows.values()}
    given = {name for name, row in rows.items() if row["asked"]["source"] in ("flag", "env")}
    assert not [name for name in given if rows[name]["verdict"] == "overridden"]
    assert "0 dead config keys; no certain failure" in healthy.text.splitlines()[0]
    assert not [title for title in ACCUSING if title in healthy.text]


def test_a_healthy_server_smells_of_nothing_that_fails(healthy: Audited) -> None:
    assert not [smell for smell in healthy.json["smells"] if "raises" in smell["why"] and smell["kind"] != "swallowed_write"]


def test_what_it_printed_stands_beside(healthy: Audited) -> None:
    rows = {row["name"]: row["observed"] for row in healthy.json["settings"]}
    assert rows["speculative_algorithm"] == {"value": "EAGLE3", "source": "log"}
    assert rows["disable_cuda_graph"] == {"value": True, "source": "log"}
