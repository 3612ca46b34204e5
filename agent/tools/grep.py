"""``grep``: where a text occurs in the source tree; that it occurs nowhere is an answer too, and evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.domain.source import SourceTree
from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text, whole
from agent.tools.patterns import Pattern, compile_pattern
from agent.tools.reading import NotRead, clean_path, lines_of, shown, shown_lines_of

_MOST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """``text`` is without secrets."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A finished search: ``files`` looked at, ``unread`` those that could not be."""

    hits: tuple[Hit, ...]
    files: int
    unread: tuple[str, ...]
    stopped: bool


def search(tree: SourceTree, pattern: Pattern, scope: str = "", *, most: int = _MOST) -> Search:
    """Hits in the file or below the directory ``scope`` (empty: all), in path order; ``stopped``: there may be more than ``most``."""
    hits: list[Hit] = []
    unread: list[str] = []
    inside = [path for path in tree.files() if in_scope(path, scope)]
    for path in _worth_reading(tree, pattern, inside):
        lines = lines_of(tree, path)
        if isinstance(lines, NotRead):
            unread.append(path)
            continue
        for hit in _hits(tree, path, lines, pattern):
            hits.append(hit)
            if len(hits) > most:
                return Search(hits=tuple(hits[:most]), files=len(inside), unread=tuple(unread), stopped=True)
    return Search(hits=tuple(hits), files=len(inside), unread=tuple(unread), stopped=False)


def _hits(tree: SourceTree, path: str, lines: list[str], pattern: Pattern) -> Iterator[Hit]:
    """Lines that match as they may be shown: a pattern that finds a secret would give it away, bit by bit."""
    numbers = [number for number, line in enumerate(lines, 1) if pattern.found_in(line)]
    masked = shown_lines_of(tree, path) if numbers else []
    if not isinstance(masked, NotRead):
        yield from (Hit(path=path, line=number, text=masked[number - 1]) for number in numbers if pattern.found_in(masked[number - 1]))


def in_scope(path: str, scope: str) -> bool:
    scope = scope.strip("/")
    return not scope or scope == "." or path == scope or path.startswith(scope + "/")


def _worth_reading(tree: SourceTree, pattern: Pattern, inside: list[str]) -> Iterator[str]:
    """Python files go through the tree's index of bytes; other files are few and are read."""
    indexed = set(tree.containing([literal.encode() for literal in pattern.literals]))
    return (path for path in inside if path in indexed or not path.endswith(".py"))


def command_shown(pattern: str, scope: str) -> str:
    """How a person would repeat it."""
    return f"grep -rnE '{pattern}' {scope or '.'}"


def _run(bench: Bench, given: Arguments) -> ToolResult:
    tree = bench.sources.tree
    scope = clean_path(given.get("scope", ""), tree)
    found = search(tree, compile_pattern(given["pattern"]), scope, most=given.get("most", _MOST))
    return listing(bench, found, given["pattern"], scope)


def listing(bench: Bench, found: Search, pattern: str, scope: str) -> ToolResult:
    """Hits with one evidence id each, or the negative result with its own."""
    if not found.files:
        return ToolResult(text=f"there is nothing under {scope!r} in the tree", failed=True)
    masked = bench.sources.masked_code
    if not found.hits and found.unread:
        unread = ", ".join(found.unread[:5])
        return ToolResult(text=f"no line found, but {len(found.unread)} files could not be read: {unread}", failed=True)
    if not found.hits:
        said = f"no line matches in {found.files} files"
        return ToolResult(
            text=said, evidence=(bench.ledger.add("absence", said, path=scope, command=masked(command_shown(pattern, scope))),)
        )
    ids = [bench.ledger.add("source", hit.text, path=hit.path, start=hit.line) for hit in found.hits]
    rows = [f"[{id_}] {hit.path}:{hit.line}: {shown(hit.text).strip()}" for id_, hit in zip(ids, found.hits, strict=True)]
    return ToolResult(text="\n".join([*rows, *(["... there are more: narrow the scope"] if found.stopped else [])]), evidence=tuple(ids))


TOOL = Tool(
    spec=ToolSpec(
        name="grep",
        description="Lines of the source tree that contain a text. | between alternatives, .* between pieces.",
        parameters=parameters(
            ("pattern",), pattern=text("text to find"), scope=text("file or directory; empty: all"), most=whole("hits at most", most=_MOST)
        ),
    ),
    run=_run,
)
