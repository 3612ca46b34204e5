"""``rca playbook validate``: playbook files against the schema, every error with its place."""

from __future__ import annotations

from pathlib import Path

import click

from agent.cli.folding import say
from agent.cli.options import settings
from agent.domain.counting import counted


@click.command("validate")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False))
def command(files: tuple[str, ...]) -> int:
    """Check FILES, or every playbook there is. Exit code 0: all are valid; 2: some are not, each named with the wrong entry."""
    from agent import wiring
    from agent.domain.errors import PlaybookInvalid
    from agent.library import Library

    library = Library(Path("/nonexistent"), None, tuple(map(Path, files))) if files else wiring.library(settings())
    wrong = 0
    for path, entry in library.entries():
        if isinstance(entry, PlaybookInvalid):
            wrong += 1
            say(entry.what)
        else:
            say(f"{path}: ok ({entry.id}, {counted(len(entry.targets), 'target')}, {counted(len(entry.tests), 'test')})")
    return 2 if wrong else 0
