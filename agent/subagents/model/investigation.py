"""A language model on a case: planner, investigators side by side, synthesiser; what comes out is what the engine agrees with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent.config import Budget
from agent.domain.errors import ModelError
from agent.domain.investigation import AgentRecord, Finding, Hypothesis, Symptom
from agent.domain.source import Evidence
from agent.domain.values import Fact
from agent.llm.interface import BudgetSpent, Message, ModelClient, ToolSpec
from agent.llm.replay import ReplayClient
from agent.llm.transcript import Transcript
from agent.subagents.model import investigator, planner, synthesiser
from agent.subagents.model.briefing import Briefing
from agent.subagents.model.budget import Clock, Limits, Meter
from agent.subagents.model.claims import Checked
from agent.subagents.model.fence import Fence, new_nonce
from agent.subagents.model.investigator import CONCLUDE, Conclusion
from agent.subagents.model.judgement import Judgement, judge
from agent.subagents.model.planner import PROPOSE, Proposal, Proposals
from agent.subagents.model.talk import Talk, Window
from agent.subagents.model.work import Accept, Work
from agent.subagents.thinking import think
from agent.tools.interface import Bench, Sources
from agent.tools.ledger import Ledger

Say = Callable[[str], None]
_WINDOW = 24_000
"""Tokens of context until an endpoint says that it has fewer."""
_PLANNER_STEPS = 12
_PLANNER_SHARE = 1 / 3
"""Of a run's seconds: a slow model that plans for ever leaves the others their time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCase:
    """What is known before a model is asked. ``findings`` and ``settled``: what was confirmed or ruled out without it."""

    symptom: Symptom
    sources: Sources
    facts: tuple[Fact, ...] = ()
    findings: tuple[Finding, ...] = ()
    settled: tuple[Hypothesis, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """Findings and hypotheses that stand, the evidence they cite, and what it cost.

    ``comment``: the synthesiser's sentences that cite checked claims; commentary, no fact. ``cut_bytes``: of the model's text that cited
    nothing. ``transcript``: the whole conversation, redacted, for ``rca runs show --agents`` and for replay.
    """

    findings: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]
    evidence: tuple[Evidence, ...]
    agents: tuple[AgentRecord, ...]
    comment: tuple[str, ...]
    cut_bytes: int
    tokens: int
    tokens_estimated: bool
    transcript: bytes
    cited: Mapping[str, tuple[str, ...]]
    """Evidence ids by the claim ids that ``comment`` cites."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run's shared parts."""

    client: ModelClient
    case: ModelCase
    briefing: Briefing
    budget: Budget
    transcript: Transcript
    whole: Meter
    say: Say
    window: int = _WINDOW
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    records: list[AgentRecord] = field(default_factory=list)

    def seconds(self, limit: float) -> float:
        """A replay takes no time: it ends where the recorded run did."""
        return 0.0 if isinstance(self.client, ReplayClient) else limit

    def talk(self, name: str, limits: Limits, opening: Sequence[Message]) -> Talk:
        meter = Meter(limits=limits, whole=self.whole, clock=self.whole.clock)
        meter.start()
        recorded = self.client.recorded(name) if isinstance(self.client, ReplayClient) else ()
        window = Window(tokens=self.window)
        talk = Talk(name=name, client=self.client, meter=meter, transcript=self.transcript, window=window, recorded=recorded)
        for message in opening:
            talk.add(message)
        return talk

    def bench(self, prefix: str) -> Bench:
        return Bench(sources=self.case.sources, ledger=Ledger(prefix=prefix, host=self.case.sources.host))

    def work(self, talk: Talk, bench: Bench, closing: ToolSpec, accept: Accept, accepted: Callable[[], None] = lambda: None) -> Work:
        return Work(
            talk=talk,
            bench=bench,
            fence=self.briefing.fence,
            closing=closing,
            accept=accept,
            accepted=accepted,
            one_at_a_time=self.lock,
            say=self.say,
        )

    def record(self, name: str, task: str, status: str, summary: str) -> None:
        self.records.append(AgentRecord(name=f"model {name}", task=task, status=status, summary=summary))


async def investigate(
    client: ModelClient,
    case: ModelCase,
    budget: Budget,
    say: Say = lambda text: None,
    *,
    save: Callable[[bytes], None] = lambda stored: None,
    clock: Clock | None = None,
) -> ModelResult:
    """Never raises for what a model or its endpoint does. ``save`` gets the conversation in every case, cancelled runs included."""
    replayed = isinstance(client, ReplayClient)
    nonce = client.nonce if isinstance(client, ReplayClient) else new_nonce()
    transcript = Transcript(header={"nonce": nonce, "model": client.name})
    whole = Meter(limits=Limits() if replayed else Limits(tokens=budget.total_tokens, seconds=budget.seconds))
    if clock is not None:
        whole.clock = clock
    whole.start()
    briefing = Briefing(
        symptom=case.symptom, sources=case.sources, fence=Fence(nonce=nonce), facts=case.facts, findings=case.findings,
        settled=case.settled, subject=case.subject,
    )  # fmt: skip
    run = _Run(client=client, case=case, briefing=briefing, budget=budget, transcript=transcript, whole=whole, say=say)
    try:
        return await _all(run)
    finally:
        save(transcript.dump())


async def _all(run: _Run) -> ModelResult:
    proposals = await _plan(run)
    conclusions = await asyncio.gather(*(_investigate_one(run, n, p) for n, p in enumerate(proposals, 1)))
    judgements = [await think(partial(judge, conclusion, run.case.symptom)) for conclusion in conclusions]
    _record_judgements(run, conclusions, judgements)
    synthesis = await _synthesise(run, [fact for judgement in judgements for fact in judgement.facts])
    cut = sum(judgement.cut for judgement in judgements) + synthesis.cut
    if cut:
        run.record("text", "keep what cites something", "done", f"{cut} bytes of the model's text cited nothing that resolves and were cut")
    return ModelResult(
        findings=_unique(judgement.finding for judgement in judgements),
        hypotheses=tuple(h for judgement in judgements for h in judgement.hypotheses),
        evidence=tuple(e for c, j in zip(conclusions, judgements, strict=True) for e in c.bench.ledger.only(j.evidence)),
        agents=tuple(run.records),
        comment=synthesis.sentences,
        cut_bytes=cut,
        tokens=run.whole.tokens,
        tokens_estimated=run.whole.estimated,
        transcript=run.transcript.dump(),
        cited={fact.id: fact.evidence for judgement in judgements for fact in judgement.facts},
    )


async def _plan(run: _Run) -> tuple[Proposal, ...]:
    proposals = Proposals(most=run.budget.parallel)
    budget = run.budget
    limits = Limits(steps=min(_PLANNER_STEPS, budget.steps), tokens=budget.tokens, seconds=run.seconds(budget.seconds * _PLANNER_SHARE))
    talk = run.talk("planner", limits, planner.opening(run.briefing, run.budget.parallel))
    work = run.work(talk, run.bench("p"), PROPOSE, proposals.accept)
    await work.run()
    if not proposals.accepted:
        proposals.take_list(talk.last_words)
    run.window = talk.window.tokens
    found = proposals.accepted
    status = "done" if found else "failed"
    run.record("planner", "turn symptom, facts and audit into hypotheses", status, _ending(work, f"{len(found)} hypotheses"))
    run.say(f"planner: {len(found)} hypotheses")
    return found


async def _investigate_one(run: _Run, number: int, proposal: Proposal) -> Conclusion:
    budget = run.budget
    limits = Limits(steps=budget.steps, tokens=budget.tokens, seconds=run.seconds(budget.seconds_each))
    name = f"investigator-{number}"
    talk = run.talk(name, limits, investigator.opening(run.briefing, proposal, budget.steps))
    conclusion = Conclusion(proposal=proposal, number=number, bench=run.bench(f"m{number}e"), talk=talk)
    work = run.work(talk, conclusion.bench, CONCLUDE, conclusion.accept, conclusion.accepted)
    await work.run()
    status = "failed" if work.failed and not conclusion.verdict else "done"
    said = f"concluded: {conclusion.verdict}" if conclusion.verdict else "no conclusion"
    run.record(name, "investigate one hypothesis of the planner", status, _ending(work, said))
    return conclusion


def _ending(work: Work, said: str) -> str:
    return said if work.ended == "concluded" else f"{said}; {work.ended}"


def _record_judgements(run: _Run, conclusions: Sequence[Conclusion], judgements: Sequence[Judgement]) -> None:
    """Investigators end in any order; their records stand in the planner's, with what was found right."""
    by_name = {record.name: record for record in run.records}
    for conclusion, judgement in zip(conclusions, judgements, strict=True):
        name = f"model investigator-{conclusion.number}"
        counts = _counts(conclusion.checked)
        by_name[name] = replace(by_name[name], summary=f"{by_name[name].summary}; {counts}{'; a finding' if judgement.finding else ''}")
    order = ["model planner", *(f"model investigator-{c.number}" for c in conclusions)]
    run.records[:] = [by_name[name] for name in order]


def _counts(checked: Sequence[Checked]) -> str:
    counted = [f"{n} {status}" for status in ("supported", "refuted", "unverifiable") if (n := sum(c.status == status for c in checked))]
    return f"claims: {', '.join(counted)}" if counted else "no claims"


async def _synthesise(run: _Run, facts: Sequence[Checked]) -> synthesiser.Synthesis:
    """Asked only where there is something to speak of."""
    if not facts:
        return synthesiser.Synthesis()
    talk = run.talk("synthesiser", Limits(steps=1, tokens=run.budget.tokens), synthesiser.opening(run.briefing, facts))
    ended = "concluded"
    try:
        reply = await talk.ask(())
        synthesis = synthesiser.sift(reply.text, facts)
    except BudgetSpent as spent:
        synthesis, ended = synthesiser.Synthesis(), spent.what
    except ModelError as error:
        synthesis, ended = synthesiser.Synthesis(), str(error)
    talk.end(ended)
    said = f"{len(synthesis.sentences)} sentences kept"
    status = "done" if ended == "concluded" else "failed"
    run.record("synthesiser", "put the checked claims into words", status, said if ended == "concluded" else ended)
    return synthesis


def _unique(findings: Any) -> tuple[Finding, ...]:
    """One finding for each deciding place: two investigators may find the same."""
    kept: dict[object, Finding] = {}
    for finding in findings:
        if finding is not None:
            guard = finding.guard
            kept.setdefault((guard.path, guard.line, finding.targets) if guard else finding.cause.name, finding)
    return tuple(kept.values())
