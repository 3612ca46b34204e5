"""Every tool by name, and the one way to run them: a call as the model wrote it, an answer that is always text, always bounded."""

from __future__ import annotations

from typing import Any

from agent.domain.errors import RcaError, UsageError
from agent.domain.visible import visible
from agent.llm.interface import ToolCall
from agent.tools import (
    compare_releases,
    config_value,
    effective_value,
    find_definition,
    find_references,
    grep,
    list_files,
    log_search,
    read_lines,
    recall,
    why,
)  # fmt: skip
from agent.tools.arguments import read_arguments
from agent.tools.interface import Bench, Tool, ToolResult

TOOLS: dict[str, Tool] = {
    tool.spec.name: tool
    for tool in (
        grep.TOOL, read_lines.TOOL, list_files.TOOL, find_definition.TOOL, find_references.TOOL, why.TOOL, effective_value.TOOL,
        config_value.TOOL, log_search.TOOL, compare_releases.TOOL, recall.TOOL,
    )
}  # fmt: skip

SHOWN = 4000
"""Characters of a result that go into the conversation; the rest stays on the shelf."""
_KEPT = 200_000


def run_call(bench: Bench, call: ToolCall, tools: dict[str, Tool] = TOOLS) -> tuple[ToolResult, str]:
    """The result, and the pointer under which its whole text is kept: none where the call itself was wrong.

    Never raises for anything a model can write.
    """
    tool = tools.get(call.name)
    if tool is None:
        return ToolResult(text=f"there is no tool {visible(call.name)[:60]!r}; tools: {', '.join(tools)}", failed=True), ""
    try:
        given = read_arguments(tool.spec, call.arguments)
    except UsageError as error:
        return ToolResult(text=visible(str(error))[:SHOWN], failed=True), ""
    result = _answered(tool, bench, given)
    safe = visible(bench.sources.masked_code(result.text))[:_KEPT]
    pointer = call.name
    if tool is not TOOLS["recall"]:
        pointer = f"r{len(bench.shelf) + 1}"
        bench.shelf[pointer] = safe
    return ToolResult(text=shortened(safe, pointer, SHOWN), evidence=result.evidence, failed=result.failed), pointer


def _answered(tool: Tool, bench: Bench, given: dict[str, Any]) -> ToolResult:
    try:
        return tool.run(bench, given)
    except RcaError as error:
        return ToolResult(text=str(error), failed=True)
    except Exception as error:
        # A model can ask what no person would: a fault of the product ends this question, not the investigation.
        return ToolResult(text=f"this question could not be answered ({type(error).__name__})", failed=True)


def shortened(whole: str, pointer: str, most: int) -> str:
    """Head and tail of a text, and where the whole can be read."""
    if len(whole) <= most:
        return whole
    head, tail = most * 3 // 4, most // 4
    where = f'; recall("{pointer}") has the whole' if pointer else ""
    return f"{whole[:head]}\n... {len(whole) - head - tail} characters left out{where} ...\n{whole[-tail:]}"
