"""The twenty public cases as launches: their files in memory, the engine under each, the lines that are right."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.domain.launch import Launch
from agent.domain.source import Absent
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import DirectoryTree
from tests.wheels import fetch_tree

CASES = Path(__file__).parents[1] / "data" / "cases" / "cases.jsonl"
Case = Mapping[str, Any]
Place = tuple[str, int]


def cases() -> list[Case]:
    """In the order of the file."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


class CaseFiles:
    """The config.json of each model and the other files of a case, in memory."""

    def __init__(self, case: Case) -> None:
        models = {f"{name}/config.json": content for name, content in (case.get("models") or {}).items()}
        files = {os.path.expanduser(name): content for name, content in (case.get("files") or {}).items()}
        self._files = {name: content if isinstance(content, str) else json.dumps(content) for name, content in {**models, **files}.items()}

    def read(self, path: str) -> bytes | Absent:
        found = self._files.get(path.removeprefix("./"))
        return Absent(path=path) if found is None else found.encode()

    def is_dir(self, path: str) -> bool:
        return any(name.startswith(path.removeprefix("./").rstrip("/") + "/") for name in self._files)


def engine_for(case: Case, launch: Case) -> LaunchEngine:
    """The engine under a case's launch or its control's."""
    facts = dict(launch.get("assume") or {})
    if case["entry"]:
        facts["entry"] = f"{case['entry']['module']}:{case['entry']['function']}"
    argv = Launch(argv=tuple(launch["argv"] or ()), env=launch.get("env") or {})
    return open_engine(DirectoryTree(fetch_tree(case["package"], case["release"])), argv, files=CaseFiles(launch), facts=facts)


def right_places(case: Case) -> set[Place]:
    """The deciding line and those that are equally right."""
    return {(each["file"], each["line"]) for each in (case["expect"]["guard"], *case["expect"]["also_ok"])}
