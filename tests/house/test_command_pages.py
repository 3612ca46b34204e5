"""Every command has its page, with the help of each of its parts, and the index leads to all of them."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from agent.cli.main import COMMANDS, cli
from tests.house.test_documents import ROOT

PAGES = ROOT / "docs" / "commands"


def parts() -> Iterator[tuple[str, str]]:
    """Each command with its page, and each of a group's."""
    context = click.Context(cli)
    for name in COMMANDS:
        yield name, f"rca {name}"
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, f"rca {name} {part}") for part in command.list_commands(context))


def test_groups_are_looked_into() -> None:
    """Twice, as the first look loads every part."""
    for name in COMMANDS:
        group, context = cli.get_command(click.Context(cli), name), click.Context(cli)
        loaded = [group.get_command(context, part) for part in group.list_commands(context)] if isinstance(group, click.Group) else []
        assert all(loaded), name
    assert {("playbook", "rca playbook test"), ("report", "rca report attach"), ("runs", "rca runs prune")} <= set(parts())


@pytest.mark.parametrize(("page", "command"), list(parts()), ids=[command for _, command in parts()])
def test_a_command_has_a_page_with_its_help(page: str, command: str) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    assert f"$ {command} --help\n" in text, "write the line, then: python -m tests.house.help_blocks"
    assert f"({page}.md)" in (PAGES / "README.md").read_text(encoding="utf-8")
