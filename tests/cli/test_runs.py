"""``rca runs``: list, show, diff, prune; shell completion of run ids."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.cli.main import run
from agent.store import RunStore
from tests.cli.terminals import ROOT, on_terminal
from tests.reports import samples


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two finished runs on two hosts, and one that is still going on."""
    monkeypatch.setenv("RCA_HOME", str(tmp_path))
    store = RunStore(tmp_path / "data")
    store.save(samples.founding(run=samples.run(id="run-1", host="gpu-03", started_at="2026-05-01T10:00:00Z")))
    fixed = replace(samples.nothing_found(), run=samples.run(id="run-2", started_at="2026-05-02T10:00:00Z"))
    store.save(fixed, {"observed/log": b"x" * 10, "conversation.jsonl": _conversation()})
    store.begin("run-3", host="gpu-09", symptom="7168", started_at="2026-05-03T10:00:00Z")
    store.checkpoint("run-3", "launch", {"pid": 1})
    store.close()
    return tmp_path


def _conversation() -> bytes:
    lines = [
        {"schema": "rca.conversation/1", "model": "m"},
        {"conversation": "planner", "event": "message", "role": "user", "content": "facts\nand \x1b[31mmore"},
        {
            "conversation": "planner",
            "event": "reply",
            "text": "",
            "calls": [{"id": "c1", "name": "why", "arguments": '{"target": "a.py:1"}'}],
            "usage": {"prompt": 90, "completion": 10, "estimated": False},
            "finish": "tool_calls",
        },
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["runs", *arguments]) == 0
    return capsys.readouterr().out


def test_list(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = output(capsys, "list").splitlines()
    assert head.split() == ["run", "started", "host", "outcome", "software", "finding"]
    assert [line.split()[0] for line in lines] == ["run-3", "run-2", "run-1"]
    assert "running" in lines[0]
    assert "no fault found" in lines[1]
    assert "EAGLE was asked for" in lines[2]
    assert [line.split()[0] for line in output(capsys, "list", "--host", "gpu-03").splitlines()[1:]] == ["run-1"]
    document = json.loads(output(capsys, "list", "--format", "json", "--limit", "2"))
    assert [entry["id"] for entry in document["runs"]] == ["run-3", "run-2"]


def test_list_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RCA_HOME", str(tmp_path))
    assert run(["runs", "list"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "`rca demo` makes the first one" in err


@pytest.mark.parametrize("columns", [60, 100])
def test_list_fits_a_terminal(home: Path, columns: int) -> None:
    code, shown = on_terminal(["runs", "list"], {"RCA_HOME": str(home), "NO_COLOR": "1"}, columns=columns)
    assert code == 0
    assert max(map(len, shown.replace("\x1b[1m", "").replace("\x1b[0m", "").split("\n"))) <= columns


def test_show_tells_the_past(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = RunStore(home / "data")
    store.save(samples.founding(run=samples.run(id="run-4", started_at="2026-06-01T10:00:00Z")))
    store.close()
    text = output(capsys, "show", "run-4")
    assert "seen once before, in May 2026, on gpu-03; playbook eagle3-aux-capture" in text
    document = json.loads(output(capsys, "show", "run-4", "--format", "json"))
    assert document["history"][0]["runs"] == ["run-1"]


def test_show_of_one_that_goes_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "kept for --resume: launch" in output(capsys, "show", "run-3")


def test_show_with_agents_and_their_conversation(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "show", "run-2", "--agents")
    assert "guard 1: done: trace call:set_eagle3_layers_to_capture: never: model_runner.py:345" in text
    assert "== planner (1 reply, 100 tokens)\n[user] facts\nand more\n[model] calls why" in text
    assert "\x1b" not in text
    assert "(1 reply, 100 tokens, 0.0110)" in output(capsys, "show", "run-2", "--agents", "--price", "100", "200")
    document = json.loads(output(capsys, "show", "run-2", "--agents", "--format", "json"))
    assert len(document["conversation"]) == 3
    assert document["files"] == {"conversation.jsonl": len(_conversation()), "observed/log": 10}


def test_diff(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "diff", "run-1", "run-2")
    assert "cause_confirmed" in text
    assert "gpu-03" in text
    document = json.loads(output(capsys, "diff", "run-1", "run-2", "--format", "json"))
    assert document["schema"] == "rca.diff/1"
    assert output(capsys, "diff", "run-1", "run-1") == "same finding: EAGLE was asked for, the draft is an EAGLE3 draft\nno differences\n"
    assert run(["runs", "diff", "run-1", "run-3"]) == 2
    assert "did not finish" in capsys.readouterr().err


def test_prune_is_a_dry_run_where_nobody_can_be_asked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "prune", "--keep", "2"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("1 run and ")
    assert "  run-1\n" in out
    assert err == "rca: nothing was dropped; --yes drops them\n"
    assert run(["runs", "prune", "--keep", "2", "--yes"]) == 0
    capsys.readouterr()
    assert "run-1" not in output(capsys, "list")


def test_prune_asks_a_person(home: Path) -> None:
    code, shown = on_terminal(["runs", "prune", "--keep", "2"], {"RCA_HOME": str(home)}, answers={"Drop them?": "y"})
    assert code == 0
    assert "dropped 1 run and" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_run_ids_and_commands(home: Path, shell: str) -> None:
    def complete(words: str, at: int) -> str:
        environ = {"_RCA_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": str(at), "RCA_HOME": str(home)}
        if shell == "fish":
            environ["COMP_CWORD"] = words.split(" ")[-1]
        done = subprocess.run(
            [sys.executable, "-m", "agent.cli.main"], cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert "runs" in complete("rca ru", 1)
    assert "--version" in complete("rca --v", 1)
    told = complete("rca aud", 1)
    assert "audit" in told
    assert shell == "bash" or "Show every setting: asked; effective; observed; overridden." in told.replace("\\", ""), (
        "whole, without a comma"
    )
    for words in ("rca runs show run-", "rca verify run-", "rca playbook save run-", "rca run --resume run-"):
        found = complete(words, words.count(" "))
        assert all(f"run-{number}" in found for number in (1, 2, 3)), words
    for words in ("rca playbook show eagle-v", "rca playbook run eagle-v", "rca playbook test eagle-v", "rca run --playbook eagle-v"):
        assert "eagle-vs-eagle3" in complete(words, words.count(" ")), words
    source = subprocess.run(
        [sys.executable, "-m", "agent.cli.main"],
        cwd=ROOT,
        env={**os.environ, "_RCA_COMPLETE": f"{shell}_source", "RCA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"_RCA_COMPLETE={shell}_complete" in source.stdout
