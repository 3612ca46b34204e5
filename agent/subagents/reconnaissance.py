"""Greps the tree for the names in question; a file that is not where it was expected is evidence, and the search goes on everywhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.domain.counting import counted
from agent.hosts import commands
from agent.hosts.commands import Hit
from agent.subagents.interface import Desk
from agent.subagents.playbook.targets import path_pattern

_FORMS = {
    "call": (r"{0}[[:space:]]*(", r"{0}\s*\("),
    "define": (r"\(def\|class\)[[:space:]][[:space:]]*{0}\>", r"\b(?:def|class)\s+{0}\b"),
    "assign": (r"{0}[[:space:]]*\(:[^=]*\)\{{0,1\}}=[^=]", r"{0}\s*(?::[^=]*)?=[^=]"),
    "string": ("[\"']{0}[\"']", "[\"']{0}[\"']"),
}
"""A code query as a basic regular expression for grep, and as one of Python's to tell whose hit a line is."""
_PLAIN = ("{0}", "{0}")
_SHOWN = 3
_LIMIT = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A code query and where it was expected, as a path pattern relative to the root; empty is anywhere."""

    query: str
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Hits of one query; ``pivoted``: nothing was where it was expected, and these were found elsewhere. ``problems``: not looked at."""

    wanted: Wanted
    hits: tuple[Hit, ...]
    pivoted: bool
    problems: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnaissance:
    """``root``: the directory that holds ``package/``."""

    root: str
    package: str
    wanted: tuple[Wanted, ...]
    name: str = "source reconnaissance"
    task: str = "grep the tree for the names in question"

    async def run(self, desk: Desk) -> tuple[Sighting, ...]:
        """One pass over the tree for all names."""
        wanted = tuple(dict.fromkeys(self.wanted))
        if not wanted:
            return ()
        desk.say(f"grepping {self.package} for {counted(len(wanted), 'name')}")
        patterns = tuple(dict.fromkeys(_pattern(one.query)[0] for one in wanted))
        result = await desk.host.run(commands.grep(patterns, [f"{self.root}/{self.package}"], limit=_LIMIT))
        answer = commands.parse_grep(result)
        hits = [Hit(path=hit.path.removeprefix(f"{self.root.rstrip('/')}/"), line=hit.line, text=hit.text) for hit in answer.hits]
        for problem in answer.problems:
            desk.unknown("what grep could not look at", problem, "connect as the owner of the files")
        return tuple(self._sighting(desk, one, hits, answer.problems) for one in wanted)

    def summary(self, result: Sequence[Sighting]) -> str:
        hits = sum(len(sighting.hits) for sighting in result)
        moved = [sighting.wanted.query for sighting in result if sighting.pivoted]
        missing = [sighting.wanted.query for sighting in result if not sighting.hits]
        parts = [f"{counted(hits, 'hit')} for {counted(len(result), 'name')}"]
        parts += [f"not where expected, found elsewhere: {', '.join(moved)}"] * bool(moved)
        return "; ".join([*parts, *([f"nowhere: {', '.join(missing)}"] if missing else [])])

    def _sighting(self, desk: Desk, wanted: Wanted, every: Sequence[Hit], problems: tuple[str, ...]) -> Sighting:
        """The whole tree was searched in any case: what lies outside the expected place is the pivot."""
        basic, pattern = _pattern(wanted.query)
        hits = [hit for hit in every if re.search(pattern, hit.text)]
        expected = path_pattern(wanted.expected) if wanted.expected else None
        there = [hit for hit in hits if expected is None or expected.fullmatch(hit.path)]
        evidence = []
        if expected and not there and not problems:
            evidence.append(desk.ledger.add("absence", "", path=wanted.expected, command=self._command(basic, wanted.expected)))
        if not hits and not problems:
            evidence.append(desk.ledger.add("absence", "", path=self.package, command=self._command(basic, self.package)))
        shown = there or hits
        command = self._command(basic, self.package)
        evidence += [desk.ledger.add("source", hit.text, path=hit.path, start=hit.line, command=command) for hit in shown[:_SHOWN]]
        pivoted = expected is not None and bool(hits) and not there
        return Sighting(wanted=wanted, hits=tuple(shown), pivoted=pivoted, problems=problems, evidence=tuple(evidence))

    def _command(self, basic: str, below: str) -> str:
        """The search for one name, as a person would type it; a path pattern is searched from its first fixed directory."""
        fixed = below.partition("*")[0].rpartition("/")[0] if "*" in below else below
        return f"grep -rn --include='*.py' -e {shlex.quote(basic)} -- {shlex.quote(f'{self.root}/{fixed}')}"


def _pattern(query: str) -> tuple[str, str]:
    """For grep and for Python."""
    kind, _, name = query.rpartition(":")
    basic, python = _FORMS.get(kind, _PLAIN)
    return basic.format(re.sub(r"([\\.*\[\]^$])", r"\\\1", name)), python.format(re.escape(name))


def wanted_names(queries: Iterable[tuple[str, str]]) -> tuple[Wanted, ...]:
    """Queries with their file hints; those that already name a line are known places and need no search."""
    return tuple(Wanted(query=query, expected=hint) for query, hint in queries if not re.search(r":\d+\Z", query))
