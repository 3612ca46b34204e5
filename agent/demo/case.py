"""A demonstration case as it stands in ``playbooks/demo``: release, launch, models, log, symptom."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.config import shipped_directory
from agent.domain.errors import PlaybookInvalid, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoCase:
    """``models``: directory below the stage to the text of its config.json; ``log`` is what the server had printed."""

    title: str
    symptom: str
    package: str
    version: str
    wheel_bytes: int
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    log: str = ""


def load_case(name: str, model: str = "default") -> DemoCase:
    """Raises UsageError for an unknown case or model, PlaybookInvalid for a broken file."""
    folder = shipped_directory("playbooks") / "demo"
    path = folder / f"{name}.yaml"
    if not path.is_file():
        raise UsageError(f"no demonstration {name!r}", hint=f"there are {', '.join(sorted(p.stem for p in folder.glob('*.yaml')))}")
    table = _table(path)
    variants = table.get("models", {})
    if model not in variants:
        raise UsageError(f"no model {model!r} in this demonstration", hint=f"there are {', '.join(variants)}")
    return DemoCase(
        title=str(table["title"]),
        symptom=str(table["symptom"]),
        package=str(table["package"]),
        version=str(table["version"]),
        wheel_bytes=int(table.get("wheel_bytes", 0)),
        argv=tuple(shlex.split(str(table["launch"]))),
        environment={str(name): str(value) for name, value in table.get("environment", {}).items()},
        models={str(place): _config(str(file)) for place, file in variants[model].items()},
        log=str(table.get("log", "")),
    )


def _table(path: Path) -> Mapping[str, Any]:
    import yaml

    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    missing = [key for key in ("title", "symptom", "package", "version", "launch", "models") if key not in (table or {})]
    if missing:
        raise PlaybookInvalid("is missing", where=missing[0], file=str(path))
    found: Mapping[str, Any] = table
    return found


def _config(file: str) -> str:
    return (shipped_directory("playbooks") / "configs" / file).read_text(encoding="utf-8")
