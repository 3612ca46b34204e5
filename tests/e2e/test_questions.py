"""`rca why`, `reach`, `audit` and the Python API, offline on a small tree and live over SSH."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.servers import REPOSITORY, case, login, rca, serving, written
from tests.sshd import Sshd

TREE = {
    "sglang/__init__.py": "",
    "sglang/launch_server.py": """\
import argparse


def run(kind, fast):
    if kind == "b":
        capture()
    if fast:
        hurry()


def capture():
    print("captured")


def hurry():
    print("hurried")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["a", "b"], default="a")
    parser.add_argument("--fast", action="store_true")
    args = parser.parse_args()
    run(args.kind, args.fast)


if __name__ == "__main__":
    main()
""",
}
FILE = "sglang/launch_server.py"
LAUNCH = "nohup python3 -m sglang.launch_server --kind a --fast > log 2>&1 &"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("tree"), TREE)


def offline(tree: Path) -> list[str]:
    return ["--tree", str(tree), "--launch", LAUNCH]


def test_why_names_the_guard_and_what_would_open_it(tree: Path, tmp_path: Path) -> None:
    found = rca(tmp_path, "why", f"{FILE}:6", *offline(tree), "--format", "json")
    assert found.code == 0, found.err
    answer = found.json
    assert answer["schema"] == "rca.why/1"
    assert (answer["verdict"], answer["decisive"]["line"], answer["decisive"]["truth"]) == ("never", 5, "false")
    changes = [[(one["name"], one["to"]) for one in counterfactual["change"]] for counterfactual in answer["counterfactuals"]]
    assert [("--kind", "b")] in changes


@pytest.mark.parametrize(
    ("query", "verdict"), [("call:capture", "never"), ("call:hurry", "always"), ("hurry", "always"), (f"{FILE}:7", "always")]
)
def test_every_kind_of_target(tree: Path, tmp_path: Path, query: str, verdict: str) -> None:
    found = rca(tmp_path, "why", query, *offline(tree), "--format", "json")
    assert (found.code, found.json["verdict"]) == (0, verdict), found.err


def test_why_reads_as_text_in_a_pipe(tree: Path, tmp_path: Path) -> None:
    found = rca(tmp_path, "why", "call:capture", *offline(tree))
    assert found.code == 0, found.err
    assert f'x {FILE}:5 kind == "b"  must be true, is false' in found.out
    assert "it would run with --kind 'a' -> 'b'" in found.out
    assert "\x1b" not in found.out


def test_a_target_that_is_nowhere_suggests_another(tree: Path, tmp_path: Path) -> None:
    found = rca(tmp_path, "why", "call:captrue", *offline(tree))
    assert (found.code, found.out) == (2, "")
    assert "capture" in found.err and len(found.err.splitlines()) == 1


def test_a_launch_that_the_program_refuses(tree: Path, tmp_path: Path) -> None:
    found = rca(tmp_path, "why", "call:capture", "--tree", str(tree), "--launch", "python3 -m sglang.launch_server --kind c")
    assert (found.code, found.out) == (2, "")
    assert "choice" in found.err and len(found.err.splitlines()) == 1


def test_reach_marks_every_line(tree: Path, tmp_path: Path) -> None:
    found = rca(tmp_path, "reach", FILE, *offline(tree))
    assert found.code == 0, found.err
    marks = {int(row[2:].split("|")[0]): row[0] for row in found.out.splitlines()[1:]}
    assert (marks[5], marks[6], marks[8], marks[12], marks[16], marks[28]) == ("+", "-", "+", "-", "+", "+")
    assert marks[2] == " "
    answer = rca(tmp_path, "reach", FILE, *offline(tree), "--format", "json").json
    assert answer["schema"] == "rca.reach/1"
    assert any(first <= 6 <= last for first, last in answer["never"])


def test_the_python_api_says_the_same(tree: Path) -> None:
    script = f"""
import json, agent
tree = agent.open_tree({str(tree)!r})
launch = ["python3", "-m", "sglang.launch_server", "--kind", "a", "--fast"]
print(json.dumps([
    agent.why(tree, "{FILE}:6", launch=launch, env={{}}, cwd=".", assume={{}}).as_dict()["verdict"],
    agent.why(tree, "{FILE}:6", launch=[*launch, "--kind", "b"]).as_dict()["verdict"],
    agent.reach(tree, "{FILE}", launch=launch).as_dict()["schema"],
    agent.HostSpec("user@host:22").as_dict()["port"],
    sorted(agent.__dir__()) == sorted(agent.__all__),
]))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["never", "always", "rca.reach/1", 22, True]


def test_why_over_ssh_is_why_offline(tree: Path, sshd: Sshd, tmp_path: Path) -> None:
    """The live process's own launch, its tree found on the host."""
    from dataclasses import replace

    what = replace(case(), argv=("python3", "-m", "sglang.launch_server", "--kind", "a", "--fast"))
    with serving(tmp_path / "stage", what, tree) as stage:
        live: Any = rca(tmp_path / "home", "why", "call:capture", *login(sshd), "--pid", str(stage.pid), "--format", "json")
        assert live.code == 0, live.err
    here = rca(tmp_path / "home", "why", "call:capture", *offline(tree), "--format", "json")
    assert live.json == here.json
