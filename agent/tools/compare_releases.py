"""``compare_releases``: how one file differs in another release whose tree is at hand."""

from __future__ import annotations

import difflib

from agent.domain.source import SourceTree
from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text
from agent.tools.reading import NotRead, clean_path, shown, shown_lines_of

_LINES = 80
_LONGEST = 12_000
"""Lines of a file that are compared: difflib's time grows with their square."""


def _run(bench: Bench, given: Arguments) -> ToolResult:
    releases = bench.sources.releases
    other = releases.get(given["release"])
    if other is None:
        return ToolResult(text=f"releases at hand: {', '.join(sorted(releases)) or 'none but the running one'}", failed=True)
    path = clean_path(given["path"], bench.sources.tree)
    ours, theirs = shown_lines_of(bench.sources.tree, path), _theirs(other, path)
    for side in (ours, theirs):
        if isinstance(side, NotRead):
            return ToolResult(text=side.why, failed=not side.absent)
    assert isinstance(ours, list)
    assert isinstance(theirs, list)
    hunks = _hunks(ours, theirs, given.get("about", ""))
    said = bench.sources.masked_code("\n".join(shown(row) for row in hunks[:_LINES])) or "no difference"
    id_ = bench.ledger.add("source", said, path=path, command=f"diff running/{path} {given['release']}/{path}")
    more = f"\n... {len(hunks) - _LINES} more lines: narrow it with about" if len(hunks) > _LINES else ""
    return ToolResult(text=f"[{id_}] {path}: - running, + {given['release']}\n{said}{more}", evidence=(id_,))


def _theirs(other: SourceTree, path: str) -> list[str] | NotRead:
    lines = shown_lines_of(other, path)
    return NotRead(why=f"in the other release {lines.why}", absent=lines.absent) if isinstance(lines, NotRead) else lines


def _hunks(ours: list[str], theirs: list[str], about: str) -> list[str]:
    """Hunks of a unified diff that mention ``about``, all of them where it is empty."""
    hunks: list[list[str]] = []
    for row in list(difflib.unified_diff(ours[:_LONGEST], theirs[:_LONGEST], lineterm="", n=2))[2:]:
        if row.startswith("@@"):
            hunks.append([])
        hunks[-1].append(row)
    return [row for hunk in hunks if not about or any(about in line for line in hunk) for row in hunk]


TOOL = Tool(
    spec=ToolSpec(
        name="compare_releases",
        description="How a source file differs in another release.",
        parameters=parameters(("path", "release"), path=text("file"), release=text("version"), about=text("only changes with this text")),
    ),
    run=_run,
)
