"""The server's process on a real machine: found, told from others, read as far as may be."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.domain.errors import NotFoundOnHost, UsageError
from agent.subagents.launch_facts import LaunchFacts
from agent.subagents.server_process import find_process
from tests.subagents.live import Answering, Refusing, desk, product, server, this_machine


async def test_the_only_server_is_found(tmp_path: Path) -> None:
    demo = product()
    words = ("-m", f"{demo.name}.server", "--model", "m x", "--flag=\n")
    with server(tmp_path, *words, env={"DEMO_A": "1", "OTHER": "2"}) as pid:
        async with this_machine() as host:
            place = desk(host, demo)
            found = await find_process(place, None)
    assert found.pid == pid
    assert found.launch.argv == ("python3", *words)
    assert found.launch.env["DEMO_A"] == "1"
    assert "OTHER" not in found.launch.env and not found.launch.env_complete
    assert not found.launch.lacks("OTHER"), "it is set, to what is not known"
    assert found.launch.lacks("DEMO_ELSE") and found.launch.lacks("ANOTHER")
    assert (found.cwd, found.stdout) == (str(tmp_path), str(tmp_path / "server.log"))
    assert found.product is demo
    assert found.started is not None
    assert place.unknowns == []
    assert [item.kind for item in place.ledger.everything()] == ["process", "environment"]


async def test_processes_that_only_mention_it_are_not_taken(tmp_path: Path) -> None:
    demo = product()
    shell = subprocess.Popen(["sh", "-c", "read x", f"python3 -m {demo.name}.server"], stdin=subprocess.PIPE)
    worker = subprocess.Popen([f"{demo.name}::scheduler", "600"], executable="/bin/sleep")
    try:
        async with this_machine() as host:
            place = desk(host, demo)
            with pytest.raises(NotFoundOnHost, match="no server process"):
                await find_process(place, None)
    finally:
        for process in (shell, worker):
            process.kill()
            process.communicate()
    assert [item.kind for item in place.ledger.everything()] == ["absence"]


async def test_two_servers_are_a_choice_for_a_person(tmp_path: Path) -> None:
    demo = product()
    module = f"{demo.name}.server"
    with server(tmp_path / "a", "-m", module, "--port", "1") as first, server(tmp_path / "b", "-m", module, "--port", "2") as second:
        async with this_machine() as host:
            with pytest.raises(UsageError) as problem:
                await find_process(desk(host, demo), None)
            assert (await find_process(desk(host, demo), second)).pid == second
    assert f"{first}: python3 -m {demo.name}.server --port 1" in str(problem.value)
    assert f"{second}: " in str(problem.value)


async def test_a_fork_is_not_a_second_server(tmp_path: Path) -> None:
    """The stand-in forks before it waits: the child shows the same command line."""
    demo = product()
    site_file = {"fork.pth": "import os; os.environ.get('DEMO_FORK') and os.fork()\n"}
    with server(tmp_path, "-m", f"{demo.name}.server", env={"DEMO_FORK": "1"}, files=site_file) as pid:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        while children.exists() and not children.read_text():
            os.sched_yield()
        async with this_machine() as host:
            found = await find_process(desk(host, demo), None)
    assert found.pid == pid


async def test_what_may_not_be_read_is_unknown(tmp_path: Path) -> None:
    """Of another user's process only the command line is shown."""
    demo = product()
    with server(tmp_path, "-m", f"{demo.name}.server") as pid:
        async with this_machine() as host:
            place = desk(Refusing(host, "/environ", "/cwd", "/exe", "/fd/1", "/auxv"), demo)  # type: ignore[arg-type]
            found = await find_process(place, pid)
    assert found.launch.argv == ("python3", "-m", f"{demo.name}.server")
    assert (found.cwd, found.exe, found.stdout, found.started) == (None, None, None, None)
    assert dict(found.launch.env) == {} and not found.launch.env_complete and not found.launch.lacks("DEMO_A")
    assert {unknown.what for unknown in place.unknowns} == {"the server's environment", "the server's cwd", "the server's exe"}
    assert all("Permission denied" in unknown.why and "as root" in unknown.settle_by for unknown in place.unknowns)


async def test_a_redacted_variable_is_an_unknown_one(tmp_path: Path) -> None:
    demo = product()
    package = {f"{demo.name}/__init__.py": "", f"{demo.name}/server.py": ""}
    secrets = {"DEMO_API_KEY": "sk-1234567890abcdefghij", "DEMO_B": "2"}
    with server(tmp_path, "-m", f"{demo.name}.server", env=secrets, files=package):
        async with this_machine() as host:
            place = desk(host, demo)
            found = await LaunchFacts().run(place)
    assert found.process.launch.env.get("DEMO_B") == "2"
    assert "DEMO_API_KEY" not in found.process.launch.env and not found.process.launch.lacks("DEMO_API_KEY")
    assert not any("sk-1234567890" in item.excerpt for item in place.ledger.everything())


async def test_a_process_with_another_file_system_is_not_read_as_if_it_were_here(tmp_path: Path) -> None:
    """Its links say that its mount namespace is another one; its control group, which container."""
    demo = product()
    other = {"/self/ns/mnt": b"mnt:[1]\n", "/cgroup": b"0::/system.slice/docker-" + b"ab" * 32 + b".scope\n"}
    with server(tmp_path, "-m", f"{demo.name}.server") as pid:
        async with this_machine() as host:
            place = desk(Answering(host, other), demo)  # type: ignore[arg-type]
            with pytest.raises(NotFoundOnHost, match="file system of its own") as problem:
                await find_process(place, pid)
    assert "--container docker:abababababab" in str(problem.value)


async def test_variables_that_a_person_gives_are_laid_over_those_of_the_process(tmp_path: Path) -> None:
    demo = product()
    package = {f"{demo.name}/__init__.py": "", f"{demo.name}/server.py": ""}
    given = {"DEMO_A": "2", "OTHER": "3", "DEMO_API_KEY": "sk-1234567890abcdefghij"}
    with server(tmp_path, "-m", f"{demo.name}.server", env={"DEMO_A": "1", "DEMO_B": "1", "OTHER": "1"}, files=package):
        async with this_machine() as host:
            launch = (await LaunchFacts(env=given).run(desk(host, demo))).process.launch
    assert (launch.env["DEMO_A"], launch.env["DEMO_B"], launch.env["OTHER"]) == ("2", "1", "3")
    assert "DEMO_API_KEY" not in launch.env and not launch.lacks("DEMO_API_KEY"), "a secret is known to be set, and no more"
