"""`rca audit` of running servers over a real sshd: what the server answers itself, two of them side by side, a changed command."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.servers import case, login, rca, serving, written
from tests.sshd import Sshd

TREE = {
    "sglang/__init__.py": "",
    "sglang/launch_server.py": """\
import argparse
import os
from dataclasses import dataclass


@dataclass
class ServerArgs:
    host: str
    port: int
    kind: str
    size: int
    api_key: str

    def __post_init__(self):
        if self.kind == "b":
            self.size = 1


def run(args):
    if args.kind == "b":
        print("b")
    if args.size > 4:
        print("large")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--kind", choices=["a", "b"], default="a")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--api-key", default="")
    parsed = parser.parse_args()
    run(ServerArgs(parsed.host, parsed.port, parsed.kind, parsed.size, parsed.api_key))


if __name__ == "__main__":
    main()
""",
}
FILE = "sglang/launch_server.py"
KEY = "sk-verysecret0123456789"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("tree"), TREE)


@dataclass
class Answering:
    """A server on loopback: what it was asked, and how it answers."""

    port: int
    asked: list[tuple[str, str]]
    status: int = 200
    body: bytes = b"{}"


@contextmanager
def answering() -> Iterator[Answering]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked.append((self.command, self.path))
            self.send_response(told.status)
            self.end_headers()
            self.wfile.write(told.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told = Answering(port=server.server_address[1], asked=[])
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield told
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def http() -> Iterator[Answering]:
    if shutil.which("curl", path="/usr/bin:/bin:/usr/local/bin") is None:
        pytest.skip("needs curl")
    with answering() as server:
        yield server


def command(*more: str) -> tuple[str, ...]:
    return ("python3", "-m", "sglang.launch_server", *more)


@pytest.fixture(scope="module")
def served(http: Answering, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The process id of a server that says that it listens where the other one does."""
    argv = command("--port", str(http.port), "--host", "0.0.0.0", "--size", "16", "--api-key", KEY)
    with serving(tmp_path_factory.mktemp("stage"), replace(case(), argv=argv), tree) as stage:
        yield stage.pid


SAID = {"host": "0.0.0.0", "kind": "a", "size": 16, "api_key": KEY, "unlisted": 1}


def told(http: Answering, **changes: Any) -> None:
    live = changes.pop("live", [{"size": 16}])
    http.status, http.body = 200, json.dumps({**SAID, "port": http.port, "internal_states": live, **changes}).encode()
    http.asked.clear()


def audited(tmp_path: Path, sshd: Sshd, pid: int, *more: str) -> Any:
    found = rca(tmp_path, "audit", *login(sshd), "--pid", str(pid), *more)
    assert KEY not in found.out + found.err
    return found


def answered(audit: Any) -> dict[str, Any]:
    """By setting, what the server said itself."""
    rows = ((row["name"], row["observed"]) for row in audit["settings"] if row["observed"])
    return {name: seen["value"] for name, seen in rows if seen["source"] == "server_info"}


def test_without_the_flag_nothing_is_asked(http: Answering, served: int, sshd: Sshd, tmp_path: Path) -> None:
    told(http)
    found = audited(tmp_path, sshd, served, "--format", "json")
    assert found.code == 0, found.err
    assert http.asked == []
    assert found.json["notices"] == [] and not answered(found.json)


def test_what_the_server_answers_stands_beside_and_the_warning_first(http: Answering, served: int, sshd: Sshd, tmp_path: Path) -> None:
    told(http, live=[{"size": 4}, {"size": 4}])
    found = audited(tmp_path, sshd, served, "--http", "--format", "json")
    assert found.code == 0, found.err
    assert http.asked == [("GET", "/server_info")]
    assert "answering /server_info changes the server" in found.err and "0.5.9" in found.json["notices"][0]
    seen = answered(found.json)
    assert (seen["size"], seen["kind"]) == (4, "a"), "the scheduler's own value is the later one"
    assert "unlisted" not in seen
    assert KEY not in json.dumps(seen)


def test_what_it_says_otherwise_is_shown_first(http: Answering, served: int, sshd: Sshd, tmp_path: Path) -> None:
    told(http, kind="b")
    shown = audited(tmp_path, sshd, served, "--http").out
    assert (
        shown.index("Note") < shown.index("Said otherwise by the running server") < shown.index("effective 'a', observed 'b' (server_info)")
    )
    assert "size" not in shown.split("Said otherwise")[1].split("\n\n")[0]


@pytest.mark.parametrize(
    ("status", "body", "why"), [(401, b"{}", "401"), (200, b"<html>", "no JSON object"), (200, b"[1]", "no JSON object")]
)
def test_an_answer_that_is_none(http: Answering, served: int, sshd: Sshd, tmp_path: Path, status: int, body: bytes, why: str) -> None:
    """As with --api-key: the key is not read from the command line."""
    told(http)
    http.status, http.body = status, body
    found = audited(tmp_path, sshd, served, "--http", "--format", "json")
    assert found.code == 0
    assert why in found.err
    assert not answered(found.json)


def test_only_a_live_server_can_be_asked(tree: Path, tmp_path: Path) -> None:
    found = rca(tmp_path, "audit", "--http", "--tree", str(tree), "--launch", " ".join(command()))
    assert (found.code, found.out) == (2, "")
    assert "--http asks the server that runs" in found.err


def test_the_help_says_that_it_is_no_pure_read(tmp_path: Path) -> None:
    shown = " ".join(rca(tmp_path, "audit", "--help").out.split())
    assert "No pure read: some releases change the live server by answering" in shown


# --- two side by side ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Two servers on one host."""
    root = tmp_path_factory.mktemp("pair")
    first, second = (replace(case(), argv=command("--kind", kind, "--api-key", KEY)) for kind in "ab")
    with serving(root / "a", first, tree) as a, serving(root / "b", second, tree) as b:
        yield a.pid, b.pid


def rows(answer: Any) -> dict[tuple[str, int], tuple[str, str]]:
    return {(row["path"], row["first"]): (row["a"], row["b"]) for row in answer["lines"]}


EXPECTED = {(FILE, 16): ("never", "always"), (FILE, 21): ("never", "always"), (FILE, 23): ("always", "never")}


def test_two_servers_of_one_host(pair: tuple[int, int], sshd: Sshd, tmp_path: Path) -> None:
    found = rca(tmp_path, "audit", *login(sshd), "--diff", f"pid:{pair[0]}", f"pid:{pair[1]}", "--format", "json")
    assert found.code == 0, found.err
    assert [row["name"] for row in found.json["settings"] if not row["name"].startswith("env:")] == ["kind", "size"]
    assert rows(found.json) == EXPECTED
    assert KEY not in found.out + found.err


def test_two_bundles_say_the_same(pair: tuple[int, int], sshd: Sshd, tmp_path: Path) -> None:
    files = [str(tmp_path / f"{name}.rca") for name in "ab"]
    for pid, file in zip(pair, files, strict=True):
        made = rca(tmp_path, "capture", *login(sshd), "--pid", str(pid), "-o", file)
        assert made.code == 0, made.err
    found = rca(tmp_path, "audit", "--diff", *files, "--format", "json")
    assert found.code == 0, found.err
    assert rows(found.json) == EXPECTED


def test_two_hosts(pair: tuple[int, int], sshd: Sshd, tmp_path: Path) -> None:
    """The same server twice: nothing differs."""
    _, host, *more = login(sshd)
    found = rca(tmp_path, "audit", *more, "--pid", str(pair[0]), "--diff", host, host, "--format", "json")
    assert found.code == 0, found.err
    assert (found.json["settings"], found.json["lines"], found.json["not_compared"]) == ([], [], [])
    assert (found.json["a"], found.json["b"]) == (host, host)


def test_under_a_changed_command(pair: tuple[int, int], sshd: Sshd, tmp_path: Path) -> None:
    """What the log says is of the launch as it runs: nothing is observed of one that is not."""
    found = rca(tmp_path, "audit", *login(sshd), "--pid", str(pair[0]), "--what-if", f"--kind b --api-key {KEY}", "--format", "json")
    assert found.code == 0, found.err
    size = next(row for row in found.json["settings"] if row["name"] == "size")
    assert (size["effective"]["value"], size["verdict"], size["changed_by"][0]["line"]) == (1, "overridden", 16)
    refused = rca(tmp_path, "audit", *login(sshd), "--pid", str(pair[0]), "--what-if", "--kind c", "--format", "json")
    assert [(each["type"], each["certainty"]) for each in refused.json["raises"]] == [("SystemExit", "always")]
    assert KEY not in found.out + found.err
