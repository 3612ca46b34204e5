"""A model's config.json: where it may lie for a given flag value, what it holds, and which keys give a number."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from agent.domain.facts import NESTED_CONFIGS
from agent.domain.values import Unknown

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
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
    except ValueError:  # Python's own limit, which the server's json meets too
        return Unknown(reason=f"{path} holds a number of more digits than Python reads")
    return found if isinstance(found, dict) else Unknown(reason=f"{path} holds no JSON object")


def flat_items(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf as (dotted key, value); lists are leaves."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from flat_items(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def key_lines(raw: bytes, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Line range (from 1) at which each key's name and value stand in the file; as ``config_value`` finds it, with the nested
    language model's part as a fallback. A key that is not there has none.
    """
    text = raw.decode("utf-8-sig", "replace")
    try:
        places = {path: (start, end) for path, start, end in _members(text, _skip(text, 0), ())}
    except (ValueError, IndexError, RecursionError):
        return {}
    found: dict[str, tuple[int, int]] = {}
    for key in keys:
        path = tuple(key.split("."))
        place = next((places[one] for one in (path, *((part, *path) for part in NESTED_CONFIGS)) if one in places), None)
        if place is not None:
            found[key] = (text.count("\n", 0, place[0]) + 1, text.count("\n", 0, place[1]) + 1)
    return found


def _members(text: str, at: int, path: tuple[str, ...]) -> Generator[tuple[tuple[str, ...], int, int], None, int]:
    """The keys of the object that opens at ``at``, those of objects in it too, each with where its name begins and its value ends;
    gives where the object ends. Raises ValueError or IndexError for what is no JSON object.
    """
    if text[at] != "{":
        raise ValueError("no object")
    at = _skip(text, at + 1)
    while text[at] != "}":
        start = at
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if text[at] == "{":
            at = yield from _members(text, at, (*path, key))
        else:
            _, at = _DECODER.raw_decode(text, at)
        yield (*path, key), start, at
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return at + 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
