"""``read_lines``: a stretch of one source file, numbered."""

from __future__ import annotations

from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text, whole
from agent.tools.reading import NotRead, clean_path, shown, shown_lines_of

_MOST = 120


def _run(bench: Bench, given: Arguments) -> ToolResult:
    path = clean_path(given["path"], bench.sources.tree)
    lines = shown_lines_of(bench.sources.tree, path)
    if isinstance(lines, NotRead):
        ids = (bench.ledger.add("absence", lines.why, path=path),) if lines.absent else ()
        return ToolResult(text=lines.why, evidence=ids, failed=not lines.absent)
    start = given["start"]
    end = min(given.get("end", start + 39), start + _MOST - 1, len(lines))
    if start > len(lines):
        return ToolResult(text=f"{path} has {len(lines)} lines", failed=True)
    asked = lines[start - 1 : end]
    id_ = bench.ledger.add("source", "\n".join(asked), path=path, start=start, end=end)
    rows = [f"{number}: {shown(line)}" for number, line in enumerate(asked, start)]
    return ToolResult(text="\n".join([f"[{id_}] {path}, lines {start} to {end} of {len(lines)}", *rows]), evidence=(id_,))


TOOL = Tool(
    spec=ToolSpec(
        name="read_lines",
        description=f"Lines start to end of one source file, {_MOST} at most.",
        parameters=parameters(
            ("path", "start"), path=text("path inside the source tree"), start=whole("first line"), end=whole("last line")
        ),
    ),
    run=_run,
)
