"""One guard of a place by itself, asked as if all others let control pass: whether it keeps control out."""

from __future__ import annotations

from collections.abc import Mapping

from agent.analysis import ir
from agent.analysis.exits import ControlGuard
from agent.analysis.outline import Outline, holder
from agent.evaluation.frames import Tested
from agent.evaluation.receivers import ANY, Context
from agent.evaluation.runs import Reads, Run, Runs
from agent.evaluation.values import ClassV, FuncV


def lets_pass(items: list[ControlGuard]) -> dict[ir.Node, bool]:
    """The ways that the ``if`` statements among the guards of a place must go."""
    return {item.node: item.polarity for item in items if isinstance(item.node, ir.If)}


def ask(
    runs: Runs,
    outline: Outline,
    func: FuncV,
    owner: ClassV | None,
    item: ControlGuard,
    passed: Mapping[ir.Node, bool],
    context: Context = ANY,
) -> tuple[ControlGuard, Run]:
    """Runs the function as far as the guard; also gives the alternative that let control pass where the guard itself was not asked."""
    statement = holder(outline, item.node)
    forced = {node: polarity for node, polarity in passed.items() if node is not item.node}
    reads: Reads | None = {statement: (item.condition,)} if item.condition is not None and statement is item.node else None
    run = runs.run(func, owner, [statement], context=context, forced=forced, reads=reads)
    return standing(run.tests, item), run


def shut(item: ControlGuard, run: Run) -> bool:
    """Whether a run that came to its end shows that the guard lets control through at no time."""
    return run.finished and closed(item, records(run.tests, item), run.marks) and item.asks not in ("unknown",)


def records(tests: dict[ir.Node, list[Tested]], item: ControlGuard) -> list[Tested]:
    """What the guard was found to be, each time it was asked."""
    for node in (item.node, item.condition):
        if node is not None and node in tests:
            return tests[node]
    return []


def standing(tests: dict[ir.Node, list[Tested]], item: ControlGuard) -> ControlGuard:
    """Where the guard itself was never asked: the alternative that let control pass instead of it, if one did."""
    if records(tests, item):
        return item
    met = ((each, records(tests, each)) for each in item.unless)
    return next((each for each, found in met if found and all(r.truth is each.polarity for r in found)), item)


def closed(item: ControlGuard, found: list[Tested], marks: dict[ir.Node, bool]) -> bool:
    """Whether every evaluation of the guard came out against the line."""
    if item.kind == "except" and isinstance(item.node, ir.Handler):
        return item.node not in marks
    if item.asks == "raises":
        return False  # whether a suite raises is known where a handler of it has run, never where none has
    return bool(found) and all(record.truth is not None and record.truth is not item.polarity for record in found)
