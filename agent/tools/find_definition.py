"""``find_definition``: where a class, function, method, attribute or enum member is defined."""

from __future__ import annotations

from agent.domain.errors import TargetNotFound
from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text
from agent.tools.reading import shown

_MOST = 20


def _run(bench: Bench, given: Arguments) -> ToolResult:
    name = given["name"].strip().removesuffix("()")
    try:
        targets = bench.sources.engine.targets(f"define:{name}")
    except TargetNotFound as error:
        said = str(error)
        return ToolResult(text=said, evidence=(bench.ledger.add("absence", said, command=f"rca why define:{name}"),))
    masked = bench.sources.masked_code
    rows, ids = [], []
    for target in targets[:_MOST]:
        id_ = bench.ledger.add("source", masked(target.text), path=target.path, start=target.line)
        ids.append(id_)
        where = f" in {target.function}" if target.function else ""
        rows.append(f"[{id_}] {target.path}:{target.line}: {shown(masked(target.text)).strip()}{where}")
    return ToolResult(text="\n".join([*rows, *(["... there are more"] if len(targets) > _MOST else [])]), evidence=tuple(ids))


TOOL = Tool(
    spec=ToolSpec(
        name="find_definition",
        description="Where a class, function, method or field is defined.",
        parameters=parameters(("name",), name=text("its name, Class.method for one class")),
    ),
    run=_run,
)
