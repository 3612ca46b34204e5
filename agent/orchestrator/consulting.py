"""Asks a language model about a symptom, where one is configured and nothing else explained it; its finds join the run's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.domain.counting import counted
from agent.domain.investigation import Finding, Symptom
from agent.domain.source import SourceTree
from agent.orchestrator.audited import audit_findings
from agent.orchestrator.judging import Judgement, considered
from agent.orchestrator.request import Model, Request
from agent.orchestrator.scene import Scene
from agent.subagents.interface import Desk
from agent.subagents.model.investigation import ModelCase, ModelResult, investigate
from agent.tools.interface import Sources

_TASK = "propose hypotheses to the engine where nothing else explains the symptom"
_WRITER = "model synthesiser"
_CLAIM = re.compile(r"h\d+\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consultation:
    """A subagent like the others: its evidence is numbered with the letter of its desk."""

    model: Model
    scene: Scene
    judgement: Judgement
    request: Request
    name: str = "language model"
    task: str = _TASK

    async def run(self, desk: Desk) -> ModelResult:
        client = self.model.open()
        try:
            result = await investigate(client, self._case(desk), self.model.budget, desk.say, save=self.model.keep)
        finally:
            await client.close()
        return _at_desk(result, desk)

    def summary(self, result: ModelResult) -> str:
        guessed = " (partly estimated)" if result.tokens_estimated else ""
        found = f"{counted(len(result.findings), 'finding')}, {counted(len(result.hypotheses), 'hypothesis', 'hypotheses')}"
        return f"{found}, {result.tokens} tokens{guessed}, {result.cut_bytes} bytes of its text cut"

    def _case(self, desk: Desk) -> ModelCase:
        scene, judgement = self.scene, self.judgement
        assert judgement.engine is not None and scene.files is not None
        logs = {scene.log.path: scene.log.lines} if scene.log and scene.log.lines is not None else {}
        sources = Sources(
            engine=judgement.engine,
            files=scene.files,
            configs=tuple(sorted(set(scene.configs.paths.values()))) if scene.configs else (),
            logs=logs,
            releases=self._releases(),
            audit=judgement.audit,
            host=desk.host.spec.name,
        )
        answers = judgement.answers
        return ModelCase(
            symptom=self.request.symptom,
            sources=sources,
            facts=scene.host_facts,
            findings=tuple(answer.finding for answer in answers if answer.finding is not None),
            settled=(*(one for answer in answers for one in answer.hypotheses), *considered(judgement, self.request)),
            subject=f"{judgement.facts.package} {judgement.facts.version}".strip(),
        )

    def _releases(self) -> dict[str, SourceTree]:
        """Other releases than the one that runs."""
        running = self.judgement.facts
        trees = self.model.releases(running.package) if running.package else {}
        return {version: tree for version, tree in trees.items() if version != running.version}


def wanted(model: Model | None, judgement: Judgement, symptom: Symptom) -> bool:
    """Whether there is a model, something for it to read, and neither a playbook nor the audit that explains the symptom."""
    return model is not None and judgement.engine is not None and (model.always or not explained(judgement, symptom))


def explained(judgement: Judgement, symptom: Symptom) -> bool:
    """Whether the cause is known without a model."""
    if judgement.confirmed or judgement.engine is None or judgement.audit is None:
        return bool(judgement.confirmed)
    return any(True for _ in audit_findings(judgement.audit, symptom, judgement.engine.launch, lambda path, line: ""))


def _at_desk(result: ModelResult, desk: Desk) -> ModelResult:
    """The same result with its evidence on the desk's ledger, under the desk's numbers."""
    ids = {
        item.id: desk.ledger.add(item.kind, item.excerpt, path=item.path, start=item.start, end=item.end, command=item.command)
        for item in result.evidence
    }
    comment = tuple(_cited(sentence, result.cited, ids) for sentence in result.comment)
    return replace(
        result,
        findings=tuple(_renumbered(finding, ids) for finding in result.findings),
        hypotheses=tuple(replace(one, evidence=_mapped(one.evidence, ids)) for one in result.hypotheses),
        comment=comment,
        evidence=desk.ledger.everything(),
        agents=tuple(replace(one, summary=" ".join(comment)) if comment and one.name == _WRITER else one for one in result.agents),
    )


def _renumbered(finding: Finding, ids: Mapping[str, str]) -> Finding:
    return replace(finding, cause=replace(finding.cause, evidence=_mapped(finding.cause.evidence, ids)))


def _cited(sentence: str, cited: Mapping[str, tuple[str, ...]], ids: Mapping[str, str]) -> str:
    """Claims are cited by the evidence behind them, which a report can show."""
    return _CLAIM.sub(lambda match: ", ".join(_mapped(cited.get(match.group(), ()), ids)) or match.group(), sentence)


def _mapped(old: tuple[str, ...], ids: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids[id] for id in old if id in ids))
