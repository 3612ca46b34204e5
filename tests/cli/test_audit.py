"""``rca audit NAME``: about the settings that were named, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.cli.main import run

SERVER = """\
import argparse
import os
import platform

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--kind", default="a")
    args = parser.parse_args()
    if args.size > 4 and os.cpu_count() > 8:
        raise ValueError("too large")
    if platform.machine() == "old":
        raise RuntimeError("no driver")
    args.size = 2

if __name__ == "__main__":
    main()
"""
GIVEN = ("--launch", "python3 -m shop.serve --size 8 --kind b", "-q")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RCA_HOME", str(tmp_path / "home"))
    (tmp_path / "tree" / "shop").mkdir(parents=True)
    (tmp_path / "tree" / "shop" / "serve.py").write_text(SERVER)
    return tmp_path / "tree"


def test_one_setting_and_what_depends_on_it(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "size", "--tree", str(tree), *GIVEN]) == 0
    shown = capsys.readouterr().out
    assert "asked 8 (flag), is 2" in shown and "too large" in shown
    assert "no driver" not in shown and "kind" not in shown


def test_all_of_them(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--all", "--tree", str(tree), *GIVEN]) == 0
    shown = capsys.readouterr().out
    assert "no driver" in shown and "kind" in shown


def test_a_name_that_is_no_setting(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "nonsense", "--tree", str(tree), *GIVEN]) == 2
    assert "no setting of this launch is called nonsense" in capsys.readouterr().err
