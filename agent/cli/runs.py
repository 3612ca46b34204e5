"""``rca runs``: what was investigated before: list, show, compare, drop."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.folding import say
from agent.cli.stored import open_store, run_argument
from agent.domain.counting import counted
from agent.domain.visible import one_line

if TYPE_CHECKING:
    from agent.store import RunDiff, RunEntry, RunStore, Seen

_format = click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the result.")


@click.group("runs")
def command() -> None:
    """Stored runs: list, show, compare, drop.

    RUN is the id of a run, the beginning of one, or "last".
    """


@command.command("list")
@click.option("--host", metavar="HOST", default="", help="Only runs on this host.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many, newest first.")
@_format
def list_runs(host: str, limit: int, format: str) -> int:
    """Show the stored runs, newest first."""
    with open_store() as store:
        entries = store.list(host=host, limit=limit)
    if format == "json":
        _json({"schema": "rca.runs/1", "runs": [entry.as_dict() for entry in entries]})
    elif entries:
        _table(("run", "started", "host", "outcome", "software", "finding"), [_row(entry) for entry in entries])
    else:
        click.echo("rca: no runs are stored yet; `rca demo` makes the first one", err=True)
    return 0


@command.command("show")
@run_argument()
@click.option("--agents", is_flag=True, help="What each subagent did, and the conversation with the language model.")
@click.option("--price", type=(float, float), default=None, metavar="IN OUT", help="With --agents: prices of a million tokens in and out.")
@_format
def show(run: str, agents: bool, price: tuple[float, float] | None, format: str) -> int:
    """Show what is kept of RUN, and whether the same fault was seen before."""
    with open_store() as store:
        kept = _kept(store, run, agents)
        said = list(_spoken(store, run, price)) if agents and format == "text" else []
    if format == "json":
        _json({"schema": "rca.run/1", **kept})
        return 0
    _pairs({name.replace("_", " "): value for name, value in kept["run"].items() if value})
    for past in kept["history"]:
        say(f"  {one_line(past['sentence'])}")
    _pairs({f"file {name}": f"{size} bytes" for name, size in kept["files"].items()})
    for name in kept["checkpoints"]:
        say(f"  kept for --resume: {one_line(name)}")
    for agent in kept.get("agents", ()):
        say(one_line(f"{agent['name']}: {agent['status']}: {agent['task']}: {agent['summary']}"))
    for line in said:
        click.echo(line)
    return 0


@command.command("diff")
@run_argument("before")
@run_argument("after")
@_format
def diff(before: str, after: str, format: str) -> int:
    """Compare two runs: launch, software, findings, hypotheses."""
    with open_store() as store:
        found = store.diff(before, after)
    if format == "json":
        _json(found.as_dict())
    else:
        _show_diff(found)
    return 0


@command.command("prune")
@click.option("--keep", type=click.IntRange(0), default=None, metavar="N", help="Keep the newest N runs.")
@click.option("--days", type=click.FloatRange(0), default=None, metavar="D", help="Keep runs of the last D days.")
@click.option("--yes", "-y", is_flag=True, help="Drop without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be dropped.")
def prune(keep: int | None, days: float | None, yes: bool, dry_run: bool) -> int:
    """Drop old runs and files that nothing refers to. Without a terminal to ask on, nothing is dropped unless --yes is given."""
    with open_store() as store:
        would = store.prune(keep=keep, days=days, dry_run=True)
        click.echo(f"{counted(len(would.runs), 'run')} and {counted(would.blobs, 'unused file')}, {would.bytes} bytes")
        for run_id in would.runs:
            click.echo(f"  {run_id}")
        asked = sys.stdin.isatty() and sys.stderr.isatty()
        if dry_run or not (yes or (asked and click.confirm("Drop them?", default=False, err=True))):
            click.echo("rca: nothing was dropped" + ("" if dry_run or asked else "; --yes drops them"), err=True)
            return 0
        done = store.prune(keep=keep, days=days)
    click.echo(f"rca: dropped {counted(len(done.runs), 'run')} and {counted(done.blobs, 'file')}, {done.bytes} bytes", err=True)
    return 0


def _kept(store: RunStore, run: str, agents: bool) -> dict[str, Any]:
    """Everything about one run that the store holds, as plain values."""
    entry = store.entry(run)
    finished = entry.status == "finished"
    investigation = store.load(entry.id) if finished else None
    history: tuple[Seen, ...] = store.history(investigation) if investigation else ()
    kept: dict[str, Any] = {
        "run": entry.as_dict(),
        "history": [{**past.as_dict(), "sentence": past.sentence()} for past in history],
        "files": store.artefacts(entry.id),
        "checkpoints": [] if finished else list(store.checkpoints(entry.id)),
    }
    if agents:
        kept["agents"] = [agent.as_dict() for agent in investigation.agents] if investigation else []
        kept["conversation"] = _conversation(store, entry.id)
    return kept


def _conversation(store: RunStore, run_id: str) -> list[dict[str, Any]]:
    """Of a finished run, or of one that was interrupted; empty without a language model."""
    return [json.loads(line) for line in _stored_conversation(store, run_id).decode("utf-8", "replace").split("\n") if line]


def _spoken(store: RunStore, run: str, price: tuple[float, float] | None) -> Iterator[str]:
    """The same for people to read; ``price``: of a million tokens in and out, in any currency."""
    from agent.llm.show import show
    from agent.llm.tokens import Price

    content = _stored_conversation(store, store.entry(run).id)
    paid = Price(prompt=price[0], completion=price[1]) if price else None
    return show(content, price=paid) if content else iter(())


def _stored_conversation(store: RunStore, run_id: str) -> bytes:
    from agent import wiring

    if wiring.CONVERSATION in store.artefacts(run_id):
        return store.artefact(run_id, wiring.CONVERSATION)
    content: bytes = store.checkpoints(run_id).get(wiring.CONVERSATION, b"")
    return content


def _row(entry: RunEntry) -> tuple[str, ...]:
    outcome = entry.outcome.replace("_", " ") if entry.status == "finished" else entry.status
    return (entry.id, entry.started_at, entry.host, outcome, f"{entry.package} {entry.version}".strip(), entry.title or entry.symptom)


def _show_diff(found: RunDiff) -> None:
    for title in found.same_findings:
        say(f"same finding: {one_line(title)}")
    if found.differences:
        rows = [(one.area, one.name, _side(one.before), _side(one.after)) for one in found.differences]
        _table(("what", "name", found.before, found.after), rows)
    else:
        click.echo("no differences")


def _side(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(pairs: Mapping[str, Any]) -> None:
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        say(f"{one_line(name):<{width}}  {one_line(str(value))}")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Folded into the terminal's width; a pipe gets every word in aligned columns."""
    words = [[one_line(word) for word in row] for row in (head, *rows)]
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(*words, strict=True)]
        for row in words:
            click.echo("  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip())
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, name in enumerate(words[0]):
        table.add_column(Text(name), no_wrap=at == 0, overflow="fold")
    for row in words[1:]:
        table.add_row(*map(Text, row))
    Console(file=sys.stdout, highlight=False).print(table)


def _json(document: Mapping[str, Any]) -> None:
    from agent.reports.json import dump

    sys.stdout.write(dump(document))
