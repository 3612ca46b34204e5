"""``rca playbook run``: one playbook on a host, whatever the symptom matches."""

from __future__ import annotations

import asyncio

import click

from agent.cli.options import Output, What, Where, output_options, settings, what_options, where_options
from agent.cli.playbook.show import open_playbook
from agent.cli.progress import open_progress
from agent.cli.resuming import Asked
from agent.cli.run import kept_run, next_steps, present
from agent.cli.stored import complete_playbook


@click.command("run")
@click.argument("playbook", shell_complete=complete_playbook)
@click.option("--symptom", default="", metavar="TEXT", help="The failure in your words, for the report.")
@where_options
@what_options
@output_options("md", "json", "html", "sarif")
def command(playbook: str, symptom: str, where: Where, what: What, output: Output) -> int:
    """Follow one PLAYBOOK (an id, or a file) on a host and write a report. Exit codes as for `rca run`."""
    config = settings()
    found = open_playbook(playbook)
    spec = where.one()
    wanted = (playbook, found.id) if playbook != found.id else (found.id,)
    with open_progress(f"rca playbook run {found.id} on {spec.name}", quiet=output.quiet, verbose=output.verbose) as progress:
        asked = Asked(symptom=symptom or found.title, where=where, what=what, playbooks=wanted)
        made = asyncio.run(kept_run(spec, asked, config, progress))
    return present(made, output, config, next_steps=next_steps(made))
