"""Judges the scene: matching playbooks with their guard traces side by side, or the audit where none matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.domain.facts import Facts
from agent.domain.investigation import Hypothesis
from agent.domain.playbook import CodeTarget, Match, RuledOut
from agent.domain.verdict import AuditAnswer
from agent.orchestrator.crew import Crew
from agent.orchestrator.request import Request, Tools
from agent.orchestrator.scene import MOST_PLAYBOOKS, Scene
from agent.subagents.guard_trace import GuardTrace
from agent.subagents.interface import Desk
from agent.subagents.playbook import PlaybookAnswer
from agent.subagents.playbook import investigate as judge_playbook
from agent.subagents.settings_audit import SettingsAudit
from agent.subagents.shared_engine import SharedEngine
from agent.subagents.thinking import think


@dataclass(slots=True, kw_only=True)
class Judgement:
    """``answers``: one per followed playbook, best match first; ``left_out``: matches that were not followed. ``audit``: only where no
    playbook that the symptom speaks of confirmed anything.
    """

    engine: SharedEngine | None = None
    facts: Facts = field(default_factory=Facts)
    matches: tuple[Match, ...] = ()
    left_out: tuple[Match, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    answers: tuple[PlaybookAnswer, ...] = ()
    audit: AuditAnswer | None = None
    complete: bool = False
    """Every question that was begun has an answer."""

    @property
    def confirmed(self) -> tuple[PlaybookAnswer, ...]:
        return tuple(answer for answer in self.answers if answer.finding is not None)

    @property
    def explained(self) -> tuple[PlaybookAnswer, ...]:
        """The confirmed ones that the symptom's own words or numbers speak of; the others are at fault whatever the symptom is."""
        direct = {match.playbook.id for match in self.matches if match.direct}
        return tuple(answer for answer in self.confirmed if answer.playbook.id in direct)


async def judge(judgement: Judgement, scene: Scene, crew: Crew, request: Request, tools: Tools) -> None:
    """Fills the judgement as far as it goes."""
    if scene.tree is None or scene.files is None or scene.subject is None:
        return
    engine = await crew.work(OpenEngine(scene=scene, request=request, tools=tools))
    judgement.engine, judgement.facts = engine, scene.facts(request)
    matches, judgement.ruled_out = _matches(request, tools, judgement.facts)
    judgement.matches, judgement.left_out = (matches, ()) if request.playbooks else (matches[:MOST_PLAYBOOKS], matches[MOST_PLAYBOOKS:])
    traces = _traces(judgement.matches, engine, judgement.facts)
    traced = await crew.together(traces)
    answers = await crew.together([PlaybookJudge(match=match, engine=engine, facts=judgement.facts) for match in judgement.matches])
    judgement.answers = tuple(answer for answer in answers if answer is not None)
    if not judgement.explained:
        (judgement.audit,) = await crew.together([SettingsAudit(engine=engine)])
    judgement.complete = len(judgement.answers) == len(judgement.matches) and len(traced) == len(traces)


def _matches(request: Request, tools: Tools, facts: Facts) -> tuple[tuple[Match, ...], tuple[RuledOut, ...]]:
    """What the user asked for by id is followed whatever it matches."""
    if request.playbooks:
        wanted = [tools.library.get(id) for id in request.playbooks]
        return tuple(Match(playbook=playbook, because=("asked for with --playbook",), score=0, direct=True) for playbook in wanted), ()
    return tools.library.consider(request.symptom, facts)


def _traces(matches: Sequence[Match], engine: SharedEngine, facts: Facts) -> list[GuardTrace]:
    """One per target that is judged; those that are only quoted need none."""
    return [
        GuardTrace(playbook=match.playbook, target=target, engine=engine, facts=facts)
        for match in matches
        for target in match.playbook.targets
        if isinstance(target, CodeTarget) and target.role in ("required", "supporting")
    ]


def considered(judgement: Judgement, request: Request) -> tuple[Hypothesis, ...]:
    """Playbooks that the symptom's words speak for and that something here rules out."""
    return tuple(
        Hypothesis(id=ruled.playbook.id, claim=ruled.playbook.title, status="refuted", why=ruled.why)
        for ruled in judgement.ruled_out
        if any(re.search(pattern, request.symptom.text, re.IGNORECASE) for pattern in ruled.playbook.match.symptom)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEngine:
    """Prepares the engine on the snapshot; a launch that its own parser would refuse is found here."""

    scene: Scene
    request: Request
    tools: Tools
    name: str = "engine"
    task: str = "prepare the source tree for evaluation"

    async def run(self, desk: Desk) -> SharedEngine:
        scene = self.scene
        assert scene.tree is not None and scene.files is not None and scene.subject is not None
        tree, files, launch = scene.tree, scene.files, scene.subject.process.launch
        return await think(lambda: SharedEngine(self.tools.open_engine(tree, launch, files=files, facts=scene.given(self.request))))

    def summary(self, result: SharedEngine) -> str:
        return "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookJudge:
    """Puts the traces of one playbook together: hypotheses, finding, evaluated fix."""

    match: Match
    engine: SharedEngine
    facts: Facts

    @property
    def name(self) -> str:
        return f"playbook {self.match.playbook.id}"

    @property
    def task(self) -> str:
        return f"judge: {self.match.playbook.title}"

    async def run(self, desk: Desk) -> PlaybookAnswer:
        desk.say("weighing the hypotheses and evaluating the fix")
        return await self.engine.turn(lambda: judge_playbook(self.match.playbook, self.engine, self.facts))

    def summary(self, result: PlaybookAnswer) -> str:
        return {"confirmed": "confirmed", "silent": "this failure is not here"}.get(result.outcome, result.outcome)
