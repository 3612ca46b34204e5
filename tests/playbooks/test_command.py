"""``rca playbook`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from agent.cli.main import run
from agent.config import load_settings, shipped_directory
from agent.wiring import store
from tests.reports.samples import founding

SHIPPED = sorted(path.stem for path in shipped_directory("playbooks").glob("*.yaml"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_list_shows_every_shipped_playbook(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "playbook", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == SHIPPED
    assert len(SHIPPED) >= 14


def test_list_of_one_package_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = called(capsys, "playbook", "list", "--package", "vllm", "--format", "json")
    assert {row["id"] for row in json.loads(out)} == {"mla-forces-caching-off", "v0-engine-fallback"}
    _, out, _ = called(capsys, "playbook", "list", "--package", "sglang", "--version", "0.4.3", "--format", "json")
    assert [row["id"] for row in json.loads(out)] == ["chunked-prefill-divided"]


def test_matching_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    launch = "python3 -m sglang.launch_server --model-path m --speculative-algorithm EAGLE --speculative-draft-model-path d"
    _, out, _ = called(capsys, "playbook", "list", "--symptom", "accept length 1.0", "--package", "sglang", "--launch", launch)
    assert "+ eagle-vs-eagle3" in out
    assert "because the symptom says 'accept length'" in out
    assert "not known: `present(config.draft.eagle_config)" in out
    assert "not, since its condition `upper(launch.flags.speculative_algorithm) == 'EAGLE3'` does not hold here" in out


@pytest.mark.parametrize("id", SHIPPED[::8])
def test_show_names_what_a_playbook_judges(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "playbook", "show", id)
    assert code == 0
    assert out.startswith(f"{id}: ")
    assert "judges" in out and "weighs" in out and "fix  " in out


def test_show_of_the_file_itself(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = called(capsys, "playbook", "show", "eagle-vs-eagle3", "--yaml")
    assert yaml.safe_load(out)["id"] == "eagle-vs-eagle3"


def test_an_unknown_playbook_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called(capsys, "playbook", "show", "eagle-vs-eagle")
    assert (code, out) == (2, "")
    assert err == "rca: no playbook 'eagle-vs-eagle' (there is eagle-vs-eagle3; `rca playbook list` shows all)\n"


def test_validate_names_the_wrong_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = shipped_directory("playbooks") / "eagle-vs-eagle3.yaml"
    bad = tmp_path / "bad.yaml"
    wrong = next(number for number, target in enumerate(yaml.safe_load(good.read_text())["targets"]) if target["query"] == "call:fc")
    bad.write_text(good.read_text().replace("    query: call:fc\n", "    query: call fc\n"))
    code, out, _ = called(capsys, "playbook", "validate", str(good), str(bad))
    assert code == 2
    first, second = out.splitlines()
    assert first.startswith(f"{good}: ok (eagle-vs-eagle3, ")
    assert second.startswith(f"{bad}: targets[{wrong}].query: ")


def test_all_shipped_playbooks_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "playbook", "validate")
    assert (code, len(out.splitlines())) == (0, len(SHIPPED))


def test_every_shipped_playbook_has_a_release_that_fails_and_one_that_is_healthy() -> None:
    from agent.library import Library

    for playbook in Library(shipped_directory("playbooks")).all():
        expected = [(test.expect, bool(test.package)) for test in playbook.tests]
        assert ("confirmed", True) in expected, playbook.id
        assert ("silent", True) in expected, playbook.id


def test_the_users_own_playbook_goes_before_the_shipped_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (shipped_directory("playbooks") / "eagle-vs-eagle3.yaml").read_text()
    (home / "config" / "playbooks").mkdir(parents=True)
    (home / "config" / "playbooks" / "mine.yaml").write_text(text.replace("title: EAGLE-3 draft served under EAGLE", "title: Mine"))
    _, out, _ = called(capsys, "playbook", "show", "eagle-vs-eagle3")
    assert out.startswith("eagle-vs-eagle3: Mine")


def test_a_broken_playbook_of_the_user_is_said_by_every_command_that_needs_them(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config" / "playbooks").mkdir(parents=True)
    (home / "config" / "playbooks" / "mine.yaml").write_text("schema: rca.playbook/1\nid: x\n")
    code, _, err = called(capsys, "playbook", "list")
    assert code == 2
    assert err.startswith("rca: ") and "mine.yaml: title: is required" in err


def test_tests_without_their_releases_are_skipped_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "playbook", "test", "eagle-vs-eagle3")
    assert code == 1
    assert out.count("skipped") == 7
    assert "the release is not here: give --trees DIR or --fetch" in out
    assert out.splitlines()[-1] == "0 passed, 0 failed, 6 skipped"


def test_save_makes_a_valid_draft_and_does_not_write_over_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = store(load_settings())
    kept.save(founding())
    kept.close()
    code, out, err = called(capsys, "playbook", "save", "last", "--id", "my-case")
    place = home / "config" / "playbooks" / "my-case.yaml"
    assert (code, out) == (0, f"{place}\n")
    assert "The range is 0.5.9 alone: no tree of it is at hand" in err
    assert yaml.safe_load(place.read_text())["applies_to"] == [{"package": "sglang", "versions": "==0.5.9"}]
    code, _, err = called(capsys, "playbook", "save", "last", "--id", "my-case")
    assert code == 2
    assert "is there already" in err and "--force" in err
    assert called(capsys, "playbook", "save", "last", "--id", "my-case", "--force")[0] == 0


def test_save_of_a_name_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    kept = store(load_settings())
    kept.save(founding())
    kept.close()
    code, _, err = called(capsys, "playbook", "save", "last", "--id", "Not A Name")
    assert code == 2
    assert ": id: " in err


def test_save_of_an_unknown_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = called(capsys, "playbook", "save", "nothing", "--id", "x")
    assert code == 2
    assert "no run 'nothing'" in err
