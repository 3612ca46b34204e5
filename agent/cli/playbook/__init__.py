"""``rca playbook``: recurring failures, executable: list, show, validate, test, run, save."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click

COMMANDS: Mapping[str, str] = {
    "list": "Show the playbooks, or which of them speak to a symptom.",
    "show": "Show one playbook in words.",
    "validate": "Check playbook files against the schema.",
    "test": "Play the tests that playbooks bring along.",
    "run": "Follow one playbook on a host.",
    "save": "Make a playbook of a stored run.",
}


class _Group(click.Group):
    """Loads a subcommand's module only when it is used. One is called ``list``: once loaded, it hides the built-in name in here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group("playbook", cls=_Group)
def command() -> None:
    """Recurring failures, executable.

    Shipped playbooks, your own in the configuration directory (they go before shipped ones of the same id), and files.
    """
