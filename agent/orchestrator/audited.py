"""Findings that need no playbook: a setting that the symptom names and that is not as asked, a key it names that nobody reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent.domain.changes import command_line
from agent.domain.investigation import Cause, ChainStep, DecisiveGuard, Finding, Fix, Symptom, TargetVerdict, UnknownThing
from agent.domain.launch import Launch
from agent.domain.verdict import AuditAnswer, ChangedBy, Counterfactual, DeadKey, Guard, Setting
from agent.domain.visible import in_backticks
from agent.subagents.model.relevance import setting_is_meant
from agent.tools.effective_value import plain

Line = Callable[[str, int], str]
"""The text of a source line, for quotes."""


def audit_findings(audit: AuditAnswer, symptom: Symptom, launch: Launch, line: Line) -> Iterator[Finding]:
    """Only what the symptom itself speaks of, by its full name: everything else that an audit shows may be as it should be."""
    for setting in audit.settings:
        if setting.verdict == "overridden" and setting.effective.status == "known" and setting.changed_by and _is_meant(symptom, setting):
            yield _overridden(setting, line)
    for dead in audit.dead_config:
        if dead.readers and all(reader.verdict == "never" for reader in dead.readers) and setting_is_meant(symptom, _last(dead.key)):
            yield _never_read(dead, launch, line)


def audit_unknowns(audit: AuditAnswer, symptom: Symptom) -> Iterator[UnknownThing]:
    """Settings that the symptom names and whose value could not be told."""
    for setting in audit.settings:
        if setting.effective.status != "known" and _is_meant(symptom, setting):
            values = " or ".join(plain(setting.name, value) for value in setting.effective.values)
            why = setting.effective.why or (f"it is {values}" if values else "it could not be evaluated")
            yield UnknownThing(
                what=f"the effective value of {setting.name}", why=why, settle_by="give the missing fact with --assume or --facts"
            )


def _is_meant(symptom: Symptom, setting: Setting) -> bool:
    return setting_is_meant(symptom, setting.name.removeprefix("env:")) or bool(setting.flag and setting_is_meant(symptom, setting.flag))


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _overridden(setting: Setting, line: Line) -> Finding:
    changed = setting.changed_by[-1]
    guard = changed.guards[-1] if changed.guards else None
    asked, now = plain(setting.name, setting.asked.value), plain(setting.name, setting.effective.value)
    told = f"; it logs {in_backticks(changed.logged)}" if changed.logged else ""
    where = f"{changed.path}:{changed.line}"
    return Finding(
        id="",
        title=f"{setting.name} is {now} where {asked} {'is the default' if setting.asked.source == 'default' else 'was asked'}",
        summary=f"{in_backticks(where)} changes {in_backticks(setting.name)} from {in_backticks(asked)} to {in_backticks(now)}{told}.",
        confidence="assuming",
        assumptions=(f"that {setting.name}, which the symptom names, is what it is about",),
        cause=Cause(kind=_kind(setting), name=setting.name, actual=setting.effective.value, required=(setting.asked.value,)),
        guard=_decisive(guard),
        targets=(
            TargetVerdict(
                path=changed.path,
                line=changed.line,
                text=changed.text or line(changed.path, changed.line),
                verdict="always",
                setting=setting.name,
            ),
        ),
        chain=tuple(_steps(changed, line, f"{setting.name} = {now}")),
    )


def _kind(setting: Setting) -> str:
    return "env" if setting.name.startswith("env:") else "flag"


def _steps(changed: ChangedBy, line: Line, value: str) -> Iterator[ChainStep]:
    for guard in changed.guards:
        yield ChainStep(path=guard.path, line=guard.line, text=guard.condition, role="guard", value=guard.truth)
    text = changed.text or line(changed.path, changed.line)
    yield ChainStep(path=changed.path, line=changed.line, text=text, role="effect", value=value)


def _never_read(dead: DeadKey, launch: Launch, line: Line) -> Finding:
    reader = next((reader for reader in dead.readers if reader.decisive), dead.readers[0])
    place = f"{reader.path}:{reader.line}"
    because = f", because {in_backticks(reader.decisive.condition)} is {reader.decisive.truth}" if reader.decisive else ""
    counterfactual = dead.counterfactuals[0] if dead.counterfactuals else None
    text = line(reader.path, reader.line)
    guard = [ChainStep(path=g.path, line=g.line, text=g.condition, role="guard", value=g.truth) for g in [reader.decisive] if g]
    return Finding(
        id="",
        title=f"{dead.key} is in {dead.file}, and nothing reads it under this launch",
        summary=f"{in_backticks(place)} would read {in_backticks(dead.key)} and never runs{because}.",
        confidence="assuming",
        assumptions=(f"that {dead.key}, which the symptom names, is what it is about",),
        cause=_dead_cause(dead, counterfactual),
        guard=_decisive(reader.decisive),
        targets=tuple(
            TargetVerdict(path=one.path, line=one.line, text=line(one.path, one.line), verdict=one.verdict) for one in dead.readers
        ),
        chain=(*guard, ChainStep(path=reader.path, line=reader.line, text=text, role="effect", value="never runs")),
        counterfactual=counterfactual,
        fix=_fix(counterfactual, launch),
    )


def _dead_cause(dead: DeadKey, counterfactual: Counterfactual | None) -> Cause:
    """What has to change where that is known, else the key itself."""
    if counterfactual is None or not counterfactual.change:
        return Cause(kind="config", name=dead.key, actual=dead.value)
    change = counterfactual.change[0]
    kind = {"env": "env", "config": "config"}.get(change.name.partition(":")[0], "flag")
    return Cause(kind=kind, name=change.name, actual=change.from_, required=(change.to,))


def _decisive(guard: Guard | None) -> DecisiveGuard | None:
    if guard is None:
        return None
    return DecisiveGuard(
        path=guard.path,
        line=guard.line,
        condition=guard.condition,
        truth=guard.truth,
        decisive_operand=guard.decisive_operand,
        function=guard.function,
    )


def _fix(counterfactual: Counterfactual | None, launch: Launch) -> Fix | None:
    """The change that lets a reader run, as it was evaluated; whether the symptom goes away has to be seen."""
    if counterfactual is None:
        return None
    changes = ", ".join(f"{change.name} from {change.from_!r} to {change.to!r}" for change in counterfactual.change)
    inputs = [change for change in counterfactual.change if not change.name.startswith(("config:", "assume:"))]
    warnings = tuple(f"then {event.kind} at {event.path}:{event.line}: {event.text}" for event in counterfactual.next)
    return Fix(summary=f"Changing {changes} lets it be read.", command=command_line(launch, inputs) if inputs else "", warnings=warnings)
