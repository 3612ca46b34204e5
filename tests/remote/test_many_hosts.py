"""``rca run`` on several hosts: grouped causes, JSON lines, exit codes; the investigations themselves are stand-ins."""

from __future__ import annotations

import asyncio
import contextlib
import json
import weakref
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent import wiring
from agent.cli import run
from agent.cli.many_hosts import cause_of, present_many, run_on_many
from agent.cli.options import Output, What, Where
from agent.cli.resuming import way_to
from agent.config import Settings, load_settings
from agent.domain.errors import ConnectFailed, StoreError
from agent.domain.investigation import AgentRecord, Cause, Finding, Investigation, RunInfo, Symptom
from agent.domain.launch import HostSpec, Launch
from agent.hosts.interface import Host
from agent.hosts.local_tree import MemoryTree
from agent.orchestrator import Silence
from agent.subagents.playbook.rehearsal import GivenFiles
from tests.e2e.servers import rca
from tests.sshd import free_port, serving


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
    async def investigate(spec: HostSpec, *_: object, open_host: Callable[[], Awaitable[Host]], run_id: str, **__: object) -> Investigation:
        await open_host()
        made = found(spec.name, "no_fault_found" if spec.name == "gpu04" else "cause_confirmed")
        return replace(made, run=replace(made.run, id=run_id))

    async def opened(spec: HostSpec, *_: object) -> StandIn:
        if spec.name == "gpu03":
            raise ConnectFailed("gpu03 port 22 refused the connection", host="gpu03")
        return StandIn()

    monkeypatch.setattr(run, "investigate", investigate)
    monkeypatch.setattr(wiring, "open_host", opened)


class StandIn:
    """A host that answers, and is asked nothing."""

    transport_name, transport_reason = "asyncssh", "test"


async def on(hosts: Sequence[str], config: Settings, *, where: Where | None = None, json_lines: bool = False, out: str = "") -> int:
    specs = replace(where or Where(), hosts=tuple(hosts)).specs()
    outcomes = await run_on_many(specs, "x", What(log="/l"), (), config, Silence(), json_lines=json_lines)
    return present_many(outcomes, Output(format="md", out=out), json_lines=json_lines)


async def test_equal_causes_are_told_once(config: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert await on(["gpu[01-05]"], config) == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 of 5 hosts: EAGLE-3 draft under EAGLE: --speculative-algorithm is EAGLE (gpu[01-02,05])",
        "1 of 5 hosts: no fault found (gpu04)",
        "1 of 5 hosts: the host port 22 refused the connection (gpu03)",
    ]


async def test_json_lines(config: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    await on(["gpu[03-05]"], config, json_lines=True)
    rows = {row["host"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert sorted(rows) == ["gpu03", "gpu04", "gpu05"]
    assert rows["gpu03"]["error"]["type"] == "ConnectFailed"
    assert rows["gpu05"]["result"]["schema"] == "rca.report/1"


async def test_one_run_is_judged_at_a_time(config: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts are read side by side; engines side by side would hold the memory of all of them."""
    at_once = {"read": 0, "judged": 0}
    most = dict(at_once)

    @contextlib.contextmanager
    def counted(what: str) -> Iterator[None]:
        at_once[what] += 1
        most[what] = max(most[what], at_once[what])
        yield
        at_once[what] -= 1

    async def investigate(spec: HostSpec, *_: object, thinking: asyncio.Semaphore, **__: object) -> Investigation:
        with counted("read"):
            await asyncio.sleep(0)
            async with thinking:
                with counted("judged"):
                    await asyncio.sleep(0)
        return found(spec.name, "undecided")

    monkeypatch.setattr(run, "investigate", investigate)
    await on(["gpu[01-09]"], config)
    assert most == {"read": 9, "judged": 1}


def test_a_tree_that_was_judged_leaves_the_memory() -> None:
    tree = MemoryTree({"program.py": "import os\nif os.getenv('A'):\n    x = 1\n"})
    launch = Launch(argv=("python3", "-m", "program"), env={})
    engine = wiring.open_engine(tree, launch, files=GivenFiles(contents={}), facts={})
    assert engine.why("program.py:3").target.line == 3
    kept = weakref.ref(tree)
    del tree, engine
    wiring.forget()
    assert kept() is None


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("no server process on HOST", "failed: no server process on the host"),
        ("HOST port 22: no (HOST.)", "failed: the host port 22: no (the host.)"),
        ("HOST2 and my-HOST and HOST.example.org", "failed: HOST2 and my-HOST and HOST.example.org"),
    ],
)
def test_hosts_that_fail_alike_are_alike(summary: str, said: str) -> None:
    for host in ("a", "10.0.0.7", "gpu-7.example.org"):
        agent = AgentRecord(name="launch facts", task="x", status="failed", summary=summary.replace("HOST", host))
        assert cause_of(replace(found(host, "failed"), agents=(agent,))) == said.replace("HOST", host)


@pytest.mark.parametrize(("hosts", "code"), [(("gpu03",), 2), (("gpu04",), 1), (("gpu03", "gpu04"), 1), (("gpu01", "gpu03"), 0)])
async def test_exit_codes(hosts: tuple[str, ...], code: int, config: Settings) -> None:
    assert await on(hosts, config) == code


async def test_each_run_is_kept_with_the_way_to_its_host(config: Settings) -> None:
    """So that it can be verified, resumed and compared like one on a single host."""
    where = Where(user="me", port=2222, identity=("key",), jump=("bastion",), host_key_policy="accept-new")
    await on(["gpu[01-03]", "[::1]"], config, where=where)
    store = wiring.store(config)
    entries = {entry.host: entry.id for entry in store.list()}
    store.close()
    assert sorted(entries) == ["::1", "gpu01", "gpu02"], "a host that could not be reached left nothing"
    for host, id in entries.items():
        again, what = way_to(config, id, Where(), What())
        (spec,) = again.specs()
        assert spec == replace(where, hosts=(f"[{host}]" if ":" in host else host,)).one()
        assert what == What(log="/l")


async def test_reports_that_cannot_be_written_cost_nobody_the_answer(
    config: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        await on(["gpu[01-02]"], config, out=str(tmp_path / "file"))
    assert capsys.readouterr().out.startswith("2 of 2 hosts: EAGLE-3 draft under EAGLE")


async def test_each_report_is_written(config: Settings, tmp_path: Path) -> None:
    await on(["gpu[01-04]"], config, out=str(tmp_path / "out"))
    written = sorted((tmp_path / "out").iterdir())
    assert [file.suffix for file in written] == [".md"] * 3
    assert sum("EAGLE" in file.read_text() for file in written) == 2


def test_hosts_of_an_inventory_come_with_the_options(tmp_path: Path) -> None:
    inventory = tmp_path / "hosts"
    inventory.write_text("gpu[01-02]\nother\n")
    specs = Where(hosts=("gpu02",), inventory=str(inventory), user="me", jump=("bastion",)).specs()
    assert [(spec.name, spec.user, spec.jump) for spec in specs] == [(name, "me", ("bastion",)) for name in ("gpu02", "gpu01", "other")]


def test_many_real_hosts_of_which_one_is_closed(tmp_path: Path) -> None:
    """An inventory, one sshd under several addresses: each host has its own answer, and a failure stays on its host."""
    with serving(tmp_path, {"ListenAddress": "0.0.0.0"}) as sshd:
        known = tmp_path / "known"
        known.write_text(f"[127.*]:{sshd.port} {sshd.known_hosts.read_text().split(' ', 1)[1]}")
        hosts = tmp_path / "hosts"
        hosts.write_text(f"127.0.0.[1-3]:{sshd.port}\n127.0.0.4:{free_port()}\n")
        to = ["--inventory", str(hosts), "--user", sshd.user, "--identity", str(sshd.key), "--known-hosts", str(known)]
        asked = ["run", "--symptom", "hidden dim 7168", "--pid", "1", "--quiet", *to]
        lines = rca(tmp_path / "home", *asked, "--json-lines")
        told = rca(tmp_path / "home", *asked)
    rows = {row["host"]: row for row in map(json.loads, lines.out.splitlines())}
    assert sorted(rows) == ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]
    assert rows["127.0.0.4"]["error"]["type"] == "ConnectFailed"
    assert all("result" in rows[f"127.0.0.{number}"] for number in (1, 2, 3))
    first, second = told.out.splitlines()
    assert first.startswith("3 of 4 hosts: ") and first.endswith("(127.0.0.1, 127.0.0.2, 127.0.0.3)")
    assert second.startswith("1 of 4 hosts: the host port ") and " refused the connection " in second and second.endswith("(127.0.0.4)")
