"""The words that every format uses for the same thing, and small views on an investigation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from agent.domain.counting import counted, size
from agent.domain.investigation import Cause, ChainStep, Finding, Investigation, LaunchInfo, NumberExplained, UnknownThing
from agent.domain.source import Evidence
from agent.domain.verdict import Counterfactual, Guard, Operand, PathCondition
from agent.domain.visible import code_spans, in_backticks

_CALCULATION = re.compile(r"(?:\w+\(|\()*(?:config|launch|host|log|symptom)\.")
_OBJECT = re.compile(r"<[\w.]+ object>")

OUTCOMES = {
    "cause_confirmed": "cause confirmed",
    "undecided": "undecided",
    "no_fault_found": "no fault found",
    "failed": "the investigation could not be carried out",
}
CONFIDENCE = {
    "proved": "proved: every step was evaluated, every quoted line re-read",
    "assuming": "holds under the assumptions listed",
    "suspected": "suspected, not proved",
}
NEXT = {
    "raises": "then raises",
    "closed_guard": "another guard stays closed",
    "override": "then overridden",
    "swallowed": "an error is swallowed",
}
STATUS = {"confirmed": "confirmed", "refuted": "ruled out", "undecided": "undecided"}
SOURCES = {
    "process": "as read from the running process",
    "log": "as the server's log tells it",
    "server_info": "as the server itself answers",
    "given": "as it was given",
}
LEGEND = "✗ red: false, or never runs. ✓ green: true. ? yellow: not known."
KINDS = {
    "source": "source",
    "log": "log",
    "config": "configuration",
    "process": "process",
    "environment": "environment",
    "absence": "looked for, not there",
    "command": "command",
}


def headline(investigation: Investigation) -> str:
    """One line that says how the run ended."""
    if investigation.findings:
        return investigation.findings[0].title
    return {
        "undecided": "No cause confirmed yet",
        "no_fault_found": "No fault found; nothing is accused",
        "failed": "The investigation could not be carried out",
    }.get(investigation.outcome, investigation.outcome)


def place(path: str, line: int) -> str:
    """``path:line``, the path alone where the line is not known, "the launch command" where there is no path."""
    return f"{path}:{line}" if path and line else path or "launch command"


def shown(value: Any) -> str:
    """A value as a person would type it: strings bare, nothing as "not set"."""
    return "not set" if value is None else value if isinstance(value, str) else repr(value)


def is_prose(text: str) -> bool:
    """A value told in words ("not set", "a later release") reads as prose; a single word is a name or a value."""
    return " " in text.strip()


def named(name: str) -> str:
    """Where the value of a flag, of ``env:NAME`` or of ``config:ROLE:KEY`` is set, as a sentence says it."""
    kind, _, rest = name.partition(":")
    role, _, key = rest.partition(":")
    if kind == "env" and rest:
        return f"environment variable {in_backticks(rest)}"
    if kind == "config" and key:
        return f"{in_backticks(key)} in the {role}'s config.json"
    return name if is_prose(name) else in_backticks(name)


def plainly(name: str) -> str:
    """``named`` for a place that has no markup."""
    return "".join(part for _, part in code_spans(named(name)))


def required(cause: Cause) -> str:
    """The values that would do, joined by "or"."""
    return " or ".join(shown(value) for value in cause.required)


def change(counterfactual: Counterfactual) -> str:
    """Like ``--speculative-algorithm EAGLE -> EAGLE3``."""
    return ", ".join(f"{plainly(one.name)} {shown(one.from_)} -> {shown(one.to)}" for one in counterfactual.change)


def formula(number: NumberExplained) -> str:
    """The calculation as code, then what it means."""
    text, colon, means = number.formula.partition(": ")
    return f"{in_backticks(text)}{colon}{means}" if _CALCULATION.match(text) else number.formula


def changes_nothing(counterfactual: Counterfactual) -> bool:
    """Nothing of what was asked is known to differ under it."""
    return not (counterfactual.opens or counterfactual.closes or counterfactual.sets)


def guard_state(truth: str) -> str:
    """Open, closed or undecided, for colours that never stand alone; ``truth`` as in a chain step's value."""
    word = truth.strip().lower().split(" ")[0].rstrip(":,;")
    return {"true": "open", "always": "open", "false": "closed", "never": "closed"}.get(word, "undecided")


def step_state(step: ChainStep) -> str:
    """Guards are open or closed; a line that never runs is closed; everything else is plain."""
    return guard_state(step.value) if step.role in ("guard", "effect") and (step.role == "guard" or "never" in step.value) else "plain"


def guard_mark(guard: Guard) -> str:
    """A guard is open when its condition is what it must be."""
    if guard.truth not in ("true", "false"):
        return "undecided"
    return "open" if (guard.truth == "true") == guard.polarity else "closed"


def told_value(step: ChainStep) -> str:
    """Empty where it would repeat the line itself."""
    return "" if step.value == step.text.strip() else step.value


def marked(finding: Finding) -> bool:
    """Some step of its chain has a mark that wants explaining."""
    return any(step_state(step) != "plain" for step in finding.chain)


def told_operands(guard: Guard) -> tuple[Operand, ...]:
    """Those whose value tells something: that ``self`` is an object does not."""
    return tuple(operand for operand in guard.operands if not _OBJECT.fullmatch(operand.value))


def shown_ways(finding: Finding, limit: int) -> tuple[tuple[tuple[PathCondition, ...], ...], int]:
    """Paths with the same guards side by side, the longest first; closed groups first, so many at most; how many are left to the JSON."""
    ways: dict[tuple[tuple[str, int, str, str], ...], list[PathCondition]] = {}
    distinct = sorted(dict.fromkeys(finding.paths), key=lambda path: path.open is not False)
    for path in distinct:
        ways.setdefault(tuple((guard.path, guard.line, guard.condition, guard.truth) for guard in path.guards), []).append(path)
    shown = tuple(tuple(sorted(way, key=lambda path: -len(path.calls))) for way in ways.values())[:limit]
    return shown, len(distinct) - sum(map(len, shown))


def shortened(text: str, limit: int = 120) -> str:
    """Its beginning; where it is told whole stands elsewhere."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"


def evidence_place(evidence: Evidence) -> str:
    """``path:start-end``, or what there is of it."""
    lines = f":{evidence.start}" + (f"-{evidence.end}" if evidence.end > evidence.start else "") if evidence.start else ""
    return f"{evidence.path}{lines}" if evidence.path else evidence.host


def exhibits(evidence: Iterable[Evidence]) -> tuple[tuple[Evidence, ...], ...]:
    """The same lines of the same file are shown once, however often they were read; in the order of first reading."""
    groups: dict[tuple[str, ...], list[Evidence]] = {}
    for item in evidence:
        same = (item.kind, item.path, str(item.start), str(item.end), item.sha256) if item.path and item.start else (item.id,)
        groups.setdefault(same, []).append(item)
    return tuple(map(tuple, groups.values()))


def numbered(evidence: Evidence, limit: int = 60, width: int = 2000) -> Iterator[tuple[str, str]]:
    """The excerpt's lines with their numbers (empty where unknown), cut after ``limit`` lines and ``width`` characters."""
    lines = evidence.excerpt.split("\n")
    for at, line in enumerate(lines[:limit]):
        number = str(evidence.start + at) if evidence.start else ""
        yield number, line if len(line) <= width else f"{line[:width]} ... ({len(line) - width} more characters)"
    if len(lines) > limit:
        yield "", f"... ({len(lines) - limit} more lines; the hash covers all of them)"


def run_in(investigation: Investigation) -> str:
    """What the corrected command rests on and does not say itself: directory and environment of the running process."""
    launch = investigation.launch
    return (
        f"Run it in {in_backticks(launch.cwd)}, with the environment that the process has now."
        if launch and launch.source == "process"
        else ""
    )


def spent(investigation: Investigation) -> str:
    """What the run cost the host."""
    cost = investigation.cost
    read = f"{size(cost.bytes)}, {counted(cost.files, 'file')}"
    return f"{counted(cost.commands, 'command')} in {counted(cost.round_trips, 'round trip')}, {read}"


def software(investigation: Investigation) -> str:
    """Package and version of what runs; empty where it was not found."""
    subject = investigation.subject
    return "" if subject is None else f"{subject.package} {subject.version}" if subject.version else f"{subject.package} of unknown version"


def afterwards(investigation: Investigation) -> str:
    """How to see, after the restart, what the fix did."""
    return f"After the restart, {in_backticks(f'rca verify {investigation.run.id}')} reads guards and log again."


def launched(launch: LaunchInfo) -> str:
    """Which process the launch is of, where it runs, and who says so."""
    who = f"Process {in_backticks(str(launch.pid))}" if launch.pid else "A command, no process,"
    return f"{who} in {in_backticks(launch.cwd)}, {SOURCES.get(launch.source, launch.source)}."


def settled(unknown: UnknownThing) -> str:
    """What would settle it: a command of this program as code, advice as a sentence."""
    return in_backticks(unknown.settle_by) if unknown.settle_by.startswith("rca ") else unknown.settle_by


def nothing_open(investigation: Investigation) -> str:
    """What stands where no unknown does."""
    undecided = any(hypothesis.status == "undecided" for hypothesis in investigation.hypotheses)
    return "Nothing else was left open." if undecided else "Nothing was left open."


def launch_line(launch: LaunchInfo) -> str:
    """The launch as a shell line, its environment in front."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(launch.env.items())]
    return " ".join([*assignments, shlex.join(launch.argv)])
