"""GitLab issues, work items and merge requests, gitlab.com and self-managed, through python-gitlab."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agent.domain.errors import TicketError
from agent.domain.source import sha256
from agent.tickets.credentials import Source
from agent.tickets.failures import Refused, Sent, told
from agent.tickets.interface import Attachment, Posted, Posting, Preview
from agent.tickets.references import Reference, from_short, from_url

LIMIT = 1_000_000
"""Characters in a note."""
_TIMEOUT = 20
_SOURCE = Source(tokens=("GITLAB_TOKEN",), homes=("GITLAB_URL", "CI_SERVER_URL"), public="gitlab.com")
_NOTEABLE = {"issues": "issues", "work_items": "issues", "merge_requests": "mergerequests"}


class GitLab:
    """Notes are found again by a hidden marker, and only among those that the token's own account wrote."""

    name = "gitlab"
    forms = ("https://gitlab.com/GROUP/PROJECT/-/issues/N", "gitlab:GROUP/PROJECT#N (or !N)")

    def ticket(self, reference: str, environ: Mapping[str, str]) -> GitLabTicket | None:
        found = from_url(reference, r"/(?P<project>[^/]+(?:/[^/]+)+?)/-/(?P<kind>issues|work_items|merge_requests)/(?P<number>\d+)")
        if found is None and reference.startswith("gitlab:"):
            found = from_short(reference, r"gitlab:(?P<project>[\w./-]+)(?P<kind>[#!])(?P<number>\d+)", _SOURCE.home(environ))
        return None if found is None else GitLabTicket(found, environ)


class GitLabTicket:
    """One issue or merge request."""

    def __init__(self, reference: Reference, environ: Mapping[str, str]) -> None:
        self._reference = reference
        self._environ = environ
        kind = {"#": "issues", "!": "merge_requests"}.get(reference.kind, reference.kind)
        self._noteable = _NOTEABLE[kind]
        self._where = f"{reference.base}/{reference.project}/-/{kind}/{reference.number}"

    def preview(self, posting: Posting) -> Preview:
        return Preview(where=self._where, body=_body(posting, []), attachments=tuple(one.name for one in posting.attachments))

    def post(self, posting: Posting) -> Posted:
        with told(self._where) as sent, _refusals():
            client, ticket = self._open()
            notes = ticket.notes
            note = _own_note(client, notes, posting.key)
            if note is not None and _stamp(posting) in note.body:
                return Posted(where=f"{self._where}#note_{note.id}", action="unchanged")
            body = _body(posting, _upload(client.projects.get(ticket.project_id, lazy=True), posting.attachments, sent))
            if note is None:
                with sent.sending("the note"):
                    note = notes.create({"body": body})
                return Posted(where=f"{self._where}#note_{note.id}", action="created")
            note.body = body
            with sent.sending("the note"):
                note.save()
            return Posted(where=f"{self._where}#note_{note.id}", action="updated")

    def _open(self) -> tuple[Any, Any]:
        """The client and the ticket; asking for it first tells a wrong number from a missing right."""
        token = _SOURCE.token(self._reference.base, self._environ)
        client = _client(self._reference.base, token.value)
        project = client.projects.get(self._reference.project, lazy=True)
        return client, getattr(project, self._noteable).get(int(self._reference.number))


def _upload(project: Any, attachments: tuple[Attachment, ...], sent: Sent) -> list[str]:
    """Files go to the project; the note links them."""
    links = []
    for one in attachments:
        with sent.sending(f"file {one.name}"):
            links.append(project.upload(one.name, filedata=one.content)["markdown"])
    return links


def _client(base: str, token: str) -> Any:
    """One that says "asked too often" at once; the library would sleep for as long as the server likes."""
    import gitlab

    class Impatient(gitlab.Gitlab):
        def http_request(self, *arguments: Any, **options: Any) -> Any:
            return super().http_request(*arguments, **{**options, "obey_rate_limit": False})

    client = Impatient(base, private_token=token, timeout=_TIMEOUT, keep_base_url=True)
    client.session.max_redirects = 0  # its header would follow to wherever the server points
    return client


def _stamp(posting: Posting) -> str:
    """In the marker: whether the note already holds exactly this report."""
    return f"content={sha256(posting.report.encode())[:16]}"


def _body(posting: Posting, links: list[str]) -> str:
    marker = f"<!-- rca:{posting.key} {_stamp(posting)} -->\n"
    files = f"\nThe whole report: {', '.join(links)}\n" if links else ""
    folded = f"\n<details><summary>The whole report</summary>\n\n{posting.report}\n</details>\n"
    body = f"{marker}{posting.summary}{files}"
    return body + folded if len(body) + len(folded) <= LIMIT else body


def _own_note(client: Any, notes: Any, key: str) -> Any | None:
    """A marker in somebody else's note means nothing."""
    marked = [note for note in notes.list(iterator=True, per_page=100) if note.body.startswith(f"<!-- rca:{key} ")]
    if not marked:
        return None
    client.auth()
    own = [note for note in marked if note.author["id"] == client.user.id]
    return min(own, key=lambda note: note.id) if own else None


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        import gitlab
    except ImportError:
        raise TicketError("GitLab needs a client library", hint="pip install 'rca-agent[gitlab]'") from None
    try:
        yield
    except gitlab.GitlabError as error:
        raise Refused(error.response_code or 0, str(error.error_message or "")) from None
