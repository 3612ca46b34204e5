"""Logins that ask a person: once, on one connection, never again by themselves. The server is asyncssh's, which needs no PAM."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from agent.domain.errors import AuthFailed
from agent.domain.launch import HostSpec
from agent.transports.ssh_options import SshOptions
from tests.remote.conftest import SSH_TRANSPORTS, transport


@dataclass(slots=True)
class Desk:
    """The server's side: where it listens, which answers came."""

    port: int = 0
    known_hosts: str = ""
    connections: int = 0
    answers: list[str] = field(default_factory=list)
    password: bool = False
    open: list[asyncssh.SSHServerConnection] = field(default_factory=list)


class Guard(asyncssh.SSHServer):
    """Asks for a code, or for a password."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        desk.connections += 1

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._desk.open.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return self._desk.password

    def validate_password(self, username: str, password: str) -> bool:
        self._desk.answers.append(password)
        return password == "123456"

    def kbdint_auth_supported(self) -> bool:
        return not self._desk.password

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> Any:
        return "", "", "en", [("Verification code: ", False)]

    def validate_kbdint_response(self, username: str, responses: list[str]) -> bool:
        self._desk.answers += responses
        return responses == ["123456"]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk()
    key = asyncssh.generate_private_key("ssh-ed25519")
    listener = await asyncssh.create_server(lambda: Guard(desk), "127.0.0.1", 0, server_host_keys=[key])
    desk.port = listener.get_port()
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{desk.port} {key.export_public_key().decode()}")
    desk.known_hosts = str(known)
    yield desk
    for connection in desk.open:
        connection.close()
        await connection.wait_closed()
    listener.close()
    await listener.wait_closed()


def _spec(desk: Desk) -> HostSpec:
    return HostSpec(name="127.0.0.1", port=desk.port, user="alice", known_hosts=desk.known_hosts)


_asking = pytest.mark.parametrize("name", [name for name in SSH_TRANSPORTS if name != "openssh"])


@_asking
@pytest.mark.parametrize("password", [False, True])
async def test_a_code_is_asked_once(name: str, password: bool, desk: Desk, options: SshOptions) -> None:
    if password and name == "paramiko":
        pytest.skip("paramiko requests the service again before a second method, which asyncssh's server refuses and sshd allows")
    desk.password = password
    asked: list[str] = []
    chosen = transport(name, replace(options, prompt=lambda question, shown: asked.append(question) or "123456"))
    await chosen.connect(_spec(desk))
    await chosen.close()
    assert len(asked) == 1 and ("Password" in asked[0] if password else "Verification code" in asked[0])
    assert (desk.answers, desk.connections) == (["123456"], 1)


@_asking
async def test_a_wrong_code_is_not_asked_again(name: str, desk: Desk, options: SshOptions) -> None:
    asked: list[str] = []
    chosen = transport(name, replace(options, prompt=lambda question, shown: asked.append(question) or "000000"))
    with pytest.raises(AuthFailed):
        await chosen.connect(_spec(desk))
    assert (len(asked), desk.connections) == (1, 1)


@_asking
async def test_with_nobody_to_ask_the_login_is_refused(name: str, desk: Desk, options: SshOptions) -> None:
    with pytest.raises(AuthFailed):
        await transport(name, options).connect(_spec(desk))
    assert desk.answers == []
