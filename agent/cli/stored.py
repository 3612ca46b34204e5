"""Stored runs and playbooks as arguments of commands: looked up, completed by the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent.cli.options import settings

if TYPE_CHECKING:
    from agent.store.runs import RunStore

F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def open_store() -> Iterator[RunStore]:
    """The runs made on this machine, closed with the context."""
    from agent import wiring

    store = wiring.store(settings())
    try:
        yield store
    finally:
        store.close()


def run_argument(name: str = "run") -> Callable[[F], F]:
    """A RUN argument: an id, the beginning of one, or "last"."""
    return click.argument(name, metavar="RUN", shell_complete=complete_run)


def complete_run(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Ids with host and title; a shell must never see an error here."""
    from click.shell_completion import CompletionItem

    from agent.domain.errors import RcaError

    try:
        with open_store() as store:
            entries = store.list(limit=100)
    except RcaError:
        return []
    found = [CompletionItem("last", help="the newest run")] if "last".startswith(incomplete) else []
    return found + [CompletionItem(e.id, help=f"{e.host} {e.title}") for e in entries if e.id.startswith(incomplete)]


def complete_playbook(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Ids of the playbooks at hand with their titles, and files."""
    from click.shell_completion import CompletionItem

    from agent import wiring
    from agent.domain.playbook import Playbook

    entries = {entry.id: entry.title for _, entry in wiring.library(settings()).entries() if isinstance(entry, Playbook)}
    found = [CompletionItem(id, help=title) for id, title in sorted(entries.items()) if id.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]
