"""``rca playbook list``: what there is, and what a symptom would match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.folding import say
from agent.cli.options import What, settings, what_options

if TYPE_CHECKING:
    from agent.domain.facts import Facts
    from agent.domain.playbook import Playbook
    from agent.library import Library


@click.command("list")
@click.option("--symptom", default="", metavar="TEXT", help="Show which playbooks speak to this symptom, and why.")
@click.option("--playbook", "files", multiple=True, metavar="FILE", type=click.Path(dir_okay=False), help="A playbook file as well.")
@click.option("--package", default="", metavar="NAME", help="Only those about this package.")
@click.option("--version", default="", metavar="VERSION", help="Only those about this version of it.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@what_options
def command(symptom: str, files: tuple[str, ...], package: str, version: str, format_: str, what: What) -> int:
    """Show the playbooks. With --symptom: which of them speak to it, and why the others do not; --launch "CMD ..." says more."""
    from agent import wiring
    from agent.domain.facts import Facts

    config = settings()
    library = wiring.library(config, tuple(map(Path, files)))
    facts = Facts(package=package, version=version, launch=what.given_launch())
    rows = _matches(library, symptom, facts) if symptom else _all(library, facts)
    if format_ == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print(rows)
    return 0


def _all(library: Library, facts: Facts) -> list[dict[str, Any]]:
    from agent.domain.investigation import Symptom
    from agent.domain.playbook import RuledOut
    from agent.library.matching import judge

    rows = []
    for playbook in library.all():
        answer = judge(playbook, Symptom(text=""), facts)
        if not (isinstance(answer, RuledOut) and answer.why.startswith("it is about")):
            rows.append(_row(playbook))
    return rows


def _matches(library: Library, symptom: str, facts: Facts) -> list[dict[str, Any]]:
    from agent.domain.investigation import Symptom

    matches, ruled_out = library.consider(Symptom.parse(symptom), facts)
    rows = [
        {**_row(match.playbook), "matched": True, "because": list(match.because), "open": list(match.open_questions)} for match in matches
    ]
    return rows + [{**_row(one.playbook), "matched": False, "because": [one.why], "open": []} for one in ruled_out]


def _row(playbook: Playbook) -> dict[str, Any]:
    applies = [f"{one.package} {one.versions}".strip() for one in playbook.applies_to]
    return {"id": playbook.id, "title": playbook.title, "applies_to": applies, "file": playbook.origin}


def _print(rows: list[dict[str, Any]]) -> None:
    """One line a playbook; with a symptom, the reasons below it."""
    width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        if "matched" not in row:
            say(f"{row['id']:<{width}}  {row['title']}  [{', '.join(row['applies_to'])}]")
            continue
        say(f"{'+' if row['matched'] else '-'} {row['id']:<{width}}  {row['title']}")
        for reason in row["because"]:
            say(f"    {'because' if row['matched'] else 'not, since'} {reason}")
        for question in row["open"]:
            say(f"    not known: {question}")
