"""Options that several commands share, and how they become a host, a launch and a request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from agent.config import Settings, load_settings
from agent.domain.errors import UsageError
from agent.domain.launch import HostSpec, Launch

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which host, or which bundle, and how to get there."""

    hosts: tuple[str, ...] = ()
    inventory: str = ""
    bundle: str = ""
    transport: str = "auto"
    port: int = 0
    user: str = ""
    identity: tuple[str, ...] = ()
    jump: tuple[str, ...] = ()
    known_hosts: str = ""
    host_key_policy: str = "strict"
    container: str = ""

    def specs(self) -> tuple[HostSpec, ...]:
        """One HostSpec per ``--host``; the local machine under ``--transport local``; a bundle's host. Raises UsageError without any."""
        if self.bundle:
            from agent.hosts.bundle import bundle_spec

            return (bundle_spec(Path(self.bundle)),)
        from agent.hosts.host_names import expand
        from agent.hosts.inventory import read_inventory

        names = self.hosts or (("localhost",) if self.transport == "local" and not self.inventory else ())
        listed = read_inventory(Path(self.inventory), replace(self.spec("inventory"), name="")) if self.inventory else ()
        if not names and not listed:
            raise UsageError("which host?", hint="give --host [user@]host[:port], or --transport local for this machine")
        named = tuple(self.spec(name) for pattern in names for name in expand(pattern))
        return tuple(dict.fromkeys((*named, *listed)))

    @classmethod
    def of(cls, spec: HostSpec) -> Where:
        """The options that lead to this one host."""
        return cls(
            hosts=(spec.name,),
            transport=spec.transport,
            port=spec.port,
            user=spec.user,
            identity=spec.identities,
            jump=spec.jump,
            known_hosts=spec.known_hosts,
            host_key_policy=spec.host_key_policy,
            container=spec.container,
        )

    def one(self) -> HostSpec:
        """For a command that works on one host: several are refused rather than all but the first left out."""
        specs = self.specs()
        if len(specs) != 1:
            raise UsageError(f"{len(specs)} hosts are named, and this command takes one", hint="rca run takes several")
        return specs[0]

    def spec(self, name: str) -> HostSpec:
        """``[user@]host[:port]`` with the other options laid over it."""
        try:
            spec = HostSpec.parse(name)
        except ValueError:
            raise UsageError(f"{name!r} is no host", hint="write [user@]host[:port], an IPv6 address in brackets") from None
        if not spec.name or spec.name.startswith("-"):
            raise UsageError(f"{name!r} is no host", hint="write [user@]host[:port]")
        return replace(
            spec,
            user=self.user or spec.user,
            port=self.port or spec.port,
            identities=self.identity,
            jump=self.jump,
            known_hosts=self.known_hosts,
            host_key_policy=self.host_key_policy,
            transport=self.transport,
            container=self.container,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """Which process, tree and launch, and what is assumed of them."""

    pid: int | None = None
    tree: str = ""
    launch: str = ""
    cwd: str = ""
    log: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    assume: Mapping[str, Any] = field(default_factory=dict)

    def given_launch(self) -> Launch | None:
        """The ``--launch`` line as a Launch, its secrets masked as on a host; raises UsageError where it is none."""
        if not self.launch:
            return None
        from agent import wiring
        from agent.domain.redaction import without_secrets
        from agent.probes.shell_line import parse_launch

        parsed = parse_launch(self.launch, wiring.products(), env=self.env, cwd=self.cwd or ".").launch
        return without_secrets(replace(parsed, env={**parsed.env, **self.env}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the result goes."""

    format: str = ""
    out: str = ""
    quiet: bool = False
    verbose: bool = False


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text!r} is no pair", hint=f"write {option} NAME=VALUE")
    return name, value


def plain_value(text: str) -> Any:
    """JSON where it is JSON (numbers, true, null, lists), else the text itself; Python's None, True and False too."""
    python = {"None": None, "True": True, "False": False}
    if text in python:
        return python[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_facts(path: str) -> dict[str, Any]:
    """A JSON or YAML mapping from fact name to value; raises UsageError."""
    import yaml

    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"--facts {path}: {problem.strerror or problem}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise UsageError(f"--facts {path} is neither JSON nor YAML: {str(problem).splitlines()[0]}") from None
    if not isinstance(found, dict):
        raise UsageError(f"--facts {path} holds no mapping from name to value")
    return {str(name): value for name, value in found.items()}


_WHERE = [
    click.option("--host", "hosts", multiple=True, metavar="HOST", help="[user@]host[:port] or gpu[01-32]; may be repeated."),
    click.option("--inventory", metavar="FILE", default="", help="File with hosts: a list, gpu[01-32] ranges, Ansible INI or YAML."),
    click.option("--bundle", metavar="FILE", default="", help="Read a bundle made by `rca capture` instead of a host."),
    click.option(
        "--transport", type=click.Choice(["auto", "asyncssh", "paramiko", "openssh", "local"]), default="auto", help="How to connect."
    ),
    click.option("--port", type=click.IntRange(1, 65535), default=None, help="SSH port."),
    click.option("--user", metavar="NAME", default="", help="Account on the host."),
    click.option("--identity", multiple=True, metavar="FILE", help="Private key; may be repeated."),
    click.option("--jump", multiple=True, metavar="HOST", help="Bastion to go through; may be repeated."),
    click.option("--known-hosts", metavar="FILE", default="", help="known_hosts file to check the host's key with."),
    click.option(
        "--host-key-policy", type=click.Choice(["strict", "accept-new"]), default="strict", help="What to do with an unknown key."
    ),
    click.option("--container", metavar="KIND:NAME", default="", help="docker:NAME, podman:NAME or kubectl:NAMESPACE/POD."),
]
_WHAT = [
    click.option("--pid", type=click.IntRange(1), default=None, help="The server's process, where there are several."),
    click.option("--tree", metavar="DIR", default="", help="Directory that holds the package's source."),
    click.option("--launch", metavar='"CMD ..."', default="", help="Judge this command; a pasted shell line will do."),
    click.option("--cwd", metavar="DIR", default="", help="Directory that relative paths of --launch start from."),
    click.option("--log", metavar="FILE", default="", help="The server's log, where its standard output does not lead to it."),
    click.option("--env", multiple=True, metavar="K=V", help="Environment variable of the server; may be repeated."),
    click.option("--assume", multiple=True, metavar="NAME=VALUE", help="A fact the engine may rely on; may be repeated."),
    click.option("--facts", metavar="FILE", default="", help="Facts as a JSON or YAML mapping."),
]
_QUIET = [
    click.option("--quiet", "-q", is_flag=True, help="No progress."),
    click.option("--verbose", "-v", is_flag=True, help="Say more."),
]


def where_options(command: F) -> F:
    """Adds ``where: Where``."""

    def gather(values: dict[str, Any]) -> Where:
        taken = {name: values.pop(name) for name in Where.__dataclass_fields__}
        return Where(**{**taken, "port": taken["port"] or 0})

    return _gathered(command, "where", _WHERE, gather)


def what_options(command: F) -> F:
    """Adds ``what: What``."""

    def gather(values: dict[str, Any]) -> What:
        facts = read_facts(path) if (path := values.pop("facts")) else {}
        env = dict(_pair(text, "--env") for text in values.pop("env"))
        assumed = {name: plain_value(value) for name, value in (_pair(text, "--assume") for text in values.pop("assume"))}
        taken = {name: values.pop(name) for name in ("pid", "tree", "launch", "cwd", "log")}
        return What(env=env, assume={**facts, **assumed}, **taken)

    return _gathered(command, "what", _WHAT, gather)


def output_options(*formats: str, terminal: str = "") -> Callable[[F], F]:
    """Adds ``output: Output`` with these formats. The first is the default, and ``terminal`` that of a result that goes to a terminal."""
    shown = f"{formats[0]}; on a terminal {terminal}" if terminal else formats[0]
    options = [
        click.option("--format", type=click.Choice(formats), default=None, show_default=shown, help="Form of the result."),
        click.option("--out", metavar="DIR", default="", help="Also write the result to a file in this directory."),
        *_QUIET,
    ]

    def gather(values: dict[str, Any]) -> Output:
        usual = terminal if terminal and sys.stdout.isatty() else formats[0]
        taken = {name: values.pop(name) for name in ("format", "out", "quiet", "verbose")}
        return Output(**{**taken, "format": taken["format"] or usual})

    return lambda command: _gathered(command, "output", options, gather)


def _gathered(command: F, name: str, options: list[Any], gather: Callable[[dict[str, Any]], Any]) -> F:
    @wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        values[name] = gather(values)
        return command(*args, **values)

    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


def settings() -> Settings:
    """Settings of this process, read now."""
    return load_settings()
