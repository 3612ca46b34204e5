"""The founding case over a real OpenSSH server: a real process, the real release, no language model."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.servers import SYMPTOM, Outcome, case, login, rca, serving, snapshot
from tests.sshd import Sshd
from tests.wheels import WheelTree

RUNNER = "sglang/srt/model_executor/model_runner.py"
GRAPHS = "sglang/srt/model_executor/cuda_graph_runner.py"
FLAG = "--speculative-algorithm"


def investigate(home: Path, sshd: Sshd, pid: int, *more: str) -> Outcome:
    return rca(home, "run", *login(sshd), "--pid", str(pid), "--symptom", SYMPTOM, "--format", "json", *more)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the run is kept."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def eagle(tmp_path_factory: pytest.TempPathFactory, home: Path, sshd: Sshd, wheel_tree: WheelTree) -> Iterator[tuple[Outcome, Any]]:
    """One run on 0.5.9 under EAGLE, with the stage it ran on."""
    root = tmp_path_factory.mktemp("stage")
    with serving(root, case(), wheel_tree("sglang", "0.5.9")) as stage:
        before = snapshot(root)
        found = investigate(home, sshd, stage.pid)
        assert snapshot(root) == before, "the host is as it was"
        yield found, stage


def test_the_cause_is_confirmed(eagle: tuple[Outcome, Any]) -> None:
    found, _ = eagle
    assert found.code == 0, found.err
    report = found.json
    assert report["outcome"] == "cause_confirmed"
    finding = report["findings"][0]
    assert (finding["guard"]["path"], finding["guard"]["line"], finding["guard"]["truth"]) == (RUNNER, 345, "false")
    assert "is_eagle3()" in finding["guard"]["condition"]
    assert (finding["cause"]["name"], finding["cause"]["actual"], finding["cause"]["required"]) == (FLAG, "EAGLE", ["EAGLE3"])


def test_what_never_ran(eagle: tuple[Outcome, Any]) -> None:
    verdicts = {(target["path"], target["line"]): target["verdict"] for target in eagle[0].json["findings"][0]["targets"]}
    never = {place for place, verdict in verdicts.items() if verdict == "never"}
    assert any(path == RUNNER and 345 < line <= 368 for path, line in never), "(i)"
    assert (RUNNER, 622) in never, "(ii)"
    assert any(path == GRAPHS and 362 < line <= 365 for path, line in never), "(iv)"


def test_the_chain_leads_from_the_flag_to_what_hides_it(eagle: tuple[Outcome, Any]) -> None:
    report = eagle[0].json
    chain = report["findings"][0]["chain"]
    places = [(step["path"], step["line"]) for step in chain]
    spec = "sglang/srt/speculative/spec_info.py"
    assert chain[0]["role"] == "config" and "EAGLE" in chain[0]["text"]
    assert any(path == spec and 25 <= line <= 31 for path, line in places), "from_string"
    assert any(path == spec and 40 <= line <= 41 for path, line in places), "is_eagle3"
    assert (RUNNER, 345) in places
    assert any(path.endswith("llama_eagle3.py") and 160 <= line <= 164 for path, line in places), "the width test"
    evidence = {item["id"]: item for item in report["evidence"]}
    assert all(step["evidence"] in evidence for step in chain)


def test_quotes_are_the_lines_of_the_release(eagle: tuple[Outcome, Any], wheel_tree: WheelTree) -> None:
    tree = wheel_tree("sglang", "0.5.9")
    quoted = [item for item in eagle[0].json["evidence"] if item["kind"] == "source"]
    assert len(quoted) >= 8
    for item in quoted:
        assert (tree / item["path"]).read_text().split("\n")[item["start"] - 1] == item["excerpt"]


def test_hypotheses_are_ruled_out_with_a_reason(eagle: tuple[Outcome, Any]) -> None:
    hypotheses = eagle[0].json["hypotheses"]
    assert any(one["status"] == "confirmed" for one in hypotheses)
    assert len([one for one in hypotheses if one["status"] == "refuted"]) >= 2
    assert all(one["why"] for one in hypotheses)


def test_the_numbers_come_from_the_configs(eagle: tuple[Outcome, Any]) -> None:
    numbers = {number["number"]: number for number in eagle[0].json["numbers"]}
    assert {7168, 21504} <= set(numbers)
    assert all(numbers[value]["evidence"] for value in (7168, 21504))


def test_the_fix_is_the_whole_command_and_was_evaluated(eagle: tuple[Outcome, Any]) -> None:
    found, _ = eagle
    finding = found.json["findings"][0]
    assert shlex.split(finding["fix"]["command"]) == list(case(changes=[(FLAG, "EAGLE3")]).argv)
    change = finding["counterfactual"]["change"]
    assert [(one["name"], one["from"], one["to"]) for one in change] == [(FLAG, "EAGLE", "EAGLE3")]
    assert finding["counterfactual"]["opens"]


def test_at_least_five_subagents_worked(eagle: tuple[Outcome, Any]) -> None:
    agents = eagle[0].json["agents"]
    names = " ".join(agent["name"] for agent in agents)
    assert all(word in names for word in ("launch facts", "model configs", "log", "source reconnaissance", "guards of"))
    assert all(agent["status"] == "done" for agent in agents), agents


def test_the_subject_and_launch_are_those_of_the_process(eagle: tuple[Outcome, Any]) -> None:
    found, stage = eagle
    report = found.json
    assert (report["subject"]["package"], report["subject"]["version"]) == ("sglang", "0.5.9")
    assert report["subject"]["root"] == str(stage.site)
    assert report["launch"]["argv"] == list(case().argv)
    assert report["launch"]["pid"] == stage.pid
    assert report["launch"]["env"]["NCCL_DEBUG"] == "WARN"


def test_the_cost_is_told_and_small(eagle: tuple[Outcome, Any]) -> None:
    found, _ = eagle
    cost = found.json["cost"]
    assert cost["commands"] > 0 and cost["round_trips"] > 0 and cost["bytes"] > 0 and cost["files"] > 1000
    assert f"{cost['commands']} commands" in found.err


def test_two_runs_give_the_same_bytes(eagle: tuple[Outcome, Any], sshd: Sshd, tmp_path: Path) -> None:
    found, stage = eagle
    again = investigate(tmp_path, sshd, stage.pid, "--verbose")
    assert _stable(again.out) == _stable(found.out)
    assert len(again.err.splitlines()) > len(found.err.splitlines()) and "launch facts: find" in again.err, (
        "what is told on the way is more"
    )


def _stable(text: str) -> str:
    """The report without what a clock decides."""
    report = json.loads(text)
    del report["run"]
    for item in report["evidence"]:
        del item["observed_at"]
    return json.dumps(report)


@pytest.mark.parametrize("symptom", ["accept length is exactly 1.0 with our eagle3 draft", "hidden states 7168 instead of 21504", SYMPTOM])
def test_however_it_is_told(eagle: tuple[Outcome, Any], sshd: Sshd, tmp_path: Path, symptom: str) -> None:
    _, stage = eagle
    found = rca(tmp_path, "run", *login(sshd), "--pid", str(stage.pid), "--symptom", symptom, "--format", "json", "--quiet")
    assert (found.code, found.json["findings"][0]["guard"]["line"]) == (0, 345)
    assert found.err == "", "quiet: the result alone"


def test_a_healthy_launch_is_not_accused(sshd: Sshd, wheel_tree: WheelTree, tmp_path: Path) -> None:
    healthy = case(changes=[(FLAG, "EAGLE3")])
    with serving(tmp_path / "stage", healthy, wheel_tree("sglang", "0.5.9")) as stage:
        found = investigate(tmp_path / "home", sshd, stage.pid)
    assert found.code == 1, found.err
    assert found.json["outcome"] == "no_fault_found"
    assert found.json["findings"] == []


def test_the_wrapper_without_the_method_is_named_where_it_lacks_it(sshd: Sshd, wheel_tree: WheelTree, tmp_path: Path) -> None:
    """Under EAGLE3 the call at line 622 raises in 0.5.9; the method came with 0.5.10."""
    told = {}
    for version in ("0.5.9", "0.5.10.post1"):
        server = case(model="kimi", changes=[(FLAG, "EAGLE")], version=version)
        with serving(tmp_path / version, server, wheel_tree("sglang", version)) as stage:
            found = investigate(tmp_path / "home", sshd, stage.pid)
        assert found.json["outcome"] == "cause_confirmed", found.err
        finding = found.json["findings"][0]
        events = [event for event in finding["counterfactual"]["next"] if event["kind"] == "raises"]
        told[version] = bool(events) or any("set_eagle3_layers_to_capture" in warning for warning in finding["fix"]["warnings"])
    assert told == {"0.5.9": True, "0.5.10.post1": False}


def test_the_same_playbook_on_the_next_release(sshd: Sshd, wheel_tree: WheelTree, tmp_path: Path) -> None:
    with serving(tmp_path / "stage", case(version="0.5.10.post1"), wheel_tree("sglang", "0.5.10.post1")) as stage:
        found = investigate(tmp_path / "home", sshd, stage.pid)
    assert found.code == 0, found.err
    guard = found.json["findings"][0]["guard"]
    assert (guard["path"], guard["line"], guard["truth"]) == (RUNNER, 356, "false")


def test_a_playbook_saved_from_the_run_finds_the_fault_on_other_releases(
    eagle: tuple[Outcome, Any], home: Path, wheel_tree: WheelTree, tmp_path: Path
) -> None:
    releases = ("0.5.8", "0.5.9", "0.5.10.post1")
    for version in releases:
        (tmp_path / f"sglang-{version}").symlink_to(wheel_tree("sglang", version))
    saved = rca(home, "playbook", "save", eagle[0].json["run"]["id"], "--id", "mine", "--trees", str(tmp_path))
    assert saved.code == 0, saved.err
    assert f"It holds on {', '.join(releases)}." in saved.err
    book = yaml.safe_load(Path(saved.out.strip()).read_text())
    assert book["applies_to"] == [{"package": "sglang", "versions": ">=0.5.8,<=0.5.10.post1"}]
    assert "string:eagle_config" in {target["query"] for target in book["targets"]}
    assert all("PATH" not in test.get("env", {}) for test in book["tests"])
    tested = rca(home, "playbook", "test", "mine", "--trees", str(tmp_path))
    assert (tested.code, tested.out.splitlines()[-1]) == (0, "2 passed, 0 failed, 0 skipped")


def test_the_fix_is_verified_on_the_server_as_it_is_then(
    eagle: tuple[Outcome, Any], home: Path, sshd: Sshd, wheel_tree: WheelTree, tmp_path: Path
) -> None:
    """The founding story's second half: fixed, and still slower than without speculation."""
    *head, decode = case().log.replace("speculative_algorithm='EAGLE'", "speculative_algorithm='EAGLE3'").splitlines()
    after = decode.replace("accept len: 1.00", "accept len: 2.10").replace("41.44", "82.30")
    log = "\n".join([*(line for line in head if "Decode batch" not in line), *[after] * 12, ""])
    server = replace(case(changes=[(FLAG, "EAGLE3")]), log=log)
    with serving(tmp_path / "stage", server, wheel_tree("sglang", "0.5.9")) as stage:
        asked = [eagle[0].json["run"]["id"], "--pid", str(stage.pid), "--baseline", "90", "--format", "json"]
        found = rca(home, "verify", *login(sshd), *asked)
    assert found.code == 0, found.err
    assert found.json["conclusion"] == "fixed"
    assert "slower than 90.0 tok/s" in found.json["words"]
    guards = {check["name"].split(" ")[0]: check["status"] for check in found.json["checks"] if check["kind"] == "guard"}
    assert guards and set(guards.values()) == {"passed"}


def test_verify_goes_the_way_of_the_run(eagle: tuple[Outcome, Any], home: Path) -> None:
    """Port, key and known hosts as the run was given them: another server may listen on the usual port."""
    _, stage = eagle
    found = rca(home, "verify", eagle[0].json["run"]["id"], "--pid", str(stage.pid), "--format", "json")
    assert (found.code, found.json["conclusion"]) == (1, "not_fixed"), found.err
    assert "still runs with the command of the stored run" in found.json["words"]


def test_numbers_of_the_process_before_are_not_those_of_the_fix(
    eagle: tuple[Outcome, Any], home: Path, sshd: Sshd, wheel_tree: WheelTree, tmp_path: Path
) -> None:
    """The server was restarted, and goes on in a log in which it has not written a line yet."""
    with serving(tmp_path / "stage", case(changes=[(FLAG, "EAGLE3")]), wheel_tree("sglang", "0.5.9")) as stage:
        found = rca(home, "verify", *login(sshd), eagle[0].json["run"]["id"], "--pid", str(stage.pid), "--format", "json")
    assert (found.code, found.json["conclusion"]) == (1, "undecided"), found.err
    assert "the log's last start is that of the stored run" in found.json["words"]
    assert [one for one in found.json["numbers"] if one["after"] is not None] == []


def test_the_markdown_report_names_guard_and_fix(eagle: tuple[Outcome, Any], sshd: Sshd, tmp_path: Path) -> None:
    _, stage = eagle
    asked = ["--symptom", SYMPTOM, "--attach", f"dir:{tmp_path}/ticket"]
    found = rca(tmp_path, "run", *login(sshd), "--pid", str(stage.pid), *asked)
    assert found.code == 0
    assert "rca: nothing was sent; --yes sends it" in found.err and not (tmp_path / "ticket").exists(), "nobody could be asked"
    assert f"For {tmp_path}/ticket:" in found.err and "For " not in found.out.splitlines()[0], "standard output is the report alone"
    assert f"{RUNNER}:345" in found.out
    assert f"{FLAG} EAGLE3" in found.out
    assert found.out.index("EAGLE3") < 2000, "the first screen holds the fix"
