"""Logins that ask a person: once, on one connection, never again by themselves. The server is asyncssh's, which needs no PAM."""

from __future__ import annotations

import threading
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


_asking = pytest.mark.parametrize("name", [name for name in SSH_TRANSPORTS if name != "openssh"])  # ssh asks by itself


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
async def test_a_person_may_take_longer_than_a_connection_may(name: str, desk: Desk, options: SshOptions) -> None:
    looking_for_the_phone = threading.Event()
    hurried = replace(options, connect_seconds=0.3, login_seconds=0.3, prompt=lambda *_: str(looking_for_the_phone.wait(1.0)) and "123456")
    chosen = transport(name, hurried)
    await chosen.connect(_spec(desk))
    await chosen.close()
    assert desk.answers == ["123456"]


@pytest.mark.parametrize("answer", ["123456", "000000"])
@pytest.mark.parametrize("password", [False, True])
async def test_ssh_asks_once_by_itself(
    password: bool, answer: str, desk: Desk, options: SshOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.password = password
    program = tmp_path / "askpass"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/asked\necho {answer}\n')
    program.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(program))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    chosen = transport("openssh", replace(options, prompt=lambda question, shown: ""))
    if answer == "123456":
        await chosen.connect(_spec(desk))
    else:
        with pytest.raises(AuthFailed):
            await chosen.connect(_spec(desk))
    await chosen.close()
    assert len((tmp_path / "asked").read_text().splitlines()) == 1
    assert (desk.answers, desk.connections) == ([answer], 1)


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
