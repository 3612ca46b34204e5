"""What is installed is whole: the built wheel holds every playbook and prompt, and the program finds them there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.test_documents import ROOT

SHIPPED = ("playbooks", "prompts")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of the wheel, away from the repository."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"what builds the wheel cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    [wheel] = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    return place / "site"


@pytest.mark.parametrize("name", SHIPPED)
def test_every_file_is_in_it(name: str, installed: Path) -> None:
    here = {path.relative_to(ROOT / name) for path in (ROOT / name).rglob("*") if path.is_file()}
    there = {path.relative_to(installed / "agent" / "_shipped" / name) for path in (installed / "agent" / "_shipped" / name).rglob("*.*")}
    assert here and here == {path for path in there if (installed / "agent" / "_shipped" / name / path).is_file()}


def test_the_program_finds_them_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    def ran(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(installed), "RCA_HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    rows = json.loads(ran("-m", "agent.cli.main", "playbook", "list", "--format", "json"))
    assert {Path(row["file"]).name for row in rows} == {path.name for path in (ROOT / "playbooks").glob("*.yaml")}
    assert all(Path(row["file"]).is_relative_to(installed) for row in rows)
    program = "from agent.config import shipped_directory; from agent.subagents.model import prompts; print(shipped_directory('prompts'))"
    program += "; print(*map(prompts._template, ('planner', 'investigator', 'synthesiser')))"
    where, _, told = ran("-c", program).partition("\n")
    assert Path(where).is_relative_to(installed) and "You plan" in told and "You summarise" in told
