"""Every fault that was provoked on real servers, provoked again, and what must happen then."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.domain.command import Command, CommandResult
from agent.domain.errors import (
    AuthFailed,
    ConnectFailed,
    ConnectionLost,
    HostKeyChanged,
    HostKeyUnknown,
    RcaError,
    RestrictedHost,
    Truncated,
)
from agent.domain.launch import HostSpec
from agent.hosts import commands
from agent.hosts.remote import RemoteHost
from agent.hosts.shell import render
from agent.transports.handshakes import AT_ONCE, Incompatible
from agent.transports.local import LocalTransport, ProcessPipe, spawn
from agent.transports.ssh_options import SshOptions
from benchmarks.proxy import Proxy
from tests.remote.conftest import SSH_TRANSPORTS, Connect
from tests.remote.waiting import processes, running, until
from tests.sshd import Sshd, free_port, make_key, serving

PATIENCE = 60
"""Seconds after which something is held to hang; on a busy machine all things take longer than their own limits."""

every_ssh = pytest.mark.parametrize("name", SSH_TRANSPORTS)


@contextmanager
def server(tmp_path: Path, settings: Mapping[str, str] | None = None, *, more: str = "") -> Iterator[Sshd]:
    directory = tmp_path / "server"
    directory.mkdir()
    with serving(directory, settings, more=more) as found:
        yield found


def through(sshd: Sshd, proxy: Proxy) -> Sshd:
    """The same server, reached by way of the proxy."""
    line = sshd.known_hosts.read_text().replace(f":{sshd.port} ", f":{proxy.port} ")
    known = sshd.directory / f"known_hosts_{proxy.port}"
    known.write_text(line)
    return replace(sshd, port=proxy.port, known_hosts=known)


# Channels and connections that the server refuses.


@every_ssh
async def test_one_session_is_enough_for_everything(name: str, tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text("x = 1\n")
    with server(tmp_path, {"MaxSessions": "1"}) as sshd:
        host = await connect(name, sshd.spec())
        reads = [commands.lines(str(tmp_path / "pkg" / "a.py"), 1, 1)] * 3
        batches = await asyncio.gather(*(host.batch(reads) for _ in range(6)))
        assert all(isinstance(answer, CommandResult) and answer.stdout == b"x = 1\n" for batch in batches for answer in batch)
        assert b"".join([piece async for piece in host.stream(commands.read_bytes(str(tmp_path / "pkg" / "a.py")))]) == b"x = 1\n"
        assert list((await host.sync_tree(str(tmp_path), ["pkg"])).files()) == ["pkg/a.py"]
        assert await host.fetch([str(tmp_path / "pkg" / "a.py")])


@every_ssh
async def test_without_a_channel_for_the_signal_another_shell_sends_it(
    name: str, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.hosts.pool.PATIENCE_SECONDS", 0.0)
    with server(tmp_path, {"MaxSessions": "2"}) as sshd, hanging_read(tmp_path, monkeypatch) as (slow, marker):
        host = await connect(name, sshd.spec())
        reading = asyncio.create_task(host.run(slow))
        assert await until(lambda: f"cat {marker}" in processes())
        assert (await host.run(commands.uname())).status == 0
        assert host.shells == 2
        reading.cancel()
        assert await until(lambda: f"cat {marker}" not in processes())
        assert (await host.run(commands.uname())).status == 0


@every_ssh
async def test_with_one_session_a_cancelled_read_hangs_nothing(
    name: str, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd delivers no signals for root, and there is no second channel: the read ends by itself, and the host is usable then."""
    with server(tmp_path, {"MaxSessions": "1"}) as sshd, hanging_read(tmp_path, monkeypatch) as (slow, marker):
        host = await connect(name, sshd.spec())
        reading = asyncio.create_task(host.run(slow))
        assert await until(lambda: f"cat {marker}" in processes())
        reading.cancel()
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectFailed):
                await host.run(commands.uname())
        if f"cat {marker}" in processes():
            with open(marker, "w"):
                pass
        assert (await host.run(commands.uname())).status == 0


class Late(ProcessPipe):
    """A shell whose words do not arrive before ``arrives`` is set, and that takes signals from a second pipe only."""

    signals = False
    arrives = asyncio.Event()

    async def read(self) -> bytes:
        await self.arrives.wait()
        return await super().read()


class LateOnce(LocalTransport):
    """The first shell is ``Late``."""

    async def open(self, command: str = "exec /bin/sh -s") -> ProcessPipe:
        if self._pipes:
            return await super().open(command)
        self._pipes.append(await spawn(["/bin/sh", "-c", command], "here", Late))
        return self._pipes[0]


async def test_a_read_that_is_cancelled_before_its_shell_was_heard_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which process there is to end, only the shell's first words tell."""
    monkeypatch.setattr(Late, "arrives", asyncio.Event())
    with hanging_read(tmp_path, monkeypatch) as (slow, marker):
        host = RemoteHost(LateOnce(), HostSpec(name="here"))
        reading = asyncio.create_task(host.run(slow))
        assert await until(lambda: f"cat {marker}" in processes())
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        Late.arrives.set()
        assert await until(lambda: f"cat {marker}" not in processes())
        await host.close()


@contextmanager
def hanging_read(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Command, str]]:
    """A read that never ends by itself, and the name of the FIFO that it waits for."""
    marker = str(directory / "hanging")
    os.mkfifo(marker)
    slow = Command(argv=("id",))
    monkeypatch.setattr("agent.hosts.prelude.render", lambda command: f"cat {marker}" if command is slow else render(command))
    yield slow, marker


@every_ssh
async def test_many_batches_at_once_use_at_most_four_shells(
    name: str, sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.hosts.pool.PATIENCE_SECONDS", 0.0)
    host = await connect(name, sshd.spec())
    batches = await asyncio.gather(*(host.batch([commands.uname(), commands.identity()]) for _ in range(50)))
    assert [answer for batch in batches for answer in batch if not isinstance(answer, CommandResult) or answer.status] == []
    assert 1 <= host.shells <= 4


async def test_the_pool_shrinks_to_what_the_server_allows(tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hosts.pool.PATIENCE_SECONDS", 0.0)
    with server(tmp_path, {"MaxSessions": "2"}) as sshd:
        host = await connect("asyncssh", sshd.spec())
        for _ in range(3):
            await asyncio.gather(*(host.batch([commands.command_lines()]) for _ in range(8)))
        assert host.shells == 2


async def test_sixty_connections_at_once_to_a_server_with_default_limits(tmp_path: Path, connect: Connect) -> None:
    with server(tmp_path, {"MaxStartups": "10:30:100"}) as sshd:
        hosts = await asyncio.gather(*(connect("asyncssh", sshd.spec()) for _ in range(60)))
        answers = await asyncio.gather(*(host.run(commands.identity()) for host in hosts))
        assert {answer.status for answer in answers} == {0}


async def test_at_most_eight_handshakes_are_under_way(sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """sshd begins to drop unauthenticated connections at ten. This server says nothing until eight are there, then hangs up on all."""
    monkeypatch.setattr("agent.transports.handshakes.FIRST_PAUSE", 0.01)
    under_way = most = 0
    enough = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == AT_ONCE:
            enough.set()
        await enough.wait()
        under_way -= 1
        writer.close()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    spec = sshd.spec(port=listener.sockets[0].getsockname()[1])
    async with asyncio.timeout(PATIENCE):
        ends = await asyncio.gather(*(connect("asyncssh", spec) for _ in range(30)), return_exceptions=True)
    listener.close()
    assert most == AT_ONCE
    assert all(isinstance(end, ConnectFailed) for end in ends)


@every_ssh
@pytest.mark.parametrize("banner", [b"", b"SSH-2.0-OpenSSH_9.2\r\n"], ids=["before its version", "after it"])
async def test_a_server_that_hangs_up_before_the_key_exchange_is_asked_again(
    name: str, banner: bytes, sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has told its version may have found no common algorithm: another SSH implementation is worth a try then."""
    monkeypatch.setattr("agent.transports.handshakes.FIRST_PAUSE", 0.01)
    refused = 0

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal refused
        refused += 1
        if banner:
            writer.write(banner)
            await reader.readline()
            await reader.read(1)
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    with pytest.raises(ConnectFailed, match="before the key exchange") as caught:
        await connect(name, sshd.spec(port=port))
    listener.close()
    assert refused == 4
    assert isinstance(caught.value, Incompatible) is (banner != b"" and name != "openssh")


# Logins.


@every_ssh
async def test_a_refused_login_is_not_tried_again(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    stranger = make_key(tmp_path / "stranger")
    async with Proxy.to(sshd.port) as proxy:
        with pytest.raises(AuthFailed):
            await connect(name, through(sshd, proxy).spec(identities=(str(stranger),)))
        assert proxy.connections == 1


@every_ssh
async def test_at_most_five_keys_are_offered(name: str, tmp_path: Path, sshd: Sshd, options: SshOptions, connect: Connect) -> None:
    with agent_with([make_key(tmp_path / f"wrong{number}") for number in range(8)], tmp_path) as environment:
        options = replace(options, config_file=_config(tmp_path, "PasswordAuthentication no"))
        before = len(sshd.log)
        with environment, pytest.raises(AuthFailed):
            await connect(name, sshd.spec(identities=()), options=options)
    assert "Too many authentication failures" not in sshd.log[before:]
    assert len(set(re.findall(r"Failed publickey for .* (SHA256:\S+)", sshd.log[before:]))) == 5


@every_ssh
async def test_an_agent_that_ssh_config_names(name: str, tmp_path: Path, sshd: Sshd, options: SshOptions, connect: Connect) -> None:
    with agent_with([sshd.key], tmp_path / "one"):
        named = replace(options, config_file=_config(tmp_path, f"IdentityAgent {tmp_path / 'one' / 'agent'}\nUser {sshd.user}\n"))
        host = await connect(name, sshd.spec(identities=()), options=named)
        assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_the_key_file_comes_before_the_agent(name: str, tmp_path: Path, sshd: Sshd, options: SshOptions, connect: Connect) -> None:
    with agent_with([make_key(tmp_path / f"wrong{number}") for number in range(8)], tmp_path) as environment, environment:
        host = await connect(name, sshd.spec(), options=replace(options, config_file=_config(tmp_path, "")))
        assert (await host.run(commands.identity())).status == 0


@pytest.mark.parametrize("name", ["asyncssh", "paramiko"])  # ssh tells nobody which key it was
async def test_the_key_that_worked_last_comes_first(name: str, tmp_path: Path, sshd: Sshd, options: SshOptions, connect: Connect) -> None:
    wrong = [make_key(tmp_path / f"wrong{number}") for number in range(8)]
    options = replace(options, config_file=_config(tmp_path, ""))
    with agent_with([sshd.key], tmp_path / "one") as environment, environment:
        await connect(name, sshd.spec(identities=()), options=options)
    with agent_with([*wrong, sshd.key], tmp_path / "nine") as environment, environment:
        host = await connect(name, sshd.spec(identities=()), options=options)
        assert (await host.run(commands.identity())).status == 0


@pytest.mark.parametrize("name", ["asyncssh", "paramiko"])
async def test_an_encrypted_key_is_unlocked_before_connecting(name: str, tmp_path: Path, connect: Connect, options: SshOptions) -> None:
    """A server waits for no person. (ssh(1) asks by itself.)"""
    with server(tmp_path) as sshd:
        async with Proxy.to(sshd.port) as proxy:
            locked = make_key(tmp_path / "locked", passphrase="open sesame")
            with (sshd.directory / "authorized_keys").open("a") as file:
                file.write(locked.with_suffix(".pub").read_text())
            asked: list[tuple[str, int]] = []

            def prompt(question: str, shown: bool) -> str:
                asked.append((question, proxy.connections))
                return "open sesame"

            spec = through(sshd, proxy).spec(identities=(str(locked),))
            host = await connect(name, spec, options=replace(options, prompt=prompt))
            assert (await host.run(commands.identity())).status == 0
            assert asked == [(f"Passphrase for {locked}: ", 0)]
            assert proxy.connections == 1
            with pytest.raises(AuthFailed):
                await connect(name, spec)


@every_ssh
async def test_a_user_certificate(name: str, tmp_path: Path, connect: Connect) -> None:
    authority = make_key(tmp_path / "ca")
    key = make_key(tmp_path / "certified")
    sign = ["ssh-keygen", "-q", "-s", str(authority), "-I", "test", "-n", _user(), "-V", "+1h", f"{key}.pub"]
    subprocess.run(sign, check=True, capture_output=True)
    with server(tmp_path, {"TrustedUserCAKeys": f"{authority}.pub"}) as sshd:
        (sshd.directory / "authorized_keys").write_text("")
        host = await connect(name, sshd.spec(identities=(str(key),)))
        assert (await host.run(commands.identity())).status == 0


# Host keys.


@every_ssh
async def test_an_unknown_host_key_stops(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    with pytest.raises(HostKeyUnknown):
        await connect(name, sshd.spec(known_hosts=str(tmp_path / "none")))


@every_ssh
async def test_accept_new_records_the_key_in_our_own_file_alone(
    name: str, sshd: Sshd, tmp_path: Path, options: SshOptions, connect: Connect
) -> None:
    users = tmp_path / "users_known_hosts"
    users.write_text("# mine\n")
    spec = sshd.spec(known_hosts=str(users), host_key_policy="accept-new")
    await connect(name, spec)
    assert users.read_text() == "# mine\n"
    assert f"[127.0.0.1]:{sshd.port} " in options.own_known_hosts.read_text()
    await connect(name, replace(spec, host_key_policy="strict"))
    assert options.own_known_hosts.read_text().count("\n") == 1


@every_ssh
async def test_a_new_key_that_cannot_be_recorded_is_not_accepted(
    name: str, sshd: Sshd, tmp_path: Path, options: SshOptions, connect: Connect
) -> None:
    (tmp_path / "file").write_text("")
    nowhere = replace(options, own_known_hosts=tmp_path / "file" / "known_hosts")
    spec = sshd.spec(known_hosts=str(tmp_path / "none"), host_key_policy="accept-new")
    with pytest.raises(HostKeyUnknown, match=r"is new, and cannot be recorded in .*: (Not a directory|File exists)"):
        await connect(name, spec, options=nowhere)
    host = await connect(name, sshd.spec(), options=nowhere)
    assert (await host.run(commands.identity())).status == 0, "a known one needs no file of ours"


@every_ssh
@pytest.mark.parametrize("policy", ["strict", "accept-new"])
async def test_a_changed_host_key_is_a_hard_stop_with_both_fingerprints(
    name: str, policy: str, sshd: Sshd, tmp_path: Path, connect: Connect
) -> None:
    other = make_key(tmp_path / "other").with_suffix(".pub")
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{sshd.port} {other.read_text()}")
    with pytest.raises(HostKeyChanged) as caught:
        await connect(name, sshd.spec(known_hosts=str(known), host_key_policy=policy))
    assert caught.value.actual == _fingerprint(sshd.directory / "host_key.pub")
    assert caught.value.expected == _fingerprint(other)
    assert all(part in caught.value.what for part in (caught.value.actual, caught.value.expected, f"{known}:1"))


@every_ssh
async def test_of_several_host_keys_the_known_one_is_asked_for(name: str, tmp_path: Path, connect: Connect) -> None:
    rsa = make_key(tmp_path / "rsa", kind="rsa")
    with server(tmp_path, more=f"HostKey {rsa}\n") as sshd:
        known = tmp_path / "known"
        known.write_text(f"[127.0.0.1]:{sshd.port} {rsa.with_suffix('.pub').read_text()}")
        host = await connect(name, sshd.spec(known_hosts=str(known)))
        assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_a_hashed_known_hosts_file(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    known = tmp_path / "hashed"
    known.write_text(sshd.known_hosts.read_text())
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(known)], check=True, capture_output=True)
    assert "127.0.0.1" not in known.read_text()
    await connect(name, sshd.spec(known_hosts=str(known)))


@every_ssh
async def test_a_host_certificate(name: str, tmp_path: Path, connect: Connect) -> None:
    """paramiko cannot check one: to it the host is unknown, which is a stop."""
    authority = make_key(tmp_path / "ca")
    with server(tmp_path) as plain:
        key = plain.directory / "host_key.pub"
    subprocess.run(
        ["ssh-keygen", "-q", "-s", str(authority), "-I", "h", "-h", "-n", "127.0.0.1", str(key)], check=True, capture_output=True
    )
    directory = tmp_path / "second"
    directory.mkdir()
    certificate = f"HostKey {plain.directory / 'host_key'}\nHostCertificate {plain.directory / 'host_key-cert.pub'}\n"
    with serving(directory, {"HostKey": str(plain.directory / "host_key")}, more=certificate) as sshd:
        known = tmp_path / "known"
        known.write_text(f"@cert-authority * {authority.with_suffix('.pub').read_text()}")
        if name == "paramiko":
            with pytest.raises(HostKeyUnknown):
                await connect(name, sshd.spec(known_hosts=str(known)))
            return
        host = await connect(name, sshd.spec(known_hosts=str(known)))
        assert (await host.run(commands.identity())).status == 0


# Shells that are not as they should be.


@every_ssh
async def test_noise_of_login_files_is_dropped(name: str, tmp_path: Path, connect: Connect) -> None:
    noisy = "ForceCommand /bin/sh -c 'echo welcome; echo 1 ready 0 >&2; printf half; eval \"$SSH_ORIGINAL_COMMAND\"'\n"
    with server(tmp_path, more=noisy) as sshd:
        host = await connect(name, sshd.spec())
        answer = await host.run(commands.uname())
        assert answer.stdout.startswith(b"Linux") and answer.stderr == b""


@every_ssh
async def test_slow_login_files_run_once_for_many_reads(name: str, tmp_path: Path, connect: Connect) -> None:
    counted = f"ForceCommand /bin/sh -c 'echo run >>{tmp_path}/runs; eval \"$SSH_ORIGINAL_COMMAND\"'\n"
    with server(tmp_path, more=counted) as sshd:
        host = await connect(name, sshd.spec())
        for _ in range(10):
            assert (await host.run(commands.uname())).status == 0
    assert (tmp_path / "runs").read_text() == "run\n"


RESTRICTED = {"sftp only": "internal-sftp", "a message": "echo This account is closed.", "an echo": "cat", "nothing": "true"}


@every_ssh
@pytest.mark.parametrize("forced", RESTRICTED.values(), ids=list(RESTRICTED))
async def test_an_account_without_a_shell(
    name: str, forced: str, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    if forced == "cat":  # the others end by themselves
        monkeypatch.setattr("agent.hosts.worker.READY_SECONDS", 1.0)
    with server(tmp_path, more=f"ForceCommand {forced}\n") as sshd:
        host = await connect(name, sshd.spec())
        with pytest.raises(RestrictedHost) as caught:
            await host.run(commands.uname())
        if "closed" in forced:
            assert "This account is closed." in caught.value.what


@every_ssh
async def test_a_restricted_login_shell(name: str, tmp_path: Path, connect: Connect) -> None:
    with server(tmp_path, more='ForceCommand /bin/rbash -c "$SSH_ORIGINAL_COMMAND"\n') as sshd:
        host = await connect(name, sshd.spec())
        assert (await host.run(commands.uname())).status == 0


# Connections that break.


@every_ssh
async def test_a_drop_in_mid_answer_is_never_a_result(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "big").write_bytes(os.urandom(3_000_000))
    async with Proxy.to(sshd.port) as proxy:
        host = await connect(name, through(sshd, proxy).spec())
        await host.run(commands.uname())
        proxy.cut_after = max(side.passed for side in proxy.sides) + 1_000_000
        answers = await host.batch([commands.read_bytes(str(tmp_path / "big"))])
        assert isinstance(answers[0], ConnectionLost | Truncated)
        with pytest.raises(RcaError):
            await host.run(commands.uname())
        assert proxy.connections == 1, "a login that a person took part in is never repeated by itself"


@every_ssh
async def test_a_shell_that_is_killed_is_replaced_and_its_read_sent_once_more(
    name: str, sshd: Sshd, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hanging_read(tmp_path, monkeypatch) as (slow, marker):
        host = await connect(name, sshd.spec())
        reading = asyncio.create_task(host.batch([commands.uname(), slow]))
        killed: set[int] = set()
        for _ in range(2):
            assert await until(lambda: bool(running(f"cat {marker}") - killed))
            (reader,) = running(f"cat {marker}") - killed
            killed.add(reader)
            os.killpg(os.getpgid(reader), signal.SIGKILL)
        first, lost = await reading
        assert isinstance(first, CommandResult) and first.status == 0
        assert isinstance(lost, Truncated | ConnectionLost), "once more, and not again"
        assert "ready" not in lost.what
        assert (await host.run(commands.identity())).status == 0


@every_ssh
async def test_a_half_open_connection_is_noticed(name: str, sshd: Sshd, connect: Connect, options: SshOptions) -> None:
    async with Proxy.to(sshd.port) as proxy:
        quick = replace(options, keepalive_seconds=1, keepalive_count=2)
        host = await connect(name, through(sshd, proxy).spec(), options=quick)
        await host.run(commands.uname())
        proxy.freeze()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ConnectionLost):
                await host.run(commands.identity())


@every_ssh
async def test_a_server_that_never_speaks_is_a_login_timeout(name: str, sshd: Sshd, connect: Connect, options: SshOptions) -> None:
    async with Proxy.to(sshd.port) as proxy:
        proxy.freeze()
        quick = replace(options, connect_seconds=1.0, login_seconds=1.0)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ConnectFailed) as caught:
                await connect(name, through(sshd, proxy).spec(), options=quick)
        assert "connected, but the login took longer than its limit" in caught.value.what


@every_ssh
async def test_a_port_that_never_answers_is_a_connect_timeout(name: str, sshd: Sshd, connect: Connect, options: SshOptions) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        quick = replace(options, connect_seconds=1.0, login_seconds=1.0)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ConnectFailed, match=r"does not answer \(time-out\)"):
                await connect(name, sshd.spec(port=full.getsockname()[1]), options=quick)
        for filler in fillers:
            filler.close()


@every_ssh
async def test_a_closed_port_and_an_unknown_name_say_so(name: str, sshd: Sshd, connect: Connect) -> None:
    with pytest.raises(ConnectFailed, match="refused"):
        await connect(name, sshd.spec(port=free_port()))
    with pytest.raises(ConnectFailed, match=r"no address|resolve"):
        await connect(name, sshd.spec(name="no-such-host.invalid", port=22))


def _config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config_with_agent"
    path.write_text(text + "\n")
    return path


def _user() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()


def _fingerprint(public: Path) -> str:
    return subprocess.run(["ssh-keygen", "-l", "-f", str(public)], capture_output=True, text=True, check=True).stdout.split()[1]


@contextmanager
def agent_with(keys: list[Path], directory: Path) -> Iterator[pytest.MonkeyPatch]:
    """A real ssh-agent that holds these keys; use the result as a context for SSH_AUTH_SOCK."""
    directory.mkdir(exist_ok=True)
    path = directory / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL)
    try:
        while not path.exists():
            assert process.poll() is None
        environment = {**os.environ, "SSH_AUTH_SOCK": str(path)}
        subprocess.run(["ssh-add", "-q", *map(str, keys)], env=environment, check=True, capture_output=True)
        yield _Environment(str(path))  # type: ignore[misc]
    finally:
        process.terminate()
        process.wait(60)


class _Environment:
    """SSH_AUTH_SOCK for the length of a block."""

    def __init__(self, socket_path: str) -> None:
        self._path = socket_path
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> None:
        self._patch.setenv("SSH_AUTH_SOCK", self._path)

    def __exit__(self, *_: object) -> None:
        self._patch.undo()
