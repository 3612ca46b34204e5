"""What a run leaves behind beside its report, so that it can be verified and turned into a playbook later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from agent.orchestrator.request import Request
from agent.orchestrator.scene import Scene

CONFIGS: Final = "observed/configs.json"
"""Role to ``{"path": ..., "config": {...}}`` of every config.json that was read."""
LOG: Final = "observed/log.txt"
"""The log's lines as they were read, secrets masked."""
FACTS: Final = "observed/facts.json"
"""What the engine was told of the host."""


def remembered(scene: Scene, request: Request) -> dict[str, bytes]:
    """Artefacts by name; what was not read is not there."""
    kept: dict[str, bytes] = {}
    if scene.configs is not None:
        read = {role: config for role, config in scene.configs.configs.items() if isinstance(config, Mapping)}
        kept[CONFIGS] = _json({role: {"path": scene.configs.paths.get(role, ""), "config": config} for role, config in read.items()})
    texts = scene.log.texts if scene.log else None
    if texts is not None:
        kept[LOG] = "\n".join(texts).encode("utf-8", "surrogateescape")
    if scene.subject is not None:
        kept[FACTS] = _json(scene.given(request))
    return kept


def _json(value: Any) -> bytes:
    return json.dumps(value, default=str, sort_keys=True).encode()
