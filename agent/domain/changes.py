"""A launch with some of its inputs changed, as a new launch and as a command line a person can paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.launch import Launch
from agent.domain.verdict import Change


def changed_launch(launch: Launch, changes: Iterable[Change]) -> Launch:
    """Flags and variables changed in place, new ones appended; changes to files and assumptions leave the launch as it is."""
    argv, env = list(launch.argv), dict(launch.env)
    for change in changes:
        if change.name.startswith("--"):
            argv = _with_flag(argv, change.name, change.to)
        elif change.name.startswith("env:"):
            name = change.name.removeprefix("env:")
            env.pop(name, None)
            if change.to is not None:
                env[name] = str(change.to)
    return replace(launch, argv=tuple(argv), env=env)


def command_line(launch: Launch, changes: Sequence[Change]) -> str:
    """The whole changed command, variables that changed in front, quoted for a shell."""
    changed = changed_launch(launch, changes)
    names = [change.name.removeprefix("env:") for change in changes if change.name.startswith("env:") and change.to is not None]
    return " ".join([*(f"{name}={shlex.quote(changed.env[name])}" for name in names), shlex.join(changed.argv)])


def _with_flag(argv: list[str], flag: str, to: Any) -> list[str]:
    """``to``: True is a bare flag, None and False take it away, a list gives several words."""
    start = next((i for i, word in enumerate(argv) if _names(word, flag)), len(argv))
    end = start if start == len(argv) else next((i for i in range(start + 1, len(argv)) if argv[i].startswith("--")), len(argv))
    if to is None or to is False:
        return argv[:start] + argv[end:]
    words = () if to is True else tuple(map(str, to)) if isinstance(to, (list, tuple)) else (str(to),)
    spelled = argv[start].partition("=")[0] if start < len(argv) else flag
    return [*argv[:start], spelled, *words, *_drop(argv[end:], flag)]


def _drop(argv: list[str], flag: str) -> list[str]:
    """Without later occurrences of the flag, which would win."""
    start = next((i for i, word in enumerate(argv) if _names(word, flag)), None)
    if start is None:
        return argv
    end = next((i for i in range(start + 1, len(argv)) if argv[i].startswith("--")), len(argv))
    return argv[:start] + _drop(argv[end:], flag)


def _names(word: str, flag: str) -> bool:
    return word.startswith("--") and word.partition("=")[0].replace("_", "-") == flag.replace("_", "-")
