"""The asyncssh transport, the default: bytes everywhere, a callback session per pipe, reading paused when nobody takes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import asyncssh

from agent.domain.errors import ConnectFailed, ConnectionLost
from agent.domain.launch import HostSpec
from agent.transports import bastions
from agent.transports.asyncssh_login import Login, offers, translate
from agent.transports.asyncssh_pipe import AsyncsshPipe
from agent.transports.handshakes import start
from agent.transports.host_keys import known_keys
from agent.transports.proxy_command import ProxyProcess
from agent.transports.ssh_config import Target, hops, resolve
from agent.transports.ssh_options import SshOptions

_CLOSE_SECONDS = 2.0
_CIPHERS = "^aes256-gcm@openssh.com,aes128-gcm@openssh.com"  # in the processor, where there is AES-NI; the usual ones after them
Connector = Callable[[], Awaitable[asyncssh.SSHClientConnection]]


class AsyncsshTransport:
    """One connection, through the jump hosts that ssh_config or the spec names; a channel per pipe."""

    name = "asyncssh"

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._connection: asyncssh.SSHClientConnection | None = None
        self._leases: list[bastions.Lease] = []
        self._proxies: list[ProxyProcess] = []
        self._host = ""
        logging.getLogger("asyncssh").addHandler(logging.NullHandler())  # what it says reaches the user as an error of ours

    async def connect(self, spec: HostSpec) -> None:
        self._host = spec.name
        target = await resolve(spec, self._options)
        try:
            self._connection = await self._through(target, spec)
        except BaseException:
            await self.close()
            raise

    async def open(self, command: str = "exec /bin/sh -s") -> AsyncsshPipe:
        if self._connection is None:
            raise ConnectionLost(f"not connected to {self._host}", host=self._host)
        pipe = AsyncsshPipe(self._host)
        try:
            await pipe.start(self._connection, command)
        except asyncssh.ChannelOpenError as error:
            if self._connection.is_closed():
                raise ConnectionLost(f"the connection to {self._host} was lost", host=self._host) from error
            raise ConnectFailed(f"{self._host} refused another channel: {error.reason}", host=self._host) from error
        except (OSError, asyncssh.Error) as error:
            raise ConnectionLost(f"the connection to {self._host} was lost: {error}", host=self._host) from error
        return pipe

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await _end(connection)
        while self._leases:
            await self._leases.pop().release()
        while self._proxies:
            await asyncio.to_thread(self._proxies.pop().close)

    async def _through(self, target: Target, spec: HostSpec) -> asyncssh.SSHClientConnection:
        """Hop by hop; a jump host that others use too is connected once."""
        tunnel: asyncssh.SSHClientConnection | None = None
        route: Sequence[str] = ()
        for step in await hops(target, spec, self._options):
            route = (*route, f"{step.user}@{step.hostname}:{step.port} {step.identities} {step.known_hosts}")
            lease = await bastions.lease(">".join(route), self._connector(step, tunnel), _end, asyncssh.SSHClientConnection.is_closed)
            self._leases.append(lease)
            tunnel = lease.connection
        return await self._connector(target, tunnel)()

    def _connector(self, target: Target, tunnel: asyncssh.SSHClientConnection | None) -> Connector:
        async def connect() -> asyncssh.SSHClientConnection:
            known = known_keys(target, self._options.own_known_hosts)
            gate = "tunnel" if tunnel is not None else f"{target.hostname}:{target.port}"
            async with offers(target, self._options) as keys:
                return await start(gate, lambda: self._attempt(target, tunnel, Login(target, self._options, known, keys)))

        return connect

    async def _attempt(self, target: Target, tunnel: asyncssh.SSHClientConnection | None, login: Login) -> asyncssh.SSHClientConnection:
        options: dict[str, Any] = {"tunnel": tunnel} if tunnel is not None else {}
        if target.proxy_command and tunnel is None:
            self._proxies.append(ProxyProcess(target))
            options["sock"] = self._proxies[-1].socket
        try:
            connecting = asyncssh.create_connection(
                lambda: login,
                target.hostname,
                target.port,
                config=None,
                username=target.user,
                known_hosts=login.authorities,
                server_host_key_algs=login.algorithms,
                client_keys=[],
                agent_path=None,
                gss_host=None,
                compression_algs=None,
                encryption_algs=_CIPHERS,
                login_timeout=self._options.login_limit,
                keepalive_interval=self._options.keepalive_seconds,
                keepalive_count_max=self._options.keepalive_count,
                **options,
            )
            connection: asyncssh.SSHClientConnection = await _within(connecting, login.reached, self._options.connect_seconds)
        except (OSError, asyncssh.Error, TimeoutError, ValueError) as error:
            found = translate(error, target, login)
            raise (await asyncio.to_thread(self._proxies[-1].explained, found) if "sock" in options else found) from error
        login.succeeded()
        return connection


async def _within(connecting: Coroutine[Any, Any, tuple[Any, Any]], reached: asyncio.Event, seconds: float) -> Any:
    """The connection; TimeoutError where the host was not reached in time. (asyncssh's own limit would hold for the login too.)"""
    attempt, waiting = asyncio.ensure_future(connecting), asyncio.ensure_future(reached.wait())
    try:
        await asyncio.wait([attempt, waiting], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not attempt.done() and not reached.is_set():
            raise TimeoutError
        connection, _ = await attempt
        return connection
    finally:
        for task in (attempt, waiting):
            task.cancel()
        await asyncio.gather(attempt, waiting, return_exceptions=True)


async def _end(connection: asyncssh.SSHClientConnection) -> None:
    connection.close()
    with contextlib.suppress(OSError, asyncssh.Error, TimeoutError):
        await asyncio.wait_for(connection.wait_closed(), _CLOSE_SECONDS)
