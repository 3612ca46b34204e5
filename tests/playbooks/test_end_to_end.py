"""From a playbook file to a finding, to a stored run, to a playbook again, with the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.cli.main import run
from agent.config import load_settings
from agent.domain.facts import Facts
from agent.domain.investigation import Investigation, LaunchInfo, RunInfo, Subject, Symptom
from agent.domain.launch import Launch
from agent.hosts.local_tree import MemoryTree
from agent.library.reading import parse_playbook
from agent.orchestrator.remembered import CONFIGS, FACTS, LOG
from agent.subagents.playbook import PlaybookAnswer, investigate
from agent.subagents.playbook.rehearsal import GivenFiles
from agent.wiring import open_engine, store
from tests.e2e.servers import rca
from tests.playbooks.shop import PLAYBOOK, RELEASES, own_test


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    for version, files in RELEASES.items():
        for path, text in files.items():
            place = tmp_path / "trees" / f"shop-{version}" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return tmp_path / "trees"


def judged(version: str, mode: str) -> PlaybookAnswer:
    launch = Launch(argv=tuple(f"python3 -m shop.serve --mode {mode}".split()))
    engine = open_engine(MemoryTree(RELEASES[version]), launch, files=GivenFiles(contents={}), facts={})
    facts = Facts(package="shop", version=version, symptom=Symptom.parse("slow"), launch=launch)
    return investigate(parse_playbook((PLAYBOOK + "  []\n").replace("tests:\n  []", "tests: []").encode(), "p.yaml"), engine, facts)


def followed(home: Path, trees: Path, symptom: str) -> dict[str, Any]:
    """``rca run`` on a launch of this machine's, with the playbooks of the configuration directory."""
    given = ["--transport", "local", "--tree", str(trees / "shop-1.0"), "--launch", "python3 -m shop.serve --mode slow"]
    return rca(home, "run", "--symptom", symptom, "--format", "json", *given).json


def write_playbooks(home: Path, *ids: str) -> None:
    (home / "config" / "playbooks").mkdir(parents=True)
    for id in ids:
        text = PLAYBOOK.replace("id: no-turbo", f"id: {id}").replace("tests:\n", "tests: []\n")
        other = text if id == "no-turbo" else text.replace("call:turbo", "call:plod")
        (home / "config" / "playbooks" / f"{id}.yaml").write_text(other)


def test_several_matches_are_followed_side_by_side(home: Path, trees: Path) -> None:
    write_playbooks(home, "no-turbo", "no-plod")
    report = followed(home, trees, "it is slow")
    assert report["outcome"] == "cause_confirmed"
    said = {agent["name"]: agent["summary"] for agent in report["agents"]}
    assert (said["playbook no-turbo"], said["playbook no-plod"]) == ("confirmed", "this failure is not here")
    assert "guards of no-plod/turbo" in said


def test_two_playbooks_that_find_the_same_have_found_one_thing(home: Path, trees: Path) -> None:
    write_playbooks(home, "no-turbo")
    twin = home / "config" / "playbooks" / "twin.yaml"
    twin.write_text((home / "config" / "playbooks" / "no-turbo.yaml").read_text().replace("id: no-turbo", "id: twin"))
    report = followed(home, trees, "it is slow")
    assert [agent["summary"] for agent in report["agents"] if agent["name"].startswith("playbook ")] == ["confirmed", "confirmed"]
    assert len(report["findings"]) == 1


def test_matches_that_are_too_many_are_named(home: Path, trees: Path) -> None:
    write_playbooks(home, "a", "b", "c", "d", "e", "f")
    report = followed(home, trees, "it is slow")
    assert sum(agent["name"].startswith("playbook ") for agent in report["agents"]) == 4
    (left,) = [one for one in report["unknowns"] if one["what"].startswith("what the other playbooks")]
    assert left["why"].endswith("these match as well: e, f")


def test_where_none_matches_the_audit_decides(home: Path, trees: Path) -> None:
    write_playbooks(home, "no-turbo")
    report = followed(home, trees, "an odd mode")
    names = [agent["name"] for agent in report["agents"]]
    assert "settings audit" in names and not any(name.startswith("playbook ") for name in names)


def unasked(home: Path, tree: Path, symptom: str) -> dict[str, Any]:
    """A release in which the launch has a fault that a playbook knows, and a setting that is overridden besides."""
    write_playbooks(home, "no-turbo")
    file = home / "config" / "playbooks" / "no-turbo.yaml"
    launch = "match: {symptom: [turbo], when: [\"launch.flags.mode == 'slow'\"], by_launch: true}"
    file.write_text(file.read_text().replace("match: {symptom: [slow]}", launch))
    serve = RELEASES["1.0"]["shop/serve.py"]
    serve = serve.replace("    args = parser.parse_args()\n", OVERRIDE)
    (tree / "shop").mkdir(parents=True)
    (tree / "shop" / "serve.py").write_text(serve)
    given = ["--transport", "local", "--tree", str(tree), "--launch", "python3 -m shop.serve --mode slow --cache-size 8"]
    report = rca(home, "run", "--symptom", symptom, "--format", "json", *given).json
    assert report["outcome"] == "cause_confirmed"
    found: dict[str, Any] = report
    return found


OVERRIDE = """\
    parser.add_argument("--cache-size", type=int, default=1)
    args = parser.parse_args()
    if args.mode == "slow":
        args.cache_size = 2
"""
LINK = "that the symptom comes from it: its words do not speak of it, the launch does"


def test_a_fault_that_the_symptom_does_not_speak_of_is_not_said_to_be_its_cause(home: Path, tmp_path: Path) -> None:
    report = unasked(home, tmp_path / "tree", "we get timeouts since monday")
    (finding,) = report["findings"]
    assert (finding["title"], finding["confidence"], finding["assumptions"][0]) == ("Turbo never runs", "assuming", LINK)
    assert report["playbook"] == "no-turbo"


def test_what_the_symptom_names_goes_before_it(home: Path, tmp_path: Path) -> None:
    report = unasked(home, tmp_path / "tree", "cache size is 2, we asked for 8")
    named, other = report["findings"]
    assert (named["title"], named["guard"]["condition"]) == ("cache_size is 2 where 8 was asked", 'args.mode == "slow"')
    assert (other["title"], other["assumptions"][0]) == ("Turbo never runs", LINK)
    assert (report["playbook"], report["matched_because"]) == ("", ""), "the first finding is no playbook's"


def test_a_fault_that_the_symptom_speaks_of_is_its_cause(home: Path, tmp_path: Path) -> None:
    (finding,) = unasked(home, tmp_path / "tree", "turbo is off")["findings"]
    assert finding["confidence"] == "proved" and LINK not in finding["assumptions"]


def test_a_broken_playbook_of_the_users_is_named_before_anything_is_asked(home: Path, trees: Path) -> None:
    write_playbooks(home, "no-turbo")
    broken = home / "config" / "playbooks" / "z.yaml"
    broken.write_text("id: [")
    found = rca(home, "run", "--host", "127.0.0.1:1", "--symptom", "it is slow")
    assert (found.code, found.out) == (2, "")
    assert found.err == f"rca: {broken}: line 2: did not find expected node content\n"


@pytest.mark.parametrize(
    ("version", "mode", "outcome", "guard"),
    [
        ("1.0", "slow", "confirmed", "shop/serve.py:9"),
        ("1.1", "slow", "confirmed", "shop/runner.py:6"),
        ("1.2", "slow", "confirmed", "shop/serve.py:10"),
        ("1.0", "fast", "silent", ""),
        ("2.0", "slow", "silent", ""),
    ],
)
def test_one_playbook_finds_the_guard_wherever_it_stands(version: str, mode: str, outcome: str, guard: str) -> None:
    answer = judged(version, mode)
    assert answer.outcome == outcome
    found = answer.finding.guard if answer.finding else None
    assert (f"{found.path}:{found.line}" if found else "") == guard


def test_the_fix_is_evaluated_and_spelled_out() -> None:
    finding = judged("1.0", "slow").finding
    assert finding is not None and finding.fix is not None and finding.counterfactual is not None
    assert finding.fix.command == "python3 -m shop.serve --mode fast"
    assert ("shop/serve.py", 10) in [(place.path, place.line) for place in finding.counterfactual.opens]
    assert finding.confidence == "proved"
    roles = [step.role for step in finding.chain]
    assert (roles[0], roles[-2:]) == ("config", ["guard", "effect"])
    assert all(step.text for step in finding.chain)


def test_own_trees_are_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "no-turbo.yaml"
    file.write_text(PLAYBOOK + own_test("1.0", "slow", "confirmed") + own_test("1.1", "fast", "silent") + own_test("2.0", "slow", "silent"))
    assert run(["playbook", "test", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed, 0 skipped"


def test_a_test_that_fails_says_what_was_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "no-turbo.yaml"
    file.write_text(PLAYBOOK + own_test("1.0", "fast", "confirmed"))
    assert run(["playbook", "test", str(file), "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["result"] == "failed"
    assert row["problems"][0].startswith("expected confirmed, got silent (turbo healthy: shop/serve.py:10 runs")


def kept_run(version: str) -> None:
    """A run as `rca run` leaves it behind."""
    answer = judged(version, "slow")
    assert answer.finding is not None
    argv = tuple("python3 -m shop.serve --mode slow".split())
    investigation = Investigation(
        run=RunInfo(id="r1", started_at="2026-05-01T15:20:01Z", duration_s=1, host="h", transport="local", rca_version="0"),
        symptom=Symptom.parse("the server is slow"),
        outcome="cause_confirmed",
        subject=Subject(package="shop", version=version, root="/srv"),
        launch=LaunchInfo(argv=argv, env={}, cwd="/srv", pid=1, source="process"),
        findings=(answer.finding,),
        hypotheses=answer.hypotheses,
    )
    artefacts: dict[str, bytes] = {CONFIGS: b"{}", FACTS: b'{"gpu_count": 8}', LOG: b"started\n"}
    kept = store(load_settings())
    kept.save(investigation, artefacts)
    kept.close()


def saved(trees: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    assert run(["playbook", "save", "r1", "--id", "mine", "--trees", str(trees)]) == 0
    shown = capsys.readouterr()
    return yaml.safe_load(Path(shown.out.strip()).read_text()), shown.err


def test_a_saved_run_reproduces_itself_and_says_where_it_holds(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept_run("1.1")
    content, said = saved(trees, capsys)
    assert content["targets"] == [{"id": "turbo", "query": "call:turbo", "file": "shop/**"}]
    assert content["match"]["when"] == ["launch.flags.mode == 'slow'"]
    assert content["applies_to"] == [{"package": "shop", "versions": ">=1.0,<=1.2"}]
    assert "It holds on 1.0, 1.1, 1.2." in said
    assert "Trying shop 1.0.\nTrying shop 1.2.\nTrying shop 2.0.\n" in said
    assert "It does not hold on 2.0: expected confirmed, got silent" in said
    assert run(["playbook", "test", "mine", "--trees", str(trees)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed, 0 skipped"


def test_a_saved_run_whose_release_is_not_at_hand_says_so(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept_run("1.1")
    content, said = saved(trees / "nothing", capsys)
    assert content["applies_to"] == [{"package": "shop", "versions": "==1.1"}]
    assert "no tree of it is at hand" in said
