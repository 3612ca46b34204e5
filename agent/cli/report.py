"""``rca report``: a stored run's report again, in any form, or onto a ticket."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.attaching import attach, known_ticket
from agent.cli.options import Output, output_options
from agent.cli.stored import open_store, run_argument

if TYPE_CHECKING:
    from agent.domain.investigation import Investigation


@click.group("report")
def command() -> None:
    """A stored run's report: show it in any form, attach it to a ticket.

    RUN is the id of a run, the beginning of one, "last", or a report's JSON file.
    """


@command.command("show")
@run_argument()
@output_options("md", "json", "html", "sarif", "text", terminal="text")
def show(run: str, output: Output) -> int:
    """Print the report of RUN, as Markdown when piped and as a summary on a terminal."""
    from agent import wiring

    investigation = stored(run)
    report = wiring.report(output.format)
    if output.format == "text" and sys.stdout.isatty():
        from rich.console import Console

        from agent.reports.terminal import show_summary

        show_summary(investigation, Console(highlight=False), more=[("Report", f"rca report show {run} --format md")])
    else:
        sys.stdout.write(report.render(investigation))
        sys.stdout.flush()
    if output.out:
        from agent.cli.run import write_report

        write_report(Path(output.out) / f"{investigation.run.id}{report.suffix}", report.render(investigation), quiet=output.quiet)
    return 0


@command.command("attach")
@run_argument()
@click.argument("ticket", metavar="TICKET")
@click.option("--yes", "-y", is_flag=True, help="Send without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be sent.")
def attach_report(run: str, ticket: str, yes: bool, dry_run: bool) -> int:
    """Put the report of RUN on TICKET, or update the comment that an earlier run left there.

    TICKET is an address (GitHub, GitLab, Jira, Redmine), a key (OWNER/REPO#1, KEY-1 with JIRA_URL, #1 with REDMINE_URL), a directory
    (dir:PATH) or a mail file (FILE.eml). Tokens come from GITHUB_TOKEN, GITLAB_TOKEN, JIRA_TOKEN with JIRA_USER, REDMINE_API_KEY, or
    from the keyring (entry rca:HOST). Without a terminal to ask on, nothing is sent unless --yes is given.
    """
    target = known_ticket(ticket)
    attach(stored(run), target, yes=yes, dry_run=dry_run, out=sys.stdout)
    return 0


def stored(reference: str) -> Investigation:
    """The investigation of a stored run or of a report's JSON file. Raises UsageError or StoreError."""
    if reference.endswith(".json"):
        return _from_file(Path(reference))
    with open_store() as store:
        return store.load(reference)


def _from_file(path: Path) -> Investigation:
    from agent.domain.errors import UsageError
    from agent.reports.json import from_dict

    try:
        return from_dict(json.loads(path.read_bytes()))
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror or problem}") from None
    except ValueError as problem:
        raise UsageError(f"{path} is no JSON: {problem}") from None
