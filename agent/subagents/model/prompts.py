"""The prompts' templates: read from ``prompts/`` once, rendered in a sandbox that knows no names but the given ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from agent.config import shipped_directory
from agent.domain.errors import UsageError
from agent.library import templates


@cache
def _template(role: str) -> str:
    file = shipped_directory("prompts") / f"{role}.md.j2"
    try:
        return file.read_text("utf-8")
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}", hint="reinstall rca-agent") from None


def render(role: str, values: Mapping[str, Any]) -> str:
    """The prompt of a role: planner, investigator or synthesiser."""
    try:
        return templates.render(_template(role), values)
    except templates.TemplateProblem as problem:
        raise UsageError(f"prompts/{role}.md.j2: {problem}") from None
