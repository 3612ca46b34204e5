"""Server processes told from wrappers, workers and forks; environments by allow-list."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.probes.environment import is_clobbered, names_set, parse_environ
from agent.probes.processes import ProcessStat, boot_time, launchers, newer_files, parse_stat, servers, started_at, ticks_per_second
from agent.probes.products import Product, Script, model_value, option, python_program, server_command

DEMO = Product(
    name="demo",
    packages=("demo",),
    modules=("demo.server",),
    scripts=(Script(name="demo", subcommand="serve"), Script(name="demo-server")),
    workers=(re.compile("^demo::"),),
)

SERVERS = [
    ("python3", "-m", "demo.server", "--port", "1"),
    ("/opt/venv/bin/python3.11", "-u", "-O", "-m", "demo.server"),
    ("python3", "-W", "ignore", "-X", "dev", "-um", "demo.server"),
    ("python", "-mdemo.server"),
    ("/opt/venv/bin/python3", "/opt/venv/bin/demo", "serve", "/models/x"),
    ("/opt/venv/bin/demo-server",),
    ("python3", "/src/demo/server.py", "--port", "1"),
    ("python3", "/src/demo/server/__main__.py"),
]
OTHERS = [
    ("bash", "-c", "python3 -m demo.server"),
    ("sudo", "python3", "-m", "demo.server"),
    ("grep", "demo.server"),
    ("python3", "-c", "import demo.server", "-m", "demo.server"),
    ("python3", "client.py", "-m", "demo.server"),
    ("python3", "-m", "demo.server_test"),
    ("python3", "-m", "pytest", "demo.server"),
    ("/opt/venv/bin/demo", "bench"),
    ("vim", "/src/demo/server.py"),
    ("demo::scheduler_TP0",),
    (),
]


@pytest.mark.parametrize("argv", SERVERS, ids=" ".join)
def test_server_commands(argv: tuple[str, ...]) -> None:
    found = server_command(argv, [DEMO])
    assert found is not None and found.product is DEMO


@pytest.mark.parametrize("argv", OTHERS, ids=" ".join)
def test_commands_that_only_mention_a_server(argv: tuple[str, ...]) -> None:
    assert server_command(argv, [DEMO]) is None


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("python3", "-m", "a.b", "-m", "c"), ("module", "a.b", 3)),
        (("python3", "-I", "x.py", "y"), ("script", "x.py", 3)),
        (("python3", "-c", "pass", "y"), ("", "", 3)),
        (("python3", "-"), ("", "", 2)),
        (("python3", "--check-hash-based-pycs", "x"), ("script", "x", 3)),
        (("python3",), ("", "", 1)),
    ],
)
def test_what_python_runs(argv: tuple[str, ...], expected: tuple[str, str, int]) -> None:
    assert python_program(argv) == expected


def test_only_launchers_are_servers() -> None:
    lines = {
        10: ("python3", "-m", "demo.server"),
        11: ("python3", "-m", "demo.server"),
        12: ("demo::scheduler",),
        13: ("bash", "-c", "python3 -m demo.server"),
        20: ("python3", "-m", "demo.server", "--port", "2"),
    }
    found = servers(lines, [DEMO])
    assert [process.pid for process in found] == [10, 11, 20]
    parents = {10: ProcessStat(parent=13, started=1), 11: ProcessStat(parent=10, started=2), 20: ProcessStat(parent=1, started=3)}
    assert [process.pid for process in launchers(found, parents)] == [10, 20], "a fork shows its parent's command line"
    assert [process.pid for process in launchers(found, {})] == [10, 11, 20], "without parents nobody is left out"


def test_stat_fields_are_counted_after_the_name() -> None:
    raw = b"42 (a) b) (c) S 7 " + b" ".join(b"%d" % n for n in range(5, 60))
    assert parse_stat(raw) == ProcessStat(parent=7, started=22)
    assert parse_stat(b"") is None
    assert parse_stat(b"42 (x) S") is None


def test_the_start_of_this_process_is_found() -> None:
    proc = Path("/proc/self")
    ticks = ticks_per_second((proc / "auxv").read_bytes())
    started = started_at(parse_stat((proc / "stat").read_bytes()), boot_time(Path("/proc/stat").read_bytes()), ticks)
    assert ticks == os.sysconf("SC_CLK_TCK")
    assert started is not None
    assert 0 <= Path("/proc/self/stat").stat().st_mtime - started < 86_400


def test_unknown_starts_stay_unknown() -> None:
    assert started_at(None, 1, 100) is None
    assert started_at(ProcessStat(parent=1, started=5), None, 100) is None
    assert started_at(ProcessStat(parent=1, started=5), 1, None) is None
    assert ticks_per_second(b"") is None
    assert ticks_per_second(b"odd") is None
    assert ticks_per_second(struct.pack("=QQ", 3, 4)) is None
    assert boot_time(b"cpu 1 2\nbtime x\n") is None
    assert newer_files({"a": 1.0}, None) is None
    assert newer_files({"a": 99.0, "b": 103.0}, 100.0) == ("b",)


def test_environment_by_allow_list() -> None:
    raw = b"DEMO_X=1\0DEMO_TOKEN=a=b\0OTHER=2\0=odd\0DEMO_X=later\0NOEQUALS\0DEMO_L=\xff\0"
    assert parse_environ(raw, ["DEMO_*"]) == {"DEMO_L": "\udcff", "DEMO_TOKEN": "a=b", "DEMO_X": "1"}
    assert parse_environ(raw, []) == {}


def test_a_clobbered_environment_is_recognised() -> None:
    assert is_clobbered(b"\0\0emo::scheduler\0\0")
    assert is_clobbered(b"\0\0\0")
    assert not is_clobbered(b"A=1\0")
    assert not is_clobbered(b"")


@pytest.mark.parametrize("raw", [b"", b"\0\0", b"A=1", b"A=1\0\0B=2\0", b"title\0B=2\0", b"=x\0B=2\0", b"B=2\0A"])
def test_of_a_damaged_environment_nothing_is_said_to_be_missing(raw: bytes) -> None:
    assert names_set(raw) is None


def test_names_of_a_whole_environment() -> None:
    assert names_set(b"A=1\0B=<redacted:b>\0C=\0A=2\0") == {"A", "B", "C"}


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="ascii", exclude_characters="=\0"), min_size=1),
            st.text(st.characters(codec="utf-8", exclude_characters="\0")),
        )
    )
)
def test_every_allowed_variable_comes_back(pairs: list[tuple[str, str]]) -> None:
    raw = b"".join(f"{name}={value}\0".encode() for name, value in pairs)
    first = dict(reversed(pairs))
    assert parse_environ(raw, ["*"]) == dict(sorted(first.items()))


def test_options_in_both_forms() -> None:
    argv = ("x", "--model_path", "a", "--model-path=b", "--flag")
    assert option(argv, ["--model-path"]) == "b"
    assert option(("x", "--model-path"), ["--model-path"]) is None
    assert option(argv, ["--other"]) is None


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("demo", "serve", "/m", "--spec", '{"model": "/d", "n": 3}'), "/d"),
        (("demo", "serve", "/m", "--spec", "{not json"), None),
        (("demo", "serve", "/m", "--spec", "[1]"), None),
        (("demo", "serve", "--draft", "/e"), "/e"),
    ],
)
def test_models_named_inside_json(argv: tuple[str, ...], expected: str | None) -> None:
    assert model_value(argv, ("--spec.model", "--draft")) == expected


def test_models_named_by_position() -> None:
    assert model_value(("demo", "serve", "/m"), ("--model", "serve")) == "/m"
    assert model_value(("demo", "serve", "--model", "/x"), ("--model", "serve")) == "/x"
    assert model_value(("demo", "serve", "--port", "1"), ("--model", "serve")) is None
