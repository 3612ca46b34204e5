"""The Markdown report: what to know first, then the proof, then the evidence; for GitHub, GitLab and a pager."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from agent.domain.investigation import Cause, ChainStep, DecisiveGuard, Finding, Investigation
from agent.domain.source import Evidence
from agent.domain.verdict import Operand, PathCondition
from agent.reports import markup, wording
from agent.reports.markup import code

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PATHS = 1
_ORIGINS = 3
_MARKS = {"open": "✓", "closed": "✗", "undecided": "?", "plain": ""}


class MarkdownReport:
    """Pure Markdown without a single HTML tag."""

    name = "md"
    media_type = "text/markdown"
    suffix = ".md"

    def render(self, investigation: Investigation) -> str:
        return _rendered("report.md.j2", investigation)


def summary(investigation: Investigation) -> str:
    """The report's first screen alone, for a ticket's comment."""
    return _rendered("summary.md.j2", investigation)


def _rendered(template: str, investigation: Investigation) -> str:
    """No fence holds an empty line (each has its gutter), so runs of them can be folded everywhere."""
    text = _environment().get_template(template).render(x=investigation)
    return re.sub("\n{3,}", "\n\n", text).strip("\n") + "\n"


def mermaid(finding: Finding) -> str:
    """The chain as a flowchart: closed guards red with a cross, open ones green with a tick."""
    lines = ["flowchart TD"]
    for at, step in enumerate(finding.chain, 1):
        label = "<br/>".join(markup.mermaid_text(part) for part in _label(step) if part)
        arrow = f"n{at - 1} --> " if at > 1 else ""
        lines.append(f'  {arrow}n{at}["{label}"]:::{wording.step_state(step)}')
    lines += [
        "  classDef plain fill:#f6f8fa,stroke:#57606a,color:#24292f",
        "  classDef open fill:#dafbe1,stroke:#1a7f37,color:#0f3d1c",
        "  classDef closed fill:#ffebe9,stroke:#cf222e,color:#6e0b14",
        "  classDef undecided fill:#fff8c5,stroke:#9a6700,color:#4d3300",
    ]
    return markup.fence("\n".join(lines), "mermaid")


@cache
def _environment() -> Environment:
    """Whatever no filter has made safe is put out as prose, so a forgotten filter cannot open a hole."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("agent.reports"),
        undefined=StrictUndefined,
        autoescape=False,
        finalize=lambda value: value if isinstance(value, (Markup, int)) else markup.prose(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({name: _marked(function) for name, function in _SAFE.items()})
    environment.filters.update(_PLAIN)
    return environment


def _marked(function: Callable[..., str]) -> Callable[..., Markup]:
    from markupsafe import Markup

    return lambda *given: Markup(function(*given))


def _label(step: ChainStep) -> tuple[str, str, str]:
    mark = _MARKS[wording.step_state(step)]
    where = wording.place(step.path.rsplit("/", 1)[-1], step.line)
    return f"{mark} {where}".strip(), step.text, wording.told_value(step)


def _place(at: Any) -> str:
    return wording.place(at.path, at.line)


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(code(text) for text in texts if text)


def _cause(cause: Cause) -> str:
    needed = f", needed {' or '.join(_term(wording.shown(value)) for value in cause.required)}" if cause.required else ""
    seen = f" ({_codes(cause.evidence)})" if any(cause.evidence) else ""
    return f"{markup.prose(wording.named(cause.name))} is {_term(wording.shown(cause.actual))}{needed}{seen}"


def _term(text: str) -> str:
    return markup.prose(text) if wording.is_prose(text) else code(text)


def _decisive(guard: DecisiveGuard) -> str:
    by = guard.decisive_operand
    decided = f", decided by {code(by)}" if by and by != guard.condition else ""
    return f"{code(_place(guard))} {code(wording.shortened(guard.condition))} is {code(guard.truth)}{decided}"


def _about(x: Investigation) -> str:
    software = f", {markup.prose(wording.software(x))} in {code(x.subject.root)}" if x.subject else ""
    playbook = f" Playbook {code(x.playbook)}." if x.playbook else ""
    return f"Symptom {code(x.symptom.text)} on {code(x.run.host)}{software}.{playbook}"


def _matched(x: Investigation) -> str:
    return f"Playbook {code(x.playbook)} was asked because: {markup.prose(x.matched_because)}."


def _of_several(finding: Finding, x: Investigation) -> str:
    return f": {markup.prose(finding.title)}" if len(x.findings) > 1 else ""


def _value(step: ChainStep) -> str:
    mark = _MARKS[wording.step_state(step)]
    value = wording.told_value(step)
    return f"{mark} {code(value)}".strip() if value else mark


def _calls(way: tuple[PathCondition, ...]) -> str:
    """The first few of the paths that have the same guards."""
    told = "; ".join(map(_path, way[:_PATHS]))
    return f"{told}; and {len(way) - _PATHS} more ways with the same guards" if len(way) > _PATHS else told


def _path(path: PathCondition) -> str:
    return " → ".join(code(_place(call)) + (f" ({code(call.instance)})" if call.instance else "") for call in path.calls) or "no call found"


def _origins(operand: Operand) -> str:
    """The nearest places; a value that passed through many is followed in the JSON."""
    more = f" and {len(operand.from_) - _ORIGINS} more" if len(operand.from_) > _ORIGINS else ""
    return f" from {_codes(_place(origin) for origin in operand.from_[:_ORIGINS])}{more}" if operand.from_ else ""


def _unknowns(x: Investigation) -> str:
    lines = [
        f"- {markup.prose(one.what)}: {markup.prose(one.why)}"
        + (f"; to settle it: {markup.prose(wording.settled(one))}" if one.settle_by else "")
        for one in x.unknowns
    ]
    return "## What could not be determined\n\n" + ("\n".join(lines) or wording.nothing_open(x))


def _seen(evidence: Evidence) -> str:
    """With which command, and when."""
    parts = (("command", evidence.command), ("observed", evidence.observed_at))
    return ", ".join(f"{word} {code(told)}" for word, told in parts if told)


def _excerpt(evidence: Evidence) -> str:
    return markup.gutter(list(wording.numbered(evidence)))


def _this_run(x: Investigation) -> str:
    model = f"language model {code(x.run.llm)}, {x.cost.llm_tokens} tokens" if x.run.llm else "no language model"
    when = f"{code(x.run.started_at)}, {code(str(x.run.duration_s))} s over {code(x.run.transport)}"
    return f"Run {code(x.run.id)} of rca {code(x.run.rca_version)}, {when}; {model}."


_SAFE: dict[str, Callable[..., str]] = {
    "about": _about,
    "calls": _calls,
    "cause": _cause,
    "cell": markup.cell,
    "code": lambda text: code(str(text)),
    "codes": _codes,
    "decisive": _decisive,
    "fence": markup.fence,
    "mark": lambda guard: _MARKS[wording.guard_mark(guard)],
    "matched": _matched,
    "mermaid": mermaid,
    "of_several": _of_several,
    "origins": _origins,
    "seen": _seen,
    "prose": lambda text: markup.prose(str(text)),
    "this_run": _this_run,
    "unknowns": _unknowns,
    "value": _value,
}
"""Filters whose result stands as it is."""

_PLAIN: dict[str, Callable[..., Any]] = {
    "change": wording.change,
    "changes_nothing": wording.changes_nothing,
    "command": markup.command,
    "afterwards": wording.afterwards,
    "commands": lambda lines: "\n".join(markup.command(line) for line in lines),
    "confidence": lambda word: wording.CONFIDENCE.get(word, word),
    "evidence_place": wording.evidence_place,
    "excerpt": _excerpt,
    "exhibits": wording.exhibits,
    "formula": wording.formula,
    "headline": wording.headline,
    "kind": lambda word: wording.KINDS.get(word, word),
    "legend": lambda finding: wording.LEGEND if wording.marked(finding) else "",
    "language": lambda evidence: "python" if evidence.kind == "source" and evidence.path.endswith(".py") else "text",
    "launch_line": wording.launch_line,
    "launched": wording.launched,
    "next_event": lambda word: wording.NEXT.get(word, word),
    "outcome": lambda word: wording.OUTCOMES.get(word, word),
    "place": _place,
    "run_in": wording.run_in,
    "shortened": wording.shortened,
    "shown": wording.shown,
    "shown_ways": wording.shown_ways,
    "spent": wording.spent,
    "status": lambda word: wording.STATUS.get(word, word),
    "told_operands": wording.told_operands,
    "wanted": lambda guard: str(guard.polarity).lower(),
}
"""Filters whose result is still foreign text."""
