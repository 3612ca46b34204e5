"""A control connection of ssh(1): its command line, its start, what its last words mean, and the way on from it to a further host."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agent.domain.errors import AuthFailed, ConnectFailed, HostError, HostKeyChanged, HostKeyUnknown
from agent.domain.launch import HostSpec
from agent.transports.handshakes import HungUp, Incompatible
from agent.transports.host_keys import fingerprint, unrecorded
from agent.transports.local import end
from agent.transports.openssh_keys import limited
from agent.transports.ssh_config import resolve
from agent.transports.ssh_options import SshOptions

_POLL_SECONDS = 0.02
# Nothing but the shell: no forwardings, no agent on the host, no local commands, no terminal.
_ALWAYS = (
    "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no", "RequestTTY=no", "RemoteCommand=none",
    "Tunnel=no", "UpdateHostKeys=no", "EscapeChar=none",
)  # fmt: skip
QUIET = "LogLevel=ERROR"  # of an ssh whose standard error is that of the shell; what ends a login is said one level above
_NO_WAY_OF_ITS_OWN = "ProxyCommand=exit 1"  # never a connection beside the control connection
_OFFENDING = re.compile(r"^Offending .*?key.* in (?P<file>.*):(?P<line>\d+)\r?$", re.MULTILINE)


def command_line(spec: HostSpec, options: SshOptions, *settings: str, known_hosts: Sequence[str] = ()) -> list[str]:
    """ssh up to the host's name; ``settings`` come before those of the configuration. It goes the configuration's way to the host.

    ``known_hosts``: the files that are read; ours comes first, since that is where ssh writes.
    """
    policy = "accept-new" if spec.host_key_policy == "accept-new" else "yes"
    chosen = [
        *_ALWAYS, *settings, f"StrictHostKeyChecking={policy}", f"ConnectTimeout={options.connect_seconds:.0f}",
        f"ServerAliveInterval={options.keepalive_seconds}", f"ServerAliveCountMax={options.keepalive_count}",
        f"BatchMode={'no' if options.prompt else 'yes'}", "NumberOfPasswordPrompts=1",
    ]  # fmt: skip
    if known_hosts:
        files = (str(options.own_known_hosts), *known_hosts)
        chosen.append("UserKnownHostsFile=" + " ".join(f'"{file}"'.replace("%", "%%") for file in files))
    if spec.known_hosts:
        chosen.append("GlobalKnownHostsFile=/dev/null")
    argv = ["ssh", "-T", *(("-F", str(options.config_file)) if options.config_file else ())]
    argv += [part for setting in chosen for part in ("-o", setting)]
    argv += [*(("-p", str(spec.port)) if spec.port else ()), *(("-l", spec.user) if spec.user else ())]
    return argv + [part for path in spec.identities for part in ("-i", path)]


class ControlConnection:
    """``ssh -M -N`` to one host, directly or ``through`` another control connection; commands and further hosts share it."""

    def __init__(self, spec: HostSpec, options: SshOptions, through: ControlConnection | None = None) -> None:
        self._spec = spec
        self._options = options
        self._through = through
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[bytes] | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def path(self) -> str:
        """Its control socket."""
        return f"{self._directory.name}/c" if self._directory is not None else ""

    def client(self) -> list[str]:
        """The command line, up to the host's name, of an ssh that uses it or fails."""
        return command_line(self._spec, self._options, QUIET, f"ControlPath={self.path}", "ControlMaster=no", _NO_WAY_OF_ITS_OWN)

    async def start(self) -> None:
        """Returns once its control socket is there; raises what ssh's last words mean."""
        self._directory = tempfile.TemporaryDirectory(prefix="rca-")
        try:
            self._prepare_own_file()
            said = await self._begun(await self._argv())
        except BaseException:
            await self.close()
            raise
        if said is not None:
            await self.close()
            raise explained(said, self._spec)

    async def _begun(self, argv: Sequence[str]) -> str | None:
        """What ssh said before it ended; None once its control socket is there. Raises ConnectFailed when neither comes in time."""
        self._process = await asyncio.create_subprocess_exec(
            *argv, stdin=None if self._options.prompt else asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        assert self._process.stderr is not None
        self._listening = asyncio.create_task(self._process.stderr.read())
        deadline = asyncio.get_running_loop().time() + self._options.connect_seconds + self._options.login_limit
        socket = Path(self.path)
        while not socket.exists():
            if self._listening.done():
                return self._listening.result().decode("utf-8", "replace")
            if asyncio.get_running_loop().time() > deadline:
                raise _slow(self._spec.name)
            await asyncio.wait([self._listening], timeout=_POLL_SECONDS)
        return None

    async def close(self) -> None:
        """Ends it; idempotent."""
        if self._process is not None:
            if self._listening is None or not self._listening.done():  # else it is ending by itself: a signal now would steal its status
                with contextlib.suppress(ProcessLookupError):
                    self._process.terminate()
            await end(self._process, self._process.kill)
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    async def _argv(self) -> list[str]:
        assert self._directory is not None
        target = await resolve(self._spec, self._options)
        settings = ["LogLevel=INFO", f"ControlPath={self.path}", "ControlMaster=yes", "ControlPersist=no"]
        if self._through is not None:
            settings.append(f"ProxyCommand={self._through.way_on()}")
        elif target.jump:  # the first jump host, which a ProxyJump for all hosts sends through itself
            settings.append("ProxyJump=none")
        keys = await limited(target, self._options, Path(self._directory.name))
        base = command_line(self._spec, self._options, *settings, known_hosts=target.known_hosts or (os.devnull,))
        return [*base, *keys, "-N", self._spec.name]

    def way_on(self) -> str:
        """The ProxyCommand of a host behind this one. (In it % is a token's sign, but for the two that ssh shall fill in.)"""
        argv = shlex.join([*self.client(), "-W", "HOST", self._spec.name]).replace("%", "%%")
        return argv.replace(" -W HOST ", " -W '[%h]:%p' ")

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


def explained(said: str, spec: HostSpec) -> HostError:
    """ssh's last words as one of our errors."""
    host = spec.name
    last = next((row for row in reversed(said.strip().splitlines()) if row), "ssh ended without a word")
    if "HOST IDENTIFICATION HAS CHANGED" in said or "POSSIBLE DNS SPOOFING" in said:
        return _changed(said, host)
    if "Host key verification failed" in said or "host key is known" in said:
        return HostKeyUnknown(
            f"the host key of {host} is not known", host=host, hint="`ssh` there once, or use --host-key-policy accept-new"
        )
    if "Permission denied" in said or "Too many authentication failures" in said:
        return AuthFailed(f"{host} refused the login: {last}", host=host, hint="check the user and the key")
    if "Connection timed out" in said and "banner exchange" in said:
        return _slow(host)
    if "Connection timed out" in said:
        return ConnectFailed(f"{host} does not answer (time-out)", host=host, hint="check the port, the firewall, the VPN")
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


def _slow(host: str) -> ConnectFailed:
    what = f"{host}: connected, but the login took longer than its limit"
    return ConnectFailed(what, host=host, hint="the host may be overloaded")


def _changed(said: str, host: str) -> HostKeyChanged:
    """With both fingerprints: ssh tells that of the key it was shown, and only the line of the one that it knows."""
    actual = next((word.rstrip(".") for word in said.split() if word.startswith("SHA256:")), "")
    known = _OFFENDING.search(said)
    where = f"{known['file']}:{known['line']}" if known else "a known_hosts file"
    expected = _fingerprint_at(Path(known["file"]), int(known["line"])) if known else ""
    return HostKeyChanged(
        f"THE HOST KEY OF {host} HAS CHANGED: {where} has {expected or 'another one'}, the host shows {actual}",
        host=host,
        expected=expected,
        actual=actual,
        hint="somebody may be listening in; if the host was reinstalled, remove that line yourself",
    )


def _fingerprint_at(path: Path, number: int) -> str:
    """Of the key in that line of a known_hosts file; empty where it cannot be read any more."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields: Sequence[str] = path.read_text("utf-8", "replace").splitlines()[number - 1].split()
        fields = fields[1:] if fields[0].startswith("@") else fields
        return fingerprint(base64.b64decode(fields[2], validate=True))
    return ""
