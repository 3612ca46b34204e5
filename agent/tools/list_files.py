"""``list_files``: what is in the source tree, and which configuration files and logs were collected."""

from __future__ import annotations

from agent.llm.interface import ToolSpec
from agent.tools.grep import in_scope
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text
from agent.tools.reading import clean_path

_MOST = 120


def _run(bench: Bench, given: Arguments) -> ToolResult:
    sources = bench.sources
    scope = clean_path(given.get("scope", ""), sources.tree)
    wanted = given.get("name", "").casefold()
    found = [p for p in sources.tree.files() if in_scope(p, scope) and wanted in p.rpartition("/")[2].casefold()]
    others = [p for p in (*sources.configs, *sources.logs) if not scope and wanted in p.casefold()]
    if not found and not others:
        said = f"no file named like {given.get('name', '')!r} under {scope or 'the tree'}"
        return ToolResult(text=said, evidence=(bench.ledger.add("absence", said, path=scope, command=f"find {scope or '.'}"),))
    rows = found if len(found) <= _MOST else _directories(found, scope)
    return ToolResult(text="\n".join([*others, *rows[:_MOST], *(["... there are more: narrow it"] if len(rows) > _MOST else [])]))


def _directories(paths: list[str], scope: str) -> list[str]:
    """Too many to list: the next level with its number of files."""
    depth = len(scope.strip("/").split("/")) + 1 if scope.strip("/") else 1
    counts: dict[str, int] = {}
    for path in paths:
        parts = path.split("/")
        head = "/".join(parts[:depth]) + ("/" if len(parts) > depth else "")
        counts[head] = counts.get(head, 0) + 1
    return [f"{head} ({count} files)" if head.endswith("/") else head for head, count in counts.items()]


TOOL = Tool(
    spec=ToolSpec(
        name="list_files",
        description="Files of the source tree by directory and part of a name; without arguments also configuration files and logs.",
        parameters=parameters(scope=text("directory; empty: all"), name=text("part of the file's name")),
    ),
    run=_run,
)
