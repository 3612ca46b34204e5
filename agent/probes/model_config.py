"""A model's config.json: where it may lie for a given flag value, what it holds, and which keys give a number."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.domain.values import Unknown

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+\Z")


def config_path(model: str, cwd: str | None) -> str:
    """The config.json beside the weights for a directory; empty where a relative path hangs on an unknown directory."""
    if not model.startswith("/") and cwd is None:
        return ""
    folder = posixpath.normpath(posixpath.join(cwd or "/", model))
    return f"{folder}/config.json"


def hub_folder(model: str, env: Mapping[str, str]) -> str:
    """The download cache of a hub id like ``org/name`` (huggingface_hub's layout); empty where it is none or HOME is unknown."""
    if not _HUB_ID.fullmatch(model):
        return ""
    home = env.get("HF_HOME") or (f"{env.get('XDG_CACHE_HOME') or env['HOME'] + '/.cache'}/huggingface" if "HOME" in env else "")
    hub = env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE") or (f"{home}/hub" if home else "")
    return f"{hub}/models--{model.replace('/', '--')}" if hub else ""


def hub_snapshot(folder: str, revision: str) -> str:
    """The config.json of one snapshot; ``revision`` is the content of ``refs/main`` or a commit."""
    return f"{folder}/snapshots/{revision.strip()}/config.json"


def parse_config(raw: bytes, path: str) -> dict[str, Any] | Unknown:
    """The object, or Unknown with the place of the first fault in the JSON."""
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        return Unknown(reason=f"{path} is not UTF-8 (byte {problem.start})")
    except json.JSONDecodeError as problem:
        return Unknown(reason=f"{path} is not valid JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}")
    except RecursionError:
        return Unknown(reason=f"{path} is nested too deeply")
    return found if isinstance(found, dict) else Unknown(reason=f"{path} holds no JSON object")


def flat_items(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf as (dotted key, value); lists are leaves."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from flat_items(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def key_lines(raw: bytes, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Line range (from 1) at which each top-level or nested key's own name and value stand in the file, by its last part."""
    rows = raw.decode("utf-8", "replace").splitlines()
    found: dict[str, tuple[int, int]] = {}
    for key in keys:
        quoted = json.dumps(key.rpartition(".")[2])
        start = next((number for number, row in enumerate(rows, 1) if re.search(re.escape(quoted) + r"\s*:", row)), 0)
        if start:
            found[key] = (start, _value_end(rows, start))
    return found


def _value_end(rows: Sequence[str], start: int) -> int:
    """The line on which brackets opened at ``start`` are closed again."""
    depth = 0
    for number in range(start, len(rows) + 1):
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", rows[number - 1])
        depth += sum(bare.count(mark) for mark in "[{") - sum(bare.count(mark) for mark in "]}")
        if depth <= 0:
            return number
    return start
