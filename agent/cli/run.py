"""``rca run``: investigate a symptom on a host and write a report."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.attaching import attach as attach_to
from agent.cli.attaching import known_ticket
from agent.cli.many_hosts import present_many, run_on_many
from agent.cli.model_options import ModelChoice, model_options
from agent.cli.options import Output, What, Where, output_options, settings, what_options, where_options
from agent.cli.progress import open_progress
from agent.cli.resuming import Asked, KeptAnswers, taken_up, with_interruption
from agent.cli.stored import complete_playbook, complete_run
from agent.domain.counting import counted, size

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.investigation import Investigation
    from agent.domain.launch import HostSpec
    from agent.domain.source import SourceTree
    from agent.hosts.interface import Host
    from agent.orchestrator import Progress

EXIT_CODES = {"cause_confirmed": 0, "undecided": 1, "no_fault_found": 1, "failed": 2}


@click.command("run")
@click.option("--symptom", metavar="TEXT", default="", help='The failure in your words, e.g. "hidden dim 7168".')
@where_options
@what_options
@click.option(
    "--playbook",
    "playbooks",
    multiple=True,
    metavar="ID|FILE",
    shell_complete=complete_playbook,
    help="Follow this playbook; may be repeated.",
)
@click.option(
    "--resume",
    metavar="RUN",
    default="",
    shell_complete=complete_run,
    help="Go on with an interrupted run; its host is not asked again for what is known.",
)
@click.option("--attach", metavar="TICKET", default="", help="Put the report on this ticket, see `rca report attach --help`.")
@click.option("--yes", "-y", is_flag=True, help="Attach without asking.")
@click.option("--json-lines", is_flag=True, help="One JSON line per host, as each is done.")
@model_options
@output_options("md", "json", "html", "sarif", "text", terminal="text")
def command(
    symptom: str,
    where: Where,
    what: What,
    playbooks: tuple[str, ...],
    resume: str,
    attach: str,
    yes: bool,
    json_lines: bool,
    ask: ModelChoice,
    output: Output,
) -> int:
    """Investigate a symptom on a host and write a report.

    Reads processes, configs, logs and source over SSH and changes nothing. Exit code 0: a cause is confirmed; 1: undecided or no
    fault found; 2: something went wrong, one line says what.
    """
    config = ask.over(settings())
    asked = Asked(symptom=symptom, where=where, what=what, playbooks=playbooks)
    if resume:
        asked = taken_up(config, resume, asked)
    if not asked.symptom:
        raise click.UsageError("Missing option '--symptom'.")
    ticket = known_ticket(attach) if attach else None
    specs = asked.where.specs()
    if len(specs) > 1 or json_lines:
        if resume or attach:
            raise click.UsageError("--resume and --attach are for one host.")
        if output.format not in ("md", "text") and not (json_lines or output.out):
            hint = "of many, --json-lines prints and --out DIR writes each report"
            raise click.UsageError(f"--format {output.format} is for one host; {hint}.")
        with open_progress(f"rca run on {len(specs)} hosts", quiet=output.quiet, verbose=output.verbose) as progress:
            outcomes = asyncio.run(run_on_many(specs, asked.symptom, what, playbooks, config, progress, json_lines=json_lines))
        return present_many(outcomes, output, json_lines=json_lines)
    (spec,) = specs
    with open_progress(f"rca run on {spec.name}", quiet=output.quiet, verbose=output.verbose) as progress:
        found = asyncio.run(kept_run(spec, asked, config, progress))
    code = present(found, output, config, next_steps=next_steps(found))
    if ticket is not None:
        attach_to(found, ticket, yes=yes, dry_run=False, out=sys.stderr)
    return code


async def kept_run(
    spec: HostSpec, asked: Asked, config: Settings, progress: Progress, *, thinking: asyncio.Semaphore | None = None
) -> Investigation:
    """One run whose request and answers are kept as they come, so that it can be taken up again. ``thinking``: see Tools."""
    from agent import wiring
    from agent.hosts.remembering import RememberingHost
    from agent.hosts.snapshots import SnapshotCache

    run_id = asked.run_id or wiring.new_run_id()
    answers = KeptAnswers(config, run_id)
    snapshots = SnapshotCache(config.cache_dir)
    host = RememberingHost(spec, lambda: wiring.open_host(spec, config, wiring.products()), answers, snapshots)

    async def opened() -> Host:
        if asked.run_id:
            answers.recollect()
        else:
            await host.connected()  # a wrong host is said before anything is kept
        answers.begin(asked, spec.name, wiring.now())
        return host

    try:
        found = await investigate(
            spec, asked.symptom, asked.what, asked.playbooks, config, progress, open_host=opened, run_id=run_id, thinking=thinking
        )
        return with_interruption(found, host, asked)
    finally:
        answers.close()


async def investigate(
    spec: HostSpec,
    symptom: str,
    what: What,
    playbooks: tuple[str, ...],
    config: Settings,
    progress: Progress,
    *,
    open_host: Callable[[], Awaitable[Host]] | None = None,
    run_id: str = "",
    thinking: asyncio.Semaphore | None = None,
) -> Investigation:
    """One run on one host; the connection is closed in every case. ``thinking``: see Tools. Raises HostError where there is no host."""
    from agent import wiring
    from agent.domain.investigation import Symptom
    from agent.orchestrator import Request, investigate

    files = tuple(Path(text) for text in playbooks if text.endswith((".yaml", ".yml")))
    run_id = run_id or wiring.new_run_id()
    keep = partial(_keep, config, run_id, spec.name, symptom)
    tools = wiring.tools(config, progress, files, lambda conversation: keep({wiring.CONVERSATION: conversation}))
    model = replace(tools.model, releases=partial(_at_hand, config)) if tools.model else None
    tools = replace(tools, keep=keep, model=model, thinking=thinking)
    request = Request(
        symptom=Symptom.parse(symptom),
        pid=what.pid,
        tree=what.tree,
        launch=what.given_launch(),
        log=what.log,
        env=what.env,
        assume=what.assume,
        playbooks=tuple(text for text in playbooks if not text.endswith((".yaml", ".yml"))),
    )
    tools.library.all()  # a broken or unknown playbook is said before anybody connects
    for id in request.playbooks:
        tools.library.get(id)
    host = await (open_host() if open_host else wiring.open_host(spec, config, tuple(tools.products)))
    if host.transport_name:  # a run that is taken up again may need no host
        progress.started("connection", f"connect to {spec.name}")
        progress.ended("connection", "done", f"{host.transport_name} ({host.transport_reason})")
    try:
        return await investigate(host, request, tools, run_id=run_id)
    finally:
        await host.close()


def _at_hand(config: Settings, package: str) -> Mapping[str, SourceTree]:
    """Releases that are on this machine already, by version; nothing is fetched."""
    from agent.cli.releases import Releases

    found = Releases(config)
    return {version: tree for version in found.versions(package) if (tree := found.tree(package, version)) is not None}


def _keep(config: Settings, run_id: str, host: str, symptom: str, artefacts: Mapping[str, bytes]) -> None:
    """Stored at once, so that an interrupted run's conversation can be read too; a full disk does not end the run."""
    from agent import wiring
    from agent.domain.errors import StoreError

    store = wiring.store(config)
    try:
        store.begin(run_id, host=host, symptom=symptom, started_at=wiring.now())
        for name, content in artefacts.items():
            store.checkpoint(run_id, name, content)
    except StoreError as problem:
        if artefacts:
            wiring.tell(f"{', '.join(artefacts)} could not be stored: {problem}", why=str(problem))
    finally:
        store.close()


def present(found: Investigation, output: Output, config: Settings, *, next_steps: Sequence[tuple[str, str]] = ()) -> int:
    """Stores the run, prints the report on standard output, where it is kept on standard error; gives the exit code.

    ``next_steps``: rows of label and command for a person to go on with.
    """
    _print(found, output, [*keep_run(found, config), *_costs(found), *next_steps])
    if output.out:
        written_report(found, output)
    if found.outcome == "failed":
        problem = next((agent for agent in found.agents if agent.status == "failed"), None)
        click.echo(f"rca: {problem.summary if problem else 'the run failed'}", err=True)
    return EXIT_CODES.get(found.outcome, 2)


def next_steps(found: Investigation) -> list[tuple[str, str]]:
    """What a person would do with this report."""
    if any(finding.fix for finding in found.findings):
        return [("Next", f"after the restart: rca verify {found.run.id}")]
    if found.outcome in ("undecided", "no_fault_found"):
        return [("Next", "rca audit, with the same options, tells every setting; rca why TARGET, why a line does not run")]
    return []


def _print(found: Investigation, output: Output, rows: Sequence[tuple[str, str]]) -> None:
    """On a terminal the summary with the rows at its end; else the report, and the rows on standard error."""
    if output.format == "text" and sys.stdout.isatty():
        from rich.console import Console

        from agent.reports.terminal import show_summary

        more = [] if output.quiet else [(label, text) for label, text in rows if label != "Cost"]  # the summary has it already
        show_summary(found, Console(file=sys.stdout, highlight=False), more=more)
        return
    from agent import wiring

    sys.stdout.write(wiring.report(output.format).render(found))
    sys.stdout.flush()
    if not output.quiet:
        for label, text in rows:
            click.echo(f"{label}: {text}", err=True)


def keep_run(found: Investigation, config: Settings) -> list[tuple[str, str]]:
    """Stores the run; says whether its faults are known from earlier ones, and where it is kept. A full disk hides no result."""
    from agent import wiring
    from agent.domain.errors import StoreError

    store = wiring.store(config)
    try:
        kept = store.checkpoints(found.run.id)
        store.save(found, {name: content for name, content in kept.items() if name == wiring.CONVERSATION or name.startswith("observed/")})
        seen = [("Seen", past.sentence()) for past in store.history(found)]
    except StoreError as problem:
        return [("Not kept", str(problem))]
    finally:
        store.close()
    return [*seen, ("Kept", f"run {found.run.id}"), ("Report", f"rca report show {found.run.id}")]


def written_report(found: Investigation, output: Output) -> None:
    """Writes the report to ``--out``, under the run's name; raises StoreError."""
    from agent import wiring

    report = wiring.report(output.format)
    write_report(Path(output.out) / f"{found.run.id}{report.suffix}", report.render(found), quiet=output.quiet)


def write_report(path: Path, text: str, *, quiet: bool) -> None:
    """Makes the directory too, and says where it was written; raises StoreError."""
    from agent.domain.errors import StoreError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        raise StoreError(f"cannot write {path}: {problem.strerror or problem}") from None
    if not quiet:
        click.echo(f"Written: {path}", err=True)


def _costs(found: Investigation) -> list[tuple[str, str]]:
    cost = found.cost
    asked = f"{counted(cost.commands, 'command')}, {counted(cost.round_trips, 'round trip')}"
    return [("Cost", f"{asked}, {size(cost.bytes)}, {found.run.duration_s:.1f} s")]
