"""One symptom's way from a host to an Investigation: collect, judge, conclude, read every quoted line again."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.domain.errors import RcaError
from agent.domain.investigation import Cost, Investigation, LaunchInfo, RunInfo, Subject
from agent.domain.redaction import redact_argv
from agent.hosts.interface import Host
from agent.orchestrator.concluding import Concluding, Conclusions, reproduce
from agent.orchestrator.crew import Crew
from agent.orchestrator.judging import Judgement, judge
from agent.orchestrator.remembered import remembered
from agent.orchestrator.request import Request, Tools
from agent.orchestrator.scene import Scene, collect

if TYPE_CHECKING:
    from agent.subagents.model.investigation import ModelResult


@dataclass(slots=True, kw_only=True)
class _Run:
    """Everything one run holds; it can be turned into a report at any moment."""

    host: Host
    request: Request
    tools: Tools
    crew: Crew
    id: str
    scene: Scene = field(default_factory=Scene)
    judgement: Judgement = field(default_factory=Judgement)
    consulted: ModelResult | None = None
    conclusions: Conclusions = field(default_factory=Conclusions)


async def investigate(host: Host, request: Request, tools: Tools, *, run_id: str) -> Investigation:
    """Never raises RcaError: a step that fails ends the run with outcome ``failed`` or ``undecided`` and all that was found before."""
    began, started_at = time.monotonic(), tools.clock()
    run = _Run(host=host, request=request, tools=tools, crew=Crew(host, tools), id=run_id)
    try:
        await collect(run.scene, host, run.crew, request, tools)
        async with tools.thinking or contextlib.nullcontext():
            await judge(run.judgement, run.scene, run.crew, request, tools)
            run.consulted = await _consult(run)
            run.conclusions = await run.crew.work(
                Concluding(scene=run.scene, judgement=run.judgement, request=request, consulted=run.consulted)
            )
    except RcaError as problem:
        run.crew.note(problem)
    tools.keep(remembered(run.scene, request))
    info = RunInfo(
        id=run_id,
        started_at=started_at,
        duration_s=round(time.monotonic() - began, 3),
        host=host.spec.name,
        transport=host.transport_name,
        rca_version=tools.version,
        llm=tools.model.name if tools.model else "",
    )
    return _assembled(run, info)


async def _consult(run: _Run) -> ModelResult | None:
    """A model that fails takes nothing from the run."""
    model = run.tools.model
    if model is None:
        return None
    from agent.orchestrator.consulting import Consultation, explained, wanted

    if not wanted(model, run.judgement, run.request.symptom):
        why = "the cause is known without it" if explained(run.judgement, run.request.symptom) else "there is no source to ask about"
        run.crew.skip("language model", "propose hypotheses to the engine", why)
        return None
    return await run.crew.extra(Consultation(model=model, scene=run.scene, judgement=run.judgement, request=run.request), "lm")


def _assembled(run: _Run, info: RunInfo) -> Investigation:
    evidence = run.crew.evidence
    conclusions = run.conclusions
    consulted = run.consulted
    cost: Cost = replace(run.host.cost, llm_tokens=consulted.tokens if consulted else 0)
    return Investigation(
        run=info,
        symptom=run.request.symptom,
        outcome=conclusions.outcome,
        subject=subject_info(run.scene),
        launch=launch_info(run.scene),
        findings=conclusions.findings,
        hypotheses=conclusions.hypotheses,
        unknowns=tuple(dict.fromkeys((*conclusions.unknowns, *run.crew.unknowns))),
        evidence=evidence,
        numbers=conclusions.numbers,
        agents=(*run.crew.records, *(consulted.agents if consulted else ())),
        reproduce=reproduce(conclusions.findings, evidence),
        playbook=conclusions.playbook,
        matched_because=conclusions.matched_because,
        cost=cost,
    )


def subject_info(scene: Scene) -> Subject | None:
    """The software under investigation."""
    if scene.subject is None:
        return None
    found = scene.subject
    return Subject(package=found.package, version=found.tree.version, root=found.root, modified_files=scene.modified)


def launch_info(scene: Scene) -> LaunchInfo | None:
    """The launch with its secrets masked."""
    if scene.subject is None:
        return None
    launch = scene.subject.process.launch
    return LaunchInfo(argv=redact_argv(launch.argv), env=dict(launch.env), cwd=launch.cwd, pid=launch.pid, source=launch.source)
