"""A host whose every answer is one that a recording gives again: each read is done on this machine, kept in a file, and replayed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.investigation import Cost
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, Unreadable
from agent.hosts.interface import Features
from agent.hosts.recording import RecordingTransport
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport
from agent.transports.replay import Recording, ReplayTransport


class ReplayedHost:
    """``file``: where the recording is kept. ``cost`` is that of the replay alone."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._recorder = RecordingTransport(LocalTransport())
        self._live = RemoteHost(self._recorder, HostSpec(name="here"))
        self._again = self._replay()

    @property
    def cost(self) -> Cost:
        return self._again.cost

    async def features(self) -> Features:
        await self._live.features()
        return await self._replay().features()

    async def run(self, command: Command) -> CommandResult:
        await self._live.run(command)
        return await self._replay().run(command)

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        await self._live.batch(commands)
        return await self._replay().batch(commands)

    async def stream(self, command: Command) -> AsyncIterator[bytes]:
        await self._live.run(command)
        async for piece in self._replay().stream(command):
            yield piece

    async def fetch(self, paths: Sequence[str]) -> dict[str, bytes | Absent | Unreadable]:
        await self._live.fetch(paths)
        return await self._replay().fetch(paths)

    async def close(self) -> None:
        await self._live.close()
        await self._again.close()

    def _replay(self) -> RemoteHost:
        self._recorder.recording.save(self._file)
        self._again = RemoteHost(ReplayTransport(Recording.load(self._file)), HostSpec(name="here"))
        return self._again
