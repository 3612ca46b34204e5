"""Quotes lines as evidence: of the source tree, of config files; and finds the places that a sentence cites."""

from __future__ import annotations

import codecs
import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from agent.domain.formula import Formula, FormulaError
from agent.domain.redaction import redact_text
from agent.domain.source import Absent, Evidence, SourceTree, Unreadable, sha256
from agent.domain.visible import in_backticks
from agent.hosts import commands
from agent.hosts.commands import to_text
from agent.hosts.interface import Host
from agent.probes.model_config import key_lines
from agent.subagents.asking import ask
from agent.subagents.model_configs import whole_config
from agent.subagents.server_log import LogFound, quote
from agent.tools.ledger import Ledger
from agent.tools.reading import NotRead, decode, lines_of, shown_lines_of

_CITED = re.compile(r"(?<![\w/])([\w.-]+(?:/[\w.-]+)*\.py):(\d+)")


class Quoter:
    """Adds evidence to one ledger. ``configs``: by role the path and bytes of a config.json."""

    def __init__(self, ledger: Ledger, tree: SourceTree, configs: Mapping[str, tuple[str, bytes]], log: LogFound | None = None) -> None:
        self._ledger = ledger
        self._log = log or LogFound()
        self._tree = tree
        self._configs = configs
        self._lines: dict[str, tuple[list[str], list[str]]] = {}

    def line(self, path: str, line: int) -> str:
        """Evidence id of one source line; empty where the tree has no such line, and for a row of a secret of several lines."""
        rows, shown = self._rows(path)
        if not 0 < line <= len(rows):
            return ""
        where = shlex.quote(posixpath.join(self._tree.root, path))
        excerpt = redact_text(rows[line - 1], literals_only=True)
        if excerpt != shown[line - 1]:
            return ""
        return self._ledger.add("source", excerpt, path=path, start=line, command=f"sed -n {line}p {where}")

    def cited(self, text: str) -> tuple[str, ...]:
        """Evidence for every ``path.py:line`` in a sentence."""
        found = [self.line(path, int(line)) for path, line in _CITED.findall(text)]
        return tuple(dict.fromkeys(id for id in found if id))

    def reasons(self, text: str) -> tuple[str, ...]:
        """Evidence for everything that a sentence names."""
        return tuple(dict.fromkeys((*self.cited(text), *self.config_keys(text), *self.logged(text))))

    def logged(self, text: str) -> tuple[str, ...]:
        """Evidence for the first line of the log that the sentence quotes."""
        if "the log says" not in text:
            return ()
        said = (line for line in self._log.lines or () if line.text.strip() and f"the log says {in_backticks(line.text)}" in text)
        return tuple(quote(self._ledger, self._log.file, line) for line in islice(said, 1))

    def counted(self, formula: str) -> tuple[str, ...]:
        """Evidence for what a formula reads from the log: the last line that its pattern finds."""
        try:
            patterns = [re.compile(text) for text in Formula.parse(formula).log_patterns]
        except FormulaError:
            return ()
        last = [next((line for line in reversed(self._log.lines or ()) if one.search(line.text)), None) for one in patterns]
        return tuple(dict.fromkeys(quote(self._ledger, self._log.file, line) for line in last if line))

    def config_keys(self, text: str) -> tuple[str, ...]:
        """Evidence for every ``config.ROLE.KEY`` of a formula and for ``ROLE config.json has KEY`` of a sentence."""
        named = re.findall(r"\bconfig\.(\w+)\.([\w.]+)", text)
        named += re.findall(r"\b(\w+) config\.json has (?:no )?([\w.]+)", text)
        return tuple(dict.fromkeys(id for role, key in named if (id := self.config(role, key))))

    def config(self, role: str, key: str) -> str:
        """Evidence id of the lines that hold a key of a role's config.json; empty where it has none."""
        path, raw = self._configs.get(role, ("", b""))
        for start, end in key_lines(raw, [key]).values():
            excerpt = _rows_of(raw, start, end)
            command = f"sed -n {start},{end}p {shlex.quote(path)}"
            return self._ledger.add("config", excerpt, path=path, start=start, end=end, command=command)
        return ""

    def _rows(self, path: str) -> tuple[list[str], list[str]]:
        """The lines of a file, as they are and as they may be shown."""
        if path not in self._lines:
            rows, shown = lines_of(self._tree, path), shown_lines_of(self._tree, path)
            self._lines[path] = ([], []) if isinstance(rows, NotRead) or isinstance(shown, NotRead) else (rows, shown)
        return self._lines[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """Ids of quoted lines that are not as quoted any more, and of those that could not be read again."""

    changed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


async def read_again(host: Host, root: str, evidence: Sequence[Evidence]) -> Reread:
    """Reads every quoted source and config line once more and compares hashes.

    Of a config the whole file: what is masked in a line hangs on the document around it.
    """
    quoted = [item for item in evidence if item.kind in ("source", "config") and item.start]
    configs = {item.path: whole_config(item.path) for item in quoted if item.kind == "config"}
    lines = {item.id: commands.lines(posixpath.join(root, item.path), item.start, item.end) for item in quoted if item.kind == "source"}
    answers = await ask(host, {**lines, **configs})
    contents = {item.id: answers.content(item.id) if item.kind == "source" else _part(answers.whole(item.path), item) for item in quoted}
    return Reread(
        changed=tuple(
            item.id for item in quoted if not isinstance(contents[item.id], Unreadable) and _digest(contents[item.id]) != item.sha256
        ),
        unread=tuple(item.id for item in quoted if isinstance(contents[item.id], Unreadable)),
    )


def _part(config: bytes | Absent | Unreadable, item: Evidence) -> bytes | Absent | Unreadable:
    return _rows_of(config, item.start, item.end).encode("utf-8", "surrogateescape") if isinstance(config, bytes) else config


def _rows_of(raw: bytes, start: int, end: int) -> str:
    """Rows of a config as they are quoted: without a byte order mark and without line ends."""
    rows = to_text(raw.removeprefix(codecs.BOM_UTF8)).split("\n")[start - 1 : end]
    return "\n".join(row.removesuffix("\r") for row in rows)


def _digest(content: bytes | Absent | Unreadable) -> str:
    """Of the text as it is quoted: without a byte order mark and without line ends."""
    if not isinstance(content, bytes):
        return ""
    rows = decode(content).removesuffix("\n").split("\n")
    return sha256("\n".join(row.removesuffix("\r") for row in rows).encode("utf-8", "surrogateescape"))
