"""The OpenSSH transport: pipes are ``ssh`` processes on one control connection; for hardware keys, GSSAPI, and every Match there is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from agent.domain.errors import AuthFailed, ConnectFailed, ConnectionLost, HostError, HostKeyChanged, HostKeyUnknown
from agent.domain.launch import HostSpec
from agent.transports.handshakes import HungUp, Incompatible, start
from agent.transports.host_keys import unrecorded
from agent.transports.local import ProcessPipe, end, spawn
from agent.transports.ssh_config import asked
from agent.transports.ssh_options import SshOptions

_POLL_SECONDS = 0.02
# Nothing but the shell: no forwardings, no agent on the host, no local commands, no terminal.
_ALWAYS = (
    "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no", "RequestTTY=no", "RemoteCommand=none",
    "Tunnel=no", "UpdateHostKeys=no", "EscapeChar=none", "LogLevel=ERROR",
)  # fmt: skip
_ONLY_SSH = {
    "knownhostscommand": "ssh_config has a KnownHostsCommand",
    "pkcs11provider": "ssh_config has a PKCS11Provider",
    "hostbasedauthentication": "ssh_config asks for host-based authentication",
    "gssapikeyexchange": "ssh_config asks for a GSSAPI key exchange",
}
_REFUSED_CHANNEL = ("Session open refused", "session request failed")
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
        said = self._said.decode("utf-8", "replace").strip()
        if any(words in said for words in _REFUSED_CHANNEL):
            return ConnectFailed(f"{self.host} refused another channel: {said.splitlines()[0]}", host=self.host)
        return ConnectionLost(f"ssh to {self.host} ended: {said.splitlines()[-1] if said else 'no reason given'}", host=self.host)


class OpensshTransport:
    """A control connection of our own, or the user's where one is alive."""

    name = "openssh"

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._spec = HostSpec(name="")
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._master: asyncio.subprocess.Process | None = None
        self._pipes: list[OpensshPipe] = []
        self._listening: asyncio.Task[bytes] | None = None

    async def preferred_because(self, spec: HostSpec) -> str:
        """Why ssh(1) is the one to take for this host, from the user's ssh_config; empty where the others do as well."""
        if shutil.which("ssh") is None:
            return ""
        answers = await asked(spec, self._options)
        reason = next(
            (why for keyword, why in _ONLY_SSH.items() if answers.get(keyword, ["none"])[0] not in ("none", "no", "internal")), ""
        )
        self._spec = spec
        if not reason and answers.get("controlpath", ["none"])[0] != "none" and await self._user_has_one():
            return "a control connection is alive"
        return reason

    async def connect(self, spec: HostSpec) -> None:
        if shutil.which("ssh") is None:
            raise ConnectFailed("there is no ssh program on this machine", host=spec.name, hint="use --transport asyncssh")
        if spec.name.startswith("-"):
            raise ConnectFailed(f"not a host name: {spec.name!r}", host=spec.name)
        self._spec = spec
        if await self._user_has_one():
            return
        await start(f"{spec.name}:{spec.port}", self._start_master)

    async def open(self, command: str = "exec /bin/sh -s") -> OpensshPipe:
        if self._master is not None and self._master.returncode is not None:
            raise ConnectionLost(f"the connection to {self._spec.name} was lost", host=self._spec.name)
        alone = [] if self._master is None else ["ProxyCommand=exit 1"]  # never a connection beside the control connection
        process = await spawn([*self._ssh("ControlMaster=no", *alone), self._spec.name, command], self._spec.name, OpensshPipe)
        process.host = self._spec.name
        self._pipes.append(process)
        return process

    async def close(self) -> None:
        pipes, self._pipes = self._pipes, []
        await asyncio.gather(*(pipe.close() for pipe in pipes))
        if self._master is not None:
            with contextlib.suppress(ProcessLookupError):
                self._master.terminate()
            await end(self._master, self._master.kill)
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def _ssh(self, *more: str) -> list[str]:
        """The command line up to the host's name."""
        spec, options = self._spec, self._options
        policy = "accept-new" if spec.host_key_policy == "accept-new" else "yes"
        settings = [
            *_ALWAYS, *more, f"StrictHostKeyChecking={policy}", f"ConnectTimeout={options.connect_seconds:.0f}",
            f"ServerAliveInterval={options.keepalive_seconds}", f"ServerAliveCountMax={options.keepalive_count}",
            f"BatchMode={'no' if options.prompt else 'yes'}", "NumberOfPasswordPrompts=1",
        ]  # fmt: skip
        own = str(options.own_known_hosts)
        if spec.known_hosts:
            settings += [f"UserKnownHostsFile={own} {spec.known_hosts}", "GlobalKnownHostsFile=/dev/null"]
        elif policy == "accept-new" or os.path.exists(own):
            settings += [f"UserKnownHostsFile={own} ~/.ssh/known_hosts ~/.ssh/known_hosts2"]
        if self._directory is not None:
            settings.append(f"ControlPath={self._directory.name}/c")
        argv = ["ssh", "-T", *(("-F", str(options.config_file)) if options.config_file else ())]
        argv += [part for setting in settings for part in ("-o", setting)]
        argv += [*(("-p", str(spec.port)) if spec.port else ()), *(("-l", spec.user) if spec.user else ())]
        argv += [part for path in spec.identities for part in ("-i", path)]
        return argv + (["-J", ",".join(spec.jump)] if spec.jump and not self._master else [])

    async def _user_has_one(self) -> bool:
        process = await asyncio.create_subprocess_exec(
            *self._ssh(), "-O", "check", self._spec.name, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        return await process.wait() == 0

    def _prepare_own_file(self) -> None:
        """Where ssh records an accepted key; it goes on without, which would accept any other key the next time."""
        own = self._options.own_known_hosts
        try:
            own.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._spec.host_key_policy == "accept-new":
                os.close(os.open(own, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
        except OSError as problem:
            if self._spec.host_key_policy == "accept-new":
                raise unrecorded(self._spec.name, own, problem) from None

    async def _start_master(self) -> None:
        """``ssh -M -N``; returns once its control socket is there, raises what its last words mean."""
        self._directory = tempfile.TemporaryDirectory(prefix="rca-")
        self._prepare_own_file()
        argv = [*self._ssh("ControlMaster=yes", "ControlPersist=no"), "-N", self._spec.name]
        pipe = asyncio.subprocess.PIPE
        self._master = await asyncio.create_subprocess_exec(
            *argv, stdin=None if self._options.prompt else asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=pipe,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        assert self._master.stderr is not None
        ended = asyncio.create_task(self._master.stderr.read())
        deadline = asyncio.get_running_loop().time() + self._options.connect_seconds + self._options.login_limit
        socket = Path(self._directory.name, "c")
        while not socket.exists() and not ended.done() and asyncio.get_running_loop().time() < deadline:
            await asyncio.wait([ended], timeout=_POLL_SECONDS)
        if socket.exists():
            self._listening = ended
            return
        said = ended.result().decode("utf-8", "replace") if ended.done() else ""
        await self.close()
        ended.cancel()
        raise explained(said, self._spec) if said else ConnectFailed(f"{self._spec.name}: the login took too long", host=self._spec.name)


def explained(said: str, spec: HostSpec) -> HostError:
    """ssh's last words as one of our errors."""
    host = spec.name
    last = next((row for row in reversed(said.strip().splitlines()) if row), "")
    if "HOST IDENTIFICATION HAS CHANGED" in said or "POSSIBLE DNS SPOOFING" in said:
        actual = next((word.rstrip(".") for word in said.split() if word.startswith("SHA256:")), "")
        where = next((row.strip() for row in said.splitlines() if row.startswith("Offending")), "")
        return HostKeyChanged(
            f"THE HOST KEY OF {host} HAS CHANGED: it shows {actual}; {where}",
            host=host,
            expected=where,
            actual=actual,
            hint="somebody may be listening in; if the host was reinstalled, remove that line yourself",
        )
    if "Host key verification failed" in said or "host key is known" in said:
        return HostKeyUnknown(
            f"the host key of {host} is not known", host=host, hint="`ssh` there once, or use --host-key-policy accept-new"
        )
    if "Permission denied" in said or "Too many authentication failures" in said:
        return AuthFailed(f"{host} refused the login: {last}", host=host, hint="check the user and the key")
    before, kex, _ = said.strip().partition("kex_exchange_identification")
    if kex and before.strip():  # said by what was to carry the connection
        what = f"the ProxyCommand or jump host of {host} ended: {before.strip().splitlines()[0]}"
        return ConnectFailed(what, host=host, hint="run it by itself: `ssh -G` shows it")
    if "kex_exchange_identification" in said or "Connection reset" in said or "Connection closed by" in said:
        return HungUp(f"{host} closed the connection before the key exchange: {last}", host=host)
    if "Could not resolve" in said:
        return ConnectFailed(f"no address for {host}: {last}", host=host, hint="check the name, or the VPN")
    if "no matching" in said or "Unable to negotiate" in said:
        return Incompatible(f"no common algorithm with {host}: {last}", host=host)
    return ConnectFailed(f"cannot connect to {host}: {last}", host=host)
