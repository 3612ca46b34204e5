"""What a tool is: a typed, bounded, read-only question, and what every tool may look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agent.domain.redaction import redact_text
from agent.domain.source import Files, SourceTree
from agent.domain.verdict import AuditAnswer
from agent.evaluation.interface import Engine
from agent.llm.interface import ToolSpec
from agent.probes.log import LogLine
from agent.tools.ledger import Ledger

Arguments = Mapping[str, Any]
_NO_LOGS: Mapping[str, tuple[LogLine, ...]] = MappingProxyType({})
_NO_TREES: Mapping[str, SourceTree] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything a model may look at, already collected: there is nothing here that reaches a host by a name the model makes up.

    ``configs``: the paths of configuration files that may be read through ``files``; ``logs``: the collected lines by path;
    ``releases``: other trees to compare with, by version.
    """

    engine: Engine
    files: Files
    configs: tuple[str, ...] = ()
    logs: Mapping[str, tuple[LogLine, ...]] = field(default_factory=lambda: _NO_LOGS)
    releases: Mapping[str, SourceTree] = field(default_factory=lambda: _NO_TREES)
    audit: AuditAnswer | None = None
    host: str = ""

    @staticmethod
    def masked(text: str) -> str:
        """Any text without its secrets."""
        return redact_text(text)

    @staticmethod
    def masked_code(text: str) -> str:
        """Source code without its secrets: names like ``token=self.token`` stay, quoted values do not."""
        return redact_text(text, literals_only=True)

    @property
    def tree(self) -> SourceTree:
        return self.engine.tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One investigator's place: the shared sources, and its own ledger of evidence and shelf of whole results."""

    sources: Sources
    ledger: Ledger
    shelf: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """``text`` for the model; ``failed`` where the question could not be answered, which is another thing than "no"."""

    text: str
    evidence: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A row of the registry."""

    spec: ToolSpec
    run: Callable[[Bench, Arguments], ToolResult]


def parameters(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema object without other keys."""
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


def text(description: str, *, longest: int = 300) -> dict[str, Any]:
    return {"type": "string", "description": description, "maxLength": longest}


def whole(description: str, *, least: int = 1, most: int = 10_000_000) -> dict[str, Any]:
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}
