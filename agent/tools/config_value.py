"""``config_value``: one key of a collected configuration file; a key that is not there is an answer of its own."""

from __future__ import annotations

import json
from typing import Any

from agent.domain.source import Absent, Unreadable
from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Sources, Tool, ToolResult, parameters, text
from agent.tools.reading import NotRead, decode, from_read

_SHOWN = 1500
_MISSING = object()


def known_file(sources: Sources, name: str) -> str | None:
    """The collected configuration file that is meant: its path, or the unambiguous end of one."""
    name = name.strip()
    if name in sources.configs:
        return name
    ends = [path for path in sources.configs if path.endswith("/" + name.lstrip("/"))]
    return ends[0] if len(ends) == 1 else None


def parsed(sources: Sources, path: str) -> Any | NotRead:
    """A collected file as JSON."""
    content = sources.files.read(path)
    if isinstance(content, (Absent, Unreadable)):
        lines = from_read(content, path)
        assert isinstance(lines, NotRead)
        return lines
    try:
        return json.loads(decode(content))
    except (ValueError, RecursionError) as error:
        return NotRead(why=f"{path} is no JSON: {error}", absent=False)


def at_key(document: Any, key: str) -> Any:
    """The value at a dotted key; raises KeyError where there is none."""
    if isinstance(document, dict) and key in document:
        return document[key]
    found = document
    for part in key.split(".") if key else ():
        found = found.get(part, _MISSING) if isinstance(found, dict) else _MISSING
        if found is _MISSING:
            raise KeyError(part)
    return found


def _run(bench: Bench, given: Arguments) -> ToolResult:
    sources = bench.sources
    path = known_file(sources, given["file"])
    if path is None:
        return ToolResult(text=f"not one of the collected files: {', '.join(sources.configs) or 'there are none'}", failed=True)
    document = parsed(sources, path)
    if isinstance(document, NotRead):
        ids = (bench.ledger.add("absence", document.why, path=path),) if document.absent else ()
        return ToolResult(text=document.why, evidence=ids, failed=not document.absent)
    key = given.get("key", "")
    try:
        value = at_key(document, key)
    except KeyError as error:
        said = f"{path} has no key {error.args[0]}" + (f" on the way to {key}" if error.args[0] != key else "")
        return ToolResult(text=said, evidence=(bench.ledger.add("absence", said, path=path),))
    said = sources.masked(f"{path}: {key or '(all)'} = {json.dumps(value, ensure_ascii=False)}")[:_SHOWN]
    id_ = bench.ledger.add("config", said, path=path)
    return ToolResult(text=f"[{id_}] {said}", evidence=(id_,))


TOOL = Tool(
    spec=ToolSpec(
        name="config_value",
        description="A key of a collected configuration file.",
        parameters=parameters(("file",), file=text("path of a collected file"), key=text("dotted key; empty: the whole file")),
    ),
    run=_run,
)
