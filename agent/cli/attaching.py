"""Putting a report on a ticket, with the person's consent: shown first, sent after a yes, a dry run where nobody can be asked."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from agent.domain.investigation import Investigation
    from agent.tickets.interface import Preview, Ticket


def known_ticket(reference: str) -> Ticket:
    """The ticket behind the reference; raises UsageError, so a wrong one is said before anything else is done."""
    from agent import wiring

    return wiring.ticket(reference, os.environ)


def attach(investigation: Investigation, ticket: Ticket, *, yes: bool, dry_run: bool, out: TextIO) -> None:
    """Shows on ``out`` what would be sent; sends it with ``yes`` or when a person at the terminal agrees. Raises TicketError."""
    from agent import wiring

    posting = wiring.posting(investigation)
    if not yes or dry_run:
        _show(ticket.preview(posting), out)
    if dry_run or not (yes or _agreed()):
        click.echo("rca: nothing was sent" + ("" if yes or dry_run or _somebody_there() else "; --yes sends it"), err=True)
        return
    posted = ticket.post(posting)
    click.echo(f"rca: {posted.action}: {posted.where}", err=True)
    for note in posted.notes:
        click.echo(f"rca: {note}", err=True)


def _show(preview: Preview, out: TextIO) -> None:
    click.echo(f"For {preview.where}:\n\n{preview.body}", file=out)
    for name in preview.attachments:
        click.echo(f"with file {name}", file=out)
    for note in preview.notes:
        click.echo(f"note: {note}", file=out)


def _agreed() -> bool:
    return _somebody_there() and click.confirm("Send this?", default=False, err=True)


def _somebody_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
