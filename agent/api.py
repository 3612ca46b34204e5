"""What ``import agent`` offers: questions to the engine over a directory, and investigations of a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent import wiring
from agent.config import load_settings
from agent.domain import launch as domain
from agent.domain.investigation import Investigation, Symptom
from agent.domain.launch import Launch
from agent.domain.redaction import without_secrets
from agent.domain.source import SourceTree
from agent.domain.verdict import AuditAnswer, ReachAnswer, WhyAnswer
from agent.evaluation.interface import Engine
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import DirectoryTree
from agent.orchestrator import Request, Silence
from agent.orchestrator import investigate as _investigate


def open_tree(directory: str | Path) -> SourceTree:
    """A directory that holds packages; read on demand, and reusable for many questions."""
    return DirectoryTree(directory)


def engine(
    tree: SourceTree,
    *,
    launch: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: str | Path = ".",
    assume: Mapping[str, Any] | None = None,
) -> Engine:
    """The tree under one launch, for several questions. ``env`` is the whole environment: names that are not in it are not set."""
    started = without_secrets(Launch(argv=tuple(launch), env=dict(env or {}), cwd=str(cwd)))
    return wiring.open_engine(tree, started, files=LocalFiles(cwd), facts=dict(assume or {}))


def why(tree: SourceTree, target: str, **launch: Any) -> WhyAnswer:
    """Why ``target`` (path:line, symbol, call:name, assign:name) runs or does not; keywords as for ``engine``."""
    return engine(tree, **launch).why(target)


def reach(tree: SourceTree, file: str, **launch: Any) -> ReachAnswer:
    """Which lines of a file always, never or may run; keywords as for ``engine``."""
    return engine(tree, **launch).reach(file)


def audit(tree: SourceTree, **launch: Any) -> AuditAnswer:
    """Every setting: asked, effective, what changed it; keywords as for ``engine``."""
    return engine(tree, **launch).audit()


def HostSpec(host: str, **options: Any) -> domain.HostSpec:
    """``[user@]host[:port]`` with options of ``agent.domain.launch.HostSpec``, e.g. ``identities=("key",)``."""
    return domain.HostSpec.parse(host, **options)


async def investigate(host: domain.HostSpec, symptom: str, **options: Any) -> Investigation:
    """One run of ``rca run`` without a language model; nothing is stored. ``options``: fields of ``orchestrator.Request``.

    Raises HostError where the host cannot be reached; whatever fails later is in the Investigation.
    """
    settings = load_settings()
    tools = wiring.tools(settings, Silence())
    connected = await wiring.open_host(host, settings, tuple(tools.products))
    try:
        request = Request(symptom=Symptom.parse(symptom), **options)
        return await _investigate(connected, request, tools, run_id=wiring.new_run_id())
    finally:
        await connected.close()
