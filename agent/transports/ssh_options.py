"""What every SSH transport is given besides the host: time limits, files of our own, and how to ask a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Prompt = Callable[[str, bool], str]
"""Asks a person: the question, and whether the answer may be shown; empty is "no answer"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SshOptions:
    """``own_known_hosts``: the only known_hosts that is ever written. ``prompt`` None: nobody is there to be asked.

    ``config_file``: another ssh_config than the user's. Times in seconds.
    """

    own_known_hosts: Path
    config_file: Path | None = None
    prompt: Prompt | None = None
    connect_seconds: float = 10.0
    login_seconds: float = 10.0
    asking_seconds: float = 120.0
    keepalive_seconds: int = 5
    keepalive_count: int = 3
    key_limit: int = 5
    """Keys offered at most: a server ends the connection at MaxAuthTries, six by default."""

    @property
    def login_limit(self) -> float:
        """Longer where a person may have to type a code."""
        return self.asking_seconds if self.prompt else self.login_seconds
