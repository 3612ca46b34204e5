"""A launch, its files and facts with something changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.errors import UsageError
from agent.domain.launch import Launch
from agent.domain.source import Absent, Files, Unreadable
from agent.domain.verdict import Change


class ChangedFiles:
    """Files of which some JSON keys are different."""

    def __init__(self, files: Files, edits: Mapping[str, Mapping[str, Any]]) -> None:
        self._files = files
        self._edits = edits

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """The file with the changed keys; a key changed to None is removed."""
        content = self._files.read(path)
        edit = next((e for name, e in self._edits.items() if path == name or path.endswith("/" + name) or name.endswith("/" + path)), None)
        if edit is None or not isinstance(content, bytes):
            return content
        values = json.loads(content)
        for key, value in edit.items():
            _set(values, key.split("."), value)
        return json.dumps(values).encode()

    def is_dir(self, path: str) -> bool | None:
        """Unchanged."""
        return self._files.is_dir(path)


def _set(values: dict[str, Any], keys: list[str], value: Any) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
    if value is None:
        values.pop(keys[-1], None)
    else:
        values[keys[-1]] = value


def changed(launch: Launch, files: Files, facts: Mapping[str, Any], changes: Sequence[Change]) -> tuple[Launch, Files, dict[str, Any]]:
    """Applies changes named by flag (``--x``), ``env:NAME``, ``config:FILE:KEY`` or ``assume:NAME``. Raises UsageError for other names."""
    new_facts = dict(facts)
    edits: dict[str, dict[str, Any]] = {}
    for change in changes:
        kind, _, rest = change.name.partition(":")
        if change.name.startswith("-"):
            launch = replace(launch, argv=with_flag(launch.argv, change.name, change.to))
        elif kind == "env":
            env = {**launch.env, rest: str(change.to)}
            if change.to is None:
                env.pop(rest)
            launch = replace(launch, env=env)
        elif kind == "config":
            path, _, key = rest.rpartition(":")
            edits.setdefault(path, {})[key] = change.to
        elif kind == "assume":
            new_facts[rest] = change.to
        else:
            raise UsageError(f"cannot change {change.name!r}", hint="name a flag, env:NAME, config:FILE:KEY or assume:NAME")
    return launch, (ChangedFiles(files, edits) if edits else files), new_facts


def with_flag(argv: tuple[str, ...], flag: str, value: Any) -> tuple[str, ...]:
    """The command with a flag set: replaced where it stands, else added at the end; False or None removes it, True gives it bare."""
    words: list[str] = []
    done = False
    position = 0
    while position < len(argv):
        word = argv[position]
        name, equals, _ = word.partition("=")
        if name != flag:
            words.append(word)
            position += 1
            continue
        valued = 0 if equals else _values_after(argv, position)
        if not done and value is not None and value is not False:
            words += [flag, *_spelled(value)]
            done = True
        position += 1 + valued
    if not done and value is not None and value is not False:
        words += [flag, *_spelled(value)]
    return tuple(words)


def _values_after(argv: tuple[str, ...], position: int) -> int:
    count = 0
    while position + 1 + count < len(argv) and not argv[position + 1 + count].startswith("-"):
        count += 1
    return count


def _spelled(value: Any) -> list[str]:
    if value is True:
        return []
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]
