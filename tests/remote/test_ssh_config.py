"""ssh_config: what the user's file says is what happens; jump hosts, proxy commands, files that are not there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.domain.errors import ConnectFailed, HostKeyChanged, HostKeyUnknown, UsageError
from agent.domain.launch import HostSpec
from agent.hosts import commands
from agent.transports import ssh_config
from agent.transports.ssh_config import resolve, target_of
from agent.transports.ssh_config_files import says_nothing, says_the_same_of_all, settings_in
from agent.transports.ssh_options import SshOptions
from benchmarks.proxy import Proxy
from tests.remote.conftest import SSH_TRANSPORTS, Connect
from tests.sshd import Sshd, make_key, serving

every_ssh = pytest.mark.parametrize("name", SSH_TRANSPORTS)
Config = Callable[[str], SshOptions]
FORWARD = """
import os, socket, sys, threading
far = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def up():
    while piece := os.read(0, 65536):
        far.sendall(piece)
    far.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while piece := far.recv(65536):
    os.write(1, piece)
"""


@pytest.fixture
def config(options: SshOptions, tmp_path: Path) -> Config:
    """Options whose ssh_config is the given text."""

    def write(text: str) -> SshOptions:
        path = tmp_path / "config"
        path.write_text(text)
        return replace(options, config_file=path)

    return write


def block(sshd: Sshd, alias: str, more: str = "") -> str:
    return (
        f"Host {alias}\n HostName 127.0.0.1\n Port {sshd.port}\n User {sshd.user}\n IdentityFile {sshd.key}\n"
        f" UserKnownHostsFile {sshd.known_hosts}\n IdentityAgent none\n{more}\n"
    )


@every_ssh
async def test_an_alias_with_its_own_port_user_and_key(name: str, sshd: Sshd, config: Config, connect: Connect) -> None:
    host = await connect(name, HostSpec(name="gpu"), options=config(block(sshd, "gpu")))
    assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_a_missing_identity_file_and_other_settings_stop_nothing(name: str, sshd: Sshd, config: Config, connect: Connect) -> None:
    more = (
        " IdentityFile ~/.ssh/no_such_%h_%r\n StrictHostKeyChecking no\n KnownHostsCommand /bin/true %k\n ControlMaster auto\n"
        f" ControlPath {sshd.directory}/cm-%C\n"
    )
    host = await connect(name, HostSpec(name="gpu"), options=config(block(sshd, "gpu", more)))
    assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_a_host_key_alias(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    known = tmp_path / "aliased"
    known.write_text(sshd.known_hosts.read_text().replace(f"[127.0.0.1]:{sshd.port}", "the-real-name"))
    text = block(sshd, "gpu").replace(str(sshd.known_hosts), str(known)) + " HostKeyAlias the-real-name\n"
    await connect(name, HostSpec(name="gpu"), options=config(text))


@every_ssh
async def test_a_chain_of_jump_hosts(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
    with serving(tmp_path / "one") as first, serving(tmp_path / "two") as second:
        text = block(first, "first") + block(second, "second", " ProxyJump first\n") + block(sshd, "gpu", " ProxyJump first,second\n")
        host = await connect(name, HostSpec(name="gpu"), options=config(text))
        assert (await host.run(commands.identity())).status == 0
        assert "Accepted publickey" in first.log and "Accepted publickey" in second.log


@every_ssh
async def test_a_jump_host_behind_another(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    """Each names only the one before it. A ProxyJump for all hosts ends at the jump host that it names."""
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
    with serving(tmp_path / "one") as first, serving(tmp_path / "two") as second:
        text = block(first, "first") + block(second, "second", " ProxyJump first\n") + block(sshd, "gpu", " ProxyJump second\n")
        host = await connect(name, HostSpec(name="gpu"), options=config(f"{text}Host *\n ProxyJump first\n"))
        assert (await host.run(commands.identity())).status == 0
        assert "Accepted publickey" in first.log and "Accepted publickey" in second.log
        assert len(re.findall("Accepted publickey", first.log)) == 1


@every_ssh
async def test_a_jump_hosts_key_is_checked_as_the_hosts_own(
    name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect
) -> None:
    """Whatever ssh_config says of it; and nothing is written to the user's file."""
    (tmp_path / "one").mkdir()
    known = tmp_path / "users_known_hosts"
    known.write_text("# mine\n")
    with serving(tmp_path / "one") as first:
        text = block(replace(first, known_hosts=known), "first", " StrictHostKeyChecking no\n") + block(sshd, "gpu", " ProxyJump first\n")
        with pytest.raises(HostKeyUnknown, match="first"):
            await connect(name, HostSpec(name="gpu"), options=config(text))
        other = make_key(tmp_path / "other").with_suffix(".pub")
        known.write_text(f"[127.0.0.1]:{first.port} {other.read_text()}")
        with pytest.raises(HostKeyChanged, match="first"):
            await connect(name, HostSpec(name="gpu", host_key_policy="accept-new"), options=config(text))
    assert known.read_text() == f"[127.0.0.1]:{first.port} {other.read_text()}"


@every_ssh
async def test_a_jump_host_by_option(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    (tmp_path / "one").mkdir()
    with serving(tmp_path / "one") as first:
        spec = HostSpec(name="gpu", jump=("first",))
        host = await connect(name, spec, options=config(block(first, "first") + block(sshd, "gpu")))
        assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_many_hosts_share_one_bastion_connection(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    (tmp_path / "one").mkdir()
    with serving(tmp_path / "one") as first:
        async with Proxy.to(first.port) as proxy:
            line = first.known_hosts.read_text().replace(f":{first.port} ", f":{proxy.port} ")
            first.known_hosts.write_text(line)
            text = block(replace(first, port=proxy.port), "first") + block(sshd, "gpu*", " ProxyJump first\n")
            options = config(text)
            hosts = await asyncio.gather(*(connect(name, HostSpec(name=f"gpu{number}"), options=options) for number in range(12)))
            answers = await asyncio.gather(*(host.run(commands.identity()) for host in hosts))
            assert {answer.status for answer in answers} == {0}
            assert proxy.connections == 1
            await asyncio.gather(*(host.close() for host in hosts[1:]))
            assert (await hosts[0].run(commands.identity())).status == 0, "the last user keeps it"


@every_ssh
async def test_a_bastion_that_cannot_reach_the_host(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    text = block(sshd, "first") + block(replace(sshd, port=1), "gpu", " ProxyJump first\n")
    with pytest.raises(ConnectFailed):
        await connect(name, HostSpec(name="gpu"), options=config(text))


@every_ssh
async def test_a_proxy_command(name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect) -> None:
    program = tmp_path / "forward.py"
    program.write_text(FORWARD)
    forward = f" ProxyCommand {sys.executable} {program} %h %p\n"
    host = await connect(name, HostSpec(name="gpu"), options=config(block(sshd, "gpu", forward)))
    assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_a_proxy_command_that_fails_is_not_repeated_and_says_why(
    name: str, sshd: Sshd, tmp_path: Path, config: Config, connect: Connect, capfd: pytest.CaptureFixture[str]
) -> None:
    """It may be a login of its own that was refused, which a server counts."""
    forward = f" ProxyCommand sh -c 'echo tried >>{tmp_path}/tries; echo no route to gpu >&2; exit 3'\n"
    with pytest.raises(ConnectFailed, match="no route to gpu"):
        await connect(name, HostSpec(name="gpu"), options=config(block(sshd, "gpu", forward)))
    assert (tmp_path / "tries").read_text() == "tried\n"
    assert "no route" not in capfd.readouterr().err


async def test_a_broken_file_is_named(config: Config) -> None:
    with pytest.raises(ConnectFailed, match="ssh_config cannot be used"):
        await resolve(HostSpec(name="gpu"), config("Host gpu\n NoSuchSetting yes\n"))


async def test_a_host_name_is_never_an_option_of_ssh(options: SshOptions) -> None:
    with pytest.raises(UsageError):
        await resolve(HostSpec(name="-oProxyCommand=touch /tmp/x"), options)


async def test_without_ssh_asyncssh_reads_the_file(sshd: Sshd, config: Config, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_config.shutil, "which", lambda program: None)
    options = config(block(sshd, "gpu", " ProxyJump none\n"))
    found = await resolve(HostSpec(name="gpu"), options)
    assert (found.hostname, found.port, found.user, found.identities) == ("127.0.0.1", sshd.port, sshd.user, (str(sshd.key),))
    host = await connect("asyncssh", HostSpec(name="gpu", known_hosts=str(sshd.known_hosts)), options=options)
    assert (await host.run(commands.identity())).status == 0


def test_tokens_and_files(tmp_path: Path) -> None:
    key = tmp_path / "key_10.0.0.5_alice_gpu"
    key.write_text("")
    answers = {
        "hostname": ["10.0.0.5"], "user": ["alice"], "port": ["2200"],
        "identityfile": [f"{tmp_path}/key_%h_%r_%n", f"{tmp_path}/missing", "none"],
        "userknownhostsfile": [f"{tmp_path}/kh_%k /b"], "globalknownhostsfile": ["none"],
        "proxycommand": ["nc -X 5%% %h %p"], "proxyjump": ["none"], "identityagent": ["SSH_AUTH_SOCK"], "identitiesonly": ["yes"],
    }  # fmt: skip
    target = target_of(HostSpec(name="gpu"), answers)
    assert target.identities == (str(key),)
    assert target.known_hosts == (f"{tmp_path}/kh_gpu", "/b")
    assert target.proxy_command == "nc -X 5% 10.0.0.5 2200"
    assert (target.known_as, target.agent, target.identities_only, target.jump) == ("[10.0.0.5]:2200", "", True, ())


def test_what_the_user_gives_comes_before_the_file(tmp_path: Path) -> None:
    key = tmp_path / "mine"
    key.write_text("")
    spec = HostSpec(name="gpu", identities=(str(key),), known_hosts=str(tmp_path / "k"), jump=("b1", "b2"))
    target = target_of(
        spec, {"hostname": ["h"], "identityfile": ["/x"], "userknownhostsfile": ["/y"], "proxyjump": ["z"], "proxycommand": ["w"]}
    )
    assert (target.identities, target.known_hosts, target.jump, target.proxy_command) == (
        (str(key),),
        (str(tmp_path / "k"),),
        ("b1", "b2"),
        "",
    )
    assert os.environ.get("HOME")


NOTHING = ["", "# Host x\n", "Host *\n  SendEnv LANG LC_*\n  HashKnownHosts yes\nCompression=no\n"]
SOMETHING = ["Host gpu\n User x\n", "ProxyJump b", "Match exec true\n", "IdentityFile=/x", "CanonicalizeHostname yes\n"]


@pytest.mark.parametrize("text", NOTHING)
def test_a_configuration_that_says_nothing_needs_no_ssh(text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    assert says_nothing(list(settings_in([tmp_path / "config", tmp_path / "missing"])))


@pytest.mark.parametrize("text", SOMETHING)
def test_a_configuration_that_says_something_is_asked(text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    assert not says_nothing(list(settings_in([tmp_path / "config"])))
    (tmp_path / "config.d").mkdir()
    (tmp_path / "config.d" / "one.conf").write_text(text)
    (tmp_path / "outer").write_text("Include config.d/*.conf\n")
    assert not says_nothing(list(settings_in([tmp_path / "outer"])))
    (tmp_path / "absolute").write_text(f"Include {tmp_path}/config.d/*\n")
    assert not says_nothing(list(settings_in([tmp_path / "absolute"])))


UNIFORM = {
    "User x\nIdentityFile ~/.ssh/k\nHost *\n Port 22\n": True,
    "Host gpu\n User x\n": False,
    "Match user y\n": False,
    "IdentityFile ~/.ssh/%h\n": False,
    "HostName other\n": False,
}


@pytest.mark.parametrize("text", UNIFORM)
def test_whether_one_answer_holds_for_every_host(text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    assert says_the_same_of_all(list(settings_in([tmp_path / "config"]))) is UNIFORM[text]


async def test_ssh_is_asked_once_where_one_answer_holds_for_all(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = ssh_config._ask_ssh

    async def counted(ssh: str, spec: HostSpec, options: SshOptions) -> dict[str, list[str]]:
        asked.append(spec.name)
        return await ask(ssh, spec, options)

    monkeypatch.setattr(ssh_config, "_ask_ssh", counted)
    options = config("Host *\n User somebody\n Port 2200\n")
    targets = await asyncio.gather(*(resolve(HostSpec(name=f"gpu{number}"), options) for number in range(5)))
    assert [(target.hostname, target.user, target.port) for target in targets] == [
        (f"gpu{number}", "somebody", 2200) for number in range(5)
    ]
    assert asked == ["gpu0"]
