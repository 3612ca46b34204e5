"""What a model is told before it starts: the facts at hand, shortest form first, within a size that leaves room for the work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent.domain.investigation import Finding, Hypothesis, Symptom
from agent.domain.values import Fact
from agent.domain.verdict import AuditAnswer, Guard, Setting
from agent.domain.visible import one_line
from agent.llm.interface import Message
from agent.subagents.model.fence import Fence
from agent.subagents.model.prompts import render
from agent.tools.effective_value import plain, told
from agent.tools.interface import Sources

_SECTION = 2200
"""Characters of one section: four of them and the rules stay below 4,000 tokens."""
_SUBJECT = re.compile(r"[\w.-]{1,40} ?[\w.+!-]{0,40}")
"""A package and its version: both are names of files on the host, and stand outside of the fence."""
_TOLD_FIRST = ("overridden", "never_read", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """The case as a model sees it. ``settled``: what is confirmed or ruled out already, and need not be looked into again."""

    symptom: Symptom
    sources: Sources
    fence: Fence
    facts: tuple[Fact, ...] = ()
    findings: tuple[Finding, ...] = ()
    settled: tuple[Hypothesis, ...] = ()
    subject: str = ""
    placeholder: str = "<redacted:NAME>"

    def sections(self) -> dict[str, str]:
        """The fenced sections of a prompt by name; one without content is left out."""
        made = {
            "launch": " ".join(self.sources.engine.launch.argv),
            "facts": _listed(f"{fact.name} = {told(fact.value, fact.name)}" for fact in self.facts),
            "audit": _listed(audit_lines(self.sources.audit)),
            "settled": _listed(self._settled()),
            "files": _listed((*self.sources.configs, *self.sources.logs)),
        }
        return {name: self.fence.wrap(name, self.sources.masked(text)) for name, text in made.items() if text}

    @property
    def task(self) -> str:
        """The first line of what is asked; a symptom may have been copied from anywhere."""
        return f"Symptom, as reported: {self.fence.clean(one_line(self.symptom.text))}"

    def system(self, role: str, **values: object) -> Message:
        """The first message of a role, from its template."""
        subject = self.subject if _SUBJECT.fullmatch(self.subject) else ""
        text = render(role, {"fence": self.fence.rule, "placeholder": self.placeholder, "subject": subject, **values})
        return Message(role="system", content=text)

    def _settled(self) -> Iterator[str]:
        for finding in self.findings:
            yield f"confirmed: {finding.title}"
        for hypothesis in self.settled:
            yield f"{hypothesis.status}: {hypothesis.claim} ({hypothesis.why})"


def audit_lines(audit: AuditAnswer | None) -> Iterator[str]:
    """What the audit found remarkable: settings that are not as asked, configuration that nobody reads, what raises, smells."""
    if audit is None:
        return
    for verdict in _TOLD_FIRST:
        yield from (_setting(s) for s in audit.settings if s.verdict == verdict and s.asked.source != "default")
    yield from (f"{d.file}: key {d.key} is read by no line that runs" for d in audit.dead_config)
    yield from (f"{r.path}:{r.line} {r.certainty} raises {r.type}: {r.message}" for r in audit.raises)
    yield from (f"{s.path}:{s.line} `{s.text}`: {s.why}" for s in audit.smells)
    yield from (_setting(s) for s in audit.settings if s.verdict == "overridden" and s.asked.source == "default")


def _setting(setting: Setting) -> str:
    known = setting.effective.status == "known"
    effective = plain(setting.name, setting.effective.value) if known else setting.effective.why or setting.effective.status
    changed = "; ".join(f"written at {c.path}:{c.line}{_when(c.guards)}" for c in setting.changed_by[:2])
    asked = plain(setting.name, setting.asked.value)
    return f"{setting.name}: asked {asked} ({setting.asked.source}), is {effective}: {setting.verdict}. {changed}".strip()


def _when(guards: tuple[Guard, ...]) -> str:
    return " when " + " and ".join(f"`{g.condition}` is {g.truth}" for g in guards[-2:]) if guards else ""


def _listed(rows: Iterable[str]) -> str:
    """As many rows as fit into a section; how many were left out is said."""
    kept: list[str] = []
    size = left_out = 0
    for row in rows:
        row = row[:400]
        size += len(row) + 1
        if size <= _SECTION:
            kept.append(row)
        else:
            left_out += 1
    return "\n".join([*kept, *([f"... {left_out} more"] if left_out else [])])
