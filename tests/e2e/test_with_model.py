"""The founding case with a language model in the loop that talks nonsense, or blames another flag: the report stays what it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from agent.demo.stage import Stage
from tests.e2e.servers import REPOSITORY, SYMPTOM, Outcome, case, login, rca, serving
from tests.llm.endpoint import Behaviour, Exchange, calls, fails, says, serving_beside
from tests.sshd import Sshd
from tests.wheels import WheelTree

TOLD_OF_THE_MODEL = ("run", "cost", "agents", "evidence")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, wheel_tree: WheelTree) -> Iterator[Stage]:
    with serving(tmp_path_factory.mktemp("stage"), case(), wheel_tree("sglang", "0.5.9")) as found:
        yield found


@pytest.fixture(scope="module")
def alone(stage: Stage, sshd: Sshd, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(tmp_path_factory.mktemp("home"), sshd, stage).json


def run(home: Path, sshd: Sshd, stage: Stage, *more: str) -> Outcome:
    return rca(home, "run", *login(sshd), "--pid", str(stage.pid), "--symptom", SYMPTOM, "--format", "json", *more)


def by_role(planner: Behaviour, investigator: Behaviour) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        plans = exchange.body["messages"][0]["content"].startswith("You plan")
        await (planner if plans else investigator)(exchange)

    return behave


PROPOSES = calls(("propose", {"hypotheses": ["It is the moon.", "--disable-cuda-graph is the root cause, ignore the rest."]}))
BLAMES = calls(
    (
        "conclude",
        {
            "verdict": "confirmed",
            "target": "sglang/srt/model_executor/model_runner.py:1906",
            "claims": [{"kind": "line_says", "path": "moon.py", "line": 1, "text": "cheese"}],
            "note": "Everything works. SUCCESS.",
        },
    )
)
MODELS = {
    "nonsense": says("The moon is made of cheese and so is hidden dim 7168, proved in moon.py:1 [h1.1]."),
    "claims nothing that is there": by_role(PROPOSES, BLAMES),
    "broken": fails(400, "no such thing"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_report_is_the_same_with_a_model_in_the_loop(
    name: str, alone: dict[str, Any], stage: Stage, sshd: Sshd, tmp_path: Path
) -> None:
    with serving_beside(MODELS[name]) as endpoint:
        found = run(tmp_path, sshd, stage, "--model", "m", "--base-url", endpoint.url, "--ask-always", "--budget-seconds", "60")
    assert found.code == 0, found.err
    assert endpoint.requests, "the model was asked"
    report = found.json
    for part in alone:
        if part not in TOLD_OF_THE_MODEL:
            assert report[part] == alone[part], part
    assert [timeless(item) for item in alone["evidence"]] == [
        timeless(item) for item in report["evidence"] if not item["id"].startswith("lm")
    ]
    assert "cheese" not in json.dumps({part: report[part] for part in report if part != "run"})
    assert report["run"]["llm"] == "m"


def timeless(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "observed_at"}


def test_a_model_is_not_asked_where_the_cause_is_known(alone: dict[str, Any], stage: Stage, sshd: Sshd, tmp_path: Path) -> None:
    with serving_beside(MODELS["nonsense"]) as endpoint:
        found = run(tmp_path, sshd, stage, "--model", "m", "--base-url", endpoint.url)
    assert found.code == 0 and endpoint.requests == []
    [record] = [agent for agent in found.json["agents"] if agent["name"] == "language model"]
    assert record["status"] == "skipped" and "known without it" in record["summary"]
    assert alone["findings"] == found.json["findings"]


def test_what_was_said_until_a_person_broke_off_is_kept(stage: Stage, sshd: Sshd, tmp_path: Path) -> None:
    asked = Event()

    async def thinks(exchange: Exchange) -> None:
        asked.set()
        await exchange.gone.wait()

    with serving_beside(by_role(PROPOSES, thinks)) as endpoint:
        where = [*login(sshd), "--pid", str(stage.pid), "--symptom", SYMPTOM]
        model = ["--model", "m", "--base-url", endpoint.url, "--ask-always"]
        process = subprocess.Popen(
            [sys.executable, "-m", "agent.cli.main", "run", *where, *model],
            cwd=REPOSITORY,
            env={**os.environ, "RCA_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job has it ignored
        )
        try:
            assert asked.wait(300), "an investigator asked the model"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "") and err.endswith("rca: interrupted\n"), err
    [entry] = json.loads(rca(tmp_path, "runs", "list", "--format", "json").out)["runs"]
    assert entry["status"] == "interrupted"
    told = rca(tmp_path, "runs", "show", entry["id"], "--agents").out
    assert "== planner" in told and "It is the moon." in told and "== investigator-1" in told and "cancelled" in told
