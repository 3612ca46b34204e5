"""Configs, log, reconnaissance, snapshot and dates, read from a real directory through a real shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent.domain.facts import ABSENT
from agent.domain.launch import Launch
from agent.domain.values import Unknown
from agent.probes.products import Product
from agent.subagents.host_facts import HostFacts, as_mapping
from agent.subagents.imported_tree import TreeFound, find_tree
from agent.subagents.launch_facts import LaunchFacts
from agent.subagents.model_configs import ModelConfigs
from agent.subagents.reconnaissance import Reconnaissance, Wanted, wanted_names
from agent.subagents.server_log import TAIL, ServerLog
from agent.subagents.server_process import ProcessFound
from agent.subagents.source_snapshot import FileDates, SourceSnapshot
from tests.subagents.live import Refusing, desk, product, server, this_machine, write


def process(root: Path, demo: Product, *words: str, stdout: str | None = None, **env: str) -> ProcessFound:
    """What was read of a process, without one."""
    launch = Launch(
        argv=("python3", "-m", f"{demo.name}.server", *words), env=env, cwd=str(root), pid=1, source="process", env_complete=False
    )
    return ProcessFound(
        pid=1, launch=launch, product=demo, entry=f"{demo.name}.server", exe=None, cwd=str(root), stdout=stdout, started=None, evidence=()
    )


async def test_configs_of_every_role(tmp_path: Path) -> None:
    demo = product()
    write(tmp_path, {"target/config.json": '{"hidden_size": 7168}', "target/tokenizer.json": "{}", "draft/config.json": '{"a": 1'})
    async with this_machine() as host:
        place = desk(host, demo)
        found = await ModelConfigs(process=process(tmp_path, demo, "--model", "target", "--draft", f"{tmp_path}/draft")).run(place)
    assert found.configs["target"] == {"hidden_size": 7168}
    assert isinstance(found.configs["draft"], Unknown) and "line 1, column" in found.configs["draft"].reason
    assert found.paths == {"target": f"{tmp_path}/target/config.json", "draft": f"{tmp_path}/draft/config.json"}
    assert found.folders[f"{tmp_path}/target"] == ("config.json", "tokenizer.json")
    assert [unknown.what for unknown in place.unknowns] == ["the draft model's config"]


@pytest.mark.parametrize(
    ("text", "refused", "why"),
    [
        ("{}", True, "cannot be read: head: PATH: Permission denied"),
        (f'{{"x": "{"a" * 8_000_000}"}}', False, "cannot be read: it is larger than 8.0 MB"),
        (f'{{"hidden_size": {"9" * 5000}}}', False, "more digits"),
    ],
    ids=["refused", "large", "digits"],
)
async def test_a_config_that_cannot_be_used_says_why_and_takes_nothing_from_the_other(
    tmp_path: Path, text: str, refused: bool, why: str
) -> None:
    demo = product()
    write(tmp_path, {"target/config.json": '{"hidden_size": 7168}', "draft/config.json": text})
    async with this_machine() as host:
        place = desk(Refusing(host, "draft/config.json") if refused else host, demo)
        found = await ModelConfigs(process=process(tmp_path, demo, "--model", "target", "--draft", "draft")).run(place)
    assert found.configs["target"] == {"hidden_size": 7168}
    assert isinstance(found.configs["draft"], Unknown)
    path = f"{tmp_path}/draft/config.json"
    (told,) = place.unknowns
    assert told.what == "the draft model's config" and told.why.startswith(path)
    assert why.replace("PATH", path) in told.why


async def test_a_role_that_the_launch_does_not_fill_is_absent(tmp_path: Path) -> None:
    demo = product()
    write(tmp_path, {"target/config.json": "{}"})
    async with this_machine() as host:
        place = desk(host, demo)
        found = await ModelConfigs(process=process(tmp_path, demo, "--model", "target")).run(place)
    assert found.configs["draft"] is ABSENT
    assert place.unknowns == []


async def test_a_hub_id_is_looked_up_in_the_download_cache(tmp_path: Path) -> None:
    demo = product()
    folder = "hub/models--org--name"
    write(tmp_path, {f"{folder}/refs/main": "abc\n", f"{folder}/snapshots/abc/config.json": '{"x": 1}'})
    async with this_machine() as host:
        place = desk(host, demo)
        found = await ModelConfigs(process=process(tmp_path, demo, "--model", "org/name", HF_HUB_CACHE=f"{tmp_path}/hub")).run(place)
        missing = await ModelConfigs(process=process(tmp_path, demo, "--model", "org/other", HF_HUB_CACHE=f"{tmp_path}/hub")).run(place)
    assert found.configs["target"] == {"x": 1}
    assert missing.configs["target"] is ABSENT
    assert len(place.unknowns) == 1 and "org/other" in place.unknowns[0].why


async def test_a_short_log_is_read_whole_with_its_line_numbers(tmp_path: Path) -> None:
    demo = product()
    write(tmp_path, {"server.log": "first\nargs=Args(a=1, api_key='sk-12345678901234567890')\nDecode batch, accept len: 2.00\n"})
    async with this_machine() as host:
        place = desk(host, demo)
        found = await ServerLog(process=process(tmp_path, demo, stdout=f"{tmp_path}/server.log")).run(place)
    assert found.reading.record is not None and found.reading.record.line.number == 2
    assert found.reading.record.values["a"] == 1
    assert found.texts is not None and len(found.texts) == 3
    assert not any("sk-1234567890" in text for text in found.texts)
    assert place.ledger.everything()[0].command == f"sed -n 2p {tmp_path}/server.log"


async def test_of_a_long_log_the_start_is_found_and_the_end_is_read(tmp_path: Path) -> None:
    """With NUL bytes in it, as a rotation leaves them."""
    demo = product()
    filler = "x" * 99 + "\n"
    with (tmp_path / "server.log").open("wb") as log:
        log.write(b"args=Args(a=1)\n" + filler.encode() * 1000 + b"\0" * 512 + b"\nargs=Args(a=2)\n")
        log.write(filler.encode() * (2 * TAIL // 100) + b"Decode batch, accept len: 3.00\n")
    async with this_machine() as host:
        found = await ServerLog(process=process(tmp_path, demo, stdout=f"{tmp_path}/server.log")).run(desk(host, demo))
    assert found.reading.record is not None
    assert (found.reading.record.values, found.reading.record.line.number) == ({"a": 2}, 1003)
    assert len(found.reading.batches) == 1
    assert found.texts is not None and len("".join(found.texts)) < TAIL + 1000


@pytest.mark.parametrize("target", ["/dev/null", "/dev/pts/3", None, "pipe:[1]", "anon_inode:x"])
async def test_where_no_log_can_be_read_it_is_unknown(tmp_path: Path, target: str | None) -> None:
    demo = product()
    async with this_machine() as host:
        place = desk(host, demo)
        found = await ServerLog(process=process(tmp_path, demo, stdout=target)).run(place)
    assert found.texts is None, "not read is another thing than empty"
    assert [unknown.what for unknown in place.unknowns] == ["the server's log"]


async def test_an_empty_log_was_read(tmp_path: Path) -> None:
    demo = product()
    write(tmp_path, {"server.log": ""})
    async with this_machine() as host:
        place = desk(host, demo)
        found = await ServerLog(process=process(tmp_path, demo, stdout=f"{tmp_path}/server.log")).run(place)
    assert found.texts == ()
    assert place.unknowns == []


TREE = {
    "pkg/a.py": "def is_on(x):\n    return x\n",
    "pkg/sub/b.py": "from pkg.a import is_on\nif is_on (1):\n    flag: bool = True\nkey = 'deep_key'\n",
    "pkg/notes.txt": "is_on(",
}


async def test_reconnaissance_pivots_to_where_things_are(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    wanted = (
        Wanted(query="define:is_on", expected="pkg/old_place.py"),
        Wanted(query="call:is_on", expected="pkg/sub/**"),
        Wanted(query="assign:flag"),
        Wanted(query="string:deep_key"),
        Wanted(query="call:nowhere"),
    )
    async with this_machine() as host:
        place = desk(host)
        moved, called, assigned, keyed, nowhere = await Reconnaissance(root=str(tmp_path), package="pkg", wanted=wanted).run(place)
    evidence = {item.id: item for item in place.ledger.everything()}
    assert moved.pivoted and [(hit.path, hit.line) for hit in moved.hits] == [("pkg/a.py", 1)]
    assert [evidence[id].kind for id in moved.evidence] == ["absence", "source"]
    assert not called.pivoted and [(hit.path, hit.line) for hit in called.hits] == [("pkg/sub/b.py", 2)]
    assert [(hit.path, hit.line) for hit in assigned.hits] == [("pkg/sub/b.py", 3)]
    assert [(hit.path, hit.line) for hit in keyed.hits] == [("pkg/sub/b.py", 4)]
    assert nowhere.hits == () and [evidence[id].kind for id in nowhere.evidence] == ["absence"]


async def test_the_commands_of_the_evidence_show_the_same(tmp_path: Path) -> None:
    """What a person pastes finds what was reported."""
    write(tmp_path, TREE)
    wanted = (Wanted(query="call:is_on"), Wanted(query="assign:flag"), Wanted(query="define:is_on"), Wanted(query="string:deep_key"))
    async with this_machine() as host:
        place = desk(host)
        await Reconnaissance(root=str(tmp_path), package="pkg", wanted=wanted).run(place)
    for item in place.ledger.everything():
        shown = subprocess.run(["sh", "-c", item.command], capture_output=True, text=True, check=True).stdout
        assert f"{tmp_path}/{item.path}:{item.start}:{item.excerpt}" in shown.splitlines()


def test_known_places_need_no_search() -> None:
    assert wanted_names([("pkg/a.py:12", ""), ("call:x", "pkg/**")]) == (Wanted(query="call:x", expected="pkg/**"),)


async def test_snapshot_and_dates(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    begin = time.time()
    os.utime(tmp_path / "pkg/a.py", (begin - 100, begin - 100))
    os.utime(tmp_path / "pkg/sub/b.py", (begin + 100, begin + 100))
    async with this_machine() as host:
        place = desk(host)
        tree = await SourceSnapshot(root=str(tmp_path), package="pkg").run(place)
        newer = await FileDates(root=str(tmp_path), package="pkg", started=begin).run(place)
        unknown = await FileDates(root=str(tmp_path), package="pkg", started=None).run(place)
    assert [path for path in tree.files() if path.endswith(".py")] == ["pkg/a.py", "pkg/sub/b.py"]
    assert newer == ("pkg/sub/b.py",)
    assert unknown is None and len(place.unknowns) == 1


async def test_host_facts_are_known_or_unknown_with_a_reason(tmp_path: Path) -> None:
    demo = product()
    with server(
        tmp_path, "-m", f"{demo.name}.server", files={f"{demo.name}/__init__.py": "", "some_thing-2.5.dist-info/METADATA": ""}
    ) as pid:
        async with this_machine() as host:
            subject = await LaunchFacts(pid=pid).run(desk(host, demo))
            place = desk(host, demo)
            found = await HostFacts(tree=subject.tree).run(place)
    facts = {fact.name: fact.value for fact in found}
    mapping = as_mapping(found)
    assert mapping["platform"] == "linux"
    assert mapping["package.some-thing"] == "2.5"
    if not shutil.which("nvidia-smi"):
        assert isinstance(facts["gpu.count"], Unknown), "no nvidia-smi does not mean no GPU"
        assert "gpu.count" not in mapping


async def test_the_version_of_an_executable_without_one_comes_from_its_libraries(tmp_path: Path) -> None:
    demo = product()
    with server(tmp_path, "-m", f"{demo.name}.server", files={f"{demo.name}/__init__.py": ""}) as pid:
        async with this_machine() as host:
            subject = await LaunchFacts(pid=pid).run(desk(host, demo))
            nameless = replace(subject.process, exe="/usr/bin/python")
            try:
                found: TreeFound | None = await find_tree(desk(host, demo), nameless, demo.name)
            except Exception as problem:  # statically linked: nothing names the version
                assert "was not found" in str(problem)
                found = None
    assert found is None or found.python == subject.tree.python
