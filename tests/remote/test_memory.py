"""A large answer passes through without being held: neither by this layer nor by the SSH library below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.hosts import commands
from tests.remote.conftest import ALL_TRANSPORTS, Connect
from tests.sshd import Sshd

SIZE = 150_000_000


def _held_megabytes() -> int:
    found = re.search(r"VmRSS:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) // 1024


@pytest.mark.parametrize("name", ALL_TRANSPORTS)
async def test_a_large_answer_is_not_held(name: str, sshd: Sshd, tmp_path: Path, connect: Connect) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(SIZE)
    host = await connect(name, sshd.spec())
    await host.features()
    before = most = _held_megabytes()
    size = pieces = 0
    async for piece in host.stream(commands.tar([str(tmp_path / "big")])):
        size += len(piece)
        pieces += 1
        if pieces % 50 == 0:
            most = max(most, _held_megabytes())
    assert size > SIZE
    assert most - before <= 60
