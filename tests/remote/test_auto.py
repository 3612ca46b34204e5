"""``--transport auto``: which one is taken, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from agent.config import Settings, load_settings
from agent.domain.errors import AuthFailed, ConnectFailed, UsageError
from agent.hosts import commands
from agent.hosts.connect import connect
from agent.hosts.remote import RemoteHost
from agent.transports.interface import Transport
from agent.transports.openssh_master import ControlConnection
from agent.transports.ssh_options import SshOptions
from benchmarks.proxy import Proxy
from tests.remote.conftest import ALL_TRANSPORTS, transport
from tests.sshd import Sshd, free_port, make_key, serving

Transports = dict[str, Callable[[Settings], Transport]]


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return load_settings({"RCA_HOME": str(tmp_path / "home")})


@pytest.fixture
def transports(options: SshOptions) -> Transports:
    return {name: partial(lambda kind, _: transport(kind, options), name) for name in ALL_TRANSPORTS}


async def took(host: RemoteHost) -> tuple[str, str]:
    assert (await host.run(commands.identity())).status == 0
    await host.close()
    return host.transport_name, host.transport_reason


async def test_asyncssh_is_the_default(sshd: Sshd, config: Settings, transports: Transports) -> None:
    assert await took(await connect(sshd.spec(), config, transports)) == ("asyncssh", "the default")
    assert (config.data_dir / "audit.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize("name", ALL_TRANSPORTS)
async def test_one_that_is_asked_for(name: str, sshd: Sshd, config: Settings, transports: Transports) -> None:
    assert await took(await connect(sshd.spec(transport=name), config, transports)) == (name, "asked for")


async def test_a_server_that_only_ssh_can_talk_to(tmp_path: Path, config: Settings, transports: Transports) -> None:
    with serving(tmp_path, {"KexAlgorithms": "sntrup761x25519-sha512@openssh.com"}) as sshd:
        host = await connect(sshd.spec(), config, transports)
        name, why = await took(host)
    assert name in ("paramiko", "openssh")
    assert why.startswith("after asyncssh: no common algorithm")


async def test_ssh_comes_first_where_its_configuration_asks_for_it(
    sshd: Sshd, config: Settings, options: SshOptions, transports: Transports
) -> None:
    assert options.config_file is not None
    options.config_file.write_text("IdentityAgent none\nKnownHostsCommand /bin/echo %H\n")
    host = await connect(sshd.spec(), config, transports)
    assert await took(host) == ("openssh", "ssh_config has a KnownHostsCommand")


async def test_a_live_control_connection_is_used(
    sshd: Sshd, config: Settings, options: SshOptions, transports: Transports, tmp_path: Path
) -> None:
    assert options.config_file is not None
    options.config_file.write_text(f"IdentityAgent none\nControlPath {tmp_path}/cm-%C\n")
    assert (await took(await connect(sshd.spec(), config, transports)))[0] == "asyncssh"
    master = ControlConnection(sshd.spec(), options)
    await master.start()
    options.config_file.write_text(f"IdentityAgent none\nControlPath {master.path}\n")
    assert await took(await connect(sshd.spec(), config, transports)) == ("openssh", "a control connection is alive")
    await master.close()


async def test_a_refused_login_is_not_tried_with_another_transport(
    sshd: Sshd, config: Settings, transports: Transports, tmp_path: Path
) -> None:
    async with Proxy.to(sshd.port) as proxy:
        known = tmp_path / "known"
        known.write_text(sshd.known_hosts.read_text().replace(f":{sshd.port} ", f":{proxy.port} "))
        spec = sshd.spec(port=proxy.port, known_hosts=str(known), identities=(str(make_key(tmp_path / "other")),))
        with pytest.raises(AuthFailed):
            await connect(spec, config, transports)
        assert proxy.connections == 1


async def test_a_host_that_is_not_there_is_not_tried_again(sshd: Sshd, config: Settings, transports: Transports) -> None:
    with pytest.raises(ConnectFailed, match="refused the connection"):
        await connect(sshd.spec(port=free_port()), config, transports)


async def test_an_unknown_transport(sshd: Sshd, config: Settings, transports: Transports) -> None:
    with pytest.raises(UsageError, match="no transport"):
        await connect(replace(sshd.spec(), transport="telnet"), config, transports)
