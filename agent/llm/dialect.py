"""What an endpoint and model were found to accept, remembered so that it is found out once."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Starts with everything on; each refusal turns one thing off. ``completion_limit`` is the name of the answer's limit."""

    tools: bool = True
    temperature: bool = True
    usage_in_stream: bool = True
    completion_limit: str = "max_tokens"
    system_role: bool = True
    stream: bool = True


_REFUSALS: tuple[tuple[re.Pattern[str], dict[str, object], dict[str, object]], ...] = (
    # message, what must hold in the dialect for the refusal to mean this, what changes
    (re.compile(r"stream_options|include_usage", re.I), {"usage_in_stream": True}, {"usage_in_stream": False}),
    (re.compile(r"temperature", re.I), {"temperature": True}, {"temperature": False}),
    (
        re.compile(r"max_completion_tokens.*instead|'?max_tokens'? is not supported|unsupported.*max_tokens", re.I | re.S),
        {"completion_limit": "max_tokens"},
        {"completion_limit": "max_completion_tokens"},
    ),
    (re.compile(r"stream(ing)? .{0,40}not (supported|implemented)|does not support stream", re.I), {"stream": True}, {"stream": False}),
    (re.compile(r"tool|function", re.I), {"tools": True}, {"tools": False}),
    (re.compile(r"system (role|message)|role.{0,20}system", re.I), {"system_role": True}, {"system_role": False}),
)


def adapted(dialect: Dialect, message: str) -> Dialect | None:
    """The dialect to try next after a 400, 404 or 422 with this message; None where the message names nothing that can be left out."""
    for pattern, needed, change in _REFUSALS:
        if pattern.search(message) and all(getattr(dialect, key) == value for key, value in needed.items()):
            return replace(dialect, **change)  # type: ignore[arg-type]
    return None


class DialectMemory:
    """Dialects by endpoint and model; kept in ``file`` between runs where one is given.

    Only what an endpoint itself refused is written to the file: that a model ignored its tools once is remembered for this run alone.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, Dialect] = {}
        self._stored: dict[str, dict[str, object]] = self._load()

    def get(self, base_url: str, model: str) -> Dialect:
        key = f"{base_url} {model}"
        if key not in self._known:
            self._known[key] = self._decode(self._stored.get(key, {}))
        return self._known[key]

    def put(self, base_url: str, model: str, dialect: Dialect, *, lasting: bool) -> None:
        key = f"{base_url} {model}"
        self._known[key] = dialect
        if lasting and self._file is not None:
            self._stored[key] = asdict(dialect)
            self._save(self._file)

    @staticmethod
    def _decode(stored: dict[str, object]) -> Dialect:
        try:
            return Dialect(**stored)  # type: ignore[arg-type]
        except TypeError:
            return Dialect()

    def _load(self) -> dict[str, dict[str, object]]:
        if self._file is None:
            return {}
        try:
            found = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _save(self, file: Path) -> None:
        """A cache: where it cannot be written the next run finds out again."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(self._stored, indent=1, sort_keys=True), "utf-8")
        except OSError:
            return
