"""Completion in real shells, set up as docs/commands/README.md says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.main import COMMANDS
from tests.apt import PackagesUnavailable, ensure
from tests.cli.terminals import ROOT

SETUP = {"bash": 'eval "$(_RCA_COMPLETE=bash_source rca)"', "zsh": 'eval "$(_RCA_COMPLETE=zsh_source rca)"'}
ASK = {
    # Each shell's own machinery: what it would offer after the words in $ASKED, one line each.
    "bash": f"{SETUP['bash']}\nCOMP_WORDS=($ASKED)\nCOMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n"
    "$(complete -p rca | sed 's/.*-F \\([^ ]*\\) .*/\\1/') rca\nprintf '%s\\n' \"${COMPREPLY[@]}\"",
    "zsh": "autoload -Uz compinit && compinit -u -d $HOME/dump\n"
    f"{SETUP['zsh']}\n"
    "_describe() { local name=${@[(r)completions_with_descriptions]}; print -l -- ${(P)name} }\n"
    "compadd() { print -l -- ${(P)@[-1]} }\n"
    "words=(${=ASKED}); CURRENT=$#words; ${_comps[rca]}",
    "fish": '_RCA_COMPLETE=fish_source rca | source\ncomplete --do-complete "$ASKED"',
}


def offered(shell: str, words: str, home: Path) -> str:
    """What the shell offers for the last word of ``words``."""
    if shutil.which("rca", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("the program is not installed beside this Python")
    try:
        ensure([shell], lambda: shutil.which(shell) is not None)
    except PackagesUnavailable as missing:
        pytest.skip(str(missing))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(home), "RCA_HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "ASKED": words}
    options = {"bash": ["--noprofile", "--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run([shell, *options, "-c", ASK[shell]], env=environment, capture_output=True, text=True, timeout=120, cwd=home)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ASK)
def test_a_shell_offers_commands_and_their_options(shell: str, tmp_path: Path) -> None:
    told = [re.split(r"[:\t]", line)[0] for line in offered(shell, "rca ru", tmp_path).splitlines()]
    assert sorted(filter(None, told)) == sorted(name for name in COMMANDS if name.startswith("ru"))
    told = [re.split(r"[:\t]", line)[0] for line in offered(shell, "rca run --budget-s", tmp_path).splitlines()]
    assert sorted(filter(None, told)) == ["--budget-seconds", "--budget-steps"]


@pytest.mark.parametrize("shell", SETUP)
def test_the_set_up_is_the_documented_one(shell: str) -> None:
    assert SETUP[shell] in (ROOT / "docs" / "commands" / "README.md").read_text(encoding="utf-8")
