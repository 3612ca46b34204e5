"""``rca playbook show``: one playbook in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.folding import say
from agent.cli.options import settings
from agent.cli.stored import complete_playbook

if TYPE_CHECKING:
    from agent.domain.playbook import Playbook


@click.command("show")
@click.argument("playbook", shell_complete=complete_playbook)
@click.option("--yaml", "as_yaml", is_flag=True, help="The file itself.")
def command(playbook: str, as_yaml: bool) -> int:
    """Show one PLAYBOOK (an id, or a file): how it recognises its failure, what it judges, what it concludes."""
    found = open_playbook(playbook)
    if as_yaml:
        click.echo(Path(found.origin).read_text(encoding="utf-8").rstrip())
    else:
        say("\n".join(_words(found)))
    return 0


def open_playbook(name: str) -> Playbook:
    """By id, or from a file; raises UsageError or PlaybookInvalid."""
    if name.endswith((".yaml", ".yml")):
        from agent.library.reading import read_playbook

        return read_playbook(Path(name))
    from agent import wiring

    return wiring.library(settings()).get(name)


def _words(playbook: Playbook) -> Iterator[str]:
    from agent.domain.playbook import CodeTarget

    yield f"{playbook.id}: {playbook.title}"
    yield from ("", playbook.summary, "")
    yield f"applies to  {', '.join(f'{one.package} {one.versions}'.strip() for one in playbook.applies_to)}"
    match = playbook.match
    for label, values in (
        ("symptom", match.symptom),
        ("number", [formula.text for formula in match.numbers]),
        ("log", match.log),
        ("only if", [formula.text for formula in match.when]),
    ):
        yield from (f"{label:<11} {value}" for value in values)
    yield from ("", "judges")
    for target in playbook.targets:
        what = (
            f"{target.query}{' in ' + target.file if target.file else ''}"
            if isinstance(target, CodeTarget)
            else f"setting {target.setting}"
        )
        yield f"  {target.id:<22} {what}{' - ' + target.why if target.why else ''}"
    yield from ("", "weighs")
    yield from (f"  {hypothesis.id:<22} {hypothesis.role}: {hypothesis.claim}" for hypothesis in playbook.hypotheses)
    yield from ("", f"fix         {playbook.fix.summary}")
    yield from (f"            {change.name} {change.formula.text if change.formula else change.to}" for change in playbook.fix.changes)
    yield from (f"see         {reference}" for reference in playbook.references)
    yield f"tests       {len(playbook.tests)}"
    yield f"file        {playbook.origin}"
