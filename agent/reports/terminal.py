"""The summary for a terminal: what was found on one screen, in 60 to 200 columns, coloured only where colours are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from agent.domain.investigation import Investigation
from agent.domain.visible import one_line
from agent.reports import markup
from agent.reports.brief import brief

if TYPE_CHECKING:
    from rich.console import Console

_NARROWEST, _WIDEST, _PIPED = 60, 200, 100
_SIGNS = {"cause_confirmed": ("✗", "bold red"), "no_fault_found": ("✓", "bold green")}
_STYLES = {"Cause": "red", "Fix": "green", "Careful": "yellow", "Open": "yellow"}


class TerminalReport:
    """The summary as plain text of a fixed width: for pipes and tests."""

    name = "text"
    media_type = "text/plain"
    suffix = ".txt"

    def render(self, investigation: Investigation) -> str:
        from rich.console import Console

        out = StringIO()
        show_summary(investigation, Console(file=out, width=_PIPED, color_system=None))
        return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def show_summary(investigation: Investigation, console: Console, *, more: Sequence[tuple[str, str]] = ()) -> None:
    """Prints the summary. ``more``: rows for its end, such as where the report was saved and what to try next.

    Rich knows whether the console is a terminal and honours NO_COLOR; foreign text is never read as its markup.
    """
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console.width = min(max(console.width, _NARROWEST), _WIDEST)
    told = brief(investigation)
    sign, style = _SIGNS.get(investigation.outcome, ("?", "bold yellow"))
    console.print(Text(f"{sign} {one_line(told.outcome)}", style=style))
    console.print(Text(one_line(told.headline), style="bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in [*((row.label, row.text) for row in told.rows), *more]:
        grid.add_row(Text(label), Text(one_line(text), style=_STYLES.get(label, "")))
    console.print(Padding(grid, (0, 0, 0, 2)))
    if told.command:
        console.print()
        console.print(Text(markup.command(told.command)), soft_wrap=True)
