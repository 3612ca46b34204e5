"""The OpenSSH transport: pipes are ``ssh`` processes on one control connection; for hardware keys, GSSAPI, and every Match there is."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Sequence
from functools import partial

from agent.domain.errors import ConnectFailed, ConnectionLost, HostError
from agent.domain.launch import HostSpec
from agent.transports import bastions
from agent.transports.handshakes import start
from agent.transports.local import ProcessPipe, spawn
from agent.transports.openssh_master import QUIET, ControlConnection, command_line
from agent.transports.ssh_config import asked, hop, hops, resolve
from agent.transports.ssh_options import SshOptions

_ONLY_SSH = {
    "knownhostscommand": "ssh_config has a KnownHostsCommand",
    "pkcs11provider": "ssh_config has a PKCS11Provider",
    "hostbasedauthentication": "ssh_config asks for host-based authentication",
    "gssapikeyexchange": "ssh_config asks for a GSSAPI key exchange",
}
_REFUSED_CHANNEL = ("Session open refused", "session request failed")
_OF_SSH = re.compile(r"mux_|kex_|client_|channel |ssh: |Connection |Control socket |Shared connection |Timeout,")  # not the shell's words
_FAILED = 255  # what ssh itself exits with; everything else is the remote shell's status
_SAID_LIMIT = 4000


class OpensshPipe(ProcessPipe):
    """An ``ssh`` process: its death does not reach the shell on the host, which is ended from a second pipe."""

    signals = False

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self._said = b""
        self._said_all = asyncio.Event()
        self.host = ""

    async def signal(self, name: str) -> None:
        """Not here: see ``signals``."""

    async def read(self) -> bytes:
        chunk = await super().read()
        if not chunk and await self._process.wait() == _FAILED:
            await self._said_all.wait()
            raise self._why()
        return chunk

    async def read_err(self) -> bytes:
        chunk = await super().read_err()
        self._said = (self._said + chunk)[-_SAID_LIMIT:]
        if not chunk:
            self._said_all.set()
        return chunk

    async def close(self) -> None:
        self._said_all.set()
        await super().close()

    def _why(self) -> HostError:
        rows = self._said.decode("utf-8", "replace").strip().splitlines()
        said = "\n".join(row for row in rows if _OF_SSH.match(row))
        if any(words in said for words in _REFUSED_CHANNEL):
            return ConnectFailed(f"{self.host} refused another channel: {said.splitlines()[0]}", host=self.host)
        return ConnectionLost(f"ssh to {self.host} ended: {said.splitlines()[-1] if said else 'no reason given'}", host=self.host)


class OpensshTransport:
    """A control connection of our own, or the user's where one is alive. Jump hosts are control connections too, shared by all hosts."""

    name = "openssh"

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._spec = HostSpec(name="")
        self._own: ControlConnection | None = None
        self._leases: list[bastions.Lease] = []
        self._pipes: list[OpensshPipe] = []

    async def preferred_because(self, spec: HostSpec) -> str:
        """Why ssh(1) is the one to take for this host, from the user's ssh_config; empty where the others do as well."""
        if shutil.which("ssh") is None:
            return ""
        answers = await asked(spec, self._options)
        reason = next(
            (why for keyword, why in _ONLY_SSH.items() if answers.get(keyword, ["none"])[0] not in ("none", "no", "internal")), ""
        )
        if not reason and answers.get("controlpath", ["none"])[0] != "none" and await self._user_has_one(spec):
            return "a control connection is alive"
        return reason

    async def connect(self, spec: HostSpec) -> None:
        if shutil.which("ssh") is None:
            raise ConnectFailed("there is no ssh program on this machine", host=spec.name, hint="use --transport asyncssh")
        if spec.name.startswith("-"):
            raise ConnectFailed(f"not a host name: {spec.name!r}", host=spec.name)
        self._spec = spec
        if await self._user_has_one(spec):
            return
        try:
            self._own = await self._connected(spec, await self._bastion())
        except BaseException:
            await self.close()
            raise

    async def open(self, command: str = "exec /bin/sh -s") -> OpensshPipe:
        if self._own is not None and not self._own.alive:
            raise ConnectionLost(f"the connection to {self._spec.name} was lost", host=self._spec.name)
        client = self._own.client() if self._own is not None else command_line(self._spec, self._options, QUIET, "ControlMaster=no")
        process = await spawn([*client, self._spec.name, command], self._spec.name, OpensshPipe)
        process.host = self._spec.name
        self._pipes.append(process)
        return process

    async def close(self) -> None:
        pipes, self._pipes = self._pipes, []
        await asyncio.gather(*(pipe.close() for pipe in pipes))
        if self._own is not None:
            await self._own.close()
        while self._leases:
            await self._leases.pop().release()

    async def _bastion(self) -> ControlConnection | None:
        """The last of the jump hosts, each connected through the one before, once for all hosts behind it."""
        through: ControlConnection | None = None
        route: Sequence[str] = ()
        for step in await hops(await resolve(self._spec, self._options), self._spec, self._options):
            spec = hop(step.asked, self._spec)
            route = (*route, f"openssh {step.user}@{step.hostname}:{step.port} {step.identities} {step.known_hosts}")
            connect = partial(self._connected, spec, through)
            lease = await bastions.lease(">".join(route), connect, ControlConnection.close, lambda live: not live.alive)
            self._leases.append(lease)
            through = lease.connection
        return through

    async def _connected(self, spec: HostSpec, through: ControlConnection | None) -> ControlConnection:
        found = ControlConnection(spec, self._options, through)
        await start("tunnel" if through is not None else f"{spec.name}:{spec.port}", found.start)
        return found

    async def _user_has_one(self, spec: HostSpec) -> bool:
        process = await asyncio.create_subprocess_exec(
            *command_line(spec, self._options, QUIET), "-O", "check", spec.name, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        return await process.wait() == 0
