"""One contract for every hosted tracker: posts once, updates its own, says clearly what failed and what was sent by then."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pytest

from agent import wiring
from agent.domain.errors import TicketError
from agent.tickets import github, gitlab, jira, redmine
from agent.tickets.interface import Ticket
from tests.npm import PackageUnavailable
from tests.reports import samples
from tests.tickets import postings
from tests.tickets.fake_github import FakeGitHub, description
from tests.tickets.fake_gitlab import FakeGitLab
from tests.tickets.fake_jira import FakeJira, adf_schema
from tests.tickets.server import STALL, Response, Tracker, serving

TOKEN = "token-of-ada"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A fake, the ticket's path on it, the environment that gives the token, and how its last write looks."""

    fake: Callable[[], Tracker]
    path: str
    environ: Callable[[str], Mapping[str, str]]
    bodies: Callable[[Tracker], list[str]]
    comment_path: str
    has_files: bool = True
    published: Callable[[], object] = object
    """Fetches the published description, where there is one."""


def _body(text: object) -> str:
    from agent.tickets.adf import plain_text

    return text if isinstance(text, str) else plain_text(text)


KINDS = {
    "github": Kind(
        fake=FakeGitHub,
        path="/org/repo/issues/7",
        environ=lambda url: {"GITHUB_TOKEN": TOKEN, "GITHUB_SERVER_URL": url},
        bodies=lambda tracker: [one["body"] for one in tracker.comments],  # type: ignore[attr-defined]
        comment_path=r"/comments",
        has_files=False,
        published=description,
    ),
    "gitlab issue": Kind(
        fake=FakeGitLab,
        path="/group/sub/project/-/issues/7",
        environ=lambda url: {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": url},
        bodies=lambda tracker: [one["body"] for one in tracker.notes],  # type: ignore[attr-defined]
        comment_path=r"/notes",
    ),
    "gitlab merge request": Kind(
        fake=FakeGitLab,
        path="/group/sub/project/-/merge_requests/7",
        environ=lambda url: {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": url},
        bodies=lambda tracker: [one["body"] for one in tracker.notes],  # type: ignore[attr-defined]
        comment_path=r"/notes",
    ),
    "jira cloud": Kind(
        fake=FakeJira,
        path="/browse/ABC-7",
        environ=lambda url: {"JIRA_TOKEN": TOKEN, "JIRA_USER": "ada@example.com", "JIRA_URL": url},
        bodies=lambda tracker: [_body(one["body"]) for one in tracker.comments],  # type: ignore[attr-defined]
        comment_path=r"/comment",
        published=adf_schema,
    ),
    "jira data center": Kind(
        fake=lambda: FakeJira(cloud=False),
        path="/browse/ABC-7",
        environ=lambda url: {"JIRA_TOKEN": TOKEN, "JIRA_URL": url},
        bodies=lambda tracker: [_body(one["body"]) for one in tracker.comments],  # type: ignore[attr-defined]
        comment_path=r"/comment",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A running fake and the ticket on it."""

    kind: Kind
    tracker: Tracker
    ticket: Ticket

    def bodies(self) -> list[str]:
        return self.kind.bodies(self.tracker)


@pytest.fixture(params=KINDS)
def desk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    kind = KINDS[request.param]
    monkeypatch.setattr(github, "_PAUSE", 0)
    try:
        kind.published()
    except PackageUnavailable as missing:
        pytest.skip(str(missing))
    with serving(kind.fake()) as tracker:
        yield Desk(kind=kind, tracker=tracker, ticket=wiring.ticket(tracker.url + kind.path, kind.environ(tracker.url)))
        assert tracker.wrong == [], "requests that the published API would not take"


def test_it_creates_then_updates_then_leaves_alone(desk: Desk) -> None:
    first = desk.ticket.post(postings.founding())
    assert first.action == "created"
    assert len(desk.bodies()) == 1
    assert "EAGLE was asked for" in desk.bodies()[0]

    again = desk.ticket.post(postings.founding())
    assert again.action == "unchanged"
    assert again.where == first.where or "jira" not in first.where

    updated = desk.ticket.post(postings.later())
    assert updated.action == "updated"
    assert len(desk.bodies()) == 1
    assert "No fault found" in desk.bodies()[0]
    assert "EAGLE was asked for" not in desk.bodies()[0]


def test_another_host_gets_its_own_comment(desk: Desk) -> None:
    desk.ticket.post(postings.founding())
    other = wiring.posting(samples.founding(run=samples.run(id="run-9", host="gpu-08")))
    assert desk.ticket.post(other).action == "created"
    assert len(desk.bodies()) == 2


def test_a_marker_in_somebody_elses_comment_means_nothing(desk: Desk) -> None:
    desk.ticket.post(postings.founding())
    planted = desk.kind.bodies(desk.tracker)[0]
    store = next(value for name, value in vars(desk.tracker).items() if name in ("comments", "notes"))
    stolen = {
        **store[0],
        "author": {"id": 12, "accountId": "account-bob", "name": "bob", "key": "bob"},
        "user": {"login": "bob", "type": "User"},
    }
    store[0] = stolen
    assert desk.ticket.post(postings.later()).action == "created"
    assert planted in desk.bodies(), "the other's comment is untouched"
    assert len(desk.bodies()) == 2


def test_our_comment_is_found_among_hundreds(desk: Desk) -> None:
    authors = {"FakeGitHub": "bob", "FakeGitLab": 12, "FakeJira": "bob"}
    write = desk.tracker.write  # type: ignore[attr-defined]
    other = authors[type(desk.tracker).__name__]
    for at in range(120):
        write(other, f"remark {at}" if "v3" not in str(desk.tracker) else {})
    desk.ticket.post(postings.founding())
    for at in range(120):
        write(other, f"another remark {at}")
    assert desk.ticket.post(postings.later()).action == "updated"
    assert len(desk.bodies()) == 241


def test_files_go_with_it_where_the_tracker_takes_them(desk: Desk) -> None:
    posting = postings.founding()
    desk.ticket.post(posting)
    files = {**getattr(desk.tracker, "files", {}), **getattr(desk.tracker, "uploads", {})}
    expected = {one.name: one.content for one in posting.attachments} if desk.kind.has_files else {}
    assert files == expected
    writes = len(desk.tracker.writes())
    desk.ticket.post(posting)
    assert len(desk.tracker.writes()) == writes, "a second time sends nothing at all"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refused the token"),
        (403, "does not let this token do that"),
        (404, "no such ticket"),
        (413, "too large"),
        (422, "refused the content"),
        (429, "asked too often"),
        (500, "failed"),
        (503, "failed"),
    ],
)
def test_refusals_are_one_clear_line(desk: Desk, status: int, words: str) -> None:
    desk.tracker.fail("POST", desk.kind.comment_path, Response(status=status, body={"message": "the server's words", "errorMessages": []}))
    with pytest.raises(TicketError) as caught:
        desk.ticket.post(postings.founding())
    text = str(caught.value)
    assert words in text
    assert f"HTTP {status}" in text
    assert caught.value.status == status
    assert "\n" not in text
    assert TOKEN not in text
    if desk.kind.has_files:
        assert "sent before that: file rca-run-1.html" in text, "files had gone up already, and that is said"
    assert ("nothing was sent" in text) == (status < 500 and not desk.kind.has_files)
    assert ("may have arrived all the same" in text) == (status >= 500), "a gateway may fail after what is behind it took the comment"


def test_the_wait_that_a_server_asks_for_is_told(desk: Desk) -> None:
    desk.tracker.fail("POST", desk.kind.comment_path, Response(status=429, headers={"Retry-After": "17"}))
    with pytest.raises(TicketError) as caught:
        desk.ticket.post(postings.founding())
    if "gitlab" not in desk.kind.path and "/-/" not in desk.kind.path:  # python-gitlab keeps no headers
        assert "try again in 17 s" in str(caught.value)


def test_a_failed_post_can_be_repeated(desk: Desk) -> None:
    desk.tracker.fail("POST", desk.kind.comment_path, Response(status=503))
    with pytest.raises(TicketError):
        desk.ticket.post(postings.founding())
    assert desk.ticket.post(postings.founding()).action == "created"
    assert len(desk.bodies()) == 1
    files = getattr(desk.tracker, "attachments", [])
    assert len(files) in (0, 3), "what had gone up is not sent twice"


def test_a_server_that_does_not_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (github, gitlab, jira, redmine):
        monkeypatch.setattr(module, "_TIMEOUT", 1)
    desk.tracker.fail("GET", "7", STALL)
    with pytest.raises(TicketError, match=r"did not answer in time; nothing was sent"):
        desk.ticket.post(postings.founding())


def test_a_write_that_is_not_answered_may_have_arrived(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (github, gitlab, jira, redmine):
        monkeypatch.setattr(module, "_TIMEOUT", 1)
    desk.tracker.fail("POST", desk.kind.comment_path, STALL)
    with pytest.raises(TicketError, match=r"did not answer in time.*(comment|note)( 1 of 1)? may have arrived all the same") as caught:
        desk.ticket.post(postings.founding())
    assert "nothing was sent" not in str(caught.value)
    assert "run it again" in caught.value.hint
    assert desk.ticket.post(postings.founding()).action == "created"


@pytest.mark.parametrize("name", KINDS)
def test_a_server_that_is_not_there(name: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        kind = KINDS[name]
        with pytest.raises(TicketError, match=r"cannot be reached; nothing was sent"):
            wiring.ticket(url + kind.path, kind.environ(url)).post(postings.founding())


def test_a_wrong_token(desk: Desk) -> None:
    environ = {name: value.replace(TOKEN, "token-of-nobody") for name, value in desk.kind.environ(desk.tracker.url).items()}
    ticket = wiring.ticket(desk.tracker.url + desk.kind.path, environ)
    with pytest.raises(TicketError, match="refused the token") as caught:
        ticket.post(postings.founding())
    assert "token-of-nobody" not in str(caught.value)
    assert desk.tracker.writes() == []


def test_a_ticket_that_does_not_exist(desk: Desk) -> None:
    ticket = wiring.ticket(desk.tracker.url + desk.kind.path.replace("7", "8"), desk.kind.environ(desk.tracker.url))
    with pytest.raises(TicketError, match="no such ticket"):
        ticket.post(postings.founding())
    assert desk.tracker.writes() == []
    desk.tracker.wrong.clear()


def test_a_redirect_elsewhere_is_not_followed_with_the_token(desk: Desk) -> None:
    with serving(desk.kind.fake()) as other:
        for _ in range(4):
            desk.tracker.fail("GET", "7", Response(status=302, headers={"Location": f"{other.url}/stolen"}))
        with pytest.raises(TicketError):
            desk.ticket.post(postings.founding())
        assert TOKEN not in str([request.headers for request in other.requests])
        other.wrong.clear()
    assert desk.tracker.writes() == []


def test_a_login_page_in_place_of_the_api(desk: Desk) -> None:
    page = Response(body=b"<html>please log in</html>", headers={"Content-Type": "text/html"})
    for _ in range(8):
        desk.tracker.fail("GET", "", page)
    with pytest.raises(TicketError) as caught:
        desk.ticket.post(postings.founding())
    assert "nothing was sent" in str(caught.value)
    assert desk.tracker.writes() == []


def test_a_preview_touches_nothing(desk: Desk) -> None:
    preview = desk.ticket.preview(postings.founding())
    assert desk.tracker.requests == []
    assert "EAGLE" in preview.body
    assert TOKEN not in str(preview)
    assert bool(preview.attachments) == desk.kind.has_files


def test_the_token_is_in_no_log(desk: Desk, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    caplog.set_level(logging.DEBUG)
    desk.ticket.post(postings.founding())
    desk.tracker.fail("POST", desk.kind.comment_path, Response(status=403))
    with pytest.raises(TicketError):
        desk.ticket.post(wiring.posting(samples.founding(run=samples.run(host="another"))))
    assert TOKEN not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_content_is_taken_and_found_again(desk: Desk, text: str) -> None:
    """Whatever a host sends: the tracker takes it, our marker survives it, and a second time changes nothing."""
    assert desk.ticket.post(postings.hostile(text)).action == "created"
    assert desk.ticket.post(postings.hostile(text)).action == "unchanged"


@pytest.mark.parametrize("desk", ["github"], indirect=True)
@pytest.mark.parametrize(
    ("status", "words"), [(422, "; sent before that: comment 1 of "), (503, "comment 2 of "), (429, "; sent before that: comment 1 of ")]
)
def test_a_report_of_several_comments_that_breaks_off_says_how_far_it_came(desk: Desk, status: int, words: str) -> None:
    desk.tracker.fail("POST", desk.kind.comment_path, Response(status=status), after=1)
    with pytest.raises(TicketError) as caught:
        desk.ticket.post(postings.long())
    assert words in str(caught.value) and "nothing was sent" not in str(caught.value)
    assert ("may have arrived all the same" in str(caught.value)) == (status >= 500)
    [begun] = desk.bodies()
    assert desk.ticket.post(postings.long()).action == "updated"
    first, *rest = desk.bodies()
    assert first == begun and rest and len(desk.bodies()) == len(set(desk.bodies())), "it goes on behind what was there, nothing twice"


def test_a_long_report_keeps_to_the_limits(desk: Desk) -> None:
    """The fakes refuse what is too long."""
    assert desk.ticket.post(postings.long()).action == "created"
    assert desk.ticket.post(postings.long()).action == "unchanged"
    assert desk.ticket.post(postings.founding()).action == "updated"
    assert len(desk.bodies()) == 1
