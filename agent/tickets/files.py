"""Where there is no tracker: a plain directory that holds the reports, replaced by the next run's as a whole file each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agent.domain.errors import TicketError
from agent.tickets.interface import Attachment, Posted, Posting, Preview


class Directory:
    """``dir:PATH``, or any path that ends in a slash or is a directory already."""

    name = "directory"
    forms = ("dir:PATH", "PATH/")

    def ticket(self, reference: str, environ: Mapping[str, str]) -> DirectoryTicket | None:
        path = reference.removeprefix("dir:")
        if not path or "://" in reference or not (reference.startswith("dir:") or path.endswith("/") or Path(path).is_dir()):
            return None
        return DirectoryTicket(Path(path))


class DirectoryTicket:
    """Files are named by the posting's key, so that a later run on the same host and symptom takes their place."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def preview(self, posting: Posting) -> Preview:
        return Preview(where=str(self._directory), body=posting.summary, attachments=tuple(self._names(posting)))

    def post(self, posting: Posting) -> Posted:
        files = self._names(posting)
        before = [self._content(name) for name in files]
        for at, (name, one) in enumerate(files.items()):
            try:
                write_whole(self._directory / name, one.content)
            except OSError as error:
                said = f"; written before that: {', '.join([*files][:at])}" if at else "; nothing was written"
                raise TicketError(f"{self._directory}: {error.strerror or error}{said}", hint="choose another directory") from None
        if before == [one.content for one in files.values()]:
            return Posted(where=str(self._directory), action="unchanged")
        return Posted(where=str(self._directory), action="updated" if any(before) else "created")

    def _names(self, posting: Posting) -> dict[str, Attachment]:
        return {f"rca-{posting.key}{Path(one.name).suffix}": one for one in posting.attachments}

    def _content(self, name: str) -> bytes | None:
        try:
            return (self._directory / name).read_bytes()
        except OSError:
            return None


def write_whole(path: Path, content: bytes) -> None:
    """The file with that content, its directory made; or as it was, with nothing unfinished beside it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
