"""``rca run`` on several hosts: side by side, equal causes told once, or one JSON line per host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.folding import say
from agent.cli.options import Output, What, Where
from agent.cli.resuming import Asked

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.investigation import Investigation
    from agent.domain.launch import HostSpec
    from agent.hosts.many import Outcome
    from agent.orchestrator import Progress

CONFIRMED, NOTHING, FAILED = 0, 1, 2


class HostProgress:
    """A host's part of the common progress: every name begins with the host's."""

    def __init__(self, host: str, inner: Progress) -> None:
        self._host = host
        self._inner = inner

    def started(self, name: str, task: str) -> None:
        """Nothing: a hundred hosts would fill the screen."""

    def said(self, name: str, text: str) -> None:
        """Nothing either."""

    def ended(self, name: str, status: str, summary: str) -> None:
        if status == "failed":
            self._inner.ended(f"{self._host}: {name}", status, summary)


async def run_on_many(
    specs: Sequence[HostSpec],
    symptom: str,
    what: What,
    playbooks: tuple[str, ...],
    config: Settings,
    progress: Progress,
    *,
    json_lines: bool,
) -> list[Outcome[Investigation]]:
    """What came of each host, in the order in which they ended; each run is kept like one on a single host.

    With ``json_lines`` each line is printed as its host is done.
    """
    from agent import wiring
    from agent.cli.run import kept_run
    from agent.hosts.many import each_host

    thinking = asyncio.Semaphore(1)

    async def work(spec: HostSpec) -> Investigation:
        progress.started(spec.name, symptom)
        asked = Asked(symptom=symptom, where=Where.of(spec), what=what, playbooks=playbooks)
        found = await kept_run(spec, asked, config, HostProgress(spec.name, progress), thinking=thinking)
        wiring.forget()
        return found

    outcomes: list[Outcome[Investigation]] = []
    async for outcome in each_host(specs, work, at_once=config.max_hosts):
        outcomes.append(outcome)
        kept = "" if outcome.result is None else _keep(outcome.result, config)
        progress.ended(outcome.host, "done" if outcome.error is None else "failed", f"{_line(outcome)}{kept}")
        if json_lines:
            click.echo(json.dumps(outcome.as_line(_plain), ensure_ascii=False))
    return outcomes


def _keep(found: Investigation, config: Settings) -> str:
    """Stores the run; gives what a line says of that."""
    from agent.cli.run import keep_run

    rows = dict(keep_run(found, config))
    return f" ({rows['Report']})" if "Report" in rows else f" (not kept: {rows.get('Not kept', '')})"


def present_many(outcomes: Sequence[Outcome[Investigation]], output: Output, *, json_lines: bool) -> int:
    """Prints each cause once with its hosts, then writes every report to ``--out``; gives the exit code: 0 where a cause is confirmed on
    some host, 2 where every host failed, else 1. Raises StoreError.
    """
    from agent.cli.run import written_report
    from agent.hosts.many import group_outcomes

    if not json_lines:
        for group in group_outcomes(outcomes, cause_of):
            say(group.summary)
    for outcome in outcomes:
        if output.out and outcome.result is not None:
            written_report(outcome.result, output)
    return _exit_code(outcomes)


def cause_of(found: Investigation) -> str:
    """What makes two hosts' results the same: the cause, its value and the deciding guard, not the host's paths or process ids."""
    from agent.hosts.many import unnamed

    if not found.findings:
        failed = unnamed(next((agent.summary for agent in found.agents if agent.status == "failed"), ""), found.run.host)
        return f"{found.outcome.replace('_', ' ')}{f': {failed}' if failed else ''}"
    finding = found.findings[0]
    guard = f" at {finding.guard.path}:{finding.guard.line}" if finding.guard else ""
    return f"{finding.title}: {finding.cause.name} is {finding.cause.actual}{guard}"


def _line(outcome: Outcome[Investigation]) -> str:
    if outcome.error is not None:
        return str(outcome.error)
    assert outcome.result is not None
    return cause_of(outcome.result)


def _plain(found: Investigation) -> dict[str, Any]:
    return found.as_dict()


def _exit_code(outcomes: Sequence[Outcome[Investigation]]) -> int:
    results = [outcome.result for outcome in outcomes if outcome.result is not None and outcome.result.outcome != "failed"]
    if not results:
        return FAILED
    return CONFIRMED if any(found.outcome == "cause_confirmed" for found in results) else NOTHING
