"""The directories a process's Python asks for a package, in its own order; compared with real interpreters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.probes.interpreter import ProcessPlace, interpreter_candidates, plan_search, python_version


def place(argv: tuple[str, ...], *, cwd: str | None = "/srv", exe: str | None = "/usr/bin/python3.11", **env: str) -> ProcessPlace:
    return ProcessPlace(argv=argv, env=env, cwd=cwd, exe=exe)


def test_the_interpreter_as_called_comes_first() -> None:
    assert interpreter_candidates(place(("/v/bin/python", "-m", "x"))) == ("/v/bin/python", "/usr/bin/python3.11")
    assert interpreter_candidates(place(("bin/python", "-m", "x"))) == ("/srv/bin/python", "/usr/bin/python3.11")
    found = interpreter_candidates(place(("python3", "-m", "x"), PATH="/v/bin:relative:/usr/bin"))
    assert found == ("/v/bin/python3", "/usr/bin/python3", "/usr/bin/python3.11")
    assert interpreter_candidates(place(("server-title",), VIRTUAL_ENV="/v")) == ("/usr/bin/python3.11", "/v/bin/python")
    assert interpreter_candidates(place(("bin/python", "-m", "x"), cwd=None, exe=None)) == ()


@pytest.mark.parametrize(
    ("argv", "env", "early"),
    [
        (("python3", "-m", "x"), {}, ("/srv",)),
        (("python3", "-m", "x"), {"PYTHONPATH": "/a::b"}, ("/srv", "/a", "/srv/b")),
        (("python3", "-P", "-m", "x"), {"PYTHONPATH": "/a"}, ("/a",)),
        (("python3", "-m", "x"), {"PYTHONSAFEPATH": "1"}, ()),
        (("python3", "-E", "-m", "x"), {"PYTHONPATH": "/a"}, ("/srv",)),
        (("python3", "-I", "-m", "x"), {"PYTHONPATH": "/a"}, ()),
        (("python3", "bin/x.py"), {}, ("/srv/bin",)),
        (("python3", "/opt/bin/x", "serve"), {}, ("/opt/bin",)),
        (("python3", "x.py"), {}, ("/srv",)),
    ],
)
def test_what_comes_before_the_standard_library(argv: tuple[str, ...], env: dict[str, str], early: tuple[str, ...]) -> None:
    assert plan_search(place(argv, **env), ["/usr/bin/python3.11"], "3.11").early == early


def test_an_unknown_directory_leaves_relative_entries_out() -> None:
    assert plan_search(place(("python3", "-m", "x"), cwd=None, PYTHONPATH="a:/b"), ["/usr/bin/python3"], "3.11").early == ("/b",)


def test_user_site_can_be_switched_off() -> None:
    user = "/home/u/.local/lib/python3.11/site-packages"
    argv = ("python3", "-m", "x")
    assert user in plan_search(place(argv, HOME="/home/u"), ["/v/bin/python3"], "3.11").sites
    assert user not in plan_search(place(argv, HOME="/home/u", PYTHONNOUSERSITE="1"), ["/v/bin/python3"], "3.11").sites
    assert user not in plan_search(place(("python3", "-s", "-m", "x"), HOME="/home/u"), ["/v/bin/python3"], "3.11").sites


def test_versions_are_read_from_names_and_configuration() -> None:
    assert python_version("/usr/bin/python3.12") == "3.12"
    assert python_version("/usr/bin/python3", "home = /usr/bin\nversion = 3.10.4\n") == "3.10"
    assert python_version("/usr/bin/python3", None, "7f00 /usr/lib/libpython3.9.so.1.0") == "3.9"
    assert python_version("/usr/bin/python", "") == ""


def test_the_plan_holds_what_this_python_really_searches(tmp_path: Path) -> None:
    """Every site directory of a real interpreter is in the plan, in the same order."""
    script = "import json, sys; print(json.dumps([sys.executable, [p for p in sys.path if p.endswith('-packages')]]))"
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    called, searched = json.loads(done.stdout)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    plan = plan_search(place((called, "-m", "x"), HOME=str(tmp_path)), [called], version)
    assert [folder for folder in plan.sites if folder in searched] == searched
