"""Progress: plain lines where nobody watches, a live tree on terminals, silence when asked; always on standard error."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.progress import LiveProgress, PlainProgress, open_progress

ROOT = Path(__file__).resolve().parents[2]


def play(progress: object) -> None:
    with progress as told:  # type: ignore[attr-defined]
        told.started("launch facts", "find the process")
        told.said("launch facts", "reading\nprocess \x1b[31m42")
        told.started("log", "read the log")
        told.ended("launch facts", "done", "process 42")
        told.ended("log", "failed", "no such file")


def test_plain_lines() -> None:
    stream = io.StringIO()
    play(PlainProgress(stream))
    assert stream.getvalue() == "launch facts: ok: process 42\nlog: failed: no such file\n"


def test_verbose_lines_say_what_is_being_done_and_stay_lines() -> None:
    stream = io.StringIO()
    play(PlainProgress(stream, verbose=True))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "launch facts: find the process"
    assert len(lines) == 5 and "\x1b" not in stream.getvalue()


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    play(open_progress("title", quiet=True, verbose=False))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("width", [40, 60, 200])
def test_the_tree_fits_its_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    play(LiveProgress(stream, "rca run on gpu-07"))
    rows = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", row) for row in stream.getvalue().splitlines()]
    assert any("launch facts" in row for row in rows)
    assert max(len(row) for row in rows) <= width


def test_on_a_terminal_the_tree_is_drawn_on_standard_error_alone(tmp_path: Path) -> None:
    """With a real pseudo-terminal for standard error and a pipe for standard output."""
    script = "from agent.cli.progress import open_progress as opened; from tests.cli.test_progress import play\n"
    script += "with opened('title', quiet=False, verbose=False): print('a result')\n"
    script += "play(opened('title', quiet=False, verbose=False))"
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=follower, env={**os.environ, "TERM": "xterm"}
    )
    os.close(follower)
    shown = b""
    while True:
        ready, _, _ = select.select([leader], [], [], 30)
        assert ready, "nothing came"
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux tells the end of a terminal like this
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and out == b"a result\n", "what is printed while the tree is drawn goes where standard output goes"
    assert b"title" in shown and b"process 42" in shown and b"no such file" in shown


@pytest.mark.parametrize(("status", "word"), [("done", "ok"), ("failed", "failed"), ("skipped", "skipped")])
def test_a_long_summary_leaves_its_mark_alone(status: str, word: str) -> None:
    from rich.console import Console

    progress = LiveProgress(io.StringIO(), "title")
    progress.ended("guards", status, "x" * 300)
    out = io.StringIO()
    Console(file=out, width=60).print(progress._tree())
    assert f"{word} guards" in out.getvalue()
    assert out.getvalue().rstrip().endswith("x…"), "what was cut off is seen to be"
    assert max(map(len, out.getvalue().splitlines())) <= 60


def test_the_tree_has_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for variable in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    shown = []
    for unwanted in (False, True):
        if unwanted:
            monkeypatch.setenv("NO_COLOR", "1")
        stream = Terminal()
        play(LiveProgress(stream, "title"))
        shown.append(bool(re.search(r"\x1b\[[0-9;]*3[0-9]m", stream.getvalue())))
    assert shown == [True, False]


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True
