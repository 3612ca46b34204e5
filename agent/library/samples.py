"""The model configs that playbook tests name: files in a ``configs`` folder beside the playbook, or the shipped ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.domain.errors import PlaybookInvalid
from agent.domain.playbook import Playbook, PlaybookTest


def resolve(playbook: Playbook, test: PlaybookTest, folders: Sequence[Path] = ()) -> PlaybookTest:
    """The test with every named config read; raises PlaybookInvalid for a name that is in no folder."""
    places = (Path(playbook.origin).parent / "configs", *folders)
    models = {path: _read(playbook, test, config, places) if isinstance(config, str) else config for path, config in test.models.items()}
    return replace(test, models=models)


def _read(playbook: Playbook, test: PlaybookTest, name: str, places: Sequence[Path]) -> Any:
    where = f"tests.{test.name}.models"
    for place in places:
        path = place / name
        if path.is_file():
            try:
                return json.loads(path.read_text(encoding="utf-8"))
            except ValueError as problem:
                raise PlaybookInvalid(f"{path} is no JSON: {problem}", where=where, file=playbook.origin) from None
    raise PlaybookInvalid(f"no file {name} in {places[0]}", where=where, file=playbook.origin)
