"""A host whose answers are kept as they come, so that a run that was interrupted goes on without asking for them again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.investigation import Cost
from agent.domain.launch import HostSpec
from agent.domain.restore import restore
from agent.domain.serialize import to_plain
from agent.domain.source import Absent, SourceTree, Unreadable, sha256
from agent.hosts.interface import Features, Host
from agent.hosts.snapshot_tree import SnapshotTree
from agent.hosts.snapshots import SnapshotCache


class Memory(Protocol):
    """Where answers are kept between two attempts at one run. Answers were redacted before they come here."""

    def recall(self, name: str) -> bytes | None:
        """What was kept under this name by the attempt before; None where nothing was."""
        ...

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """Keeps them. Never raises: a full disk does not end a run."""
        ...


class RememberingHost:
    """See ``hosts.interface.Host``. Connects when the first thing is asked that is not known yet.

    Errors are not kept: what failed is asked again. ``recalled`` and ``asked`` count the answers of either kind.
    Of a source tree the digests are kept, since ``snapshots`` has the contents; where they are gone from there it is asked for again.
    """

    def __init__(self, spec: HostSpec, connect: Callable[[], Awaitable[Host]], memory: Memory, snapshots: SnapshotCache) -> None:
        self.spec = spec
        self.transport_name, _, self.transport_reason = (memory.recall("transport") or b"").decode().partition("\n")
        self.recalled = self.asked = 0
        self._connect = connect
        self._memory = memory
        self._snapshots = snapshots
        self._inner: Host | None = None
        self._connecting = asyncio.Lock()

    @property
    def cost(self) -> Cost:
        return self._inner.cost if self._inner else Cost()

    async def connected(self) -> Host:
        """The host itself; raises HostError where it cannot be reached."""
        async with self._connecting:
            if self._inner is None:
                self._inner = await self._connect()
                self.transport_name, self.transport_reason = self._inner.transport_name, self._inner.transport_reason
                self._memory.keep({"transport": f"{self.transport_name}\n{self.transport_reason}".encode()})
        return self._inner

    async def features(self) -> Features:
        if (known := self._recall("features")) is not None:
            return restore(Features, json.loads(known))
        found = await (await self.connected()).features()
        self._keep({"features": json.dumps(to_plain(found)).encode()})
        return found

    async def run(self, command: Command) -> CommandResult:
        (answer,) = await self.batch([command])
        if isinstance(answer, RcaError):
            raise answer
        return answer

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        names = [_name(command) for command in commands]
        answers: list[CommandResult | RcaError | None] = [
            None if (known := self._recall(name)) is None else _result(command, known)
            for name, command in zip(names, commands, strict=True)
        ]
        open_ = [at for at, answer in enumerate(answers) if answer is None]
        if open_:
            fresh = await (await self.connected()).batch([commands[at] for at in open_])
            self._keep({names[at]: _packed(got) for at, got in zip(open_, fresh, strict=True) if isinstance(got, CommandResult)})
            for at, got in zip(open_, fresh, strict=True):
                answers[at] = got
        return [answer for answer in answers if answer is not None]

    async def stream(self, command: Command) -> AsyncIterator[bytes]:
        """Not kept: what is streamed grows while it is read."""
        async for piece in (await self.connected()).stream(command):
            yield piece

    async def fetch(self, paths: Sequence[str]) -> dict[str, bytes | Absent | Unreadable]:
        known = {path: _content(path, kept) for path in paths if (kept := self._recall(f"file {path}")) is not None}
        left = [path for path in paths if path not in known]
        fresh = await (await self.connected()).fetch(left) if left else {}
        self._keep({f"file {path}": _contained(found) for path, found in fresh.items() if not isinstance(found, Unreadable)})
        return {path: known[path] if path in known else fresh[path] for path in paths}

    async def sync_tree(self, root: str, packages: Sequence[str]) -> SourceTree:
        name = f"tree {root} {' '.join(packages)}"
        if (kept := self._memory.recall(name)) is not None and (known := self._kept_tree(json.loads(kept))) is not None:
            self.recalled += 1
            return known
        tree = await (await self.connected()).sync_tree(root, packages)
        if isinstance(tree, SnapshotTree):
            self._keep({name: _referred_to(tree)})
        return tree

    async def close(self) -> None:
        if self._inner is not None:
            await self._inner.close()

    def _recall(self, name: str) -> bytes | None:
        known = self._memory.recall(name)
        self.recalled += known is not None
        return known

    def _keep(self, answers: Mapping[str, bytes]) -> None:
        self.asked += len(answers)
        if answers:
            self._memory.keep(answers)

    def _kept_tree(self, head: dict[str, Any]) -> SnapshotTree | None:
        contents = self._snapshots.holding(head["digests"].values())
        if contents is None:
            return None
        held = {path: contents[digest] for path, digest in head["digests"].items()}
        return SnapshotTree(**{**head, "contents": held})


def _name(command: Command) -> str:
    return f"command {sha256(json.dumps([command.argv, command.limit]).encode())}"


def _packed(result: CommandResult) -> bytes:
    head = {"status": result.status, "truncated": result.truncated, "out": len(result.stdout)}
    return json.dumps(head).encode() + b"\n" + result.stdout + result.stderr


def _result(command: Command, kept: bytes) -> CommandResult:
    line, _, content = kept.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    size = head["out"]
    return CommandResult(command=command, status=head["status"], stdout=content[:size], stderr=content[size:], truncated=head["truncated"])


def _contained(found: bytes | Absent | Unreadable) -> bytes:
    """One letter says which of the values it is: content, or the knowledge that there is none."""
    return b"=" + found if isinstance(found, bytes) else b"-"


def _content(path: str, kept: bytes) -> bytes | Absent:
    return kept[1:] if kept.startswith(b"=") else Absent(path=path)


def _referred_to(tree: SnapshotTree) -> bytes:
    """All of a snapshot but its contents."""
    return json.dumps({"root": tree.root, "unreadable": tree.unreadable, "notes": tree.notes, "digests": tree.digests}).encode()
