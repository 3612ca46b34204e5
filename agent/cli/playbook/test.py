"""``rca playbook test``: the tests that playbooks bring along, played with the real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.folding import say
from agent.cli.options import settings
from agent.cli.playbook.show import open_playbook
from agent.cli.releases import Releases
from agent.cli.stored import complete_playbook

if TYPE_CHECKING:
    from agent.domain.playbook import Playbook, PlaybookTest


@click.command("test")
@click.argument("playbooks", nargs=-1, shell_complete=complete_playbook)
@click.option("--trees", default="", metavar="DIR", help="Folder of unpacked releases, named PACKAGE-VERSION.")
@click.option("--fetch", is_flag=True, help="Fetch releases that are not there with pip (no dependencies, nothing is installed).")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(playbooks: tuple[str, ...], trees: str, fetch: bool, format_: str) -> int:
    """Play the tests of PLAYBOOKS (ids or files), or of all. Exit code 0: all passed; 1: some failed or nothing was played."""
    from agent import wiring

    config = settings()
    chosen = [open_playbook(name) for name in playbooks] or wiring.library(config).all()
    rows = []
    for row in _play(chosen, Releases(config, trees, fetch=fetch)):
        rows.append(row)
        if format_ == "text":
            say(_line(row))
    failed, played = sum(row["result"] == "failed" for row in rows), sum(row["result"] != "skipped" for row in rows)
    if format_ == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        click.echo(f"{played - failed} passed, {failed} failed, {len(rows) - played} skipped")
    return 1 if failed or not played else 0


def _play(playbooks: Sequence[Playbook], releases: Releases) -> Iterator[dict[str, Any]]:
    for playbook in playbooks:
        for test in playbook.tests:
            yield {
                "playbook": playbook.id,
                "test": test.name,
                "release": f"{test.package} {test.version}".strip(),
                **_result(playbook, test, releases),
            }


def _result(playbook: Playbook, test: PlaybookTest, releases: Releases) -> dict[str, Any]:
    from agent import wiring
    from agent.config import shipped_directory
    from agent.hosts.local_tree import MemoryTree
    from agent.library.samples import resolve
    from agent.subagents.playbook.rehearsal import rehearse

    tree = MemoryTree(test.tree) if test.tree else releases.tree(test.package, test.version)
    if tree is None:
        return {"result": "skipped", "said": "", "problems": ["the release is not here: give --trees DIR or --fetch"]}
    found = rehearse(playbook, resolve(playbook, test, (shipped_directory("playbooks") / "configs",)), tree, wiring.open_engine)
    return {"result": "failed" if found.problems else "passed", "said": found.said, "problems": list(found.problems)}


def _line(row: dict[str, Any]) -> str:
    first = f"{row['result']:<8} {row['playbook']}: {row['test']} ({row['release'] or 'own tree'})"
    return "\n".join([first, *(f"         {problem}" for problem in row["problems"])])
