"""Jira issues: Cloud with API v3 and ADF, Server and Data Center with API v2 and wiki markup, through the ``jira`` library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from agent.domain.errors import TicketError
from agent.tickets import adf, wiki
from agent.tickets.credentials import Source
from agent.tickets.failures import Refused, Sent, told
from agent.tickets.interface import Attachment, Posted, Posting, Preview
from agent.tickets.references import Reference, from_short, from_url

_TIMEOUT = 20
_PAGE = 100
_KEY = r"[A-Z][A-Z0-9_]+-\d+"
_SOURCE = Source(tokens=("JIRA_TOKEN", "JIRA_API_TOKEN"), homes=("JIRA_URL",), user="JIRA_USER")
"""With JIRA_USER the token is sent as that user's (Cloud), without as a personal access token (Data Center)."""


class Jira:
    """Comments are found again by their last line, and only among those that the token's own account wrote."""

    name = "jira"
    forms = ("https://SITE.atlassian.net/browse/KEY-1", "KEY-1 (with JIRA_URL)")

    def ticket(self, reference: str, environ: Mapping[str, str]) -> JiraTicket | None:
        found = from_url(reference, rf"(?P<mount>(?:/[\w.-]+)*?)/browse/(?P<number>{_KEY})") or from_short(
            reference.removeprefix("jira:"), rf"(?P<number>{_KEY})", _SOURCE.home(environ)
        )
        return None if found is None else JiraTicket(found, environ)


class JiraTicket:
    """One issue."""

    def __init__(self, reference: Reference, environ: Mapping[str, str]) -> None:
        self._base = reference.base
        self._key = reference.number
        self._environ = environ
        self._where = f"{reference.base}/browse/{reference.number}"

    def preview(self, posting: Posting) -> Preview:
        return Preview(
            where=self._where,
            body=wiki.jira(posting.brief, _footer(posting)),
            attachments=tuple(one.name for one in posting.attachments),
            notes=("on Jira Cloud the same goes as a formatted document (ADF)",),
        )

    def post(self, posting: Posting) -> Posted:
        with told(self._where) as sent, _refusals():
            client, cloud = self._open()
            issue = client.issue(self._key, fields="attachment")
            added = _attach(client, issue, posting.attachments, sent)
            body = adf.document(posting.brief, _footer(posting)) if cloud else wiki.jira(posting.brief, _footer(posting))
            comment = _own_comment(client, issue, posting.key)
            if comment is None:
                with sent.sending("the comment"):
                    comment = client.add_comment(issue, body)
                return Posted(where=self._link(comment), action="created")
            if not added and _text(comment.raw["body"]) == _text(body):
                return Posted(where=self._link(comment), action="unchanged")
            with sent.sending("the comment"):
                comment.update(body=body)
            return Posted(where=self._link(comment), action="updated")

    def _link(self, comment: Any) -> str:
        return f"{self._where}?focusedCommentId={comment.id}"

    def _open(self) -> tuple[Any, bool]:
        """The client of the API version that this Jira speaks, and whether it is Cloud."""
        from jira import JIRA

        token = _SOURCE.token(self._base, self._environ)
        login: dict[str, Any] = {"basic_auth": (token.user, token.value)} if token.user else {"token_auth": token.value}
        options = {"server": self._base, "check_update": False}
        shared: dict[str, Any] = {**login, "timeout": _TIMEOUT, "max_retries": 0, "get_server_info": False}
        client = JIRA(options={**options, "rest_api_version": "2"}, **shared)
        if client.server_info().get("deploymentType") != "Cloud":
            return client, False
        return JIRA(options={**options, "rest_api_version": "3"}, **shared), True


def _footer(posting: Posting) -> str:
    return f"rca report {posting.key}, run {posting.run_id}. A later run on the same host and symptom updates this comment."


def _text(body: Any) -> str:
    return body.strip() if isinstance(body, str) else adf.plain_text(body)


def _attach(client: Any, issue: Any, attachments: tuple[Attachment, ...], sent: Sent) -> bool:
    """Adds the files that are not there yet (by name and size); True if any was added."""
    there = {(one.filename, one.size) for one in issue.fields.attachment}
    missing = [one for one in attachments if (one.name, len(one.content)) not in there]
    for one in missing:
        with sent.sending(f"file {one.name}"):
            client.add_attachment(issue, attachment=BytesIO(one.content), filename=one.name)
    return bool(missing)


def _comments(client: Any, issue: Any) -> list[Any]:
    """All of them: a server gives no more than its own limit at once, and one that knows no pages gives the same again."""
    found: dict[str, Any] = {}
    while page := [one for one in client.comments(issue, start_at=len(found), max_results=_PAGE) if one.id not in found]:
        found |= {one.id: one for one in page}
    return list(found.values())


def _own_comment(client: Any, issue: Any, key: str) -> Any | None:
    """The key in somebody else's comment means nothing."""
    marked = [comment for comment in _comments(client, issue) if f"rca report {key}, run " in _text(comment.raw["body"])]
    if not marked:
        return None
    me = client.myself()
    account = me.get("accountId") or me.get("key") or me.get("name")
    own = [one for one in marked if account in [one.raw["author"].get(name) for name in ("accountId", "key", "name")]]
    return own[0] if own else None


@contextmanager
def _refusals() -> Iterator[None]:
    """JIRAError's own text repeats the request with its authorization header: only its message is taken over."""
    try:
        from jira.exceptions import JIRAError
    except ImportError:
        raise TicketError("Jira needs a client library", hint="pip install 'rca-agent[jira]'") from None
    try:
        yield
    except JIRAError as error:
        headers = getattr(error.response, "headers", None) or {}
        raise Refused(error.status_code or 0, error.text or "", headers.get("Retry-After", "")) from None
