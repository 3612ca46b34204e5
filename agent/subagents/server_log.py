"""Reads the log behind the server's standard output: the end first, then the few lines of its start wherever they stand."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.domain.counting import counted
from agent.hosts import commands
from agent.hosts.commands import GrepAnswer, to_text
from agent.probes.log import LogLine, LogReading, batch_series, read_log
from agent.probes.products import LogPatterns
from agent.subagents.asking import Answers, ask
from agent.subagents.interface import Desk
from agent.subagents.server_process import ProcessFound
from agent.tools.ledger import Ledger

TAIL = 262_144
"""Bytes of the end that are read; a shorter log is read whole."""
_SHOWN = 16_384
"""Bytes of a line that are quoted: a start-up record of several hundred settings fits in."""

_LONGEST = 20_000
"""Characters of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFound:
    """``lines`` None is a log that was not read. ``path``: the file, or how else it was read."""

    path: str = ""
    lines: tuple[LogLine, ...] | None = None
    reading: LogReading = field(default_factory=LogReading)
    evidence: Mapping[int, str] = field(default_factory=dict)
    """Evidence ids by line number."""

    @property
    def file(self) -> str:
        """Empty where it came from the journal."""
        return self.path if self.path.startswith("/") else ""

    @property
    def whole(self) -> bool:
        """Whether everything since the last start was read: lines of a long file's end have no number, hits before them have."""
        begun = self.reading.record and not self.reading.record.line.number
        return not self.file or bool(begun) or all(line.number for line in self.lines or ())

    @property
    def texts(self) -> tuple[str, ...] | None:
        """The lines as playbooks read them: a start-up record fits in, and no pattern searches a megabyte without an end of line."""
        return None if self.lines is None else tuple(line.text[:_LONGEST] for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLog:
    """``path``: a log that a person named; empty: the one that the process writes to."""

    process: ProcessFound
    path: str = ""
    name: str = "log"
    task: str = "read the server's log, its end first"

    async def run(self, desk: Desk) -> LogFound:
        patterns = self.process.product.log if self.process.product else LogPatterns()
        target = self.path or self.process.stdout or ""
        if target.startswith("/") and not target.startswith("/dev/"):
            return await _from_file(desk, target.removesuffix(" (deleted)"), patterns)
        if target.startswith(("socket:", "pipe:")):
            return await _from_journal(desk, self.process.pid, target, patterns)
        why = (
            f"{self.path} is no file"
            if self.path
            else f"its standard output is {target}"
            if target
            else "where its standard output goes could not be read"
        )
        desk.unknown("the server's log", why, "give the file with --log FILE")
        return LogFound()

    def _why_not(self, target: str) -> str:
        if self.path:
            return f"{self.path} is no file"
        return f"its standard output is {target}" if target else "where its standard output goes could not be read"

    def summary(self, result: LogFound) -> str:
        if result.lines is None:
            return "not read"
        series = batch_series(result.reading.batches)
        figures = [
            f"mean {name} {value:.2f}" for name in series.values if name.startswith("accept") and (value := series.mean(name)) is not None
        ]
        start = "start-up record found" if result.reading.record else "no start-up record"
        return "; ".join([counted(len(result.lines), "line"), start, *figures])


async def _from_file(desk: Desk, path: str, patterns: LogPatterns) -> LogFound:
    desk.say(f"reading the end of {path}")
    wanted = {"stat": commands.stat([path]), "tail": commands.tail_bytes(path, TAIL)}
    if patterns.anchors:
        wanted["anchors"] = commands.grep(patterns.anchors, [path], fixed=True, include=(), as_text=True)
    answers = await ask(desk.host, wanted)
    tail = answers.bytes_or_none("tail")
    if tail is None:
        desk.unknown(
            "the server's log", f"{path}: {answers.why_not('tail')}", "connect as the server's user, or give a copy with --log FILE"
        )
        return LogFound(path=path)
    lines = _lines(path, tail, answers)
    reading = read_log(lines, patterns)
    return LogFound(path=path, lines=tuple(lines), reading=reading, evidence=_evidence(desk, path, reading))


def _lines(path: str, tail: bytes, answers: Answers) -> list[LogLine]:
    """Numbered where the whole file was read; else the hits with their numbers, then the end without."""
    stat = answers.result("stat")
    sizes = [row.size for row in commands.parse_stat(stat).values()] if stat else []
    rows = to_text(tail).split("\n")
    rows = rows[:-1] if rows and not rows[-1] else rows
    if sizes and sizes[0] <= TAIL:
        return [LogLine(number=number, text=row.removesuffix("\r")) for number, row in enumerate(rows, 1)]
    end = [LogLine(number=0, text=row.removesuffix("\r")) for row in rows[1:]]
    return [*_hits(answers, {line.text for line in end}), *end]


def _hits(answers: Answers, known: set[str]) -> list[LogLine]:
    result = answers.result("anchors") if "anchors" in answers.commands else None
    found = commands.parse_grep(result) if result else GrepAnswer(hits=(), problems=())
    return [LogLine(number=hit.line, text=hit.text) for hit in found.hits if hit.text not in known]


async def _from_journal(desk: Desk, pid: int, target: str, patterns: LogPatterns) -> LogFound:
    desk.say("reading the journal")
    answers = await ask(desk.host, {"journal": commands.journal(pid)})
    raw = answers.bytes_or_none("journal")
    if not raw or raw.strip() == b"-- No entries --":
        why = answers.why_not("journal") or "the journal has no line of it"
        desk.unknown("the server's log", f"its standard output is {target}, and {why}", "give the file with --log FILE")
        return LogFound()
    lines = [LogLine(number=0, text=row) for row in to_text(raw).splitlines()]
    reading = read_log(lines, patterns)
    return LogFound(path=f"journal of process {pid}", lines=tuple(lines), reading=reading, evidence=_evidence(desk, "", reading))


def _evidence(desk: Desk, path: str, reading: LogReading) -> dict[int, str]:
    """The start-up record, the limits, the last periodic line."""
    quoted: Sequence[LogLine] = [*([reading.record.line] if reading.record else []), *reading.limits, *reading.batches[-1:]]
    return {line.number: quote(desk.ledger, path, line) for line in quoted}


def quote(ledger: Ledger, path: str, line: LogLine) -> str:
    """Evidence id of one line; ``path`` is empty where it came from the journal. The command prints what is quoted: a cut line cut."""
    where = shlex.quote(path)
    whole = line.text.encode("utf-8", "surrogateescape")
    shown = whole[:_SHOWN].decode("utf-8", "ignore") if len(whole) > _SHOWN else line.text
    cut = f" | cut -b -{len(shown.encode())}" if shown != line.text else ""
    command = f"sed -n {line.number}p {where}{cut}" if line.number else f"tail -c {TAIL} {where}" if path else "journalctl"
    return ledger.add("log", shown, path=path, start=line.number, command=command)
