"""What ``rca doctor`` says of a host: its accounts, limits, clock, processes, servers, programs; every note says what to do."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from agent import wiring
from agent.domain.command import Command, CommandResult
from agent.domain.errors import CommandTimeout, RcaError
from agent.domain.launch import HostSpec
from agent.hosts import commands
from agent.hosts.checkup import NOTE, OK, PROBLEM, Check, check_host, worst
from agent.hosts.interface import Features
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport

PRODUCTS = wiring.products()
GNU = Features(gnu_grep=True, gnu_find=True, tar_null=True, zstd=True, gzip=True, timeout=True, uid=1000, kernel="6.1")
LIMITS = b"Limit    Soft Limit  Hard Limit  Units\nMax file size             0    0    bytes\n"
SERVER = "python3 -m sglang.launch_server --model-path /m --api-key hunter2222"


class Told:
    """A host that answers as the test says; anything else ends with status 1 and one line on standard error."""

    transport_name, transport_reason = "asyncssh", "the default"

    def __init__(self, answers: Mapping[Command, bytes | RcaError], features: Features = GNU) -> None:
        self._answers, self._features = answers, features

    async def features(self) -> Features:
        return self._features

    async def batch(self, asked: Sequence[Command]) -> list[CommandResult | RcaError]:
        return [self._answer(command) for command in asked]

    def _answer(self, command: Command) -> CommandResult | RcaError:
        said = self._answers.get(command)
        if isinstance(said, bytes):
            return CommandResult(command=command, status=0, stdout=said, stderr=b"")
        return said or CommandResult(command=command, status=1, stdout=b"", stderr=b"Permission denied\n")


def listed(lines: Mapping[int, str]) -> bytes:
    """Command lines as grep prints them."""
    return b"".join(f"/proc/{pid}/cmdline\0".encode() + line.replace(" ", "\0").encode() + b"\0\n" for pid, line in lines.items())


async def checked(answers: Mapping[Command, bytes | RcaError], features: Features = GNU) -> dict[str, Check]:
    found = await check_host(Told(answers, features), PRODUCTS)  # type: ignore[arg-type]
    assert all(check.to_do for check in found if check.status != OK), "what is not well says what to do"
    return {check.name: check for check in found}


async def test_this_machine() -> None:
    host = RemoteHost(LocalTransport(), HostSpec(name="here"), reason="asked for")
    checks = {check.name: check for check in await check_host(host, PRODUCTS)}
    await host.close()
    assert checks["account"].found.startswith("uid=")
    assert checks["connection"].found.startswith("local (asked for)")
    assert [checks[name].status for name in ("programs", "read-only", "clock")] == [OK, OK, OK]
    assert host.cost.round_trips <= 2


async def test_a_host_that_shows_everything() -> None:
    told = {
        commands.identity(): b"uid=1000(me) gid=1000(me)\n",
        commands.clock(): str(int(time.time())).encode(),
        commands.proc_file("self", "limits"): LIMITS,
        commands.proc_file("self", "cgroup"): b"0::/user.slice\n",
        commands.proc_file(1, "environ"): b"",
        commands.command_lines(): listed({1: "/sbin/init", 7: SERVER}),
        commands.gpus(): b"index, name\n0, NVIDIA H100\n1, NVIDIA H100\n",
    }
    checks = await checked(told)
    assert {check.status for check in checks.values()} == {OK}
    assert checks["servers"].found.startswith("7: python3 -m sglang.launch_server")
    assert checks["GPUs"].found == "2: NVIDIA H100"
    assert all(what in checks["read-only"].found for what in ("access times", "page cache", "login log")), "what still changes is said"


async def test_a_host_that_hides_what_it_can() -> None:
    checks = await checked({commands.command_lines(): listed({40: "bash"})}, replace(GNU, timeout=False, zstd=False))
    assert {name for name, check in checks.items() if check.status == NOTE} >= {
        "account", "read-only", "clock", "processes", "servers", "environments", "GPUs", "timeout", "zstd"
    }  # fmt: skip
    assert "hidepid" in checks["processes"].found
    assert "uid 1000" in checks["environments"].found
    assert checks["zstd"].found == "missing: gzip is used"


async def test_processes_that_cannot_be_listed_are_a_problem() -> None:
    checks = await checked({commands.command_lines(): CommandTimeout("find took longer than 20 s", host="gpu7", hint="x")})
    assert (checks["processes"].status, "servers" in checks) == (PROBLEM, False)


async def test_a_shell_without_its_limit_is_not_called_safe() -> None:
    checks = await checked({commands.proc_file("self", "limits"): LIMITS.replace(b" 0 ", b" unlimited ")})
    assert checks["read-only"].status == NOTE


@pytest.mark.parametrize("skew", [-3600, 90])
async def test_a_clock_that_goes_wrong(skew: int) -> None:
    checks = await checked({commands.clock(): str(int(time.time()) + skew).encode()})
    assert checks["clock"].status == NOTE
    assert abs(int(checks["clock"].found.split()[0]) - skew) <= 2


async def test_several_servers_are_to_be_chosen_from() -> None:
    checks = await checked({commands.command_lines(): listed({1: "init", 7: SERVER, 9: SERVER})})
    assert "--pid" in checks["servers"].to_do


async def test_a_container() -> None:
    checks = await checked({commands.proc_file("self", "cgroup"): b"0::/docker/" + b"a" * 64 + b"\n"})
    assert "docker" in checks["container"].found


async def test_busybox() -> None:
    checks = await checked({}, replace(GNU, gnu_grep=False, gnu_find=False))
    assert checks["programs"].status == NOTE


def test_the_worst_of_many() -> None:
    checks = [Check(name="x", status=status, found="") for status in (NOTE, OK, PROBLEM, OK)]
    assert [worst(checks[:count]) for count in range(4)] == [OK, NOTE, NOTE, PROBLEM]
