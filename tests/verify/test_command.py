"""``rca verify`` from the command line: a stored run, the program as it is now, its log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.cli.main import run
from agent.cli.options import What, Where
from agent.cli.resuming import Asked
from agent.config import load_settings
from agent.domain.investigation import Subject, TargetVerdict
from agent.orchestrator.remembered import LOG
from agent.wiring import store
from tests.playbooks.shop import PLAYBOOK, RELEASES
from tests.reports.samples import founding
from tests.verify.test_numbers import decode_line

START = "[2026-05-01 15:16:08] server_args=ServerArgs(model_path='m', speculative_algorithm='{}')\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, text in RELEASES["1.0"].items():
        place = tmp_path / "tree" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "tree"


def keep(*, log: str | None, package: str = "sglang", playbook: str = "") -> None:
    """A run that found turbo switched off under ``--mode slow``."""
    base = founding(subject=Subject(package=package, version="0.5.9", root="/srv"), playbook=playbook)
    assert base.launch is not None
    target = TargetVerdict(path="shop/serve.py", line=10, text="self.turbo()", verdict="never")
    investigation = replace(
        base,
        launch=replace(base.launch, argv=tuple("python3 -m shop.serve --mode slow".split()), env={}),
        findings=(replace(base.findings[0], targets=(target,)),),
    )
    kept = store(load_settings())
    kept.save(investigation, {} if log is None else {LOG: log.encode()})
    kept.close()


def own_playbook() -> str:
    """The user's playbook of the run, which expects better numbers after the fix."""
    folder = load_settings().playbook_dir
    folder.mkdir(parents=True)
    better = "verify: {metrics: [{metric: accept_length, holds: after > before}]}\ntests: []\n"
    (folder / "no-turbo.yaml").write_text(PLAYBOOK.replace("tests:\n", better))
    return "no-turbo"


def log(tmp_path: Path, name: str, accept: float | None, speed: float, count: int = 20, running: int = 1) -> Path:
    """A log with an earlier start in it, whose numbers do not count."""
    earlier = START.format("EAGLE") + (decode_line(accept=9.0, speed=999) + "\n") * 5
    (tmp_path / name).write_text(earlier + START.format("EAGLE3") + (decode_line(running, accept, speed) + "\n") * count)
    return tmp_path / name


def verified(capsys: pytest.CaptureFixture[str], tree: Path, *more: str, mode: str = "fast") -> tuple[int, dict[str, Any]]:
    launch = f"python3 -m shop.serve --mode {mode}"
    code = run(["verify", "last", "--tree", str(tree), "--launch", launch, "--format", "json", "--quiet", *more])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if shown.out else {"err": shown.err}


def test_the_founding_storys_second_half(tmp_path: Path, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=log(tmp_path, "before", 1.0, 61.4).read_text(), playbook=own_playbook())
    after, baseline = log(tmp_path, "after", 2.1, 82.3), log(tmp_path, "baseline", None, 90.0)
    code, found = verified(capsys, tree, "--log", str(after), "--baseline", str(baseline))
    assert (code, found["conclusion"]) == (0, "fixed")
    assert "accept length 1.00 before, 2.10 after; throughput 61.40 before, 82.30 after at 1 running" in found["words"].replace(
        "accept rate 0.06 before, 0.13 after; ", ""
    )
    assert round(found["payoff"]["break_even"], 2) == 2.3
    assert found["payoff"]["pays"] is False
    assert "speculation still does not pay" in found["words"]
    assert verified(capsys, tree, "--log", str(after), "--baseline", "90")[1]["payoff"] == found["payoff"]


def lay_out(tmp_path: Path, version: str) -> Path:
    for path, text in RELEASES[version].items():
        place = tmp_path / version / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / version


@pytest.mark.parametrize(
    ("version", "mode", "conclusion", "kinds"),
    [
        ("1.1", "fast", "fixed", ["launch", "playbook"]),  # the code moved: its line is not in the file any more
        ("1.1", "slow", "not_fixed", ["launch", "playbook"]),
        ("2.0", "slow", "fixed", ["launch", "guard", "playbook"]),  # the command is the old one, the release is not
    ],
)
def test_after_an_upgrade_the_playbook_finds_its_lines(
    tmp_path: Path, version: str, mode: str, conclusion: str, kinds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    own_playbook()
    keep(log=None, package="shop", playbook="no-turbo")
    (load_settings().playbook_dir / "no-turbo.yaml").write_text(PLAYBOOK.replace("tests:\n", "tests: []\n"))
    _, found = verified(capsys, lay_out(tmp_path, version), mode=mode)
    assert found["conclusion"] == conclusion, found
    assert [check["kind"] for check in found["checks"]] == kinds


def test_a_baseline_at_another_batch_size_is_not_compared(tmp_path: Path, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None)
    after, baseline = log(tmp_path, "after", 2.1, 82.3), log(tmp_path, "baseline", None, 700.0, running=8)
    _, found = verified(capsys, tree, "--log", str(after), "--baseline", str(baseline))
    assert found["payoff"] is None
    assert "the batches had different sizes: 8 in the baseline and 1 here running requests" in found["words"]


def test_the_old_command_is_not_fixed(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None)
    code, found = verified(capsys, tree, mode="slow")
    assert (code, found["conclusion"]) == (1, "not_fixed")
    assert [check["status"] for check in found["checks"]] == ["failed", "failed"]


def test_an_open_guard_is_fixed_where_no_numbers_are_asked_for(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None, package="shop")
    code, found = verified(capsys, tree)
    assert (code, found["conclusion"], found["numbers"]) == (0, "fixed", [])
    assert [(check["kind"], check["before"], check["after"]) for check in found["checks"]][1] == ("guard", "never", "always")


def test_watching_ends_when_enough_was_seen(tmp_path: Path, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None)
    after = log(tmp_path, "after", 2.1, 82.3)
    _, found = verified(capsys, tree, "--log", str(after), "--watch", "--batches", "20")
    assert {one["metric"]: one["after"] for one in found["numbers"]}["throughput"] == pytest.approx(82.3)


def test_as_a_person_reads_it(tmp_path: Path, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=log(tmp_path, "before", 1.0, 61.4).read_text())
    after = str(log(tmp_path, "after", 2.1, 82.3))
    code = run(["verify", "last", "--tree", str(tree), "--launch", "python3 -m shop.serve --mode fast", "--log", after, "--baseline", "90"])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0].startswith("fixed: run ")
    assert "ok     launch   launch command: changed" in lines
    assert "ok     guard    shop/serve.py:10 self.turbo(): never -> always" in lines
    assert "accept_length 1.00 -> 2.10" in [" ".join(line.split()) for line in lines]
    assert lines[-1] == "break-even     accept length 2.30"


@pytest.mark.parametrize(("form", "suffix"), [("json", "json"), ("text", "txt")])
def test_the_result_is_also_written(tmp_path: Path, tree: Path, form: str, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None, package="shop")
    given = ["--tree", str(tree), "--launch", "python3 -m shop.serve --mode fast", "--format", form, "--out", str(tmp_path / "kept")]
    questions = {"verify": "last", "why": "shop/serve.py:10", "reach": "shop/serve.py", "audit": ""}
    for command, about in questions.items():
        assert run([command, *([about] if about else []), "--quiet", *given]) == 0
        printed = capsys.readouterr().out
        (written,) = (tmp_path / "kept").glob(f"{command}*.{suffix}")
        assert [line.rstrip() for line in written.read_text().splitlines()] == [line.rstrip() for line in printed.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--baseline", "-3"), "above zero"),
        (("--baseline", "inf"), "above zero"),
        (("--baseline", "nan"), "above zero"),
        (("--baseline", "/nowhere"), "cannot read /nowhere"),
        (("--log", "/nowhere"), "cannot read /nowhere"),
        (("--watch",), "no log to watch"),
        (("--before-log", "/nowhere"), "cannot read /nowhere"),
    ],
)
def test_wrong_options_are_one_clear_line(arguments: tuple[str, ...], said: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None)
    code, found = verified(capsys, tree, *arguments)
    assert code == 2
    assert said in found["err"] and found["err"].count("\n") == 1


def test_a_baseline_log_without_numbers_is_refused(tmp_path: Path, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None)
    (tmp_path / "empty").write_text("nothing here\n")
    code, found = verified(capsys, tree, "--baseline", str(tmp_path / "empty"))
    assert code == 2
    assert "has no line with a throughput" in found["err"]


def test_a_program_whose_log_nobody_described(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(log=None, package="shop")
    code, found = verified(capsys, tree, "--baseline", "90")
    assert code == 2
    assert "no table says how this program logs its numbers" in found["err"]


def test_a_run_on_a_bundle_is_not_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    """A bundle stays as it was: nothing in it was fixed since."""
    kept = store(load_settings())
    asked = Asked(symptom="s", where=Where(bundle="/tmp/x.rca"), what=What(), playbooks=())
    kept.begin("r1", host="h", symptom="s", started_at="2026-05-01T15:20:01Z", request=asked.kept())
    base = founding()
    kept.save(replace(base, run=replace(base.run, id="r1")))
    kept.close()
    assert run(["verify", "r1"]) == 2
    assert "run r1 read a bundle, which stays as it was" in capsys.readouterr().err


def test_an_unknown_run(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = verified(capsys, tree)
    assert code == 2
    assert "no run 'last'" in found["err"]
