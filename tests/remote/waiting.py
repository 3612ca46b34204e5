"""Waiting for something to become true, and looking at the processes of this machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether it holds before the time is up, which is there for what never comes: a busy machine may take long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        await asyncio.sleep(0.02)
    return False


def processes() -> str:
    """Every command line, arguments joined by spaces."""
    return "\n".join(_command_lines().values())


def running(line: str) -> set[int]:
    """Ids of the processes with this command line."""
    return {pid for pid, found in _command_lines().items() if found.rstrip(" ") == line}


def _command_lines() -> dict[int, str]:
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
    return found
