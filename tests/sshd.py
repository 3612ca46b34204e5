"""A real OpenSSH server on loopback for tests: its own port, host key and authorized key; one per test process."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from pwd import getpwuid

import pytest

from agent.domain.launch import HostSpec

_BANNER_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sshd:
    """Where the server listens and how to log in; everything lies in ``directory``."""

    directory: Path
    port: int
    user: str
    key: Path
    known_hosts: Path
    process: subprocess.Popen[bytes] = field(repr=False)

    def spec(self, **options: object) -> HostSpec:
        """A HostSpec that reaches it with no other configuration."""
        own = HostSpec(name="127.0.0.1", user=self.user, port=self.port, identities=(str(self.key),), known_hosts=str(self.known_hosts))
        return replace(own, **options)  # type: ignore[arg-type]

    @property
    def log(self) -> str:
        return (self.directory / "sshd.log").read_text(errors="replace")


def program() -> str:
    """The path of sshd; skips the test where there is none and it cannot be installed."""
    found = _installed()
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        with (Path(tempfile.gettempdir()) / "rca-tests-apt.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # test processes run side by side, apt does not
            found = _installed() or _install()
    if not found:
        pytest.skip("needs OpenSSH's sshd: install openssh-server")
    return found


def _installed() -> str | None:
    return shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def _install() -> str | None:
    """With the package lists as they are, then with fresh ones: a new machine has none."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "openssh-server"]
    for command in (install, ["apt-get", "update", "-qq"], install):
        if not _installed():
            subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=environment)
    return _installed()


@contextmanager
def serving(directory: Path, settings: Mapping[str, str] | None = None, *, more: str = "") -> Iterator[Sshd]:
    """A server for the length of the block. ``settings`` replace or add sshd_config lines, ``more`` is appended (Match blocks)."""
    sshd = program()
    host_key, key = make_key(directory / "host_key"), make_key(directory / "id")
    port = free_port()
    user = getpwuid(os.getuid()).pw_name
    authorized = directory / "authorized_keys"
    authorized.write_bytes(key.with_suffix(".pub").read_bytes())
    known_hosts = directory / "known_hosts"
    known_hosts.write_text(f"[127.0.0.1]:{port} {host_key.with_suffix('.pub').read_text()}")
    options = {
        "Port": str(port),
        "ListenAddress": "127.0.0.1",
        "HostKey": str(host_key),
        "PidFile": "none",
        "AuthorizedKeysFile": str(authorized),
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "yes",
        "MaxStartups": "1000",
        "PrintMotd": "no",
        "Subsystem": "sftp internal-sftp",
        "SetEnv": "SHLVL=3",  # bash then reads no rc file: a test must not depend on the account's
        "LogLevel": "VERBOSE",
        **(settings or {}),
    }
    config = directory / "sshd_config"
    config.write_text("".join(f"{name} {value}\n" for name, value in options.items()) + more)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    process = subprocess.Popen([sshd, "-D", "-f", str(config), "-E", str(directory / "sshd.log")], stdin=subprocess.DEVNULL)
    try:
        _wait_for_banner(port, process)
        yield Sshd(directory=directory, port=port, user=user, key=key, known_hosts=known_hosts, process=process)
    finally:
        process.terminate()
        process.wait(60)


def make_key(path: Path, *, passphrase: str = "", kind: str = "ed25519") -> Path:
    """A private key and its ``.pub``."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)], check=True, stdin=subprocess.DEVNULL)
    return path


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """One server for all tests of this process; a test that changes the server's configuration uses ``serving``."""
    with serving(tmp_path_factory.mktemp("sshd")) as server:
        yield server


def _wait_for_banner(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _BANNER_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"sshd ended at once with status {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as probe:
                if probe.recv(4) == b"SSH-":
                    return
        except OSError:
            time.sleep(0.02)
    pytest.fail("sshd did not answer")
