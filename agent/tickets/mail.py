"""A report as an e-mail file (.eml, RFC 5322) that any mail program opens, ready to be addressed and sent by a person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from agent.domain.errors import TicketError
from agent.domain.source import sha256
from agent.domain.visible import one_line
from agent.tickets.files import write_whole
from agent.tickets.interface import Posted, Posting, Preview

_POLICY = policy.SMTP.clone(cte_type="7bit", max_line_length=76)


class Mail:
    """``FILE.eml``; RCA_MAIL_FROM and RCA_MAIL_TO fill in the addresses."""

    name = "mail"
    forms = ("FILE.eml",)

    def ticket(self, reference: str, environ: Mapping[str, str]) -> MailTicket | None:
        path = reference.removeprefix("mail:")
        return MailTicket(Path(path), environ) if path.endswith(".eml") and "://" not in reference else None


class MailTicket:
    """One file, written whole or not at all; the same posting gives the same bytes."""

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ

    def preview(self, posting: Posting) -> Preview:
        names = tuple(one.name for one in posting.attachments)
        return Preview(where=str(self._path), body=f"Subject: {_subject(posting)}\n\n{posting.summary}", attachments=names)

    def post(self, posting: Posting) -> Posted:
        content = self._message(posting).as_bytes()
        try:
            before = self._path.read_bytes() if self._path.exists() else None
            write_whole(self._path, content)
        except OSError as error:
            raise TicketError(f"{self._path}: {error.strerror or error}", hint="choose another file") from None
        return Posted(where=str(self._path), action="created" if before is None else "unchanged" if before == content else "updated")

    def _message(self, posting: Posting) -> EmailMessage:
        message = EmailMessage(policy=_POLICY)
        message["Subject"] = _subject(posting)
        for header, variable in (("From", "RCA_MAIL_FROM"), ("To", "RCA_MAIL_TO")):
            if self._environ.get(variable):
                message[header] = one_line(self._environ[variable])
        message["Date"] = format_datetime(datetime.fromisoformat(posting.date))
        message["Message-ID"] = f"<{posting.run_id}.{posting.key}@rca.invalid>"
        message["X-Unsent"] = "1"
        message.set_content(posting.summary)
        for one in posting.attachments:
            kind, _, subtype = one.media_type.partition("/")
            message.add_attachment(one.content, maintype=kind, subtype=subtype, filename=one.name)
        message.set_boundary(f"=_rca_{sha256(posting.report.encode())[:32]}")
        return message


def _subject(posting: Posting) -> str:
    return f"rca: {one_line(posting.brief.headline)[:200]}"
