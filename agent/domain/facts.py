"""The fact namespace: everything a playbook may ask about a host, by dotted name (docs/playbooks.md lists the names).

A name has one of three answers, and they never look alike: a value, ``ABSENT`` (it was looked up and is not there) or ``Unknown``
(it was not, or could not be, looked up).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.domain.values import Fact, Known, OneOf, Unknown, Value

NESTED_CONFIGS: Final = ("text_config", "llm_config", "language_config")
"""Where composed models keep the language model's part; a key that is not at the top is looked up there, in this order."""

ROLES: Final = ("target", "draft")
"""The models of a launch whose config.json is asked for."""

_EMPTY: Mapping[str, Any] = MappingProxyType({})
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


class _Absent:
    """The type of ``ABSENT``: looked up, and not there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
Answer = Known | Unknown | _Absent
Lookup = Callable[[str], Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one server, read by dotted name with ``get``.

    ``configs``: role ("target", "draft") to the parsed config.json, to ABSENT (no such file, or no such model in this launch) or to
    Unknown (not read); ``config_paths``: role to where that file lies. ``log`` None is a log that was not read. ``settings`` asks
    the engine for effective values; without an engine every ``setting.`` name is unknown.
    """

    package: str = ""
    version: str = ""
    symptom: Symptom | None = None
    launch: Launch | None = None
    configs: Mapping[str, Mapping[str, Any] | _Absent | Unknown] = field(default_factory=lambda: _EMPTY)
    config_paths: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    log: tuple[str, ...] | None = None
    host: tuple[Fact, ...] = ()
    settings: Lookup | None = None

    def get(self, name: str) -> Answer:
        """The answer for one dotted name; a name outside the namespace is a KeyError."""
        family, _, rest = name.partition(".")
        return _FAMILIES[family](self, rest)


def known_family(name: str) -> bool:
    """Whether the name's first part is one of the namespace."""
    return name.partition(".")[0] in _FAMILIES


def parse_flags(argv: Iterable[str]) -> dict[str, Any]:
    """Flags as typed: ``--a-b x`` gives ``a_b: "x"``, several words a list, none True; numbers become int or float, the last one wins."""
    flags: dict[str, Any] = {}
    name, words = "", list[Any]()
    for word in [*argv, "--"]:
        if word.startswith("--"):
            if name:
                flags[name] = True if not words else words[0] if len(words) == 1 else words
            head, equals, tail = word[2:].partition("=")
            name, words = head.replace("-", "_"), [_plain(tail)] if equals else []
        elif name:
            words.append(_plain(word))
    return flags


def _plain(word: str) -> Any:
    if not _NUMBER.fullmatch(word):
        return word
    return float(word) if any(mark in word for mark in ".eE") else int(word)


def config_value(config: Mapping[str, Any], path: str) -> Answer:
    """``path`` within a config.json, with the nested language model's part as a fallback."""
    for root in (config, *(config[key] for key in NESTED_CONFIGS if isinstance(config.get(key), Mapping))):
        found: Any = root
        for part in path.split(".") if path else ():
            if not isinstance(found, Mapping) or part not in found:
                break
            found = found[part]
        else:
            return Known(value=found)
    return ABSENT


def _subject(facts: Facts, rest: str) -> Answer:
    value = {"package": facts.package, "version": facts.version}[rest]
    return Known(value=value) if value else Unknown(reason=f"the {rest} that runs is not known")


def _symptom(facts: Facts, rest: str) -> Answer:
    if rest not in ("text", "numbers"):
        raise KeyError(f"symptom.{rest}")
    return ABSENT if facts.symptom is None else Known(value=getattr(facts.symptom, rest))


def _launch(facts: Facts, rest: str) -> Answer:
    part, _, key = rest.partition(".")
    if (part == "argv") == bool(key):
        raise KeyError(f"launch.{rest}")
    read = _LAUNCH_PARTS[part]
    return Unknown(reason="the launch command was not found") if facts.launch is None else read(facts.launch, key)


def _flag(launch: Launch, key: str) -> Answer:
    flags = parse_flags(launch.argv)
    return Known(value=flags[key]) if key in flags else ABSENT


def _env(launch: Launch, key: str) -> Answer:
    if key in launch.env:
        return Known(value=launch.env[key])
    return ABSENT if launch.lacks(key) else Unknown(reason=f"the environment variable {key} was not read")


_LAUNCH_PARTS: dict[str, Callable[[Launch, str], Answer]] = {
    "flags": _flag,
    "env": _env,
    "argv": lambda launch, _: Known(value=launch.argv),
}


def _config(facts: Facts, rest: str) -> Answer:
    role, _, path = rest.partition(".")
    if role not in ROLES:
        raise KeyError(f"config.{role}")
    config = facts.configs.get(role)
    if config is None:
        return Unknown(reason=f"the {role} model's config.json was not read")
    if isinstance(config, (Unknown, _Absent)):
        return config
    return config_value(config, path)


def _log(facts: Facts, rest: str) -> Answer:
    if rest != "lines":
        raise KeyError(f"log.{rest}")
    return Unknown(reason="the log was not read") if facts.log is None else Known(value=facts.log)


def _host(facts: Facts, rest: str) -> Answer:
    if not rest:
        raise KeyError("host")
    for fact in facts.host:
        if fact.name == rest:
            return _single(rest, fact.value)
    return Unknown(reason=f"the host fact {rest} was not collected")


def _setting(facts: Facts, rest: str) -> Answer:
    if not rest:
        raise KeyError("setting")
    if facts.settings is None:
        return Unknown(reason=f"the effective value of {rest} was not evaluated")
    return _single(rest, facts.settings(rest))


def _single(name: str, value: Value) -> Answer:
    return Unknown(reason=f"{name} is one of {', '.join(map(repr, value.values))}") if isinstance(value, OneOf) else value


_FAMILIES: dict[str, Callable[[Facts, str], Answer]] = {
    "subject": _subject,
    "symptom": _symptom,
    "launch": _launch,
    "config": _config,
    "log": _log,
    "host": _host,
    "setting": _setting,
}
