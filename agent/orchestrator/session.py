"""A live server's engine for single questions: collect what it rests on, then answer."""

from __future__ import annotations

from dataclasses import dataclass

from agent.hosts.interface import Host
from agent.orchestrator.crew import Crew
from agent.orchestrator.judging import OpenEngine
from agent.orchestrator.request import Request, Tools
from agent.orchestrator.scene import Scene, collect_for_engine
from agent.subagents.shared_engine import SharedEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """``crew`` holds what could not be found out on the way. The engine may ask the host for more files: use it from a thread."""

    engine: SharedEngine
    scene: Scene
    crew: Crew


async def open_session(host: Host, request: Request, tools: Tools) -> Session:
    """Raises the RcaError of what is missing: no process, no tree, a launch that the server would refuse."""
    crew, scene = Crew(host, tools), Scene()
    await collect_for_engine(scene, host, crew, request, tools)
    engine = await crew.work(OpenEngine(scene=scene, request=request, tools=tools))
    return Session(engine=engine, scene=scene, crew=crew)
