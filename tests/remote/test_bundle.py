"""Bundles: what a host answered once is answered again by the file; what it was not asked is unknown; nothing secret is in it."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.domain.command import Command, CommandResult
from agent.domain.errors import NotFoundOnHost, StoreError
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, Unreadable
from agent.hosts import commands
from agent.hosts.basic_regex import basic_regex
from agent.hosts.bundle import Bundle, load
from agent.hosts.bundle_host import NOT_IN_BUNDLE, BundleHost, open_bundle
from agent.hosts.capturing import CapturingHost
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport
from tests.e2e.servers import SYMPTOM, case, login, rca
from tests.e2e.servers import serving as server_process
from tests.sshd import Sshd
from tests.wheels import WheelTree

PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    (root / "pkg" / "sub").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text("import os\n\ndef is_it(x):\n    return x == 'EAGLE'\n")
    (root / "pkg" / "sub" / "b.py").write_text(f'KEY = """{PEM}"""\napi_key = "hunter2222"\nlast = is_it(1)\n')
    (root / "config.json").write_text('{"hidden_size": 7168, "api_key": "hunter2222"}')
    (root / "server.log").write_text("".join(f"line {number} api_key=hunter2222\n" for number in range(3000)))
    return root


@pytest.fixture
async def pair(site: Path, tmp_path: Path) -> AsyncIterator[tuple[RemoteHost, BundleHost]]:
    """The live host, and the bundle made of some reads on it."""
    bundle = Bundle(host="gpu7", captured_at="2026-01-01T00:00:00Z", transport="local")
    capturing = CapturingHost(RemoteHost(LocalTransport(), HostSpec(name="gpu7")), bundle)
    await capturing.sync_tree(str(site), ["pkg"])
    await capturing.fetch([str(site / "config.json"), str(site / "absent.json")])
    await capturing.batch(
        [commands.grep("EAGLE", [str(site / "pkg")]), commands.tail_bytes(str(site / "server.log"), 500), commands.uname()]
    )
    await capturing.close()
    bundle.save(tmp_path / "gpu7.rca")
    live = RemoteHost(LocalTransport(), HostSpec(name="gpu7"))
    yield live, open_bundle(tmp_path / "gpu7.rca")
    await live.close()


def plain(answer: object) -> tuple[object, ...]:
    assert isinstance(answer, CommandResult)
    return answer.status, sorted(answer.stdout.split(b"\n")), answer.truncated


async def test_reads_of_before_and_new_ones_are_answered_alike(pair: tuple[RemoteHost, BundleHost], site: Path) -> None:
    live, bundled = pair
    pkg, a, log = str(site / "pkg"), str(site / "pkg" / "a.py"), str(site / "server.log")
    reads = [
        commands.grep("EAGLE", [pkg]), commands.grep("is_it(", [pkg]), commands.grep(["^import", r"x == '.*'$"], [pkg]),
        commands.grep("IS_IT", [pkg], fixed=True, ignore_case=True), commands.grep("nothing like it", [pkg]),
        commands.grep("is_it", [pkg], names_only=True),
        commands.grep("def", [str(site / "pkg" / "sub")]), commands.lines(a, 3, 4), commands.lines(a, 4, 99),
        commands.read_bytes(a, size=10),
        commands.read_bytes(a), commands.stat([a, str(site / "pkg" / "none.py")]), commands.tail_bytes(log, 500),
        commands.lines(log, 5, 7), commands.uname(), commands.stat_tree([pkg]),
        commands.machine_file("/proc/version"),
    ]  # fmt: skip
    for read, one, other in zip(reads, await live.batch(reads), await bundled.batch(reads), strict=True):
        assert plain(other) == plain(one), read.argv


async def test_a_shorter_tail_is_whole_lines_of_the_same_log(pair: tuple[RemoteHost, BundleHost], site: Path) -> None:
    log = str(site / "server.log")
    tail = (await pair[1].run(commands.tail_bytes(log, 300))).stdout.splitlines()
    whole = (await pair[0].run(commands.read_bytes(log))).stdout.splitlines()
    assert tail and tail == whole[-len(tail) :]
    errors = commands.parse_grep(await pair[1].run(commands.grep("line 2999 ", [log], include=(), as_text=True)))
    assert [hit.text for hit in errors.hits] == ["line 2999 api_key=<redacted:api-key>"]


async def test_files_and_trees_are_the_same(pair: tuple[RemoteHost, BundleHost], site: Path) -> None:
    live, bundled = pair
    paths = [str(site / name) for name in ("config.json", "absent.json", "pkg/a.py", "pkg/none.py")]
    assert await bundled.fetch(paths) == await live.fetch(paths)
    one, other = await live.sync_tree(str(site), ["pkg"]), await bundled.sync_tree(str(site), ["pkg"])
    assert list(one.files()) == list(other.files())
    assert one.read("pkg/a.py") == other.read("pkg/a.py")
    assert isinstance(other.read("pkg/none.py"), Absent)
    assert bundled.spec.name == "gpu7"
    assert (await bundled.features()) == (await live.features())


async def test_what_is_not_in_the_bundle_is_unknown_and_says_so(pair: tuple[RemoteHost, BundleHost]) -> None:
    _, bundled = pair
    asked = [
        commands.proc_file(1, "maps"),
        commands.grep("x", ["/elsewhere"]),
        commands.stat(["/etc/passwd"]),
        commands.find(["/opt"]),
        commands.lines("/x", 1, 2),
    ]
    for answer in await bundled.batch(asked):
        assert isinstance(answer, CommandResult) and answer.status == NOT_IN_BUNDLE
        assert "not in the bundle" in commands.problems(answer)[0]
    assert await bundled.fetch(["/etc/passwd"]) == {"/etc/passwd": Unreadable(path="/etc/passwd", reason="it is not in the bundle")}
    with pytest.raises(NotFoundOnHost):
        await bundled.sync_tree("/elsewhere", ["pkg"])
    with pytest.raises(NotFoundOnHost):
        async for _ in bundled.stream(commands.read_bytes("/elsewhere")):
            pass


async def test_nothing_secret_is_in_the_file_and_line_numbers_stay(pair: tuple[RemoteHost, BundleHost], tmp_path: Path, site: Path) -> None:
    with zipfile.ZipFile(tmp_path / "gpu7.rca") as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"hunter2222" not in everything and b"MIIEvQ" not in everything
    found = commands.parse_grep(await pair[1].run(commands.grep("last = ", [str(site / "pkg")])))
    assert [(hit.line, hit.text) for hit in found.hits] == [(5, "last = is_it(1)")]


async def test_the_same_reads_make_the_same_file(pair: tuple[RemoteHost, BundleHost], tmp_path: Path) -> None:
    again = load(tmp_path / "gpu7.rca")
    again.save(tmp_path / "again.rca")
    assert (tmp_path / "again.rca").read_bytes() == (tmp_path / "gpu7.rca").read_bytes()


def test_files_that_are_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no bundle"):
        load(tmp_path / "none")
    (tmp_path / "text").write_text("x")
    with pytest.raises(StoreError, match="not a bundle"):
        load(tmp_path / "text")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("manifest.json", json.dumps({"schema": "rca.bundle/9"}))
    with pytest.raises(StoreError, match=r"rca\.bundle/9"):
        load(tmp_path / "other.zip")


def test_a_changed_content_is_noticed(tmp_path: Path) -> None:
    bundle = Bundle(host="x")
    bundle.add(CommandResult(command=Command(argv=("uname", "-a")), status=0, stdout=b"Linux\n", stderr=b""))
    bundle.save(tmp_path / "a.rca")
    with zipfile.ZipFile(tmp_path / "a.rca") as archive, zipfile.ZipFile(tmp_path / "b.rca", "w") as changed:
        for name in archive.namelist():
            content = archive.read(name)
            changed.writestr(name, b"Darwin\n" if content == b"Linux\n" else content)
    with pytest.raises(StoreError, match="damaged"):
        load(tmp_path / "b.rca")


_patterns = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            ".",
            "*",
            "^",
            "$",
            "\\.",
            "\\*",
            "[ab]",
            "[^a]",
            "[]a]",
            "[[:digit:]]",
            "\\(",
            "\\)",
            "\\|",
            "(",
            ")",
            "+",
            "?",
            "\\+",
            "{",
            "1",
            "x",
            "\\<",
            "\\b",
            "\\w",
        ]
    ),
    min_size=1,
    max_size=6,
).map("".join)
_texts = st.lists(st.text(alphabet="ab1x.*()+?{}[]|^$ ", max_size=8), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(pattern=_patterns, lines=_texts)
def test_a_basic_regular_expression_means_what_grep_means(pattern: str, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    answer = subprocess.run(["grep", "-n", "-e", pattern], input=text.encode(), capture_output=True, env={"LC_ALL": "C"}, check=False)
    if answer.returncode > 1 or b"stray" in answer.stderr:
        return
    try:
        wanted = basic_regex(pattern)
    except Exception as error:
        assert type(error).__name__ in ("error", "PatternError"), error
        return  # what Python cannot say is left unanswered, never answered wrongly
    found = [number for number, line in enumerate(lines, 1) if wanted.search(line.encode())]
    assert found == [int(row.split(b":")[0]) for row in answer.stdout.splitlines()]


ASKED = {
    "why": ["why", "sglang/srt/model_executor/model_runner.py:622"],
    "audit": ["audit"],
    "reach": ["reach", "sglang/srt/speculative/spec_info.py"],
    "run": ["run", "--symptom", SYMPTOM],
    "playbook run": ["playbook", "run", "eagle-vs-eagle3"],
    "verify": ["verify", "last"],
}
CODES = {"verify": 1}
"""Nothing has been repaired, and says so."""


def test_every_question_to_the_bundle_is_answered_as_on_the_host(tmp_path: Path, sshd: Sshd, wheel_tree: WheelTree) -> None:
    root, home = tmp_path / "stage", tmp_path / "home"
    root.mkdir()
    bundle = str(tmp_path / "host.rca")
    with server_process(root, case(), wheel_tree("sglang", "0.5.9")) as stage:
        pid = ["--pid", str(stage.pid)]
        captured = rca(home, "capture", *login(sshd), *pid, "-o", bundle)
        assert captured.code == 0, captured.err
        live = {name: rca(home, *words, *login(sshd), *pid, "--format", "json") for name, words in ASKED.items()}
    assert rca(home, "capture", *login(sshd), "-o", bundle).code == 2, "an existing file is not replaced"
    for name, words in ASKED.items():
        bundled = rca(home, *words, "--bundle", bundle, *pid, "--format", "json")
        expected = CODES.get(name, 0)
        assert (live[name].code, bundled.code) == (expected, expected), live[name].err + bundled.err
        assert steady(bundled.json) == steady(live[name].json), name


def steady(answer: Any) -> Any:
    """Without what differs between any two runs, and without the way to the host."""
    if isinstance(answer, dict):
        return {key: steady(value) for key, value in answer.items() if key not in ("run", "cost", "observed_at", "host", "seconds")}
    return [steady(item) for item in answer] if isinstance(answer, list) else answer
