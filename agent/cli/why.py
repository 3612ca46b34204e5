"""``rca why``: say why a line, symbol or call does not run."""

from __future__ import annotations

import click

from agent.cli.asking import ask
from agent.cli.options import Output, What, Where, output_options, what_options, where_options
from agent.cli.presenting import present


@click.command("why")
@click.argument("target")
@where_options
@what_options
@click.option("--all", "everything", is_flag=True, help="Every call path in full.")
@output_options("text", "json")
def command(target: str, where: Where, what: What, everything: bool, output: Output) -> int:
    """Say why TARGET does not run, or that it does.

    TARGET is path:line, a function's name, call:NAME, assign:NAME, define:NAME or string:TEXT. Offline: --tree DIR --launch "CMD ...".
    """
    answer = ask(where, what, output, f"rca why {target}", lambda engine: engine.why(target))
    from agent.reports.why_text import show_why

    present(answer.as_dict(), lambda console: show_why(answer, console, everything=everything), output, f"why-{target}")
    return 0
