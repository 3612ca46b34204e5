"""Directories and mail files, what a reference means, and where tokens may go."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from email import policy
from email.parser import BytesParser
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from agent import wiring
from agent.domain.errors import TicketError, UsageError
from agent.tickets.credentials import Source
from agent.tickets.github import LIMIT, _bodies
from agent.tickets.splitting import split
from tests.reports import samples
from tests.reports.gfm import render
from tests.tickets import postings

EVERYTHING = {
    "GITHUB_TOKEN": "t",
    "GITLAB_TOKEN": "t",
    "JIRA_TOKEN": "t",
    "JIRA_URL": "https://jira.example",
    "REDMINE_API_KEY": "t",
    "REDMINE_URL": "https://redmine.example/sub",
}


@pytest.mark.parametrize(
    ("reference", "where"),
    [
        ("https://github.com/org/repo/issues/7", "https://github.com/org/repo#7"),
        ("https://github.com/org/repo/pull/7#issuecomment-1", "https://github.com/org/repo#7"),
        ("https://ghe.example/org/repo/issues/7?x=1", "https://ghe.example/org/repo#7"),
        ("org/repo#7", "https://github.com/org/repo#7"),
        ("github:org/repo#7", "https://github.com/org/repo#7"),
        ("https://gitlab.com/group/project/-/issues/7", "https://gitlab.com/group/project/-/issues/7"),
        ("https://gitlab.example/a/b/c/d/-/merge_requests/7/", "https://gitlab.example/a/b/c/d/-/merge_requests/7"),
        ("https://gitlab.com/group/project/-/work_items/7", "https://gitlab.com/group/project/-/work_items/7"),
        ("gitlab:group/project!7", "https://gitlab.com/group/project/-/merge_requests/7"),
        ("gitlab:group/project#7", "https://gitlab.com/group/project/-/issues/7"),
        ("https://site.atlassian.net/browse/ABC-7", "https://site.atlassian.net/browse/ABC-7"),
        ("https://host.example/jira/browse/AB_C2-7", "https://host.example/jira/browse/AB_C2-7"),
        ("ABC-7", "https://jira.example/browse/ABC-7"),
        ("https://redmine.example/issues/7", "https://redmine.example/issues/7"),
        ("https://redmine.example/sub/issues/7", "https://redmine.example/sub/issues/7"),
        ("#7", "https://redmine.example/sub/issues/7"),
        ("redmine:7", "https://redmine.example/sub/issues/7"),
        ("dir:/tmp/x", "/tmp/x"),
        ("out/", "out"),
        ("report.eml", "report.eml"),
        ("mail:a/b.eml", "a/b.eml"),
    ],
)
def test_references(reference: str, where: str) -> None:
    assert wiring.ticket(reference, EVERYTHING).preview(postings.founding()).where == where


@pytest.mark.parametrize(
    "reference", ["", "nothing", "https://example.com/", "ftp://x/org/repo/issues/7", "https://github.com/org/repo", "abc-7", "-7"]
)
def test_what_is_no_reference(reference: str) -> None:
    with pytest.raises(UsageError, match="OWNER/REPO#N"):
        wiring.ticket(reference, EVERYTHING)


def test_a_password_in_an_address_is_refused() -> None:
    with pytest.raises(TicketError, match="holds a user name or password") as caught:
        wiring.ticket("https://ada:hunter2@github.com/org/repo/issues/7", {})
    assert "hunter2" not in str(caught.value)


SOURCE = Source(tokens=("X_TOKEN", "Y_TOKEN"), homes=("X_URL",), public="x.example", user="X_USER")


@pytest.mark.parametrize(
    ("base", "environ"),
    [
        ("https://x.example", {"X_TOKEN": "secret"}),
        ("https://x.example", {"Y_TOKEN": "secret", "X_URL": "https://own.example"}),
        ("https://own.example", {"X_TOKEN": "secret", "X_URL": "https://own.example/"}),
        ("https://own.example", {"X_TOKEN": "secret", "X_URL": "own.example"}),
        ("http://127.0.0.1:99", {"X_TOKEN": "secret", "X_URL": "http://127.0.0.1:99"}),
        ("http://own.example", {"X_TOKEN": "secret", "X_URL": "http://own.example"}),
    ],
)
def test_a_token_goes_to_its_own_server(base: str, environ: Mapping[str, str]) -> None:
    assert SOURCE.token(base, environ).value == "secret"


@pytest.mark.parametrize(
    ("base", "environ", "words"),
    [
        ("https://evil.example", {"X_TOKEN": "secret"}, "X_TOKEN is meant for x.example; it is not sent to evil.example"),
        ("https://x.example.evil.example", {"X_TOKEN": "secret"}, "not sent to x.example.evil.example"),
        ("https://x.example:8443", {"X_TOKEN": "secret"}, "not sent to x.example:8443"),
        ("https://evil.example", {"X_TOKEN": "secret", "X_URL": "https://own.example"}, "is meant for own.example"),
        ("https://x.example", {}, "no token for x.example"),
        ("http://x.example", {"X_TOKEN": "secret"}, "in the clear"),
    ],
)
def test_a_token_goes_nowhere_else(base: str, environ: Mapping[str, str], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(TicketError, match=words) as caught:
        SOURCE.token(base, environ)
    assert "secret" not in str(caught.value)
    assert caught.value.hint


def test_the_keyring_is_asked_by_host(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = ModuleType("keyring.errors")
    errors.KeyringError = RuntimeError  # type: ignore[attr-defined]
    keyring = ModuleType("keyring")
    keyring.errors = errors  # type: ignore[attr-defined]
    entries = {"rca:x.example": SimpleNamespace(username="ada", password="kept")}
    keyring.get_credential = lambda service, _: entries.get(service)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    token = SOURCE.token("https://x.example", {})
    assert (token.user, token.value) == ("ada", "kept")
    assert "kept" not in repr(token)
    with pytest.raises(TicketError, match=r"no token for other\.example"):
        SOURCE.token("https://other.example", {})


@pytest.mark.parametrize(("reference", "module", "extra"), [("org/repo#7", "github", "github"), ("#7", "redminelib", "redmine")])
def test_a_missing_library_names_the_extra(reference: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TicketError, match=rf"pip install 'rca-agent\[{extra}\]'"):
        wiring.ticket(reference, EVERYTHING).post(postings.founding())


def test_a_directory(tmp_path: Path) -> None:
    target = tmp_path / "new" / "reports"
    ticket = wiring.ticket(f"{target}/", {})
    ticket.preview(postings.founding())
    assert not target.exists(), "a preview writes nothing"
    assert ticket.post(postings.founding()).action == "created"
    assert sorted(path.suffix for path in target.iterdir()) == [".html", ".json", ".md"]
    assert ticket.post(postings.founding()).action == "unchanged"
    assert ticket.post(postings.later()).action == "updated"
    assert len(list(target.iterdir())) == 3, "a later run takes the place of the earlier one"
    assert "No fault found" in next(target.glob("*.md")).read_text()


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TicketError, match=r"nothing was written \(choose another directory\)"):
        wiring.ticket(f"dir:{tmp_path}/file/x", {}).post(postings.founding())


def test_a_directory_that_is_half_written_is_told(tmp_path: Path) -> None:
    posting = postings.founding()
    in_the_way = tmp_path / f"rca-{posting.key}.json" / "held"
    in_the_way.mkdir(parents=True)
    with pytest.raises(TicketError, match=rf"written before that: rca-{posting.key}"):
        wiring.ticket(f"dir:{tmp_path}", {}).post(posting)
    assert not list(tmp_path.glob(".*")), "nothing unfinished stays"


@pytest.mark.parametrize("text", ["plain", *samples.HOSTILE])
def test_a_mail_file(tmp_path: Path, text: str) -> None:
    posting = postings.hostile(text)
    file = tmp_path / "report.eml"
    ticket = wiring.ticket(str(file), {"RCA_MAIL_TO": "on-call@example.com\nBcc: evil@example.com", "RCA_MAIL_FROM": "rca@example.com"})
    assert ticket.post(posting).action == "created"
    first = file.read_bytes()
    assert ticket.post(posting).action == "unchanged"
    assert file.read_bytes() == first
    message = BytesParser(policy=policy.default).parsebytes(first)
    assert not message.defects
    assert message["Bcc"] is None
    assert message["Subject"].strip().startswith("rca: ")
    assert message["Date"].datetime.isoformat() == "2026-05-01T15:20:01+00:00"
    body, *files = message.iter_parts()
    assert body.get_content().replace("\r\n", "\n").rstrip() == posting.summary.rstrip()
    assert {one.get_filename(): one.get_payload(decode=True) for one in files} == {one.name: one.content for one in posting.attachments}


def test_long_reports_are_cut_between_sections_and_never_inside_a_fence() -> None:
    posting = postings.long()
    bodies = _bodies(posting)
    assert len(bodies) > 2
    assert all(len(body) <= LIMIT for body in bodies)
    assert all(body.startswith(f"<!-- rca:{posting.key} -->\n") for body in bodies)
    for evidence in range(12):
        assert sum(f"### `E{evidence}` " in body for body in bodies) == 1
    for body in bodies[1:]:
        assert body.count("\n```") % 2 == 0


def test_one_section_that_is_too_long_is_cut_and_says_so() -> None:
    evidence = (samples.evidence(1, "log", "/log", 1, "\n".join(["y" * 1990] * 59)),)
    pieces = split(postings.founding(evidence=evidence).report, 60_000)
    assert all(len(piece) <= 60_000 for piece in pieces)
    (cut,) = (piece for piece in pieces if "are too many for a comment" in piece)
    page = render(cut + "\nafter *this*\n")
    assert "em" in page.tags, "the fence was closed"


def test_short_reports_stay_whole() -> None:
    report = postings.founding().report
    assert "".join(split(report, 10**6)).strip() == report.strip()
    (body,) = _bodies(postings.founding())
    assert postings.founding().report in body
