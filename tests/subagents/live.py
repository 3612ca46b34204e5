"""A real stand-in server on this machine, found and read through the local transport, for tests of subagents."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from agent.demo.stage import make_environment, standing_in
from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.launch import HostSpec
from agent.hosts.interface import Host
from agent.hosts.redact import Redactor
from agent.hosts.remote import RemoteHost
from agent.probes.products import Product, parse_product
from agent.subagents.interface import Desk
from agent.tools.ledger import Ledger
from agent.transports.local import LocalTransport


def product() -> Product:
    """One whose name no other process on this machine has: tests run side by side."""
    name = f"srv{secrets.token_hex(6)}"
    table = {
        "name": name,
        "packages": [name],
        "modules": [f"{name}.server"],
        "scripts": [f"{name} serve"],
        "workers": [f"^{name}::"],
        "environment": ["DEMO_*"],
        "model": {"target": ["--model", "serve"], "draft": ["--draft"]},
        "log": {"anchors": ["args="], "record": [r"args=(?P<record>\w+\(.*)"], "batch": ["Decode batch, .*"]},
    }
    return parse_product(table, file="test")


def write(root: Path, files: Mapping[str, str]) -> None:
    """Files by relative path."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@contextmanager
def server(root: Path, *words: str, env: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None) -> Iterator[int]:
    """A process in a virtual environment below ``root`` with this command line; ``files`` are relative to its site-packages."""
    site = make_environment(root)
    write(site, files or {})
    with standing_in(root, ("python3", *words), env or {}, log=root / "server.log") as pid:
        yield pid


@asynccontextmanager
async def this_machine() -> AsyncIterator[Host]:
    """This machine as a Host; nothing is cached or kept."""
    transport = LocalTransport()
    await transport.connect(HostSpec(name="localhost", transport="local"))
    host = RemoteHost(transport, HostSpec(name="localhost", transport="local"), reason="test", redactor=Redactor(["DEMO_*"]))
    try:
        yield host
    finally:
        await host.close()


class Answering:
    """A host that says something else of some paths, by how they end."""

    def __init__(self, host: Host, contents: Mapping[str, bytes]) -> None:
        self._host, self._contents, self.spec = host, contents, host.spec

    async def run(self, command: Command) -> CommandResult:
        return await self._host.run(command)

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        answers = await self._host.batch(commands)
        return [self._said(command) or answer for command, answer in zip(commands, answers, strict=True)]

    def _said(self, command: Command) -> CommandResult | None:
        found = next((content for end, content in self._contents.items() if command.argv[-1].endswith(end)), None)
        return None if found is None else CommandResult(command=command, status=0, stdout=found, stderr=b"")


class Refusing:
    """A host on which some paths may not be read: what another user's process looks like."""

    def __init__(self, host: Host, *ends: str) -> None:
        self._host, self._ends, self.spec = host, ends, host.spec

    async def run(self, command: Command) -> CommandResult:
        return await self._host.run(command)

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        answers = await self._host.batch(commands)
        return [self._refused(command) or answer for command, answer in zip(commands, answers, strict=True)]

    def _refused(self, command: Command) -> CommandResult | None:
        path = command.argv[-1]
        if not path.endswith(self._ends):
            return None
        return CommandResult(command=command, status=1, stdout=b"", stderr=f"{command.argv[0]}: {path}: Permission denied\n".encode())


def desk(host: Host, *products: Product) -> Desk:
    return Desk(
        host=host, ledger=Ledger(prefix="A", host="localhost"), products=products, environment=("PATH", "HOME", "PYTHONPATH", "DEMO_*")
    )
