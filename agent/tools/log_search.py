"""``log_search``: lines of the collected logs that contain a text; that there is none is said of what was collected alone."""

from __future__ import annotations

from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text
from agent.tools.patterns import compile_pattern
from agent.tools.reading import shown

_MOST = 30


def _run(bench: Bench, given: Arguments) -> ToolResult:
    logs = bench.sources.logs
    if not logs:
        return ToolResult(text="no log was collected", failed=True)
    pattern = compile_pattern(given["pattern"], ignore_case=True)
    rows: list[str] = []
    ids: list[str] = []
    looked_at = 0
    for path in sorted(logs):
        looked_at += len(logs[path])
        for line in logs[path] if len(rows) <= _MOST else ():
            said = bench.sources.masked(line.text) if len(rows) <= _MOST and pattern.found_in(line.text) else ""
            if said and pattern.found_in(said):
                ids.append(bench.ledger.add("log", said, path=path, start=line.number))
                rows.append(f"[{ids[-1]}] {path}{f':{line.number}' if line.number else ''}: {shown(said)}")
    if not rows:
        said = f"no such line in the {looked_at} collected lines of {', '.join(sorted(logs))}"
        return ToolResult(text=said, evidence=(bench.ledger.add("absence", said, command=f"grep -niE '{given['pattern']}'"),))
    return ToolResult(text="\n".join([*rows[:_MOST], *(["... there are more"] if len(rows) > _MOST else [])]), evidence=tuple(ids[:_MOST]))


TOOL = Tool(
    spec=ToolSpec(
        name="log_search",
        description="Lines of the server's log that contain a text, upper and lower case alike.",
        parameters=parameters(("pattern",), pattern=text("text to find; | between alternatives")),
    ),
    run=_run,
)
