"""What ssh_config says of a host: asked from ``ssh -G`` where ssh is installed, otherwise from asyncssh's parser."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakKeyDictionary

from agent.domain.errors import ConnectFailed, UsageError
from agent.domain.launch import HostSpec
from agent.transports.ssh_config_files import says_nothing, says_the_same_of_all, settings_in
from agent.transports.ssh_options import SshOptions

_RESOLVE_SECONDS = 10.0
_asked: dict[object, dict[str, list[str]]] = {}  # answers that hold for every host, by everything they depend on
_one_at_a_time: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
_SYSTEM_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_DEFAULT_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk", "id_ecdsa_sk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where and how to log in. ``name``: as the user typed it. Files are expanded; identities exist.

    ``chosen_identities``: they were named by the user or the configuration, so a passphrase is worth asking for.
    ``agent``: socket path, empty for SSH_AUTH_SOCK's, ``none`` for no agent. ``jump``: hops, first to last.
    """

    name: str
    hostname: str
    port: int
    user: str
    identities: tuple[str, ...] = ()
    chosen_identities: bool = False
    certificates: tuple[str, ...] = ()
    identities_only: bool = False
    agent: str = ""
    known_hosts: tuple[str, ...] = ()
    host_key_alias: str = ""
    host_key_policy: str = "strict"
    jump: tuple[str, ...] = ()
    proxy_command: str = ""
    asked: str = ""
    """Of a jump host: as the configuration or the user wrote it."""

    @property
    def known_as(self) -> str:
        """The name under which known_hosts files have it."""
        if self.host_key_alias:
            return self.host_key_alias
        return self.hostname if self.port == 22 else f"[{self.hostname}]:{self.port}"

    @property
    def address(self) -> str:
        """For messages."""
        where = self.name if self.name == self.hostname else f"{self.name} ({self.hostname})"
        return f"{where} port {self.port}"


async def resolve(spec: HostSpec, options: SshOptions) -> Target:
    """The target of ``spec``: its own fields first, then ssh_config. Raises ConnectFailed where the configuration is broken."""
    return target_of(spec, await asked(spec, options))


async def asked(spec: HostSpec, options: SshOptions) -> dict[str, list[str]]:
    """Keyword to its lines, as ``ssh -G`` gives them."""
    if spec.name.startswith("-"):
        raise UsageError(f"not a host name: {spec.name!r}")
    files = [options.config_file] if options.config_file else [Path.home() / ".ssh" / "config", Path("/etc/ssh/ssh_config")]
    settings = list(settings_in(files))
    if says_nothing(settings):
        return _defaults()
    ssh = shutil.which("ssh")
    if not ssh:
        return _ask_asyncssh(spec, options)
    if not says_the_same_of_all(settings):
        return await _ask_ssh(ssh, spec, options)
    key = (tuple(settings), spec.user, spec.port, str(options.config_file))
    async with _one_at_a_time.setdefault(asyncio.get_running_loop(), asyncio.Lock()):  # two hundred hosts ask in the same moment
        if key not in _asked:
            _asked[key] = await _ask_ssh(ssh, spec, options)
    return {**_asked[key], "hostname": [spec.name], "host": [spec.name]}


def target_of(spec: HostSpec, answers: Mapping[str, Sequence[str]]) -> Target:
    """Pure: the answers of ``ssh -G`` (keyword to its lines) made explicit."""
    first = {key: values[0] for key, values in answers.items() if values}
    hostname, user = first.get("hostname", spec.name), first.get("user") or spec.user or getpass.getuser()
    port = int(first.get("port", "0")) or spec.port or 22
    tokens = _tokens(spec, hostname, user, port, first)
    named = spec.identities or tuple(_expand(path, tokens) for path in answers.get("identityfile", ()) if path != "none")
    jump = spec.jump or tuple(part for part in first.get("proxyjump", "none").split(",") if part != "none")
    command = first.get("proxycommand", "none")
    return Target(
        name=spec.name,
        hostname=hostname,
        port=port,
        user=user,
        identities=tuple(path for path in map(os.path.expanduser, named) if os.path.isfile(path)),
        chosen_identities=bool(spec.identities) or not all(Path(path).name.startswith("id_") for path in named),
        certificates=tuple(_expand(path, tokens) for path in answers.get("certificatefile", ())),
        identities_only=first.get("identitiesonly", "no") == "yes",
        agent=_agent(first.get("identityagent", ""), tokens),
        known_hosts=_known_hosts(spec, first, tokens),
        host_key_alias=first.get("hostkeyalias", "") if first.get("hostkeyalias") != "none" else "",
        host_key_policy=spec.host_key_policy,
        jump=jump,
        proxy_command="" if jump or command == "none" else _expand(command, tokens),
    )


def hop(text: str, spec: HostSpec) -> HostSpec:
    """The HostSpec of one jump host: it shares keys and policy, not user, port or container."""
    return HostSpec.parse(
        text.removeprefix("ssh://"), known_hosts=spec.known_hosts, host_key_policy=spec.host_key_policy, identities=spec.identities
    )


async def hops(target: Target, spec: HostSpec, options: SshOptions) -> list[Target]:
    """The jump hosts on the way, the first one first. As with ssh(1) the first of a list may be behind jump hosts of its own.

    One that is on the way already ends it: a ProxyJump for all hosts names the jump host's own too.
    """
    found = await _listed(target, spec, options)
    seen = {(one.hostname, one.port, one.user) for one in (target, *found)}
    while found and found[0].jump:
        before = await _listed(found[0], spec, options)
        places = {(one.hostname, one.port, one.user) for one in before}
        if places & seen:
            break
        seen |= places
        found = before + found
    return found


async def _listed(target: Target, spec: HostSpec, options: SshOptions) -> list[Target]:
    return [replace(await resolve(hop(text, spec), options), asked=text) for text in target.jump]


async def _ask_ssh(ssh: str, spec: HostSpec, options: SshOptions) -> dict[str, list[str]]:
    argv = [ssh, "-G", *(("-F", str(options.config_file)) if options.config_file else ())]
    argv += [*(("-p", str(spec.port)) if spec.port else ()), *(("-l", spec.user) if spec.user else ()), spec.name]
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), _RESOLVE_SECONDS)
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise ConnectFailed("`ssh -G` does not answer", host=spec.name, hint="a `Match exec` in ssh_config may hang") from error
    if process.returncode:
        said = err.decode("utf-8", "replace").strip().splitlines()
        raise ConnectFailed(f"ssh_config cannot be used: {said[-1] if said else 'ssh -G failed'}", host=spec.name, hint="correct that line")
    answers: dict[str, list[str]] = {}
    for line in out.decode("utf-8", "surrogateescape").splitlines():
        keyword, _, value = line.partition(" ")
        answers.setdefault(keyword.lower(), []).append(value)
    return answers


def _ask_asyncssh(spec: HostSpec, options: SshOptions) -> dict[str, list[str]]:
    """The same keywords from asyncssh's reading of the user's file; what it cannot read is left to the defaults."""
    from asyncssh.config import ConfigParseError, SSHClientConfig

    path = options.config_file or Path.home() / ".ssh" / "config"
    answers = _defaults()
    if not path.is_file():
        return answers
    try:
        config = SSHClientConfig.load(
            None,
            str(path),
            True,
            False,
            False,
            getpass.getuser(),
            spec.user or (),
            spec.name,
            spec.port or (),
        )
    except (ConfigParseError, OSError) as error:
        raise ConnectFailed(f"ssh_config cannot be used: {error}", host=spec.name, hint="correct that line") from error
    for keyword in ("Hostname", "Port", "User", "ProxyJump", "ProxyCommand", "HostKeyAlias", "IdentityAgent"):
        value = config.get(keyword)
        if value is not None:
            answers[keyword.lower()] = [str(value) if not isinstance(value, list) else " ".join(value)]
    for keyword in ("IdentityFile", "CertificateFile"):
        listed = config.get(keyword)
        if isinstance(listed, list) and listed:
            answers[keyword.lower()] = [str(value) for value in listed]
    return answers


def _defaults() -> dict[str, list[str]]:
    """What ssh does without any configuration."""
    home = Path.home() / ".ssh"
    return {
        "userknownhostsfile": [f"{home / 'known_hosts'} {home / 'known_hosts2'}"],
        "globalknownhostsfile": [_SYSTEM_KNOWN_HOSTS],
        "identityfile": [str(home / name) for name in _DEFAULT_KEYS],
    }


def _known_hosts(spec: HostSpec, first: Mapping[str, str], tokens: Mapping[str, str]) -> tuple[str, ...]:
    if spec.known_hosts:
        return (os.path.expanduser(spec.known_hosts),)
    listed = f"{first.get('userknownhostsfile', '')} {first.get('globalknownhostsfile', '')}".split()
    return tuple(_expand(path, tokens) for path in listed if path != "none")


def _agent(said: str, tokens: Mapping[str, str]) -> str:
    if said in ("", "SSH_AUTH_SOCK", "none"):
        return "none" if said == "none" else ""
    return os.environ.get(said[1:], "") if said.startswith("$") else _expand(said, tokens)


def _tokens(spec: HostSpec, hostname: str, user: str, port: int, first: Mapping[str, str]) -> dict[str, str]:
    local = socket.gethostname()
    return {
        "%": "%", "d": str(Path.home()), "h": hostname, "i": str(os.getuid()), "k": first.get("hostkeyalias", "") or spec.name,
        "L": local.partition(".")[0], "l": local, "n": spec.name, "p": str(port), "r": user, "u": getpass.getuser(),
        "j": first.get("proxyjump", "") if first.get("proxyjump") != "none" else "",
    }  # fmt: skip


def _expand(text: str, tokens: Mapping[str, str]) -> str:
    """Percent tokens of ssh_config(5) and ``~``; an unknown token stays as it is."""
    pieces, rest = [], text
    while rest:
        head, sign, rest = rest.partition("%")
        pieces.append(head)
        if sign:
            pieces.append(tokens.get(rest[:1], f"%{rest[:1]}"))
            rest = rest[1:]
    return os.path.expanduser("".join(pieces))
