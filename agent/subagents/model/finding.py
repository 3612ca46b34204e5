"""A confirmed hypothesis as a finding: every word of it comes from the engine's answers, none from the model."""

from __future__ import annotations

from collections.abc import Iterator

from agent.domain.changes import command_line
from agent.domain.investigation import Cause, ChainStep, DecisiveGuard, Finding, Fix, TargetVerdict
from agent.domain.verdict import Change, Counterfactual, Guard, Operand, Place, Setting, WhyAnswer
from agent.domain.visible import in_backticks, one_line
from agent.tools.effective_value import plain
from agent.tools.interface import Sources
from agent.tools.reading import NotRead, shown_lines_of

_KINDS = {"env": "env", "config": "config"}
_SHORT = 90


def finding_of_guard(id_: str, answer: WhyAnswer, guard: Guard, shared: str, sources: Sources, evidence: tuple[str, ...]) -> Finding:
    """The line never runs because of the condition. That this explains the symptom is an assumption, and stands there as one."""
    target = answer.target
    link = f"that this line not running explains the symptom was proposed by a language model; both speak of {shared}"
    # They cost the most of all questions, so they are asked for once it is known that somebody wants them.
    offered = sources.engine.why(f"{target.path}:{target.line}").counterfactuals
    counterfactual = next((c for c in offered if c.change), None)
    condition = f"{_short(guard.condition)} at {guard.path}:{guard.line} is {guard.truth}"
    return Finding(
        id=id_,
        title=f"{_short(target.text)} never runs: {_short(guard.condition)} is {guard.truth}",
        summary=f"{target.path}:{target.line} in {target.function} never runs under this launch, because {condition}.",
        confidence="assuming",
        assumptions=(link, *answer.assumptions),
        cause=_cause(guard, counterfactual, evidence),
        guard=DecisiveGuard(
            path=guard.path, line=guard.line, condition=guard.condition, truth=guard.truth,
            decisive_operand=guard.decisive_operand, function=guard.function,
        ),
        targets=(TargetVerdict(path=target.path, line=target.line, text=target.text, verdict=answer.verdict),),
        chain=tuple(_chain(answer, guard, sources)),
        counterfactual=counterfactual,
        fix=_fix(counterfactual, sources),
        paths=answer.paths,
    )  # fmt: skip


def finding_of_setting(id_: str, row: Setting, sources: Sources, evidence: tuple[str, ...]) -> Finding:
    """The setting is not what was asked for, and the line that changed it is known."""
    changed = row.changed_by[-1]
    deciding = changed.guards[-1] if changed.guards else None
    effective = row.effective.value if row.effective.status == "known" else row.effective.status
    now, asked = plain(row.name, effective), plain(row.name, row.asked.value)
    return Finding(
        id=id_,
        title=f"{row.name} is {now} where {asked} was asked",
        summary=f"{changed.path}:{changed.line} changes {row.name} from {asked} to {now}.",
        confidence="assuming",
        assumptions=(f"that {row.name} explains the symptom was proposed by a language model; the symptom speaks of it",),
        cause=Cause(kind="flag", name=row.name, actual=effective, required=(row.asked.value,), evidence=evidence),
        guard=None if deciding is None else DecisiveGuard(
            path=deciding.path, line=deciding.line, condition=deciding.condition, truth=deciding.truth, function=deciding.function
        ),
        targets=(TargetVerdict(
            path=changed.path, line=changed.line, text=_line(sources, changed.path, changed.line), verdict="always", setting=row.name
        ),),
        chain=tuple(ChainStep(path=g.path, line=g.line, text=g.condition, role="guard", value=g.truth) for g in changed.guards),
    )  # fmt: skip


def _cause(guard: Guard, counterfactual: Counterfactual | None, evidence: tuple[str, ...]) -> Cause:
    """What has to change, as the engine evaluated it; where no input opens the line, the code itself."""
    if counterfactual is None:
        return Cause(kind="code", name=guard.condition, actual=guard.truth, required=(str(guard.polarity).lower(),), evidence=evidence)
    change = counterfactual.change[0]
    return Cause(kind=_kind(change), name=change.name, actual=change.from_, required=(change.to,), evidence=evidence)


def _kind(change: Change) -> str:
    return _KINDS.get(change.name.partition(":")[0], "flag")


def _chain(answer: WhyAnswer, guard: Guard, sources: Sources) -> Iterator[ChainStep]:
    """Where the condition's values come from, the condition, the line."""
    seen = set()
    for operand in guard.operands:
        origins = _origins(operand, sources)
        for place in reversed(origins):
            if (place.path, place.line) not in seen:
                seen.add((place.path, place.line))
                said = f"{operand.text} = {operand.value}" if place == origins[0] else ""
                yield ChainStep(
                    path=place.path, line=place.line, text=_line(sources, place.path, place.line), role="definition", value=said
                )
    yield ChainStep(path=guard.path, line=guard.line, text=guard.condition, role="guard", value=guard.truth)
    target = answer.target
    yield ChainStep(path=target.path, line=target.line, text=target.text, role="effect", value="never runs")


def _origins(operand: Operand, sources: Sources) -> list[Place]:
    """Of the lines that write an operand, the nearest: the others were considered, and did not give it this value."""
    if operand.value.endswith(" object>"):
        return []
    writers = [place for place in operand.from_ if _line(sources, place.path, place.line).startswith(f"{operand.text} = ")]
    return [place for place in operand.from_ if place not in writers[1:]]


def _fix(counterfactual: Counterfactual | None, sources: Sources) -> Fix | None:
    """The change that opens the line, evaluated; that it also cures the symptom is not known."""
    if counterfactual is None:
        return None
    launch = sources.engine.launch
    inputs = [c for c in counterfactual.change if not c.name.startswith(("config:", "assume:"))]
    changes = ", ".join(f"{c.name} from {c.from_!r} to {c.to!r}" for c in counterfactual.change)
    after = tuple(f"then {event.kind} at {event.path}:{event.line}: {event.text}" for event in counterfactual.next)
    return Fix(
        summary=f"Changing {changes} lets the line run.",
        command=sources.masked(command_line(launch, inputs)) if inputs else "",
        warnings=("whether the symptom goes away has to be seen", *after),
    )


def _line(sources: Sources, path: str, line: int) -> str:
    lines = shown_lines_of(sources.tree, path)
    return "" if isinstance(lines, NotRead) or line > len(lines) else lines[line - 1].strip()


def _short(code: str) -> str:
    code = one_line(code)
    return in_backticks(code if len(code) <= _SHORT else f"{code[: _SHORT - 3]}...")
