"""Redmine issues through python-redmine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from agent.domain.errors import TicketError
from agent.tickets import wiki
from agent.tickets.credentials import Source
from agent.tickets.failures import Refused, Sent, told
from agent.tickets.interface import Attachment, Posted, Posting, Preview
from agent.tickets.references import Reference, from_short, from_url

_TIMEOUT = 20
_SOURCE = Source(tokens=("REDMINE_API_KEY",), homes=("REDMINE_URL",))
_MENTION = re.compile(r"(?<!\w)@(?=[\w-])")
"""Redmine notifies whoever is named so, even in a code span."""
_FORMS = {"common_mark": wiki.markdown, "markdown": wiki.markdown}


class Redmine:
    """Notes are found again by their last line, and only among those that the key's own account wrote.

    Redmine does not tell clients which markup it uses: REDMINE_TEXT_FORMATTING is ``textile`` (what it comes with up to 5),
    ``markdown`` or ``common_mark``.
    """

    name = "redmine"
    forms = ("https://HOST/issues/N", "#N (with REDMINE_URL)")

    def ticket(self, reference: str, environ: Mapping[str, str]) -> RedmineTicket | None:
        found = from_url(reference, r"(?P<mount>(?:/(?!-/)[\w.-]+)?)/issues/(?P<number>\d+)") or from_short(
            reference.removeprefix("redmine:"), r"#?(?P<number>\d+)", _SOURCE.home(environ)
        )
        return None if found is None else RedmineTicket(found, environ)


class RedmineTicket:
    """One issue."""

    def __init__(self, reference: Reference, environ: Mapping[str, str]) -> None:
        self._base = reference.base
        self._number = int(reference.number)
        self._environ = environ
        self._where = f"{reference.base}/issues/{reference.number}"

    def preview(self, posting: Posting) -> Preview:
        return Preview(where=self._where, body=self._notes(posting), attachments=tuple(one.name for one in posting.attachments))

    def post(self, posting: Posting) -> Posted:
        with told(self._where) as sent, _refusals():
            client = self._open()
            issue = client.issue.get(self._number, include=["journals", "attachments"])
            journal = _own_journal(client, issue, posting.key)
            notes = self._notes(posting)
            uploads = _uploads(client, issue, posting.attachments, sent)
            if journal is None:
                with sent.sending("the note"):
                    client.issue.update(self._number, notes=notes, **uploads)
                return Posted(where=self._where, action="created")
            if not uploads and journal.notes.replace("\r\n", "\n").strip() == notes.strip():
                return Posted(where=self._link(journal), action="unchanged")
            if uploads:
                with sent.sending("the files' places on the issue"):
                    client.issue.update(self._number, **uploads)
            with sent.sending("the note"):
                client.issue_journal.update(journal.id, notes=notes)
            return Posted(where=self._link(journal), action="updated")

    def _link(self, journal: Any) -> str:
        return f"{self._where}#change-{journal.id}"

    def _open(self) -> Any:
        from redminelib import Redmine as Client

        token = _SOURCE.token(self._base, self._environ)
        return Client(self._base, key=token.value, requests={"adapters": _bounded(), "max_redirects": 0})

    def _notes(self, posting: Posting) -> str:
        footer = f"rca report {posting.key}, run {posting.run_id}. A later run on the same host and symptom updates this note."
        form = _FORMS.get(self._environ.get("REDMINE_TEXT_FORMATTING", ""), wiki.textile)
        return _MENTION.sub("@\u200b", form(posting.brief, footer))


def _bounded() -> dict[str, Any]:
    """Session parts for the library, which has no time-out of its own; redirects are off, as its header would follow them."""
    from requests.adapters import HTTPAdapter

    class Bounded(HTTPAdapter):
        def send(self, request: Any, **options: Any) -> Any:  # type: ignore[override]
            return super().send(request, **{**options, "timeout": options.get("timeout") or _TIMEOUT})

    return {"https://": Bounded(), "http://": Bounded()}


def _own_journal(client: Any, issue: Any, key: str) -> Any | None:
    """The key in somebody else's note means nothing."""
    marked = [journal for journal in issue.journals if f"rca report {key}, run " in (getattr(journal, "notes", "") or "")]
    if not marked:
        return None
    account = client.user.get("current").id
    return next((journal for journal in marked if journal.user.id == account), None)


def _uploads(client: Any, issue: Any, attachments: tuple[Attachment, ...], sent: Sent) -> dict[str, Any]:
    """Uploads the files that are not there yet (by name and size); they show on the issue once the update refers to them."""
    there = {(one.filename, one.filesize) for one in issue.attachments}
    missing = [one for one in attachments if (one.name, len(one.content)) not in there]
    tokens = []
    for one in missing:
        with sent.sending(f"file {one.name} (not shown on the issue yet)"):
            token = client.upload(BytesIO(one.content), filename=one.name)["token"]
        tokens.append({"token": token, "filename": one.name, "content_type": one.media_type})
    return {"uploads": tokens} if tokens else {}


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        from redminelib import exceptions
    except ImportError:
        raise TicketError("Redmine needs a client library", hint="pip install 'rca-agent[redmine]'") from None
    statuses = {
        exceptions.AuthError: 401,
        exceptions.ForbiddenError: 403,
        exceptions.ResourceNotFoundError: 404,
        exceptions.ConflictError: 409,
        exceptions.RequestEntityTooLargeError: 413,
        exceptions.ValidationError: 422,
        exceptions.ServerError: 500,
    }
    try:
        yield
    except exceptions.BaseRedmineError as error:
        status = statuses.get(type(error), getattr(error, "status_code", 0))
        raise Refused(status, str(error) if status == 422 else "") from None
