"""What every tracker offers: recognise a reference, and put a report there once, however often it is asked to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.domain.brief import Brief
from agent.domain.investigation import Investigation
from agent.domain.serialize import Plain
from agent.domain.source import sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment(Plain):
    """A file that goes with the comment."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting(Plain):
    """What is to be put on a ticket: the same findings in the forms that trackers take.

    ``key`` is the marker: a comment that carries it is updated instead of writing a second one.
    ``summary`` and ``report`` are Markdown in which foreign text is inert. ``date``: the run's start, ISO 8601 UTC.
    """

    key: str
    run_id: str
    date: str
    brief: Brief
    summary: str
    report: str
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Plain):
    """What would be sent, shown before anything is: the comment in the tracker's own markup, and what goes with it."""

    where: str
    body: str
    attachments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted(Plain):
    """``action``: created, updated, or unchanged. ``notes``: what was done besides, or could not be done."""

    where: str
    action: str
    notes: tuple[str, ...] = ()


class Ticket(Protocol):
    """One ticket of one tracker."""

    def preview(self, posting: Posting) -> Preview:
        """Touches nothing, not even the network."""
        ...

    def post(self, posting: Posting) -> Posted:
        """Puts it there. Raises TicketError; where something had been sent before the failure, the error says what."""
        ...


class Tracker(Protocol):
    """One kind of tracker. Importing it loads no client library; ``post`` does."""

    name: str
    forms: tuple[str, ...]
    """How a reference may look, for messages."""

    def ticket(self, reference: str, environ: Mapping[str, str]) -> Ticket | None:
        """The ticket that is meant, or None where the reference is not this tracker's."""
        ...


def posting_key(investigation: Investigation) -> str:
    """The same for every run on the same host about the same symptom: a later run updates the comment of an earlier one."""
    return sha256(f"{investigation.run.host}\0{investigation.symptom.text}".encode("utf-8", "surrogatepass"))[:12]
