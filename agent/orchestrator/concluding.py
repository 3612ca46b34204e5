"""From the judged playbooks to the reasoned part of a report: findings with evidence, hypotheses, numbers, unknowns, outcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.domain.counting import are, counted
from agent.domain.investigation import ChainStep, Finding, Hypothesis, NumberExplained, UnknownThing
from agent.domain.playbook import Match
from agent.domain.redaction import redact_text
from agent.domain.source import Evidence
from agent.orchestrator.audited import audit_findings, audit_unknowns
from agent.orchestrator.judging import Judgement, considered
from agent.orchestrator.numbers import explain
from agent.orchestrator.quoting import Quoter, Reread, read_again
from agent.orchestrator.request import Request
from agent.orchestrator.scene import MOST_PLAYBOOKS, Scene
from agent.subagents.interface import Desk
from agent.tools.reading import NotRead, lines_of

if TYPE_CHECKING:
    from agent.subagents.model.investigation import ModelResult

_ONE_LINE = re.compile(r"sed -n (\d+)p (.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusions:
    """The reasoned part of a report."""

    outcome: str = "failed"
    findings: tuple[Finding, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    numbers: tuple[NumberExplained, ...] = ()
    unknowns: tuple[UnknownThing, ...] = ()
    playbook: str = ""
    matched_because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluding:
    """The last subagent: concludes, quotes, and reads again what it quotes."""

    scene: Scene
    judgement: Judgement
    request: Request
    consulted: ModelResult | None = None
    name: str = "report"
    task: str = "put the answers together and read every quoted line again"

    async def run(self, desk: Desk) -> Conclusions:
        scene, configs = self.scene, self.scene.configs
        if scene.tree is None or scene.subject is None:
            return Conclusions()
        raw = {role: (configs.paths[role], content) for role, content in configs.raw.items()} if configs else {}
        conclusions = conclude(scene, self.judgement, self.request, Quoter(desk.ledger, scene.tree, raw, scene.log), self.consulted)
        desk.say("reading every quoted line again")
        evidence = desk.ledger.everything()
        return _weakened(conclusions, evidence, await read_again(desk.host, scene.subject.root, evidence))

    def summary(self, result: Conclusions) -> str:
        found = f"{counted(len(result.findings), 'finding')}, {counted(len(result.hypotheses), 'hypothesis', 'hypotheses')}"
        return f"{found}, {result.outcome.replace('_', ' ')}"


def conclude(scene: Scene, judgement: Judgement, request: Request, quoter: Quoter, consulted: ModelResult | None = None) -> Conclusions:
    """What follows from the judged playbooks, then from a model's checked claims; every place that is named becomes evidence."""
    launch_evidence = scene.subject.process.evidence if scene.subject else ()
    audited = _audited(scene, judgement, request)
    confirmed = list(_confirmed(judgement, audited))
    found = [*(one for one in audited if _is_new(one, confirmed)), *confirmed]
    for one in consulted.findings if consulted else ():
        found += [one] if _is_new(one, found) else []
    findings = tuple(replace(_finding(one, quoter, launch_evidence), id=f"F{number}") for number, one in enumerate(found, 1))
    hypotheses = [*(one for answer in judgement.answers for one in answer.hypotheses), *considered(judgement, request)]
    hypotheses += consulted.hypotheses if consulted else ()
    unknowns = tuple(_unknowns(judgement, scene, request))
    first = next(iter(judgement.confirmed or judgement.answers), None)
    asked = first if not findings or (first and first.finding and first.finding.title == findings[0].title) else None
    match = next((match for match in judgement.matches if asked and match.playbook.id == asked.playbook.id), None)
    return Conclusions(
        outcome="cause_confirmed" if findings else _outcome(judgement, unknowns),
        findings=findings,
        hypotheses=tuple(_with_evidence(one, quoter) for one in hypotheses),
        numbers=tuple(_numbers(scene, judgement, request, quoter)),
        unknowns=unknowns,
        playbook=match.playbook.id if match else "",
        matched_because="; ".join(match.because) if match else "",
    )


def _confirmed(judgement: Judgement, named: Sequence[Finding]) -> Iterator[Finding]:
    """What the symptom does not speak of is at fault all the same; that the symptom comes from it is an assumption.

    Two playbooks that find the same cause behind the same guard have found one thing.
    ``named``: what the audit found about the things that the symptom names.
    """
    matches = {match.playbook.id: match for match in judgement.matches}
    told: set[tuple[str, str, int]] = set()
    for answer in judgement.confirmed:
        assert answer.finding is not None
        finding, match = answer.finding, matches[answer.playbook.id]
        same = (_plain(finding.cause.name), finding.guard.path, finding.guard.line) if finding.guard else None
        if same is None or same not in told:
            yield finding if match.direct or not _is_new(finding, named) else _unasked(finding, match)
        told |= {same} if same else set()


def _unasked(finding: Finding, match: Match) -> Finding:
    led = "the log" if any(why.startswith("the log says") for why in match.because) else "the launch"
    link = f"that the symptom comes from it: its words do not speak of it, {led} does"
    confidence = "assuming" if finding.confidence == "proved" else finding.confidence
    return replace(finding, confidence=confidence, assumptions=(link, *finding.assumptions))


def _is_new(finding: Finding, known: Iterable[Finding]) -> bool:
    """Whether nothing that was found before names the same cause or the same deciding line."""
    return not any(
        _plain(finding.cause.name) == _plain(one.cause.name)
        or (finding.guard and one.guard and (finding.guard.path, finding.guard.line) == (one.guard.path, one.guard.line))
        for one in known
    )


def _plain(name: str) -> str:
    """A flag is named like the setting that it gives."""
    return name.removeprefix("--").replace("-", "_")


def _with_evidence(hypothesis: Hypothesis, quoter: Quoter) -> Hypothesis:
    """Every place and key that its reason names."""
    return replace(hypothesis, evidence=tuple(dict.fromkeys((*hypothesis.evidence, *quoter.reasons(hypothesis.why)))))


def _audited(scene: Scene, judgement: Judgement, request: Request) -> list[Finding]:
    """Without a confirmed playbook that the symptom speaks of, what the audit shows of the things that the symptom names."""
    if judgement.audit is None or judgement.explained or scene.tree is None or scene.subject is None:
        return []
    tree = scene.tree

    def line(path: str, number: int) -> str:
        rows = lines_of(tree, path)
        return "" if isinstance(rows, NotRead) or not 0 < number <= len(rows) else redact_text(rows[number - 1], literals_only=True).strip()

    return list(audit_findings(judgement.audit, request.symptom, scene.subject.process.launch, line))


def _outcome(judgement: Judgement, unknowns: tuple[UnknownThing, ...]) -> str:
    """Nothing is called healthy unless every question that was asked has an answer, and nothing that would change it is open."""
    if judgement.engine is None:
        return "failed"
    settled = judgement.complete and all(answer.outcome == "silent" for answer in judgement.answers)
    return "no_fault_found" if settled and judgement.audit is not None and not unknowns else "undecided"


def _finding(finding: Finding, quoter: Quoter, launch: tuple[str, ...]) -> Finding:
    evidence = finding.cause.evidence or _cause_evidence(finding, quoter, launch)
    chain = tuple(_unrepeated(_step(step, quoter, evidence) for step in finding.chain))
    return replace(finding, chain=chain, cause=replace(finding.cause, evidence=evidence))


def _cause_evidence(finding: Finding, quoter: Quoter, launch: tuple[str, ...]) -> tuple[str, ...]:
    """The process's command line for a flag, its environment for a variable, the file for a key."""
    if finding.cause.kind == "config":
        name = finding.cause.name.removeprefix("config:").replace(":", ".")
        return quoter.config_keys(f"config.{name}")
    position = {"flag": slice(0, 1), "env": slice(1, 2)}.get(finding.cause.kind, slice(0, 0))
    return launch[position]


def _step(step: ChainStep, quoter: Quoter, asked: tuple[str, ...]) -> ChainStep:
    """``asked``: evidence of the cause, for the step that tells what was asked."""
    evidence = next(iter(asked), "") if step.role == "config" else quoter.line(step.path, step.line)
    return replace(step, evidence=step.evidence or evidence)


def _unrepeated(steps: Iterable[ChainStep]) -> Iterator[ChainStep]:
    """Each place once in each role: two targets share the way to their guard."""
    seen: set[tuple[str, int, str]] = set()
    for step in steps:
        key = (step.path, step.line, "definition" if step.role in ("definition", "call") else step.role)
        if key not in seen:
            seen.add(key)
            yield step


def _numbers(scene: Scene, judgement: Judgement, request: Request, quoter: Quoter) -> Iterator[NumberExplained]:
    """The playbook's reading of its numbers; for numbers it does not read, what the configs alone suggest."""
    told = [number for answer in judgement.confirmed for number in answer.numbers]
    open_ = tuple(number for number in request.symptom.numbers if number not in {one.number for one in told})
    configs: Mapping[str, Any] = scene.configs.configs if scene.configs else {}
    for one in dict.fromkeys((*told, *explain(open_, configs))):
        asked = scene.subject.process.evidence[:1] if scene.subject and "launch.flags." in one.formula else ()
        yield replace(one, evidence=one.evidence or (*asked, *quoter.config_keys(one.formula), *quoter.counted(_calculation(one.formula))))


def _calculation(formula: str) -> str:
    """Without what it comes to and what it means."""
    return formula.partition(": ")[0].partition(" = ")[0]


def _unknowns(judgement: Judgement, scene: Scene, request: Request) -> Iterator[UnknownThing]:
    """What stands in the way of an answer; what is missing besides stands on the subagents' desks."""
    if judgement.audit is not None and not judgement.explained:
        yield from audit_unknowns(judgement.audit, request.symptom)
    for answer in judgement.answers:
        yield from answer.unknowns
    for match in judgement.matches:
        for question in match.open_questions:
            yield UnknownThing(what=f"whether {match.playbook.id} applies", why=question, settle_by="give the missing fact with --assume")
    if judgement.left_out and not judgement.confirmed:
        ids = [match.playbook.id for match in judgement.left_out]
        yield UnknownThing(
            what="what the other playbooks that match would say",
            why=f"{MOST_PLAYBOOKS} are followed at once, and these match as well: {', '.join(ids)}",
            settle_by=f"name one: --playbook {ids[0]}",
        )
    if scene.modified:
        number = len(scene.modified)
        shown = ", ".join(scene.modified[:3]) + (f" and {number - 3} more" if number > 3 else "")
        yield UnknownThing(
            what="what the running process really executes",
            why=f"{counted(number, 'source file')} {are(number)} newer than the process: {shown}",
            settle_by="restart the server, then run rca again",
        )


def reproduce(findings: Sequence[Finding], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The read commands behind the findings, in the order of the chain; without findings, those behind the launch."""
    commands = {item.id: item.command for item in evidence if item.command}
    cited = [id for finding in findings for id in (*finding.cause.evidence, *(step.evidence for step in finding.chain))]
    wanted = cited or [item.id for item in evidence if item.kind in ("process", "log")]
    return tuple(_together(dict.fromkeys(commands[id] for id in wanted if id in commands)))


def _together(commands: Iterable[str]) -> Iterator[str]:
    """One command per file instead of one per line, where its first line stood; ``sed`` prints in the file's order."""
    lines: dict[str, list[int]] = {}
    for command in commands:
        found = _ONE_LINE.fullmatch(command)
        lines.setdefault(found.group(2) if found else command, []).extend([int(found.group(1))] if found else [])
    for where, numbers in lines.items():
        asked = ";".join(f"{number}p" for number in sorted(numbers))
        yield f"sed -n '{asked}' {where}" if len(numbers) > 1 else f"sed -n {asked} {where}" if numbers else where


def _weakened(conclusions: Conclusions, evidence: Sequence[Evidence], again: Reread) -> Conclusions:
    """What rests on lines that are no longer as quoted is not confirmed any more."""
    paths = {item.id: item.path for item in evidence}
    unknowns = [
        UnknownThing(
            what="what the quoted lines say now", why=f"{why}: {', '.join(sorted({paths[id] for id in ids}))}", settle_by="run rca again"
        )
        for why, ids in (("changed since they were read", again.changed), ("they could not be read again", again.unread))
        if ids
    ]
    changed = frozenset(again.changed)
    findings = tuple(replace(one, confidence="suspected") if _rests_on(one, changed) else one for one in conclusions.findings)
    standing = any(one.confidence != "suspected" for one in findings)
    outcome = "undecided" if conclusions.outcome == "cause_confirmed" and not standing else conclusions.outcome
    return replace(conclusions, findings=findings, outcome=outcome, unknowns=(*conclusions.unknowns, *unknowns))


def _rests_on(finding: Finding, ids: frozenset[str]) -> bool:
    return bool(ids & {*finding.cause.evidence, *(step.evidence for step in finding.chain)})
