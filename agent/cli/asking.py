"""One question to the engine, from the command line: over a tree and a launch given here, or over a live server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agent.cli.options import Output, What, Where, settings
from agent.cli.progress import open_progress

if TYPE_CHECKING:
    from agent.evaluation.interface import Engine
    from agent.probes.log import LogReading

T = TypeVar("T")


def ask(where: Where, what: What, output: Output, title: str, question: Callable[[Engine], T]) -> T:
    """The question's answer. Offline with ``--tree`` and ``--launch`` and no host; else the host is read first."""
    return ask_with_log(where, what, output, title, lambda engine, log: question(engine))


def ask_with_log(where: Where, what: What, output: Output, title: str, question: Callable[[Engine, LogReading], T]) -> T:
    """The same for a question that also wants to know what the server's log says; it is empty where there is none."""
    if what.tree and what.launch and not where.hosts and not where.bundle:
        return question(offline_engine(what), given_log(what.log))
    with open_progress(title, quiet=output.quiet, verbose=output.verbose) as progress:
        return asyncio.run(_live(where, what, question, progress))


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


def offline_engine(what: What) -> Engine:
    """An engine over a directory of this machine; relative paths of the launch start from ``--cwd``."""
    from agent import wiring

    launch = what.given_launch()
    assert launch is not None
    return wiring.local_engine(what.tree, launch, what.assume)


async def _live(where: Where, what: What, question: Callable[[Engine, LogReading], T], progress: object) -> T:
    from agent import wiring
    from agent.domain.investigation import Symptom
    from agent.orchestrator import Request, open_session
    from agent.probes.log import LogReading
    from agent.subagents.thinking import think

    config = settings()
    tools = wiring.tools(config, progress)  # type: ignore[arg-type]
    request = Request(
        symptom=Symptom(text=""), pid=what.pid, tree=what.tree, launch=what.given_launch(), log=what.log, env=what.env, assume=what.assume
    )
    spec = where.one()
    host = await wiring.open_host(spec, config, tuple(tools.products))
    try:
        session = await open_session(host, request, tools)
        log = session.scene.log
        return await think(lambda: question(session.engine, log.reading if log else LogReading()))
    finally:
        await host.close()
