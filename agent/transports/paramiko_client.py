"""The paramiko transport: an independent SSH implementation, for servers that asyncssh cannot talk to; threads behind a Pipe."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import paramiko

from agent.domain.errors import AuthFailed, ConnectFailed, ConnectionLost, HostError
from agent.domain.launch import HostSpec
from agent.domain.visible import visible
from agent.transports import bastions
from agent.transports.credentials import KeyFile, key_files, last_good, public_blob, remember
from agent.transports.handshakes import HungUp, Incompatible, start
from agent.transports.host_keys import judge, known_keys, preferred
from agent.transports.paramiko_pipe import ParamikoPipe
from agent.transports.proxy_command import ProxyProcess
from agent.transports.ssh_config import Target, hops, resolve
from agent.transports.ssh_options import Prompt, SshOptions

_WINDOW = 16 * 1024 * 1024
_PACKET = 32 * 1024
T = TypeVar("T")


class ParamikoTransport:
    """One connection, through jump hosts where there are any; a channel per pipe."""

    name = "paramiko"

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._connection: paramiko.Transport | None = None
        self._watch: asyncio.Task[None] | None = None
        self._leases: list[bastions.Lease] = []
        self._proxies: list[ProxyProcess] = []
        self._host = ""
        logging.getLogger("paramiko").addHandler(logging.NullHandler())  # what it says reaches the user as an error of ours

    async def connect(self, spec: HostSpec) -> None:
        self._host = spec.name
        target = await resolve(spec, self._options)
        try:
            through: paramiko.Transport | None = None
            route: Sequence[str] = ()
            for step in await hops(target, spec, self._options):
                route = (*route, f"paramiko {step.user}@{step.hostname}:{step.port} {step.identities} {step.known_hosts}")
                lease = await bastions.lease(">".join(route), self._connector(step, through), _end, lambda live: not live.is_active())
                self._leases.append(lease)
                through = lease.connection
            self._connection = await self._connector(target, through)()
            self._watch = asyncio.create_task(_keep_alive(self._connection, self._options), name="rca-keepalive")
        except BaseException:
            await self.close()
            raise

    async def open(self, command: str = "exec /bin/sh -s") -> ParamikoPipe:
        connection = self._connection
        if connection is None or not connection.is_active():
            raise ConnectionLost(f"the connection to {self._host} was lost", host=self._host)
        return await asyncio.to_thread(_open, connection, command, self._host, asyncio.get_running_loop(), self._options.connect_seconds)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if self._watch is not None:
            self._watch.cancel()
        if connection is not None:
            await _end(connection)
        while self._leases:
            await self._leases.pop().release()
        while self._proxies:
            await asyncio.to_thread(self._proxies.pop().close)

    def _connector(self, target: Target, through: paramiko.Transport | None) -> Callable[[], Awaitable[paramiko.Transport]]:
        gate = "tunnel" if through is not None else f"{target.hostname}:{target.port}"

        async def connect() -> paramiko.Transport:
            agent = await asyncio.to_thread(_agent, target)
            try:
                keys = await asyncio.to_thread(_keys, target, self._options, agent)  # a person is asked once, before anything is sent
                return await start(gate, lambda: asyncio.to_thread(_connect, target, through, self._options, self._proxies, keys))
            finally:
                if agent is not None:
                    agent.close()

        return connect


async def _keep_alive(connection: paramiko.Transport, options: SshOptions) -> None:
    """Asks the server for a sign of life; paramiko's own keepalive waits for no answer. Without one the connection is ended."""
    while connection.is_active():
        await asyncio.sleep(options.keepalive_seconds)
        asking = asyncio.create_task(asyncio.to_thread(connection.global_request, "keepalive@openssh.com", None, True))
        answered, _ = await asyncio.wait([asking], timeout=options.keepalive_seconds * options.keepalive_count)
        if not answered:
            await _end(connection)
        await asyncio.gather(asking, return_exceptions=True)


async def _end(connection: paramiko.Transport) -> None:
    await asyncio.to_thread(connection.close)


def _open(connection: paramiko.Transport, command: str, host: str, loop: asyncio.AbstractEventLoop, seconds: float) -> ParamikoPipe:
    try:
        channel = connection.open_session(window_size=_WINDOW, max_packet_size=_PACKET, timeout=seconds)
        channel.exec_command(command)
    except paramiko.ChannelException as error:
        raise ConnectFailed(f"{host} refused another channel: {error.text}", host=host) from error
    except (paramiko.SSHException, OSError, EOFError) as error:
        if connection.is_active() and str(error).startswith("Unable to open channel"):  # a refusal that another thread has taken note of
            raise ConnectFailed(f"{host} refused another channel", host=host) from error
        raise ConnectionLost(f"the connection to {host} was lost: {error}", host=host) from error
    return ParamikoPipe(channel, host, loop)


def _connect(
    target: Target, through: paramiko.Transport | None, options: SshOptions, proxies: list[ProxyProcess], keys: Sequence[paramiko.PKey]
) -> paramiko.Transport:
    """Blocking: socket, key exchange, host key, login. Ends the connection on every failure."""
    known = known_keys(target, options.own_known_hosts)
    if target.proxy_command and through is None:
        proxies.append(ProxyProcess(target))
        stream: socket.socket | paramiko.Channel = proxies[-1].socket
    else:
        stream = _stream(target, through, options)
    # Not ServiceRequestingTransport: it misses an answer that comes before it starts to listen, and waits for its time-out.
    connection = paramiko.Transport(stream, default_window_size=_WINDOW)
    try:
        security = connection.get_security_options()
        security.key_types = preferred(security.key_types, known)
        _exchange_keys(connection, target, options)
        shown = connection.get_remote_server_key()
        judge(target, known, shown.get_name(), shown.asbytes(), options.own_known_hosts)
        connection.auth_timeout = options.login_limit
        _log_in(connection, target, options, keys)
    except HungUp as error:
        connection.close()
        raise (proxies[-1].explained(error) if proxies and stream is proxies[-1].socket else error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _stream(target: Target, through: paramiko.Transport | None, options: SshOptions) -> socket.socket | paramiko.Channel:
    where = target.address
    try:
        if through is not None:
            return through.open_channel("direct-tcpip", (target.hostname, target.port), ("127.0.0.1", 0), timeout=options.connect_seconds)
        found = socket.create_connection((target.hostname, target.port), timeout=options.connect_seconds)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # eleven times faster on small commands
        return found
    except socket.gaierror as error:
        raise ConnectFailed(
            f"no address for {target.hostname}: {error.strerror}", host=target.name, hint="check the name, or the VPN"
        ) from error
    except TimeoutError as error:
        raise ConnectFailed(
            f"{where} does not answer (time-out)", host=target.name, hint="check the port, the firewall, the VPN"
        ) from error
    except paramiko.ChannelException as error:
        raise ConnectFailed(f"the jump host cannot reach {where}: {error.text}", host=target.name) from error
    except (OSError, paramiko.SSHException) as error:
        raise ConnectFailed(f"cannot connect to {where}: {error}", host=target.name) from error


def _exchange_keys(connection: paramiko.Transport, target: Target, options: SshOptions) -> None:
    """paramiko returns from a key exchange that ran out of time as if it had happened: the missing host key tells."""
    slow = ConnectFailed(f"{target.address}: connected, but the login took longer than its limit", host=target.name)
    try:
        connection.start_client(timeout=options.login_seconds)
        connection.get_remote_server_key()
    except paramiko.ssh_exception.IncompatiblePeer as error:
        raise Incompatible(
            f"no common algorithm with {target.address}: {error}", host=target.name, hint="try --transport openssh"
        ) from error
    except (paramiko.SSHException, OSError, EOFError) as error:
        if "No existing session" in str(error):
            raise slow from error
        what = f"{target.address} closed the connection before the key exchange"
        raise HungUp(what, host=target.name, spoke=bool(connection.remote_version)) from error


def _log_in(connection: paramiko.Transport, target: Target, options: SshOptions, keys: Sequence[paramiko.PKey]) -> None:
    """Keys, then keyboard-interactive once, then a password once. Raises AuthFailed; nothing is tried twice."""
    tried = 0
    for key in keys:
        tried += 1
        try:
            connection.auth_publickey(target.user, key)
        except paramiko.BadAuthenticationType:
            break
        except paramiko.AuthenticationException:
            continue
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise _auth_failed(target, tried) from error
        if connection.is_authenticated():
            if isinstance(key, paramiko.AgentKey):
                remember(options, target, key.asbytes())
            return
    if options.prompt is not None and _ask(connection, target, options.prompt):
        return
    raise _auth_failed(target, tried)


def _ask(connection: paramiko.Transport, target: Target, prompt: Prompt) -> bool:
    def answer(title: str, instructions: str, questions: list[tuple[str, bool]]) -> list[str]:
        return [prompt(f"{target.name}: {visible(text)}", shown) for text, shown in questions]

    attempts: tuple[Callable[[], object], ...] = (
        lambda: connection.auth_interactive(target.user, answer),
        lambda: connection.auth_password(target.user, prompt(f"Password for {target.user}@{target.name}: ", False), fallback=False),
    )
    for attempt in attempts:
        try:
            attempt()
        except paramiko.BadAuthenticationType:
            continue
        except paramiko.AuthenticationException:
            return False
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise _auth_failed(target, 0) from error
        return connection.is_authenticated()
    return False


def _load(item: KeyFile) -> paramiko.PKey | None:
    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        with contextlib.suppress(paramiko.SSHException, OSError, ValueError):
            return kind.from_private_key_file(item.path, password=item.passphrase or None)
    return None


def _keys(target: Target, options: SshOptions, agent: _Agent | None) -> list[paramiko.PKey]:
    in_agent: list[paramiko.PKey] = list(agent.get_keys()) if agent else []
    files = key_files(target, options, {key.asbytes() for key in in_agent})
    loaded: list[paramiko.PKey] = []
    for item in files:
        key = _load(item)
        if key is not None:
            for certificate in (*target.certificates, f"{item.path}-cert.pub"):
                if os.path.isfile(certificate):
                    with contextlib.suppress(paramiko.SSHException, ValueError):
                        key.load_certificate(certificate)
            loaded.append(key)
    chosen = {blob for path in target.identities if (blob := public_blob(path))}
    good = last_good(options, target)
    in_agent.sort(key=lambda key: (key.asbytes() not in chosen, key.asbytes() != good))
    if target.identities_only:
        in_agent = [key for key in in_agent if key.asbytes() in chosen]
    return (loaded + in_agent)[: options.key_limit]


class _Agent(paramiko.agent.AgentSSH):
    """The agent behind a socket; paramiko's own class knows that of SSH_AUTH_SOCK alone."""

    def __init__(self, path: str) -> None:
        super().__init__()
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            self._connect(connection)  # type: ignore[attr-defined]  # paramiko offers no public way
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Ends the connection to the agent; its keys sign no more."""
        self._close()  # type: ignore[attr-defined]


def _agent(target: Target) -> _Agent | None:
    """The agent that ssh_config names, or else SSH_AUTH_SOCK's; it signs until it is closed."""
    path = target.agent or os.environ.get("SSH_AUTH_SOCK", "")
    if not path or path == "none":
        return None
    try:
        return _Agent(path)
    except (paramiko.SSHException, OSError):
        return None


def _auth_failed(target: Target, tried: int) -> HostError:
    hint = "check the user and the key" if tried else "no usable key was found: pass --identity FILE, or load one into the agent"
    return AuthFailed(f"{target.address} refused the login of {target.user}", host=target.name, hint=hint)
