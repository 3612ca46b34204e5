"""What goes wrong between here and the server: exit code 2 or a named unknown, one clear line each, nothing lost."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.demo.stage import Stage
from tests.e2e.servers import SYMPTOM, Outcome, case, login, rca, serving
from tests.sshd import Sshd, free_port, make_key
from tests.store.test_crashes import small_disk

__all__ = ["small_disk"]

TREE = {"sglang/__init__.py": "", "sglang/launch_server.py": "print('hello')\n"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server whose package is a few lines: for tests that never get as far as the engine."""
    release = tmp_path_factory.mktemp("release")
    for path, text in TREE.items():
        (release / path).parent.mkdir(parents=True, exist_ok=True)
        (release / path).write_text(text)
    (release / "sglang-0.5.9.dist-info").mkdir()
    with serving(tmp_path_factory.mktemp("stage"), case(), release) as stage:
        yield stage


def run(home: Path, sshd: Sshd, *more: str) -> Outcome:
    return rca(home, "run", *login(sshd), "--symptom", SYMPTOM, "--format", "json", *more)


def one_line(found: Outcome) -> str:
    """The error as it is told: the only line that starts with the program's name."""
    told = [line for line in found.err.splitlines() if line.startswith("rca: ")]
    assert "Traceback" not in found.err
    assert len(told) == 1, found.err
    return told[0]


def test_nobody_listens(tmp_path: Path) -> None:
    found = rca(tmp_path, "run", "--host", f"127.0.0.1:{free_port()}", "--symptom", SYMPTOM)
    assert (found.code, found.out) == (2, "")
    assert re.search(r"127\.0\.0\.1.*refused", one_line(found))


def test_no_such_host(tmp_path: Path) -> None:
    found = rca(tmp_path, "run", "--host", "no-such-host.invalid", "--symptom", SYMPTOM)
    assert (found.code, found.out) == (2, "")
    assert "no-such-host.invalid" in one_line(found)


def test_refused_key(sshd: Sshd, tmp_path: Path) -> None:
    other = make_key(tmp_path / "other")
    options = login(sshd)
    options[options.index("--identity") + 1] = str(other)
    found = rca(tmp_path, "run", *options, "--symptom", SYMPTOM)
    assert (found.code, found.out) == (2, "")
    one_line(found)


def test_unknown_host_key(sshd: Sshd, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    options = login(sshd)
    options[options.index("--known-hosts") + 1] = str(tmp_path / "empty")
    found = rca(tmp_path, "run", *options, "--symptom", SYMPTOM)
    assert (found.code, found.out) == (2, "")
    assert "accept-new" in one_line(found)


def test_changed_host_key(sshd: Sshd, tmp_path: Path) -> None:
    other = make_key(tmp_path / "other").with_suffix(".pub").read_text()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{sshd.port} {other}")
    options = login(sshd)
    options[options.index("--known-hosts") + 1] = str(tmp_path / "known")
    found = rca(tmp_path, "run", *options, "--symptom", SYMPTOM)
    assert (found.code, found.out) == (2, "")
    assert one_line(found).count("SHA256:") == 2, "both fingerprints"


@pytest.mark.parametrize("host", ["", "-oProxyCommand=x", "a:b:c:d", "host:port"])
def test_words_that_are_no_host(tmp_path: Path, host: str) -> None:
    found = rca(tmp_path, "run", "--host", host, "--symptom", SYMPTOM)
    assert (found.code, found.out) == (2, "")
    one_line(found)


def test_no_such_process(sshd: Sshd, tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    found = run(tmp_path, sshd, "--pid", str(ended.pid))
    assert found.code == 2
    assert f"no process {ended.pid}" in one_line(found)
    assert found.json["outcome"] == "failed", "what was found so far is still a report"


def test_a_process_that_is_no_server(sshd: Sshd, tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "600"])
    try:
        found = run(tmp_path, sshd, "--pid", str(other.pid))
    finally:
        other.kill()
        other.wait()
    assert found.code == 2
    assert "no server that is known" in one_line(found)


def test_several_servers_ask_for_a_choice(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    with serving(tmp_path / "second", case(changes=[("--port", "8001")]), small.site) as second:
        found = run(tmp_path / "home", sshd)
    assert found.code == 2
    assert "choose one with --pid" in found.err
    assert f"{small.pid}: python3 -m sglang.launch_server" in found.err
    assert f"{second.pid}: python3 -m sglang.launch_server" in found.err


def test_no_such_tree(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    found = run(tmp_path, sshd, "--pid", str(small.pid), "--tree", "/no/such/tree")
    assert found.code == 2
    assert "/no/such/tree" in one_line(found)
    assert found.json["launch"]["pid"] == small.pid, "the launch that was read is kept"


def test_a_package_that_is_not_there(sshd: Sshd, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with serving(tmp_path / "stage", case(), tmp_path / "empty") as stage:
        found = run(tmp_path / "home", sshd, "--pid", str(stage.pid))
    assert found.code == 2
    assert "was not found" in one_line(found) and "--tree DIR" in one_line(found)
    assert any(item["kind"] == "absence" for item in found.json["evidence"])


@pytest.mark.parametrize("kind", ["broken", "missing", "a directory", "not an object"])
def test_an_unusable_draft_config_is_a_named_unknown(small: Stage, sshd: Sshd, tmp_path: Path, kind: str) -> None:
    what = case()
    with serving(tmp_path / "stage", what, small.site) as stage:
        config = stage.root / "data/eagle3/output_10k_sglang/4/config.json"
        config.unlink()
        if kind == "a directory":
            config.mkdir()
        elif kind != "missing":
            config.write_text({"broken": '{"hidden_size": 7168,\n "x": }', "not an object": "[1]"}[kind])
        found = run(tmp_path / "home", sshd, "--pid", str(stage.pid))
    told = [unknown for unknown in found.json["unknowns"] if "draft" in unknown["what"]]
    assert len(told) == 1
    assert {"broken": "line 2, column", "missing": "there is no", "a directory": "directory", "not an object": "no JSON object"}[
        kind
    ] in told[0]["why"]
    assert found.json["subject"]["package"] == "sglang"


@pytest.fixture(params=["below a file", "not a directory that can be made", "a full disk"])
def no_home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where nothing can be kept."""
    if request.param == "a full disk":
        disk: Path = request.getfixturevalue("small_disk")
        with contextlib.suppress(OSError), (disk / "fill").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        return disk
    (tmp_path / "file").write_text("")
    return {"below a file": tmp_path / "file" / "home", "not a directory that can be made": Path("/proc/no-such-place")}[request.param]


def test_what_cannot_be_kept_ends_no_run(small: Stage, sshd: Sshd, no_home: Path) -> None:
    """Neither the run, nor the log of its reads, nor the cache: each is told once, and the answer is the same."""
    found = run(no_home, sshd, "--pid", str(small.pid))
    assert found.code == 1, found.err
    assert found.json["subject"]["package"] == "sglang"
    assert not any(agent["status"] == "failed" for agent in found.json["agents"])
    told = [line for line in found.err.splitlines() if line.startswith("rca: ")]
    assert [sum(part in line for line in told) for part in ("run cannot be kept", "not logged", "not cached")] == [1, 1, 1], found.err
    assert len(told) == 3 and "Traceback" not in found.err
    assert "Not kept: " in found.err


def test_a_file_that_cannot_be_written_takes_nothing_from_the_output(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    found = run(tmp_path, sshd, "--pid", str(small.pid), "--out", "/proc/no-such-place")
    assert found.code == 2
    assert "cannot write /proc/no-such-place/" in one_line(found)
    assert found.json["subject"]["package"] == "sglang"


def test_output_that_nobody_takes(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        found = rca(tmp_path, "run", *login(sshd), "--symptom", SYMPTOM, "--pid", str(small.pid), stdout=full)
    assert found.code == 2
    assert "cannot write the output: No space left" in one_line(found)


def test_a_bundle_takes_the_place_of_a_file_alone(tmp_path: Path) -> None:
    """As root, it could take that of a device."""
    os.mkfifo(tmp_path / "pipe")
    found = rca(tmp_path / "home", "capture", "--transport", "local", "-o", str(tmp_path / "pipe"), "--force")
    assert (found.code, found.out) == (2, "")
    assert "no regular file" in one_line(found)
    assert (tmp_path / "pipe").is_fifo()


def test_a_log_that_is_gone_is_a_named_unknown(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    with serving(tmp_path / "stage", case(), small.site) as stage:
        stage.log.unlink()
        found = run(tmp_path / "home", sshd, "--pid", str(stage.pid))
    assert any(unknown["what"] == "the server's log" for unknown in found.json["unknowns"])


def test_one_connection_serves_all_subagents(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    before = sshd.log.count("Accepted publickey")
    found = run(tmp_path, sshd, "--pid", str(small.pid))
    assert sum(agent["status"] == "done" for agent in found.json["agents"]) >= 5
    assert sshd.log.count("Accepted publickey") == before + 1
    assert "connection: ok: asyncssh (the default)\n" in found.err


def test_variables_that_are_given_count_for_a_running_server_too(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    found = run(tmp_path, sshd, "--pid", str(small.pid), "--env", "NCCL_DEBUG=INFO", "--env", "MORE=1")
    assert {name: found.json["launch"]["env"][name] for name in ("NCCL_DEBUG", "NCCL_IB_DISABLE", "MORE")} == {
        "NCCL_DEBUG": "INFO",
        "NCCL_IB_DISABLE": "1",
        "MORE": "1",
    }


def test_files_newer_than_the_process_are_told(small: Stage, sshd: Sshd, tmp_path: Path) -> None:
    import time

    with serving(tmp_path / "stage", case(), small.site) as stage:
        changed = stage.site / "sglang" / "launch_server.py"
        os.utime(changed, (time.time() + 60, time.time() + 60))
        found = run(tmp_path / "home", sshd, "--pid", str(stage.pid))
    assert found.json["subject"]["modified_files"] == ["sglang/launch_server.py"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run"], "--symptom"),
        (["run", "--symptom", "x"], "which host?"),
        (["run", "--symptom", "x", "--host", "h", "--env", "X"], "NAME=VALUE"),
        (["run", "--symptom", "x", "--host", "h[1-2]", "--format", "json"], "--json-lines"),
        (["run", "--symptom", "x", "--host", "h", "--transport", "carrier-pigeon"], "carrier-pigeon"),
        (["run", "--symptom", "x", "--host", "h", "--playbook", "no-such-playbook"], "no playbook"),
        (["run", "--symptom", "x", "--transport", "local", "--launch", "python3 -m x 'open"], "does not close"),
        (["why", "x", "--tree", "/no/such/dir", "--launch", "python3 -m x"], "/no/such/dir"),
        (["why", "x", "--facts", "/no/such/facts"], "/no/such/facts"),
        (["demo", "--model", "nobody"], "no model 'nobody'"),
        (["no-such-command"], "no command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_calls_that_are_wrong_are_told_in_one_line(tmp_path: Path, arguments: list[str], part: str) -> None:
    found = rca(tmp_path, *arguments)
    assert (found.code, found.out) == (2, "")
    assert part in one_line(found)
