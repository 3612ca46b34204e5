"""One question to the engine, from the command line: over a tree and a launch given here, or over a live server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agent.cli.options import Output, What, Where, settings
from agent.cli.progress import open_progress

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from agent.domain.launch import Launch
    from agent.evaluation.interface import Engine
    from agent.orchestrator import Progress, Session
    from agent.probes.log import LogReading

T = TypeVar("T")


def ask(where: Where, what: What, output: Output, title: str, question: Callable[[Engine], T]) -> T:
    """The question's answer. Offline with ``--tree`` and ``--launch`` and no host; else the host is read first."""
    return ask_with_log(where, what, output, title, lambda engine, log: question(engine))


def ask_with_log(where: Where, what: What, output: Output, title: str, question: Callable[[Engine, LogReading], T]) -> T:
    """The same for a question that also wants to know what the server's log says; it is empty where there is none."""
    if is_offline(where, what):
        return question(offline_engine(what, quiet=output.quiet), given_log(what.log))
    with open_progress(title, quiet=output.quiet, verbose=output.verbose) as progress:
        return asyncio.run(_live(where, what, question, progress, quiet=output.quiet))


def given_log(path: str) -> LogReading:
    """A log of this machine, by the patterns of the product whose start-up record stands in it. Raises UsageError."""
    from agent import wiring
    from agent.domain.errors import UsageError
    from agent.domain.redaction import redact_text
    from agent.probes.log import LogLine, LogReading, read_log

    if not path:
        return LogReading()
    try:
        text = Path(path).read_bytes().decode("utf-8", "replace")
    except OSError as problem:
        raise UsageError(f"--log {path}: {problem.strerror or problem}") from None
    lines = [LogLine(number=number, text=row) for number, row in enumerate(redact_text(text).split("\n"), 1)]
    readings = [read_log(lines, product.log) for product in wiring.products()]
    return next((reading for reading in readings if reading.record), LogReading())


def offline_engine(what: What, *, quiet: bool = False) -> Engine:
    """An engine over a directory of this machine; relative paths of the launch start from ``--cwd``. A model's config.json that the
    launch names and that cannot be used is told: what it would say is unknown in every answer.
    """
    from agent import wiring

    launch = what.given_launch()
    assert launch is not None
    if not quiet:
        for problem in unusable_configs(launch):
            wiring.tell(problem)
    return wiring.local_engine(what.tree, launch, what.assume)


def unusable_configs(launch: Launch) -> Iterator[str]:
    """Why the config.json of a model that the launch names tells nothing, for each such model."""
    from agent import wiring
    from agent.domain.source import Absent, Unreadable
    from agent.domain.values import Unknown
    from agent.hosts.local_files import LocalFiles
    from agent.probes.model_config import config_path, parse_config
    from agent.probes.products import model_value, server_command

    command = server_command(launch.argv, wiring.products())
    roles = command.product.model if command else {}
    for role, names in roles.items():
        value = model_value(launch.argv, names)
        if not value:
            continue
        path = config_path(value, os.path.abspath(launch.cwd))
        content = LocalFiles().read(path)
        found = parse_config(content, path) if isinstance(content, bytes) else None
        why = found.reason if isinstance(found, Unknown) else ""
        if isinstance(content, Absent):
            why = f"there is no {path}" + ("" if value.startswith("/") else " (relative paths start from --cwd DIR)")
        elif isinstance(content, Unreadable):
            why = f"{path} cannot be read: {content.reason}"
        if why:
            yield f"what the {role} model's config says is not known: {why}"


def ask_both(
    sides: Sequence[tuple[Where, What]], output: Output, title: str, question: Callable[[Sequence[tuple[Engine, LogReading]], Progress], T]
) -> T:
    """A question about several launches, each offline or on a host of its own; hosts stay connected until it is answered."""
    with open_progress(title, quiet=output.quiet, verbose=output.verbose) as progress:
        return asyncio.run(_all_live(sides, question, progress, quiet=output.quiet))


def ask_session(where: Where, what: What, output: Output, title: str, work: Callable[[Session], Awaitable[T]]) -> T:
    """Work on a live server that goes on asking its host."""
    with open_progress(title, quiet=output.quiet, verbose=output.verbose) as progress:
        return asyncio.run(_worked(where, what, work, progress, quiet=output.quiet))


async def _worked(where: Where, what: What, work: Callable[[Session], Awaitable[T]], progress: Progress, *, quiet: bool) -> T:
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        return await work(await _open(where, what, progress, stack, quiet=quiet))


async def _all_live(
    sides: Sequence[tuple[Where, What]],
    question: Callable[[Sequence[tuple[Engine, LogReading]], Progress], T],
    progress: Progress,
    *,
    quiet: bool,
) -> T:
    from contextlib import AsyncExitStack

    from agent.subagents.thinking import think

    async with AsyncExitStack() as stack:
        engines: list[tuple[Engine, LogReading]] = []
        for where, what in sides:
            if is_offline(where, what):
                engines.append((offline_engine(what, quiet=quiet), given_log(what.log)))
                continue
            session = await _open(where, what, progress, stack, quiet=quiet)
            engines.append((session.engine, log_of(session)))
        return await think(lambda: question(engines, progress))


def is_offline(where: Where, what: What) -> bool:
    """Whether everything that is asked about lies on this machine."""
    return bool(what.tree and what.launch and not where.hosts and not where.bundle)


async def _live(where: Where, what: What, question: Callable[[Engine, LogReading], T], progress: Progress, *, quiet: bool) -> T:
    from agent.subagents.thinking import think

    return await _worked(where, what, lambda session: think(lambda: question(session.engine, log_of(session))), progress, quiet=quiet)


async def _open(where: Where, what: What, progress: Progress, stack: AsyncExitStack, *, quiet: bool) -> Session:
    """A session on the one host; it is closed with the stack."""
    from agent import wiring
    from agent.domain.investigation import Symptom
    from agent.orchestrator import Request, open_session

    config = settings()
    tools = wiring.tools(config, progress)
    request = Request(
        symptom=Symptom(text=""), pid=what.pid, tree=what.tree, launch=what.given_launch(), log=what.log, env=what.env, assume=what.assume
    )
    host = await wiring.open_host(where.one(), config, tuple(tools.products))
    stack.push_async_callback(host.close)
    session = await open_session(host, request, tools)
    for unknown in session.crew.unknowns if not quiet else ():
        wiring.tell(f"{unknown.what} is not known: {unknown.why}")
    return session


def log_of(session: Session) -> LogReading:
    """What the server's log says; empty where it was not read."""
    from agent.probes.log import LogReading

    return session.scene.log.reading if session.scene.log else LogReading()
