"""What a run is asked to do, and with what: the whole input of an investigation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from agent.config import Budget
from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.domain.source import Files, SourceTree
from agent.evaluation.interface import Engine
from agent.library import Library
from agent.probes.products import Product

if TYPE_CHECKING:
    from agent.llm.interface import ModelClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The user's part. ``pid``, ``tree`` (a directory on the host) and ``launch`` take the place of what would be looked for.

    ``env`` is laid over the environment that was read; ``assume`` and ``facts`` are given to the engine; ``playbooks``: only these ids.
    """

    symptom: Symptom
    pid: int | None = None
    tree: str = ""
    launch: Launch | None = None
    log: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    assume: Mapping[str, Any] = field(default_factory=dict)
    playbooks: tuple[str, ...] = ()


class OpenEngine(Protocol):
    """How an engine is made; ``wiring`` names the one there is."""

    def __call__(self, tree: SourceTree, launch: Launch, *, files: Files, facts: Mapping[str, Any]) -> Engine: ...


class Progress(Protocol):
    """Who is told how the run goes; every call returns at once."""

    def started(self, name: str, task: str) -> None:
        """A subagent began."""
        ...

    def said(self, name: str, text: str) -> None:
        """What it is doing now."""
        ...

    def ended(self, name: str, status: str, summary: str) -> None:
        """``status`` as in AgentRecord."""
        ...


class Silence:
    """Progress for nobody."""

    def started(self, name: str, task: str) -> None: ...

    def said(self, name: str, text: str) -> None: ...

    def ended(self, name: str, status: str, summary: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A language model that may be asked.

    ``always``: also where the cause is known. ``keep`` gets the conversation, however it ends. ``releases``: a package's trees by version
    that are at hand on this machine, for comparing.
    """

    name: str
    open: Callable[[], ModelClient]
    budget: Budget = field(default_factory=Budget)
    always: bool = False
    keep: Callable[[bytes], None] = lambda conversation: None
    releases: Callable[[str], Mapping[str, SourceTree]] = lambda package: {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The machinery that ``wiring`` puts together once. ``clock`` gives UTC as ``2026-05-01T15:20:01Z``."""

    library: Library
    products: Sequence[Product]
    environment: tuple[str, ...]
    open_engine: OpenEngine
    clock: Callable[[], str]
    version: str
    progress: Progress = field(default_factory=Silence)
    model: Model | None = None
    keep: Callable[[Mapping[str, bytes]], None] = lambda artefacts: None
    """Gets what ``rca verify`` and ``rca playbook save`` need of the run later: artefacts by name."""
    thinking: asyncio.Semaphore | None = None
    """Held while a run is judged. Of many hosts one after the other is: side by side, their engines would fill the memory."""
