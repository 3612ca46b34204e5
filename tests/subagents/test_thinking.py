"""Thinking beside the loop: results, errors, depth, and an end that waits for nobody."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from agent.subagents.thinking import think


async def test_results_and_errors_come_back() -> None:
    assert await think(lambda: threading.current_thread().name) == "rca-think"
    with pytest.raises(ZeroDivisionError):
        await think(lambda: 1 / 0)


async def test_the_loop_goes_on_meanwhile() -> None:
    waiting = threading.Event()
    thought = asyncio.create_task(think(lambda: waiting.wait(30)))
    await asyncio.sleep(0)
    waiting.set()
    assert await thought


async def test_cancelling_does_not_wait() -> None:
    waiting = threading.Event()
    thought = asyncio.create_task(think(lambda: waiting.wait(30)))
    await asyncio.sleep(0)
    thought.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thought
    waiting.set()


async def test_calls_of_great_depth_do_not_end_the_program() -> None:
    def deep(levels: int) -> int:
        return 0 if not levels else 1 + max([deep(levels - 1)], key=lambda value: value)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(40_000)
    try:
        assert await think(lambda: deep(10_000)) == 10_000
    finally:
        sys.setrecursionlimit(limit)


def test_the_program_ends_while_it_thinks() -> None:
    script = """
import asyncio, threading
from agent.subagents.thinking import think
async def main():
    asyncio.create_task(think(lambda: threading.Event().wait(60)))
    await asyncio.sleep(0)
asyncio.run(main())
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=20).returncode == 0
