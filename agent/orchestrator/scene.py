"""Collects what an investigation rests on: the launch first, then tree, configs, log, facts and dates side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.domain.facts import Facts
from agent.domain.playbook import CodeTarget
from agent.domain.source import SourceTree
from agent.domain.values import Fact
from agent.hosts.interface import Host
from agent.orchestrator.crew import Crew
from agent.orchestrator.request import Request, Tools
from agent.subagents.host_facts import HostFacts, as_mapping
from agent.subagents.host_files import HostFiles
from agent.subagents.interface import Subagent
from agent.subagents.launch_facts import LaunchFacts, Subject
from agent.subagents.model_configs import ConfigsFound, ModelConfigs
from agent.subagents.reconnaissance import Reconnaissance, Sighting, wanted_names
from agent.subagents.server_log import LogFound, ServerLog
from agent.subagents.source_snapshot import FileDates, SourceSnapshot


@dataclass(slots=True, kw_only=True)
class Scene:
    """What was found so far; None is what was not, and the crew's records say why."""

    subject: Subject | None = None
    tree: SourceTree | None = None
    files: HostFiles | None = None
    configs: ConfigsFound | None = None
    log: LogFound | None = None
    host_facts: tuple[Fact, ...] = ()
    newer: tuple[str, ...] | None = None
    sightings: tuple[Sighting, ...] = ()

    def facts(self, request: Request) -> Facts:
        """What playbooks may ask."""
        subject, configs = self.subject, self.configs
        return Facts(
            package=subject.package if subject else "",
            version=subject.tree.version if subject else "",
            symptom=request.symptom,
            launch=subject.process.launch if subject else None,
            configs=configs.configs if configs else {},
            config_paths=configs.paths if configs else {},
            log=self.log.texts if self.log else None,
            host=self.host_facts,
        )

    def given(self, request: Request) -> Mapping[str, Any]:
        """What the engine is told: what was read of the host, over it what the user assumes."""
        return {**as_mapping(self.host_facts), **request.assume}

    @property
    def modified(self) -> tuple[str, ...]:
        """Files of the tree that are newer than the process."""
        return self.newer or ()


async def collect(scene: Scene, host: Host, crew: Crew, request: Request, tools: Tools) -> None:
    """Fills the scene as far as it goes; raises the RcaError of a launch that could not be found."""
    subject = await _subject(scene, crew, request)
    recon = Reconnaissance(root=subject.root, package=subject.package, wanted=wanted_names(_queries(scene, request, tools)))
    (*basis, sightings) = await crew.together([*_basis(subject, request), recon])
    _take(scene, host, basis)
    scene.sightings = sightings or ()


async def collect_for_engine(scene: Scene, host: Host, crew: Crew, request: Request, tools: Tools) -> None:
    """The same without the search for a playbook's names; raises the RcaError of a tree that could not be read."""
    subject = await _subject(scene, crew, request)
    snapshot, *others = _basis(subject, request)
    waiting = asyncio.create_task(crew.together(others))
    try:
        tree = await crew.work(snapshot)
    finally:
        rest = await waiting
    _take(scene, host, [tree, *rest])


async def _subject(scene: Scene, crew: Crew, request: Request) -> Subject:
    scene.subject = await crew.work(LaunchFacts(pid=request.pid, launch=request.launch, tree=request.tree, env=request.env))
    return scene.subject


def _basis(subject: Subject, request: Request) -> list[Subagent[Any]]:
    """What every answer rests on, in the order in which ``_take`` takes it."""
    root, package, process = subject.root, subject.package, subject.process
    return [
        SourceSnapshot(root=root, package=package),
        ModelConfigs(process=process),
        ServerLog(process=process, path=request.log),
        HostFacts(tree=subject.tree),
        FileDates(root=root, package=package, started=process.started),
    ]


def _take(scene: Scene, host: Host, results: Sequence[Any]) -> None:
    scene.tree, configs, scene.log, facts, scene.newer = results
    scene.configs, scene.host_facts = configs, facts or ()
    scene.files = HostFiles(
        host,
        asyncio.get_running_loop(),
        scene.subject.process.cwd if scene.subject else None,
        known={configs.paths[role]: raw for role, raw in configs.raw.items()} if configs else {},
        folders=configs.folders if configs else {},
    )


def _queries(scene: Scene, request: Request, tools: Tools) -> list[tuple[str, str]]:
    """Code queries, with the files they are expected in, of the playbooks that may apply: the configs are not read yet."""
    matches = tools.library.match(request.symptom, scene.facts(request))
    targets = [target for match in matches[:MOST_PLAYBOOKS] for target in match.playbook.targets]
    return [(target.query, target.file) for target in targets if isinstance(target, CodeTarget)]


MOST_PLAYBOOKS = 4
"""Matches that are followed side by side."""
