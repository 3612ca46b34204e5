"""Who serves and from what: the process, its launch, the source tree it imports; or what a person gave in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agent.domain.errors import UsageError
from agent.domain.launch import Launch
from agent.domain.redaction import is_redacted, without_secrets
from agent.probes.products import Product, python_program, server_command
from agent.subagents.imported_tree import TreeFound, find_tree, given_tree
from agent.subagents.interface import Desk
from agent.subagents.server_process import ProcessFound, find_process


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The server under investigation."""

    process: ProcessFound
    tree: TreeFound

    @property
    def package(self) -> str:
        return self.tree.located.package

    @property
    def root(self) -> str:
        return self.tree.located.root


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFacts:
    """``launch`` and ``tree`` (a directory on the host) replace what would be looked for; with both no process is needed.

    ``env`` is laid over the environment that was read.
    """

    pid: int | None = None
    launch: Launch | None = None
    tree: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    name: str = "launch facts"
    task: str = "find the server process, its launch command and the source tree it imports"

    async def run(self, desk: Desk) -> Subject:
        process = _given(self.launch, desk.products) if self.launch and self.tree else await find_process(desk, self.pid)
        if self.launch and self.launch is not process.launch:
            process = _judging(process, self.launch, desk.products)
        process = replace(process, launch=_without_masked(_with_variables(process.launch, self.env)))
        package = _package(process)
        if not self.tree:
            return Subject(process=process, tree=await find_tree(desk, process, package))
        return Subject(process=process, tree=await given_tree(desk, package, self.tree.rstrip("/") or "/"))

    def summary(self, result: Subject) -> str:
        process, tree = result.process, result.tree
        who = f"process {process.pid}" if process.pid else "the given command"
        what = f"{result.package} {tree.version or 'of unknown version'}"
        return f"{who} runs {process.entry or process.launch.argv[0]} from {tree.located.root} ({what})"


def _given(launch: Launch, products: tuple[Product, ...]) -> ProcessFound:
    """A launch without a process: nothing of it could be read, so nothing is known but what was given."""
    command = server_command(launch.argv, products)
    return ProcessFound(
        pid=0,
        launch=launch,
        product=command.product if command else None,
        entry=command.entry if command else "",
        exe=None,
        cwd=launch.cwd if launch.cwd.startswith("/") else None,
        stdout=None,
        started=None,
        evidence=(),
    )


def _judging(process: ProcessFound, launch: Launch, products: tuple[Product, ...]) -> ProcessFound:
    """The live process's tree, directory and log, under another command."""
    command = server_command(launch.argv, products)
    cwd = launch.cwd if launch.cwd.startswith("/") else process.launch.cwd
    return replace(
        process,
        launch=replace(launch, cwd=cwd, env={**process.launch.env, **launch.env}, env_complete=False, env_hidden=process.launch.env_hidden),
        product=command.product if command else process.product,
        entry=command.entry if command else process.entry,
    )


def _with_variables(launch: Launch, env: Mapping[str, str]) -> Launch:
    """The launch with variables that a person gives, their secrets masked as on a host."""
    hidden = launch.env_hidden
    given = without_secrets(Launch(argv=(), env=env)).env
    left = None if hidden is None else tuple(name for name in hidden if name not in given)
    return replace(launch, env={**launch.env, **given}, env_hidden=left)


def _without_masked(launch: Launch) -> Launch:
    """A masked variable is one whose value is not known."""
    known = {name: value for name, value in launch.env.items() if not is_redacted(value)}
    masked = tuple(name for name in launch.env if name not in known)
    hidden = launch.env_hidden
    if masked and (hidden is not None or launch.env_complete):
        hidden = (*(hidden or ()), *masked)
    return replace(launch, env=known, env_complete=launch.env_complete and not masked, env_hidden=hidden)


def _package(process: ProcessFound) -> str:
    """The top-level package of what the command runs."""
    if process.product and process.entry:
        return process.entry.partition(".")[0] if "." in process.entry else process.product.packages[0]
    kind, name, _ = python_program(process.launch.argv)
    if kind == "module" and name:
        return name.partition(".")[0]
    raise UsageError(
        f"process {process.pid} runs {' '.join(process.launch.argv[:3])}, which is no server that is known here",
        hint="name its package's directory with --tree DIR and its command with --launch",
    )
