"""``rca reach``: show which statements of a file can run under a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent.cli.asking import ask
from agent.cli.options import Output, What, Where, output_options, what_options, where_options
from agent.cli.presenting import present

if TYPE_CHECKING:
    from agent.domain.verdict import ReachAnswer
    from agent.evaluation.interface import Engine


@click.command("reach")
@click.argument("file")
@where_options
@what_options
@output_options("text", "json")
def command(file: str, where: Where, what: What, output: Output) -> int:
    """Show FILE with a mark beside each statement: + always, - never, ? may, ~ unknown.

    FILE is relative to the source root, like package/module.py. "Always" and "never" speak of a launch that raises nothing before.
    """
    answer, lines = ask(where, what, output, f"rca reach {file}", lambda engine: _answer(engine, file))
    from agent.reports.reach_text import show_reach

    present(answer.as_dict(), lambda console: show_reach(answer, lines, console), output, f"reach-{file}")
    return 0


def _answer(engine: Engine, file: str) -> tuple[ReachAnswer, list[str]]:
    """With the file's own lines to print beside it."""
    from agent.tools.reading import NotRead, lines_of

    answer = engine.reach(file)
    lines = lines_of(engine.tree, answer.file)
    return answer, [] if isinstance(lines, NotRead) else lines
