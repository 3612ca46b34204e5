"""The Redmine client against a real Redmine: notes, files, updates, rights, and what hostile content becomes on its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from agent import wiring
from agent.domain.errors import TicketError
from agent.tickets.interface import Ticket
from tests.reports import samples
from tests.tickets import postings
from tests.tickets.redmine_server import Redmine, RedmineMissing, redmine


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redmine]:
    try:
        with redmine(tmp_path_factory.mktemp("redmine")) as running:
            yield running
    except RedmineMissing as missing:
        pytest.skip(str(missing))


def ticket(server: Redmine, key: str = "", number: int = 0, **environ: str) -> Ticket:
    given: Mapping[str, str] = {"REDMINE_API_KEY": key or server.key, "REDMINE_URL": server.url, **environ}
    return wiring.ticket(f"{server.url}/issues/{number or server.issue}", given)


def issue(server: Redmine) -> dict[str, list[dict[str, object]]]:
    return server.api(f"/issues/{server.issue}.json?include=journals,attachments")["issue"]  # type: ignore[return-value]


def notes(server: Redmine) -> list[str]:
    return [str(journal["notes"]) for journal in issue(server)["journals"] if journal["notes"]]


def test_it_creates_then_updates_then_leaves_alone(server: Redmine) -> None:
    before = len(notes(server))
    posting = postings.founding()
    assert ticket(server).post(posting).action == "created"
    assert len(notes(server)) == before + 1
    assert "EAGLE was asked for" in notes(server)[-1]
    files = {str(one["filename"]): one["filesize"] for one in issue(server)["attachments"]}
    assert files.items() >= {one.name: len(one.content) for one in posting.attachments}.items()

    assert ticket(server).post(posting).action == "unchanged"
    assert ticket(server).post(postings.later()).action == "updated"
    assert len(notes(server)) == before + 1
    assert "No fault found" in notes(server)[-1]
    assert {"rca-run-1.html", "rca-run-2.html"} <= {str(one["filename"]) for one in issue(server)["attachments"]}


def test_a_key_in_somebody_elses_note_means_nothing(server: Redmine) -> None:
    posting = wiring.posting(samples.founding(run=samples.run(id="run-5", host="gpu-05")))
    assert ticket(server, server.other_key).post(posting).action == "created"
    assert ticket(server).post(posting).action == "created"
    assert ticket(server).post(posting).action == "unchanged"


def test_a_plain_member_may_comment_but_not_edit_and_that_is_said(server: Redmine) -> None:
    """Redmine lets members add notes; editing one's own needs a right that this role lacks."""
    first = wiring.posting(samples.founding(run=samples.run(id="run-6", host="gpu-06")))
    second = wiring.posting(replace(samples.nothing_found(), run=samples.run(id="run-7", host="gpu-06")))
    assert ticket(server, server.other_key).post(first).action == "created"
    with pytest.raises(TicketError, match=r"does not let this token do that \(HTTP 403\).*sent before that: file rca-run-7.html"):
        ticket(server, server.other_key).post(second)


def test_refusals(server: Redmine) -> None:
    with pytest.raises(TicketError, match=r"refused the token \(HTTP 401\); nothing was sent"):
        ticket(server, "0" * 40).post(postings.founding())
    with pytest.raises(TicketError, match=r"no such ticket.*\(HTTP 404\); nothing was sent"):
        ticket(server, number=99999).post(postings.founding())


def test_a_file_that_is_too_large(server: Redmine) -> None:
    """Redmine's limit is 5 MB unless it is raised."""
    large = wiring.posting(
        samples.founding(run=samples.run(id="run-8", host="gpu-08"), reproduce=tuple(f"cat /{'x' * 1000}/{at}" for at in range(6000)))
    )
    before = len(notes(server))
    with pytest.raises(TicketError, match=r"refused the content \(HTTP 422\).*exceeds the maximum"):
        ticket(server).post(large)
    assert len(notes(server)) == before


class _Note(HTMLParser):
    """The tags, links and text of one note on the issue's page."""

    def __init__(self, page: str, number: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self._id = f"journal-{number}-notes"
        self._depth = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if self._depth:
            self.tags.add(tag)
            self.links += [value for name in ("href", "src") if (value := given.get(name))]
        if self._depth or given.get("id") == self._id:
            self._depth += tag == "div"

    def handle_endtag(self, tag: str) -> None:
        self._depth -= bool(self._depth) and tag == "div"

    def handle_data(self, text: str) -> None:
        self.text += text if self._depth else ""


_FORMATTINGS = ["textile", "common_mark", "markdown"]
_OUTBREAK = '</pre>\n"link":https://evil.example !https://evil.example/x.png!\nh1. x\n@admin'

_TRICKS = ["\n".join(samples.HOSTILE), _OUTBREAK, "```\n@admin #1\n~~~\n# x\n```\n~~~\nwww.evil.example", samples.HOSTILE[4]]
"""All at once, and those alone that would end a block: what follows in the page costs a second each."""


@pytest.mark.parametrize("formatting", _FORMATTINGS)
def test_hostile_content_stays_text_on_the_page(server: Redmine, formatting: str) -> None:
    server.format_text_as(formatting)
    here = ticket(server, REDMINE_TEXT_FORMATTING=formatting)
    for at, text in enumerate(_TRICKS):
        posting = replace(postings.hostile(f"{text} {formatting} {at}"), attachments=())
        here.post(posting)
        again = here.post(posting)
        assert again.action == "unchanged", text
        note = _Note(server.page(f"/issues/{server.issue}"), again.where.rpartition("-")[2])
        assert note.tags <= {"pre", "code", "p", "div"}, text
        assert note.links == [], text
        assert f"{formatting} {at}" in note.text
    assert not [note for note in notes(server) if re.search(r"(?<!\w)@[\w-]", note)], "nobody is mentioned"
