"""``find_references``: where a name is used, as a whole word."""

from __future__ import annotations

import re

from agent.llm.interface import ToolSpec
from agent.tools.grep import listing, search
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text
from agent.tools.patterns import compile_pattern
from agent.tools.reading import clean_path

_MOST = 40
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _run(bench: Bench, given: Arguments) -> ToolResult:
    name = given["name"].strip().removesuffix("()").rpartition(".")[2]
    if not _NAME.fullmatch(name):
        return ToolResult(text=f"{name!r} is not a name", failed=True)
    tree = bench.sources.tree
    scope = clean_path(given.get("scope", ""), tree)
    pattern = rf"\b{name}\b"
    return listing(bench, search(tree, compile_pattern(pattern), scope, most=_MOST), pattern, scope)


TOOL = Tool(
    spec=ToolSpec(
        name="find_references",
        description="Lines that use a name.",
        parameters=parameters(("name",), name=text("a function, attribute or variable"), scope=text("file or directory; empty: all")),
    ),
    run=_run,
)
