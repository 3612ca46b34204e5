"""Transports and hosts for the tests of the remote layer; every connected thing is closed when its test ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.domain.launch import HostSpec
from agent.hosts.remote import RemoteHost
from agent.transports.asyncssh_client import AsyncsshTransport
from agent.transports.interface import Transport
from agent.transports.local import LocalTransport
from agent.transports.openssh_client import OpensshTransport
from agent.transports.paramiko_client import ParamikoTransport
from agent.transports.ssh_options import SshOptions

SSH_TRANSPORTS = {"asyncssh": AsyncsshTransport, "paramiko": ParamikoTransport, "openssh": OpensshTransport}
ALL_TRANSPORTS = ("local", *SSH_TRANSPORTS)
Connect = Callable[..., Awaitable[RemoteHost]]


@pytest.fixture
def options(tmp_path: Path) -> SshOptions:
    """Nothing of the account that runs the tests: its ssh_config is replaced by an empty one."""
    empty = tmp_path / "ssh_config"
    empty.write_text("IdentityAgent none\n")
    return SshOptions(own_known_hosts=tmp_path / "rca" / "known_hosts", config_file=empty)


def transport(name: str, options: SshOptions) -> Transport:
    """One of ALL_TRANSPORTS, not yet connected."""
    return LocalTransport() if name == "local" else SSH_TRANSPORTS[name](options)


@pytest.fixture
async def connect(options: SshOptions) -> AsyncIterator[Connect]:
    """``await connect("asyncssh", spec)`` gives a RemoteHost."""
    async with AsyncExitStack() as stack:

        async def connected(name: str, spec: HostSpec, **more: Any) -> RemoteHost:
            chosen = transport(name, more.pop("options", options))
            stack.push_async_callback(chosen.close)
            await chosen.connect(spec)
            host = RemoteHost(chosen, spec, **more)
            stack.push_async_callback(host.close)
            return host

        yield connected
