"""Inventories and host ranges, and many hosts at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.errors import ConnectFailed, UsageError
from agent.domain.launch import HostSpec
from agent.hosts.host_names import expand, fold
from agent.hosts.inventory import parse_inventory, read_inventory
from agent.hosts.many import Outcome, each_host, group_outcomes

RANGES = {
    "gpu1": ["gpu1"],
    "gpu[01-03]": ["gpu01", "gpu02", "gpu03"],
    "gpu[8-11]": ["gpu8", "gpu9", "gpu10", "gpu11"],
    "gpu[1,3,5-6]": ["gpu1", "gpu3", "gpu5", "gpu6"],
    "r[1-2]-gpu[01-02].lab": ["r1-gpu01.lab", "r1-gpu02.lab", "r2-gpu01.lab", "r2-gpu02.lab"],
    "gpu[0-8/4]": ["gpu0", "gpu4", "gpu8"],
    "gpu[01:03].example.com": ["gpu01.example.com", "gpu02.example.com", "gpu03.example.com"],
    "node-[a:c]": ["node-a", "node-b", "node-c"],
    "root@gpu[1-2]:2222": ["root@gpu1:2222", "root@gpu2:2222"],
    "a,b[1-2],c": ["a", "b1", "b2", "c"],
    "[::1]:22": ["[::1]:22"],
    "root@[fe80::1%eth0]:22": ["root@[fe80::1%eth0]:22"],
    "10.0.0.[1-3]": ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
}


@pytest.mark.parametrize("pattern", RANGES)
def test_a_range(pattern: str) -> None:
    assert expand(pattern) == RANGES[pattern]


@pytest.mark.parametrize(
    "pattern", ["gpu[1-", "gpu]1[", "gpu[3-1]", "gpu[a-c]", "gpu[]", "gpu[1-99999999]", "gpu[1-2-3]", "gpu[0-9][0-9][0-9][0-9][0-9]"]
)
def test_no_range(pattern: str) -> None:
    with pytest.raises(UsageError):
        expand(pattern)


@given(
    st.lists(
        st.builds("{}{:02d}{}".format, st.sampled_from(["gpu", "r1-n", "x"]), st.integers(0, 30), st.sampled_from(["", ".lab"])),
        min_size=1,
        unique=True,
    )
)
def test_folding_and_expanding_are_inverse(names: list[str]) -> None:
    assert sorted(expand(fold(names))) == sorted(names)


def test_folding_reads_well() -> None:
    assert fold(["gpu02", "gpu01", "gpu03", "login", "gpu07", "10.0.0.1", "10.0.0.2"]) == "10.0.0.1, 10.0.0.2, gpu[01-03,07], login"


def names(text: str, **more: object) -> list[str]:
    return [spec.name for spec in parse_inventory(text, HostSpec(name=""), **more)]  # type: ignore[arg-type]


def test_a_plain_list() -> None:
    text = "# the lab\ngpu[01-02]  # two\n\nroot@other:2222 third\ngpu01\n"
    found = parse_inventory(text, HostSpec(name="", user="me", identities=("/k",)))
    assert [(spec.name, spec.user, spec.port) for spec in found] == [
        ("gpu01", "me", 0),
        ("gpu02", "me", 0),
        ("other", "root", 2222),
        ("third", "me", 0),
    ]
    assert {spec.identities for spec in found} == {("/k",)}


INI = """
# Ansible
jump ansible_host=10.0.0.9
[gpu]
gpu[01:02].lab ansible_port=2201
special ansible_host=10.0.0.5 ansible_user=admin ansible_ssh_private_key_file=/keys/a ansible_ssh_common_args='-o ProxyJump=b1,b2'
[cpu]
cpu1 ansible_connection=local
[lab:children]
gpu
cpu
[lab:vars]
ansible_user=lab
note="a = b"
[gpu:vars]
ansible_port=22
"""


def test_an_ansible_ini_file() -> None:
    found = {spec.name: spec for spec in parse_inventory(INI, HostSpec(name="", known_hosts="/kh"))}
    assert list(found) == ["10.0.0.9", "gpu01.lab", "gpu02.lab", "10.0.0.5", "cpu1"]
    assert (found["gpu01.lab"].port, found["gpu01.lab"].user) == (2201, "lab"), "a host's own variable comes before its group's"
    special = found["10.0.0.5"]
    assert (special.user, special.port, special.identities, special.jump) == ("admin", 22, ("/keys/a",), ("b1", "b2"))
    assert found["cpu1"].transport == "local"
    assert {spec.known_hosts for spec in found.values()} == {"/kh"}


YAML = """
all:
  vars: {ansible_user: lab}
  hosts:
    login:
  children:
    gpu:
      vars: {ansible_port: 2201}
      hosts:
        gpu[1:2]: {ansible_user: root}
        10.0.0.7:
    empty:
"""


def test_an_ansible_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(YAML)
    found = read_inventory(path, HostSpec(name=""))
    assert [(spec.name, spec.user, spec.port) for spec in found] == [
        ("login", "lab", 0),
        ("gpu1", "root", 2201),
        ("gpu2", "root", 2201),
        ("10.0.0.7", "lab", 2201),
    ]
    assert names("---\n- gpu[1-2]\n- x\n") == ["gpu1", "gpu2", "x"]


@pytest.mark.parametrize("text", ["---\n: :\n  - [", "---\njust text", "---\nall: [1]", "[gpu]\na 'unclosed b=1", "host:port"])
def test_what_is_no_inventory_says_so(text: str) -> None:
    with pytest.raises(UsageError):
        names(text)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    for path in (tmp_path / "empty", tmp_path / "none", tmp_path):
        with pytest.raises(UsageError):
            read_inventory(path, HostSpec(name=""))


async def test_failures_stay_on_their_host_and_few_run_at_once() -> None:
    running = most = 0

    async def work(spec: HostSpec) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        number = int(spec.name.removeprefix("gpu"))
        if number == 7:
            raise ConnectFailed(f"{spec.name} port 22 refused the connection", host=spec.name)
        if number == 8:
            raise ZeroDivisionError("a fault of ours")
        return "EAGLE instead of EAGLE3" if number < 38 else "no fault found"

    outcomes = [outcome async for outcome in each_host([HostSpec(name=f"gpu{n}") for n in range(1, 41)], work, at_once=5)]
    assert len(outcomes) == 40 and most == 5
    groups = group_outcomes(outcomes, str)
    assert [group.summary.partition(" (")[0] for group in groups] == [
        "35 of 40 hosts: EAGLE instead of EAGLE3",
        "3 of 40 hosts: no fault found",
        "1 of 40 hosts: ZeroDivisionError: a fault of ours",
        "1 of 40 hosts: the host port 22 refused the connection",
    ]
    assert groups[0].summary.endswith("(gpu[1-6,9-37])")


async def test_leaving_early_cancels_the_rest() -> None:
    cancelled = 0

    async def work(spec: HostSpec) -> int:
        nonlocal cancelled
        if spec.name == "0":
            return 0
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled += 1
            raise
        return 1

    outcomes = each_host([HostSpec(name=str(n)) for n in range(5)], work)
    async for outcome in outcomes:
        assert outcome.result == 0
        break
    await outcomes.aclose()  # type: ignore[attr-defined]
    assert cancelled == 4


def test_rows_of_json_lines() -> None:
    failed: Outcome[str] = Outcome(host="a", error=ConnectFailed("no route", host="a", hint="check the VPN"))
    assert failed.as_line(lambda text: {"text": text}) == {
        "host": "a",
        "error": {"type": "ConnectFailed", "what": "no route", "hint": "check the VPN"},
    }
    assert Outcome(host="b", result="x").as_line(lambda text: {"text": text}) == {"host": "b", "result": {"text": "x"}}


def test_groups_do_not_depend_on_the_order_in_which_hosts_answer() -> None:
    outcomes = [Outcome(host=f"h{n}", result="same" if n % 2 else "other") for n in range(6)]
    assert group_outcomes(outcomes, str) == group_outcomes(outcomes[::-1], str)
