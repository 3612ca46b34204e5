"""Finds the server's process and reads its launch: argv, allow-listed environment, directory, interpreter, log, start time."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from agent.domain.errors import NotFoundOnHost, UsageError
from agent.domain.launch import Launch
from agent.domain.source import Absent
from agent.hosts import commands
from agent.hosts.commands import to_bytes, to_text
from agent.hosts.containers import recognise
from agent.probes import processes
from agent.probes.environment import is_clobbered, names_set, parse_environ
from agent.probes.processes import ServerProcess
from agent.probes.products import Product, server_command
from agent.subagents.asking import Answers, ask
from agent.subagents.interface import Desk

_LINKS = ("cwd", "exe", "root", "fd/1", "fd/2", "ns/mnt")
_FILES = ("cmdline", "environ", "stat", "auxv", "cgroup")
_MANY = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFound:
    """The process as the kernel shows it; ``None`` is what could not be read. ``started``: seconds since 1970."""

    pid: int
    launch: Launch
    product: Product | None
    entry: str
    exe: str | None
    cwd: str | None
    stdout: str | None
    started: float | None
    evidence: tuple[str, ...]


async def find_process(desk: Desk, pid: int | None) -> ProcessFound:
    """The one server process of the host, or process ``pid``; in a bundle, the one that it was made of.

    Raises NotFoundOnHost without one, UsageError where a person has to choose.
    """
    pid = pid or getattr(desk.host, "chosen", None)
    if pid is None:
        desk.say("looking for server processes")
        pid = await _only_server(desk)
    desk.say(f"reading process {pid}")
    return _found(desk, pid, await _read_process(desk, pid))


async def _only_server(desk: Desk) -> int:
    listing = await desk.host.run(commands.command_lines())
    found = processes.servers(commands.parse_command_lines(listing), desk.products)
    if len(found) > 1:
        found = await _without_forks(desk, found)
    if not found:
        _record_absence(desk)
        known = ", ".join(sorted({module for product in desk.products for module in product.modules[:1]}))
        raise NotFoundOnHost(
            f"no server process on {desk.host.spec.name}",
            looked_for=known,
            where="/proc/*/cmdline",
            hint=f"looked for {known}; is it running, as a user you may see, or inside a container (--container)?",
        )
    if len(found) > 1:
        listed = "\n  ".join(process.label for process in found)
        raise UsageError(f"{len(found)} servers run on {desk.host.spec.name}; choose one with --pid PID:\n  {listed}")
    return found[0].pid


def _record_absence(desk: Desk) -> None:
    desk.ledger.add("absence", "", path="/proc", command="find /proc -maxdepth 2 -path '/proc/[0-9]*/cmdline'")


async def _without_forks(desk: Desk, found: tuple[ServerProcess, ...]) -> tuple[ServerProcess, ...]:
    """Reads the parents of at most 16 candidates."""
    wanted = {str(process.pid): commands.proc_file(process.pid, "stat") for process in found[:_MANY]}
    answers = await ask(desk.host, wanted)
    stats = {int(pid): stat for pid in wanted if (stat := processes.parse_stat(answers.bytes_or_none(pid) or b""))}
    return processes.launchers(found, stats)


async def _read_process(desk: Desk, pid: int) -> Answers:
    wanted = {name: commands.proc_file(pid, name) for name in _FILES}
    wanted |= {name: commands.proc_link(pid, name) for name in _LINKS}
    wanted |= {"own ns/mnt": commands.proc_link("self", "ns/mnt"), "boot": commands.grep("btime ", ["/proc/stat"], include=())}
    return await ask(desk.host, wanted)


def _found(desk: Desk, pid: int, answers: Answers) -> ProcessFound:
    argv = _argv(desk, pid, answers)
    _refuse_foreign_namespace(pid, answers)
    env, hidden = _environment(desk, answers)
    command = server_command(argv, desk.products)
    cwd, exe = _link(desk, answers, "cwd"), _link(desk, answers, "exe")
    shown = desk.ledger.add("process", shlex.join(argv), path=f"/proc/{pid}/cmdline", command=f"tr '\\0' ' ' </proc/{pid}/cmdline")
    launch = Launch(argv=argv, env=env, cwd=cwd or ".", pid=pid, source="process", env_complete=False, env_hidden=hidden)
    return ProcessFound(
        pid=pid,
        launch=launch,
        product=command.product if command else None,
        entry=command.entry if command else "",
        exe=exe,
        cwd=cwd,
        stdout=answers.link("fd/1"),
        started=_started(answers),
        evidence=(shown, *_environment_evidence(desk, pid, env)),
    )


def _argv(desk: Desk, pid: int, answers: Answers) -> tuple[str, ...]:
    raw = answers.content("cmdline")
    if isinstance(raw, bytes) and raw.strip(b"\0"):
        return tuple(to_text(raw).removesuffix("\0").split("\0"))
    if isinstance(raw, bytes):
        raise NotFoundOnHost(f"process {pid} has no command line: a kernel thread or a zombie", looked_for=f"/proc/{pid}/cmdline")
    if isinstance(raw, Absent):
        raise NotFoundOnHost(f"there is no process {pid} on {desk.host.spec.name}", looked_for=f"/proc/{pid}", hint="see: rca doctor")
    raise NotFoundOnHost(f"the command line of process {pid} cannot be read: {raw.reason}", looked_for=f"/proc/{pid}/cmdline")


def _refuse_foreign_namespace(pid: int, answers: Answers) -> None:
    """Paths of a process in another mount namespace mean other files here: reading them would judge the wrong tree."""
    theirs, ours = answers.link("ns/mnt"), answers.link("own ns/mnt")
    if theirs and ours and theirs != ours:
        container = recognise(to_text(answers.bytes_or_none("cgroup") or b""))
        hint = container.hint if container else "give the container it runs in with --container KIND:NAME"
        raise NotFoundOnHost(
            f"process {pid} has a file system of its own, where paths mean other files", looked_for=f"/proc/{pid}/ns/mnt", hint=hint
        )


def _environment(desk: Desk, answers: Answers) -> tuple[dict[str, str], tuple[str, ...] | None]:
    """Allowed variables, and the names of the others: their values do not leave the host, but what is not set is known."""
    raw = answers.content("environ")
    if not isinstance(raw, bytes):
        desk.unknown("the server's environment", answers.why_not("environ"), "connect as the server's user or as root")
        return {}, None
    if is_clobbered(raw):
        desk.unknown("the server's environment", "the process overwrote it when it renamed itself", "read it from the parent: --pid PID")
        return {}, None
    env, names = parse_environ(raw, desk.environment), names_set(raw)
    return env, None if names is None else tuple(sorted(names - set(env)))


def _environment_evidence(desk: Desk, pid: int, env: dict[str, str]) -> tuple[str, ...]:
    if not env:
        return ()
    excerpt = "\n".join(f"{name}={value}" for name, value in env.items())
    return (desk.ledger.add("environment", excerpt, path=f"/proc/{pid}/environ", command=f"tr '\\0' '\\n' </proc/{pid}/environ"),)


def _link(desk: Desk, answers: Answers, name: str) -> str | None:
    found = answers.link(name)
    if found is None:
        desk.unknown(f"the server's {name}", answers.why_not(name), "connect as the server's user or as root")
    return found.removesuffix(" (deleted)") if found else None


def _started(answers: Answers) -> float | None:
    stat = processes.parse_stat(answers.bytes_or_none("stat") or b"")
    boot = processes.boot_time(b"\n".join(to_bytes(hit.text) for hit in answers.hits("boot")))
    return processes.started_at(stat, boot, processes.ticks_per_second(answers.bytes_or_none("auxv") or b""))
