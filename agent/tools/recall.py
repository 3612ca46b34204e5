"""``recall``: more of an earlier result that was shown shortened."""

from __future__ import annotations

from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text, whole

_PIECE = 3000


def _run(bench: Bench, given: Arguments) -> ToolResult:
    whole_text = bench.shelf.get(given["pointer"].strip())
    if whole_text is None:
        return ToolResult(text=f"no such pointer; there are: {', '.join(bench.shelf) or 'none'}", failed=True)
    start = given.get("start", 0)
    piece = whole_text[start : start + _PIECE]
    left = len(whole_text) - start - len(piece)
    return ToolResult(text=piece + (f"\n... {left} more characters, from {start + len(piece)}" if left > 0 else ""))


TOOL = Tool(
    spec=ToolSpec(
        name="recall",
        description="The rest of a result that was shown shortened.",
        parameters=parameters(("pointer",), pointer=text("the pointer that the result names"), start=whole("character", least=0)),
    ),
    run=_run,
)
