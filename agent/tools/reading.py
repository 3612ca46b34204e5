"""Lines of files as tools show and claims quote them: counted by newlines, decoded without failing, absent and unreadable apart."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.redaction import redact_text
from agent.domain.source import Absent, SourceTree, Unreadable

SHOWN_LINE = 240
"""Characters of one line that are shown; quotes of longer lines are checked against the whole line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Why there are no lines; ``absent`` means that the file was looked up and is not there."""

    why: str
    absent: bool


def decode(content: bytes) -> str:
    """UTF-8 with or without a mark at its start, Latin-1 where it is none of both."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def split(content: bytes) -> list[str]:
    """Lines as the analysis counts them: at newlines only, not at form feeds."""
    lines = decode(content).split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def clean_path(path: str, tree: SourceTree) -> str:
    """A path as the tree knows it; the tree's root and a leading ``./`` are taken off."""
    path = path.strip().removeprefix(tree.root.rstrip("/") + "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def lines_of(tree: SourceTree, path: str) -> list[str] | NotRead:
    """A file of the source tree."""
    if path.startswith("/") or ".." in path.split("/"):
        return NotRead(why=f"{path} is not a path inside the source tree", absent=False)
    return from_read(tree.read(path), path)


def shown_lines_of(tree: SourceTree, path: str) -> list[str] | NotRead:
    """The same without secrets, as they may be shown: a secret of several lines is only seen in the whole file."""
    lines = lines_of(tree, path)
    return lines if isinstance(lines, NotRead) else redact_text("\n".join(lines), literals_only=True).split("\n")


def from_read(content: bytes | Absent | Unreadable, path: str) -> list[str] | NotRead:
    if isinstance(content, Absent):
        return NotRead(why=f"there is no file {path}", absent=True)
    if isinstance(content, Unreadable):
        return NotRead(why=f"{path} cannot be read: {content.reason}", absent=False)
    return split(content)


def shown(line: str) -> str:
    return line if len(line) <= SHOWN_LINE else f"{line[:SHOWN_LINE]} ...[{len(line) - SHOWN_LINE} more]"
