"""``rca verify``: after the fix, read launch, guards and log again and say what changed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.following import Following, LocalLog, RemoteLog
from agent.cli.options import Output, What, Where, output_options, settings, what_options, where_options
from agent.cli.presenting import present
from agent.cli.progress import open_progress
from agent.cli.resuming import way_to
from agent.cli.stored import run_argument
from agent.domain.errors import UsageError

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.facts import Facts
    from agent.domain.investigation import Investigation
    from agent.domain.metrics import MetricTable
    from agent.domain.playbook import Playbook
    from agent.evaluation.interface import Engine
    from agent.hosts.interface import Host
    from agent.orchestrator import Progress
    from agent.orchestrator.scene import Scene
    from agent.verification import Again, Now, Numbers, Series, Verification

    Judge = Callable[[Now], Verification]


@click.command("verify")
@run_argument()
@click.option("--baseline", default="", metavar="NUMBER|FILE", help="Tokens per second without speculation, or a log of such a server.")
@click.option("--before-log", default="", metavar="FILE", help="The log before the fix, where the run has none.")
@click.option("--watch", is_flag=True, help="Follow the log until enough batches were seen.")
@click.option("--batches", default=30, show_default=True, type=click.IntRange(1), help="How many periodic lines are enough for --watch.")
@click.option("--timeout", default=600.0, show_default=True, type=click.FloatRange(1), help="Seconds to watch at most.")
@where_options
@what_options
@output_options("text", "json")
def command(
    run: str, baseline: str, before_log: str, watch: bool, batches: int, timeout: float, where: Where, what: What, output: Output
) -> int:
    """Judge the stored RUN again (an id, the beginning of one, or "last") on the server as it is now.

    Says whether the guards are open, and how accept length and throughput were before and are now; with --baseline whether
    speculation pays, and from which accept length on. Exit code 0: fixed; 1: not fixed or undecided; 2: something went wrong.
    """
    config = settings()
    before = _before(run, before_log, config)
    offline = bool(what.tree and what.launch and not where.hosts)
    where, what = (where, what) if offline else way_to(config, run, where, what)
    if before.table is None and (watch or baseline):
        raise UsageError("no table says how this program logs its numbers", hint="leave --watch and --baseline out")
    with open_progress(f"rca verify {before.run.run.id}", quiet=output.quiet, verbose=output.verbose) as progress:
        starts = _starts(before.run.subject.package) if before.run.subject else []
        following = Following(batches=batches, seconds=timeout, progress=progress, starts=starts) if watch else None
        judge = partial(_judge, before, baseline, config)
        if offline:
            found = asyncio.run(_offline(before, what, following, judge))
        else:
            found = asyncio.run(_live(before, where, what, following, config, progress, judge))
    from agent.reports.verify_text import verify_lines

    present(
        found.as_dict(),
        lambda console: console.print("\n".join(verify_lines(found)), markup=False, emoji=False, soft_wrap=True),
        output,
        f"verify-{found.run}",
    )
    return 0 if found.conclusion == "fixed" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """The stored run, its log's numbers, and how its product's lines are read; ``table`` None: nobody wrote that down."""

    run: Investigation
    table: MetricTable | None
    numbers: Numbers
    start: str = ""
    """The line with which its process began in the log; empty where there is none."""


def _before(reference: str, before_log: str, config: Settings) -> _Before:
    from agent import wiring
    from agent.config import shipped_directory
    from agent.library.metrics import read_metric_tables, table_for
    from agent.orchestrator.remembered import LOG
    from agent.verification import Numbers, series_of

    store = wiring.store(config)
    try:
        run = store.load(reference)
        kept = store.artefact(reference, LOG).decode("utf-8", "replace") if LOG in store.artefacts(reference) else ""
    finally:
        store.close()
    package, version = (run.subject.package, run.subject.version) if run.subject else ("", "")
    table = table_for(read_metric_tables(shipped_directory("playbooks") / "metrics"), package)
    text = _read(before_log) if before_log else kept
    lines = _last_start(text.splitlines(), package)
    return _Before(run=run, table=table, numbers=Numbers(series=series_of(lines, table, version)), start=_start_of(lines, package))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror or problem}") from None


def _last_start(lines: list[str], package: str) -> list[str]:
    from agent.verification import since_start

    return since_start(lines, _starts(package))


def _start_of(lines: list[str], package: str) -> str:
    return lines[0] if lines and any(start.search(lines[0]) for start in _starts(package)) else ""


def _starts(package: str) -> list[re.Pattern[str]]:
    """What a server of this package writes when it begins."""
    from agent import wiring

    return [pattern for product in wiring.products() if package in product.packages for pattern in product.log.record]


async def _offline(before: _Before, what: What, following: Following | None, judge: Judge) -> Verification:
    """On a tree and a launch given here; the log is a file of this machine."""
    from agent.cli.asking import offline_engine
    from agent.domain.facts import Facts
    from agent.subagents.thinking import think

    engine = offline_engine(what)
    lines: list[str] | None = None
    watched: list[str] | None = None
    if following and not what.log:
        raise UsageError("no log to watch", hint="give the file with --log FILE")
    if what.log:
        if following and before.table:
            watched = await following.follow(LocalLog(path=Path(what.log)), before.table)
        lines = _read(what.log).splitlines()
    subject = before.run.subject
    facts = Facts(
        package=subject.package if subject else "",
        version=subject.version if subject else "",
        symptom=before.run.symptom,
        launch=engine.launch,
    )
    return await think(lambda: judge(_now(before, engine, facts, lines, watched)))


async def _live(
    before: _Before, where: Where, what: What, following: Following | None, config: Settings, progress: Progress, judge: Judge
) -> Verification:
    """The stored run's host, unless another one is named; judged while it is connected, since the engine may ask it for files."""
    from agent import wiring
    from agent.orchestrator import Request, open_session
    from agent.subagents.thinking import think

    tools = wiring.tools(config, progress)
    spec = where.one()
    request = Request(
        symptom=before.run.symptom, pid=what.pid, tree=what.tree, launch=what.given_launch(), log=what.log, env=what.env, assume=what.assume
    )
    host = await wiring.open_host(spec, config, tuple(tools.products))
    try:
        session = await open_session(host, request, tools)
        log, seen = session.scene.log, None
        lines = list(log.texts) if log and log.texts is not None else None
        own_log = not _over(before, session.scene, lines)
        lines = lines if own_log else None
        if following and before.table:
            if not log or not log.path.startswith("/"):
                raise UsageError("the server's log is no file that could be watched", hint="give it with --log FILE")
            passed = "" if own_log else before.start
            seen = await replace(following, passed=passed).follow(RemoteLog(host=host, path=log.path), before.table)
        now = _now(before, session.engine, session.scene.facts(request), lines, seen)
        now = replace(now, newer=await _newer(host, session.scene), whole_log=log is None or log.whole, own_log=own_log or bool(seen))
        return await think(lambda: judge(now))
    finally:
        await host.close()


def _over(before: _Before, scene: Scene, lines: list[str] | None) -> bool:
    """Whether the log still ends with the stored run's process, while another one runs: that has not written its first line yet."""
    process, old = scene.subject.process if scene.subject else None, before.run.launch
    if process is None or old is None or not before.start or not process.pid:
        return False
    restarted = process.pid != old.pid or process.launch.argv != old.argv
    package = scene.subject.package if scene.subject else ""
    return restarted and _start_of(_last_start(lines or [], package), package) == before.start


async def _newer(host: Host, scene: Scene) -> tuple[str, ...]:
    """Source files and model configs that changed after the process began; none where its start is not known."""
    from agent.hosts import commands
    from agent.probes.processes import newer_files

    started = scene.subject.process.started if scene.subject else None
    paths = sorted(scene.configs.paths.values()) if scene.configs else []
    rows = commands.parse_stat(await host.run(commands.stat(paths))) if paths else {}
    return (*(newer_files({path: float(row.mtime) for path, row in rows.items()}, started) or ()), *scene.modified)


def _now(before: _Before, engine: Engine, facts: Facts, lines: list[str] | None, watched: list[str] | None = None) -> Now:
    """``watched``: the lines that were followed, whose numbers count then; what a log says in words may also stand before them."""
    from agent.verification import Now, Numbers, series_of

    measured = lines if watched is None else watched
    counted = _last_start(measured or [], facts.package)
    numbers = Numbers(series=series_of(counted, before.table, facts.version))
    said = None if lines is None and watched is None else tuple(_last_start([*(lines or ()), *(watched or ())], facts.package))
    return Now(engine=engine, facts=facts, log=said, numbers=numbers)


def _judge(before: _Before, baseline: str, config: Settings, now: Now) -> Verification:
    from agent.verification import verify

    playbook = _playbook(before.run, config)
    return verify(
        before.run,
        replace(now, again=_again(playbook, now)) if playbook and before.run.findings else now,
        numbers_before=before.numbers,
        playbook=playbook,
        baseline=_baseline(baseline, before.table, now.facts.version),
    )


def _again(playbook: Playbook, now: Now) -> Again:
    """The run's playbook on the server as it is now."""
    from agent.subagents.playbook import investigate
    from agent.verification import Again

    said = investigate(playbook, now.engine, now.facts)
    return Again(playbook=playbook.id, outcome=said.outcome, why=said.unknowns[0].why if said.unknowns else "")


def _playbook(run: Investigation, config: Settings) -> Playbook | None:
    """The one that the run followed, if it is still there."""
    from agent import wiring

    try:
        return wiring.library(config).get(run.playbook) if run.playbook else None
    except UsageError:
        return None


def _baseline(given: str, table: MetricTable | None, version: str) -> float | Series | None:
    from agent.domain.metrics import THROUGHPUT
    from agent.verification import series_of

    if not given or table is None:
        return None
    try:
        number = float(given)
    except ValueError:
        found = series_of(_last_start(_read(given).splitlines(), table.packages[0]), table, version).get(THROUGHPUT)
        if found is None:
            raise UsageError(f"{given} has no line with a throughput", hint="give a log with decode lines, or a number") from None
        return found
    if not 0 < number < inf:
        raise UsageError("--baseline is tokens per second, above zero")
    return number
