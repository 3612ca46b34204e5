"""A run that is killed goes on where it was: what the host said already is not asked for again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.hosts import commands
from agent.store import RunStore
from tests.e2e.servers import REPOSITORY, SYMPTOM, case, login, rca, serving
from tests.sshd import Sshd
from tests.wheels import WheelTree

READERS = 7
"""Subagents that read the host: launch facts, then six side by side. Killed earlier, a run loses the answers that were on their way."""


def reads(home: Path) -> list[str]:
    """Every command that any attempt sent, from the audit log."""
    lines = (home / "data" / "audit.jsonl").read_text().splitlines()
    return [json.dumps(json.loads(line)["argv"]) for line in lines]


def of_the_tree(site: Path) -> set[str]:
    """The reads that list the source tree before its archive is asked for."""
    listing = (commands.clock(), commands.stat_tree([f"{site}/sglang/"]), commands.stat_metadata(str(site), ("sglang",)))
    return {json.dumps(command.argv) for command in listing}


def kept(home: Path, run_id: str) -> list[str]:
    """Names of what the store holds of an unfinished run."""
    store = RunStore(home / "data")
    try:
        return list(store.checkpoints(run_id))
    finally:
        store.close()


def killed_run(home: Path, arguments: list[str], after: int) -> None:
    """Kills the program when so many subagents have ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agent.cli.main", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "RCA_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    ended = 0
    for line in process.stderr:
        ended += ": ok: " in line
        if ended == after:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def attempts(
    tmp_path_factory: pytest.TempPathFactory, sshd: Sshd, wheel_tree: WheelTree
) -> Iterator[tuple[Path, str, dict[str, Any], list[str]]]:
    """A run that was killed when all that reads had ended, and taken up again; home, run id, report, the reads of the first attempt."""
    root, home = tmp_path_factory.mktemp("stage"), tmp_path_factory.mktemp("home")
    with serving(root, case(), wheel_tree("sglang", "0.5.9")) as stage:
        killed_run(home, ["run", *login(sshd), "--pid", str(stage.pid), "--symptom", SYMPTOM], after=READERS)
        (entry,) = json.loads(rca(home, "runs", "list", "--format", "json").out)["runs"]
        assert entry["status"] == "interrupted"
        first = reads(home)
        if not any(name.startswith("host/tree ") for name in kept(home, entry["id"])):
            first = [
                command for command in first if command not in of_the_tree(stage.site) and '"tar"' not in command
            ]  # it died packing it
        resumed = rca(home, "run", "--resume", "last", "--format", "json", timeout=400)
        assert resumed.code in (0, 1), resumed.err
        yield home, entry["id"], resumed.json, first


def test_it_is_the_same_run(attempts: tuple[Path, str, dict[str, Any], list[str]]) -> None:
    home, run_id, report, _ = attempts
    assert report["run"]["id"] == run_id
    (entry,) = json.loads(rca(home, "runs", "list", "--format", "json").out)["runs"]
    assert entry["status"] == "finished"


def test_nothing_is_read_twice(attempts: tuple[Path, str, dict[str, Any], list[str]]) -> None:
    home, _, report, first = attempts
    assert len(first) > 3
    assert report["cost"]["commands"] < len(reads(home))
    once = Counter(first)
    again = Counter(reads(home))
    again.subtract(once)
    repeated = [command for command, times in again.items() if times > 0 and command in once]
    assert repeated == [], "answers of the first attempt were known"


def test_the_report_says_that_it_rests_on_two_attempts(attempts: tuple[Path, str, dict[str, Any], list[str]]) -> None:
    (told,) = [one for one in attempts[2]["unknowns"] if one["what"].startswith("whether the host changed between")]
    assert "the run was interrupted" in told["why"]


def test_the_result_is_that_of_an_undisturbed_run(
    attempts: tuple[Path, str, dict[str, Any], list[str]], tmp_path: Path, sshd: Sshd, wheel_tree: WheelTree
) -> None:
    with serving(tmp_path / "stage", case(), wheel_tree("sglang", "0.5.9")) as stage:
        asked = ["--pid", str(stage.pid), "--symptom", SYMPTOM, "--format", "json", "--attach", f"dir:{tmp_path}/ticket", "--yes"]
        ended = rca(tmp_path / "home", "run", *login(sshd), *asked, timeout=400)
    whole, report = ended.json, attempts[2]
    assert f"rca: created: {tmp_path}/ticket" in ended.err
    assert json.loads(next((tmp_path / "ticket").glob("*.json")).read_text()) == whole
    assert report["outcome"] == whole["outcome"]
    assert [one["title"] for one in report["findings"]] == [one["title"] for one in whole["findings"]]
    assert [(one["claim"], one["status"]) for one in report["hypotheses"]] == [(one["claim"], one["status"]) for one in whole["hypotheses"]]


def test_a_settled_run_is_not_resumed(attempts: tuple[Path, str, dict[str, Any], list[str]]) -> None:
    home, run_id, report, _ = attempts
    if report["outcome"] not in ("cause_confirmed", "no_fault_found"):
        pytest.skip("only a settled run is finished")
    refused = rca(home, "run", "--resume", run_id)
    assert refused.code == 2
    assert f"rca: run {run_id} is finished" in refused.err


def test_no_such_run(tmp_path: Path) -> None:
    refused = rca(tmp_path, "run", "--resume", "nothing")
    assert refused.code == 2
    assert "no run 'nothing'" in refused.err


def test_neither_symptom_nor_run(tmp_path: Path) -> None:
    refused = rca(tmp_path, "run", "--transport", "local")
    assert refused.code == 2
    assert "Missing option '--symptom'" in refused.err
