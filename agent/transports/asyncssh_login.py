"""Logging in with asyncssh: which keys are offered, what a person is asked, how host keys and failures are judged."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncssh
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

from agent.domain.errors import AuthFailed, ConnectFailed, HostError
from agent.domain.visible import visible
from agent.transports.credentials import key_files, last_good, public_blob, remember
from agent.transports.handshakes import HungUp, Incompatible
from agent.transports.host_keys import KnownKey, judge, preferred
from agent.transports.ssh_config import Target
from agent.transports.ssh_options import SshOptions

Keys = list[Any]


@contextlib.asynccontextmanager
async def offers(target: Target, options: SshOptions) -> AsyncIterator[Keys]:
    """Key pairs in the order in which they are offered: files, the one that worked last, the agent's; at most five.

    The agent signs during the login, so the block has to last as long.
    """
    async with contextlib.AsyncExitStack() as stack:
        in_agent: Keys = []
        if target.agent != "none":
            with contextlib.suppress(OSError, ValueError, asyncssh.Error):
                agent = await stack.enter_async_context(await asyncssh.connect_agent(target.agent))
                in_agent = list(await agent.get_keys())
        files = await asyncio.to_thread(key_files, target, options, {pair.public_data for pair in in_agent})
        pairs: Keys = []
        for item in files:
            with contextlib.suppress(OSError, asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError):
                pairs += asyncssh.load_keypairs([item.path], item.passphrase or None, list(target.certificates) or ())
        yield (pairs + _ordered(in_agent, target, last_good(options, target)))[: options.key_limit]


def _ordered(in_agent: Keys, target: Target, good: bytes) -> Keys:
    """The agent's keys: those named in the configuration, the one that worked last, the others unless IdentitiesOnly."""
    chosen = {blob for path in target.identities if (blob := public_blob(path))}
    if target.identities_only:
        in_agent = [pair for pair in in_agent if pair.public_data in chosen]
    return sorted(in_agent, key=lambda pair: (pair.public_data not in chosen, pair.public_data != good))


class Login(asyncssh.SSHClient):
    """asyncssh's questions during one login. ``failure`` keeps the typed error behind a refused host key."""

    def __init__(self, target: Target, options: SshOptions, known: Sequence[KnownKey], keys: Keys) -> None:
        self._target = target
        self._options = options
        self._known = known
        self._keys = list(keys)
        self._offered: Any = None
        self._asked: set[str] = set()
        self._connection: asyncssh.SSHClientConnection | None = None
        self.failure: HostError | None = None
        self.saw_host_key = False
        self.reached = asyncio.Event()
        self.had_keys = bool(keys)
        names = [*get_default_public_key_algs(), *get_default_certificate_algs()]
        self.algorithms = preferred([name.decode("ascii") for name in names], known)
        self.authorities: tuple[Keys, Keys, Keys] = ([], _importable(known, "@cert-authority"), _importable(known, "@revoked"))

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self._connection = conn
        self.reached.set()

    @property
    def saw_version(self) -> bool:
        """Whether the server has told its version."""
        return self._connection is not None and bool(self._connection.get_extra_info("server_version"))

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.saw_host_key = True
        try:
            judge(self._target, self._known, key.get_algorithm(), key.public_data, self._options.own_known_hosts)
        except HostError as error:
            self.failure = error
            return False
        return True

    def public_key_auth_requested(self) -> Any:
        self.saw_host_key = True
        self._offered = self._keys.pop(0) if self._keys else None
        return self._offered

    async def password_auth_requested(self) -> str | None:
        return await self._ask_once("password", f"Password for {self._target.user}@{self._target.name}: ")

    async def kbdint_auth_requested(self) -> str | None:
        """Once: a second round would ask for a second code."""
        if self._options.prompt is None or "kbdint" in self._asked:
            return None
        self._asked.add("kbdint")
        return ""

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        if self._options.prompt is None:
            return None
        return [await asyncio.to_thread(self._options.prompt, f"{self._target.name}: {visible(text)}", shown) for text, shown in prompts]

    def succeeded(self) -> None:
        """Remembers the agent's key that worked, so that the next login offers it before others."""
        if isinstance(self._offered, asyncssh.SSHAgentKeyPair):
            remember(self._options, self._target, self._offered.public_data)

    async def _ask_once(self, what: str, question: str) -> str | None:
        if self._options.prompt is None or what in self._asked:
            return None
        self._asked.add(what)
        return await asyncio.to_thread(self._options.prompt, question, False) or None


def translate(error: Exception, target: Target, login: Login) -> HostError:
    """asyncssh's and the socket's errors as ours."""
    where = target.address
    if login.failure is not None:
        return login.failure
    if isinstance(error, asyncssh.PermissionDenied):
        return AuthFailed(f"{where} refused the login of {target.user}", host=target.name, hint=_auth_hint(login))
    if isinstance(error, socket.gaierror):
        return ConnectFailed(f"no address for {target.hostname}: {error.strerror}", host=target.name, hint="check the name, or the VPN")
    if isinstance(error, ConnectionRefusedError):
        return ConnectFailed(f"{where} refused the connection", host=target.name, hint="is sshd running there, on that port?")
    if isinstance(error, asyncssh.ChannelOpenError):
        return ConnectFailed(f"the jump host cannot reach {where}: {error.reason}", host=target.name)
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return ConnectFailed(f"the host key of {where} cannot be verified: {error.reason}", host=target.name)
    if isinstance(error, asyncssh.KeyExchangeFailed):
        return Incompatible(f"no common algorithm with {where}: {error.reason}", host=target.name, hint="try --transport openssh")
    if "Login timeout" in str(error):
        return ConnectFailed(
            f"{where}: connected, but the login took longer than its limit", host=target.name, hint="the host may be overloaded"
        )
    if isinstance(error, TimeoutError):
        return ConnectFailed(f"{where} does not answer (time-out)", host=target.name, hint="check the port, the firewall, the VPN")
    if isinstance(error, ConnectionResetError | BrokenPipeError | asyncssh.ConnectionLost) and not login.saw_host_key:
        what = f"{where} closed the connection before the key exchange"
        return HungUp(what, host=target.name, hint="the host may be overloaded", spoke=login.saw_version)
    if isinstance(error, asyncssh.ProtocolError | asyncssh.ProtocolNotSupported | ValueError):
        return Incompatible(f"{where} speaks SSH in a way that asyncssh does not understand: {error}", host=target.name)
    return ConnectFailed(f"cannot connect to {where}: {error}", host=target.name)


def _auth_hint(login: Login) -> str:
    return "check the user and the key" if login.had_keys else "no usable key was found: pass --identity FILE, or load one into the agent"


def _importable(known: Sequence[KnownKey], marker: str) -> list[asyncssh.SSHKey]:
    found = []
    for key in known:
        if key.marker == marker:
            with contextlib.suppress(asyncssh.KeyImportError):
                found.append(asyncssh.import_public_key(key.text))
    return found
