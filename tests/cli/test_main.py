"""The command line as a whole: its version, its errors, what it says of a fault that was there before."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from agent import __version__
from agent.cli.main import run
from agent.cli.run import keep_run
from agent.config import load_settings
from tests.reports import samples


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"rca {__version__}\n"
    assert version("rca-agent") == __version__ and re.fullmatch(r"\d+\.\d+\.\d+\S*", __version__)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["audti"], "rca: there is no command 'audti'; did you mean 'audit'? (see: rca --help)\n"),
        (["run", "--symptm", "x"], "rca: No such option '--symptm'. Did you mean '--symptom'? (see: rca run --help)\n"),
        (["runs", "list", "--limit", "many"], "rca: Invalid value for '--limit': 'many' is not a valid integer"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(told) and err.count("\n") == 1


def test_a_run_ends_with_how_often_its_fault_was_there_before(tmp_path: Path) -> None:
    """Found by fingerprint: the guard has moved to another file and line meanwhile, and the release is another."""
    config = load_settings({"RCA_HOME": str(tmp_path)})
    told = []
    for number, host in enumerate(("gpu-03", "gpu-07", "gpu-03", "gpu-11"), start=1):
        found = samples.founding(run=samples.run(id=f"run-{number}", host=host, started_at=f"2026-0{number + 4}-01T10:00:00Z"))
        (finding,) = found.findings
        assert finding.guard and found.subject
        moved = replace(finding, guard=replace(finding.guard, path=f"sglang/other_{number}.py", line=100 + number))
        found = replace(found, findings=(moved,), subject=replace(found.subject, version=f"0.5.{number}"))
        told.append(dict(keep_run(found, config)))
    assert "Seen" not in told[0]
    assert told[1]["Seen"] == "seen once before, in May 2026, on gpu-03; playbook eagle3-aux-capture"
    assert told[3]["Seen"] == "seen 3 times since May 2026, on gpu-03 and gpu-07; playbook eagle3-aux-capture"
    other = samples.nothing_found()
    assert "Seen" not in dict(keep_run(replace(other, run=samples.run(id="run-9")), config))
