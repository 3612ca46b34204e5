"""``why``: does a line run under this launch, and which condition decides it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.domain.errors import TargetNotFound
from agent.domain.verdict import Counterfactual, Guard, PathCondition, Place, WhyAnswer
from agent.llm.interface import ToolSpec
from agent.tools.interface import Arguments, Bench, Tool, ToolResult, parameters, text

_PATHS = 2
_GUARDS = 12


def _run(bench: Bench, given: Arguments) -> ToolResult:
    try:
        answer = bench.sources.engine.why(given["target"].strip(), counterfactuals=False)
    except TargetNotFound as error:
        return ToolResult(text=str(error), failed=True)
    said = bench.sources.masked_code("\n".join(rendered(answer)))
    id_ = bench.ledger.add("command", said, path=answer.target.path, start=answer.target.line, command=f"rca why {given['target'].strip()}")
    return ToolResult(text=f"[{id_}] {said}", evidence=(id_,))


def rendered(answer: WhyAnswer) -> Iterator[str]:
    """A verdict in few words: the deciding guard, its operands with their origin, what would open it where that was asked for."""
    target = answer.target
    yield f"{target.path}:{target.line} `{target.text.strip()}` in {target.function}: {answer.verdict}"
    if answer.reason:
        yield f"because: {answer.reason}"
    if answer.decisive is not None:
        yield f"decided by {_guard(answer.decisive)}"
        yield from (f"  {o.text} = {o.value}{_origin(o.from_)}" for o in answer.decisive.operands)
    for path in answer.paths[:_PATHS]:
        yield from _path(path)
    yield from (_counterfactual(c) for c in answer.counterfactuals[:4])
    if answer.assumptions:
        yield f"assuming: {'; '.join(answer.assumptions[:5])}"


def _guard(guard: Guard) -> str:
    needed = "true" if guard.polarity else "false"
    return f"{guard.path}:{guard.line} `{guard.condition}` which must be {needed} and is {guard.truth}"


def _origin(places: tuple[Place, ...]) -> str:
    return f" (from {', '.join(f'{p.path}:{p.line}' for p in places[:3])})" if places else ""


def _path(path: PathCondition) -> Iterator[str]:
    names = {True: "open", False: "closed", None: "undecided"}
    yield f"path ({names[path.open]}): {' > '.join(f'{c.function}' for c in path.calls[-6:])}"
    guards = [g for g in path.guards if g.truth != str(g.polarity).lower()] or list(path.guards)
    yield from (f"  {_guard(g)}" for g in guards[-_GUARDS:])


def _counterfactual(found: Counterfactual) -> str:
    change = ", ".join(f"{c.name}: {c.from_!r} -> {c.to!r}" for c in found.change)
    opens = ", ".join(f"{p.path}:{p.line}" for p in found.opens[:3])
    after = "; then " + ", ".join(f"{e.kind} at {e.path}:{e.line}" for e in found.next[:3]) if found.next else ""
    return f"would change with {change}: opens {opens}{after}"


TOOL = Tool(
    spec=ToolSpec(
        name="why",
        description="Whether a line runs under this launch, and the condition that decides it.",
        parameters=parameters(("target",), target=text("path:line, or a function's name, or call:name, or assign:name")),
    ),
    run=_run,
)
