"""``rca run`` on several hosts: grouped causes, JSON lines, exit codes; the investigations themselves are stand-ins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli import run
from agent.cli.many_hosts import run_on_many
from agent.cli.options import What, Where
from agent.config import Settings, load_settings
from agent.domain.errors import ConnectFailed
from agent.domain.investigation import Cause, Finding, Investigation, RunInfo, Symptom
from agent.domain.launch import HostSpec
from agent.orchestrator import Silence


def found(host: str, outcome: str) -> Investigation:
    cause = Cause(kind="flag", name="--speculative-algorithm", actual="EAGLE", required=("EAGLE3",))
    finding = Finding(id="F1", title="EAGLE-3 draft under EAGLE", summary="", confidence="proved", cause=cause, guard=None)
    return Investigation(
        run=RunInfo(
            id=f"20260101-000000-{host}", started_at="2026-01-01T00:00:00Z", duration_s=1.0, host=host, transport="x", rca_version="1"
        ),
        symptom=Symptom.parse("dim 7168"),
        outcome=outcome,
        subject=None,
        launch=None,
        findings=(finding,) if outcome == "cause_confirmed" else (),
    )


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return load_settings({"RCA_HOME": str(tmp_path)})


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    async def investigate(spec: HostSpec, *_: object) -> Investigation:
        if spec.name == "gpu03":
            raise ConnectFailed("gpu03 port 22 refused the connection", host="gpu03")
        return found(spec.name, "no_fault_found" if spec.name == "gpu04" else "cause_confirmed")

    monkeypatch.setattr(run, "investigate", investigate)


async def test_equal_causes_are_told_once(config: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    code = await run_on_many(Where(hosts=("gpu[01-05]",)).specs(), "x", What(), (), config, Silence(), json_lines=False)
    assert code == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 of 5 hosts: EAGLE-3 draft under EAGLE: --speculative-algorithm is EAGLE (gpu[01-02,05])",
        "1 of 5 hosts: no fault found (gpu04)",
        "1 of 5 hosts: the host port 22 refused the connection (gpu03)",
    ]


async def test_json_lines(config: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    await run_on_many(Where(hosts=("gpu[03-05]",)).specs(), "x", What(), (), config, Silence(), json_lines=True)
    rows = {row["host"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert sorted(rows) == ["gpu03", "gpu04", "gpu05"]
    assert rows["gpu03"]["error"]["type"] == "ConnectFailed"
    assert rows["gpu05"]["result"]["schema"] == "rca.report/1"


@pytest.mark.parametrize(("hosts", "code"), [(("gpu03",), 2), (("gpu04",), 1), (("gpu03", "gpu04"), 1), (("gpu01", "gpu03"), 0)])
async def test_exit_codes(hosts: tuple[str, ...], code: int, config: Settings) -> None:
    assert await run_on_many(Where(hosts=hosts).specs(), "x", What(), (), config, Silence(), json_lines=False) == code


def test_hosts_of_an_inventory_come_with_the_options(tmp_path: Path) -> None:
    inventory = tmp_path / "hosts"
    inventory.write_text("gpu[01-02]\nother\n")
    specs = Where(hosts=("gpu02",), inventory=str(inventory), user="me", jump=("bastion",)).specs()
    assert [(spec.name, spec.user, spec.jump) for spec in specs] == [(name, "me", ("bastion",)) for name in ("gpu02", "gpu01", "other")]
