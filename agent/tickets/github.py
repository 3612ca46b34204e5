"""GitHub issues and pull requests, github.com and Enterprise Server, through PyGithub."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent.domain.errors import TicketError
from agent.tickets.credentials import Source
from agent.tickets.failures import Refused, told
from agent.tickets.interface import Posted, Posting, Preview
from agent.tickets.references import Reference, from_short, from_url
from agent.tickets.splitting import split

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment

LIMIT = 65_536
"""Characters in a comment; GitHub answers 422 to more."""
_TIMEOUT = 20
_PAUSE = 1.0
"""Seconds between two writes, as GitHub asks for."""
_SOURCE = Source(tokens=("GITHUB_TOKEN", "GH_TOKEN"), homes=("GITHUB_SERVER_URL", "GH_HOST"), public="github.com")
_NO_FILES = "GitHub takes no attachments through its API: the whole report stands in the comment, folded"


class GitHub:
    """Comments are found again by a hidden marker, and only among those that the token's own account wrote."""

    name = "github"
    forms = ("https://github.com/OWNER/REPO/issues/N", "OWNER/REPO#N")

    def ticket(self, reference: str, environ: Mapping[str, str]) -> GitHubTicket | None:
        found = from_url(reference, r"/(?P<project>[^/]+/[^/]+)/(?:issues|pull)/(?P<number>\d+)") or from_short(
            reference.removeprefix("github:"), r"(?P<project>[\w.-]+/[\w.-]+)#(?P<number>\d+)", _SOURCE.home(environ)
        )
        return None if found is None else GitHubTicket(found, environ)


class GitHubTicket:
    """One issue or pull request."""

    def __init__(self, reference: Reference, environ: Mapping[str, str]) -> None:
        self._reference = reference
        self._environ = environ
        self._where = f"{reference.base}/{reference.project}#{reference.number}"

    def preview(self, posting: Posting) -> Preview:
        bodies = _bodies(posting)
        more = (f"the report is long: it takes {len(bodies)} comments",) if len(bodies) > 1 else ()
        return Preview(where=self._where, body=bodies[0], notes=(_NO_FILES, *more))

    def post(self, posting: Posting) -> Posted:
        bodies = _bodies(posting)
        with told(self._where) as sent, _refusals():
            issue = self._issue()
            own = _own_comments(issue, posting.key, self._login)
            action = _first_action(own, bodies)
            urls = []
            for at, body in enumerate(bodies):
                with sent.sending(f"comment {at + 1} of {len(bodies)}"):
                    urls.append(_put(issue, own[at] if at < len(own) else None, body))
            for surplus in own[len(bodies) :]:
                surplus.delete()
        return Posted(where=urls[0], action=action, notes=(_NO_FILES,))

    def _issue(self) -> Issue:
        import github

        token = _SOURCE.token(self._reference.base, self._environ)
        self._client = github.Github(
            auth=github.Auth.Token(token.value),
            base_url=_api(self._reference.base),
            timeout=_TIMEOUT,
            retry=None,
            per_page=100,
            seconds_between_requests=0,
            seconds_between_writes=_PAUSE,
        )
        return self._client.get_repo(self._reference.project).get_issue(int(self._reference.number))

    def _login(self) -> str:
        """The account behind the token; "" for an app's token, which may not ask."""
        import github

        try:
            return self._client.get_user().login
        except github.GithubException as error:
            if error.status == 403:
                return ""
            raise


def _api(base: str) -> str:
    return "https://api.github.com" if urlsplit(base).netloc == "github.com" else f"{base}/api/v3"


def _bodies(posting: Posting) -> list[str]:
    """The comments in order: summary with the whole report folded below, or the report in further comments where it is long."""
    marker = f"<!-- rca:{posting.key} -->\n"
    whole = f"{marker}{posting.summary}\n<details><summary>The whole report</summary>\n\n{posting.report}\n</details>\n"
    if len(whole) <= LIMIT:
        return [whole]
    parts = split(posting.report, LIMIT - 200)
    first = f"{marker}{posting.summary}\nThe whole report follows in {len(parts)} comment{'s' if len(parts) > 1 else ''}.\n"
    return [first, *(f"<!-- rca:{posting.key} -->\nReport, part {at} of {len(parts)}\n\n{part}" for at, part in enumerate(parts, 1))]


def _own_comments(issue: Issue, key: str, login: Any) -> list[IssueComment]:
    """Comments with our marker that our account wrote, oldest first; a marker in somebody else's comment means nothing."""
    marked = [comment for comment in issue.get_comments() if comment.body.startswith(f"<!-- rca:{key} -->")]
    if not marked:
        return []
    account = login()
    return [one for one in marked if (one.user.login == account if account else one.user.type == "Bot")]


def _first_action(own: list[IssueComment], bodies: list[str]) -> str:
    if not own:
        return "created"
    same = [comment.body.replace("\r\n", "\n").rstrip() for comment in own] == [body.rstrip() for body in bodies]
    return "unchanged" if same else "updated"


def _put(issue: Issue, comment: IssueComment | None, body: str) -> str:
    if comment is None:
        comment = issue.create_comment(body)
    elif comment.body.replace("\r\n", "\n").rstrip() != body.rstrip():
        comment.edit(body)
    return comment.html_url


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        import github
    except ImportError:
        raise TicketError("GitHub needs a client library", hint="pip install 'rca-agent[github]'") from None
    try:
        yield
    except github.GithubException as error:
        said = error.data.get("message", "") if isinstance(error.data, dict) else str(error.data or "")
        details = error.data.get("errors") if isinstance(error.data, dict) else None
        headers = {name.lower(): value for name, value in (error.headers or {}).items()}
        # GitHub's older limits answer 403; the header tells them from a missing right.
        limited = error.status == 403 and ("retry-after" in headers or headers.get("x-ratelimit-remaining") == "0")
        status = 429 if limited else error.status
        raise Refused(status, f"{said} {details or ''}".strip(), str(headers.get("retry-after", ""))) from None
