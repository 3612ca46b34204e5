"""``rca report``: show in every form, attach with consent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agent.cli.main import run
from agent.cli.run import next_steps
from agent.store import RunStore
from tests.cli.terminals import on_terminal
from tests.reports import golden, samples
from tests.reports.schema import assert_valid


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the founding case stored."""
    monkeypatch.setenv("RCA_HOME", str(tmp_path))
    store = RunStore(tmp_path / "data")
    store.save(samples.founding())
    store.close()
    return tmp_path


@pytest.mark.parametrize(("format", "suffix"), [("md", ".md"), ("json", ".json"), ("html", ".html"), ("sarif", ".sarif"), ("text", ".txt")])
def test_show_gives_the_same_bytes_as_the_run_did(home: Path, capsys: pytest.CaptureFixture[str], format: str, suffix: str) -> None:
    assert run(["report", "show", "last", "--format", format]) == 0
    out, err = capsys.readouterr()
    assert out == (golden.DIRECTORY / "founding" / f"report{suffix}").read_text(encoding="utf-8")
    assert err == ""


def test_a_pipe_gets_markdown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "show", "2026"]) == 0
    assert capsys.readouterr().out.startswith("# EAGLE was asked for")


def test_a_terminal_gets_the_summary_in_colour(home: Path) -> None:
    code, shown = on_terminal(["report", "show", "last"], {"RCA_HOME": str(home)})
    assert code == 0
    assert "\x1b[" in shown
    assert "cause confirmed" in shown
    assert "| # | where |" not in shown
    code, shown = on_terminal(["report", "show", "last"], {"RCA_HOME": str(home), "NO_COLOR": "1"})
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown)


@pytest.mark.parametrize("columns", [60, 200])
def test_a_terminal_of_any_width(home: Path, columns: int) -> None:
    _, shown = on_terminal(["report", "show", "last"], {"RCA_HOME": str(home), "NO_COLOR": "1"}, columns=columns)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    command = samples.launch_command("EAGLE3")
    assert max(len(line) for line in plain.split("\n") if line != command) <= columns


def test_out_writes_a_file_too(home: Path, tmp_path: Path) -> None:
    assert run(["report", "show", "last", "--format", "html", "--out", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "20260501-152001-k3f9.html").read_text().startswith("<!doctype html>")


def test_a_report_from_a_file(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    run(["report", "show", "last", "--format", "json"])
    file.write_text(capsys.readouterr().out)
    assert run(["report", "show", str(file), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert_valid(document)
    file.write_text("{")
    assert run(["report", "show", str(file)]) == 2
    assert "is no JSON" in capsys.readouterr().err


def test_an_unknown_run_is_one_clear_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "show", "nothing"]) == 2
    assert capsys.readouterr().err == f"rca: no run 'nothing' in {home / 'data'} (`rca runs list` shows what is stored)\n"


def test_attach_is_a_dry_run_where_nobody_can_be_asked(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "tickets"
    assert run(["report", "attach", "last", f"dir:{target}"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"For {target}:")
    assert "EAGLE was asked for" in out
    assert err == "rca: nothing was sent; --yes sends it\n"
    assert not target.exists()


def test_attach_with_yes(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "tickets"
    for action in ("created", "unchanged"):
        assert run(["report", "attach", "last", f"dir:{target}", "--yes"]) == 0
        out, err = capsys.readouterr()
        assert out == ""
        assert err == f"rca: {action}: {target}\n"
    assert run(["report", "attach", "last", f"dir:{target}", "--yes", "--dry-run"]) == 0
    assert capsys.readouterr().err == "rca: nothing was sent\n"


@pytest.mark.parametrize(("answer", "sent"), [("y", True), ("n", False), ("", False)])
def test_attach_asks_a_person(home: Path, tmp_path: Path, answer: str, sent: bool) -> None:
    target = tmp_path / "tickets"
    arguments = ["report", "attach", "last", f"dir:{target}"]
    code, shown = on_terminal(arguments, {"RCA_HOME": str(home)}, answers={"Send this? [y/N]": answer})
    assert code == 0
    assert target.exists() == sent
    assert ("created:" in shown) == sent
    assert ("nothing was sent" in shown) != sent


def test_a_wrong_ticket_is_said_before_anything_else(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "attach", "no-such-run", "no-such-ticket"]) == 2
    assert "'no-such-ticket' is no ticket that rca knows (one of: https://github.com/OWNER/REPO/issues/N" in capsys.readouterr().err


def test_a_token_that_is_missing(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert run(["report", "attach", "last", "https://github.com/org/repo/issues/1", "--yes"]) == 2
    assert "rca: no token for github.com (set GITHUB_TOKEN, or store one with `keyring set rca:github.com USER`)" in capsys.readouterr().err


def test_a_run_ends_with_what_to_do_next() -> None:
    assert next_steps(samples.founding()) == [("Next", "after the restart: rca verify 20260501-152001-k3f9")]
    ((_, told),) = next_steps(samples.nothing_found())
    assert told.startswith("rca audit, with the same options")
    assert next_steps(samples.failed()) == []
