"""A host that remembers every answer in a bundle while somebody else works with it, and reads some more before it closes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from agent.domain.command import Command, CommandResult
from agent.domain.errors import RcaError
from agent.domain.investigation import Cost
from agent.domain.source import Absent, SourceTree, Unreadable
from agent.hosts import commands
from agent.hosts.bundle import Bundle, Tree
from agent.hosts.interface import Features, Host

LOG_BYTES = 8 * commands.MEGABYTE
"""Of a log that was looked at, this much of its end (and a part of its beginning) goes into the bundle."""
_SMALL_FILES = (".json", ".jinja", ".txt", ".py", ".yaml", ".yml", ".md")
_MOST_ENTRIES = 2000


class CapturingHost:
    """See ``hosts.interface.Host``; errors are not remembered, since the bundle's reader shall not take them for answers."""

    def __init__(self, inner: Host, bundle: Bundle) -> None:
        self._inner = inner
        self.bundle = bundle
        self.spec = inner.spec
        self.transport_name = inner.transport_name
        self.transport_reason = inner.transport_reason
        self._closed = False

    @property
    def cost(self) -> Cost:
        return self._inner.cost

    async def features(self) -> Features:
        self.bundle.features = await self._inner.features()
        return self.bundle.features

    async def run(self, command: Command) -> CommandResult:
        result = await self._inner.run(command)
        self.bundle.add(result)
        return result

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        answers = await self._inner.batch(commands)
        for answer in answers:
            if isinstance(answer, CommandResult):
                self.bundle.add(answer)
        return answers

    async def stream(self, command: Command) -> AsyncIterator[bytes]:
        pieces = []
        async for piece in self._inner.stream(command):
            pieces.append(piece)
            yield piece
        self.bundle.add(CommandResult(command=command, status=0, stdout=b"".join(pieces), stderr=b""))

    async def fetch(self, paths: Sequence[str]) -> dict[str, bytes | Absent | Unreadable]:
        found = await self._inner.fetch(paths)
        self.bundle.files |= found
        return found

    async def sync_tree(self, root: str, packages: Sequence[str]) -> SourceTree:
        tree = await self._inner.sync_tree(root, packages)
        kept = Tree(root=tree.root, packages=tuple(packages), notes=tuple(getattr(tree, "notes", ())))
        for path in tree.files():
            content = tree.read(path)
            if isinstance(content, bytes):
                kept.contents[path] = content
            elif isinstance(content, Unreadable):
                kept.unreadable[path] = content.reason
        self.bundle.trees = [other for other in self.bundle.trees if (other.root, other.packages) != (kept.root, kept.packages)] + [kept]
        return tree

    async def close(self) -> None:
        """Reads what later questions may need and this run did not, then closes the host."""
        if not self._closed:
            self._closed = True
            try:
                await self._more()
            finally:
                await self._inner.close()

    async def _more(self) -> None:
        """Machine facts, the listings of the trees, the logs that were looked at, and the small files of the model directories."""
        logs = sorted({argv[-1] for argv in self.bundle.answers if argv[0] == "tail" and argv[1] == "-c"})
        places = [f"{tree.root}/{package}" for tree in self.bundle.trees for package in tree.packages]
        entries = sorted({entry for argv, answer in self.bundle.answers.items() if _lists(argv) for entry in _entries(answer)})
        wanted = [commands.machine_file(path) for path in sorted(commands.MACHINE_FILES - {"/proc/net/tcp", "/proc/net/tcp6"})]
        wanted += [commands.uname(), commands.identity(), commands.clock()]
        wanted += [commands.stat_tree([place]) for place in places]
        wanted += [commands.read_bytes(log, size=commands.MEGABYTE) for log in logs]
        wanted += [commands.tail_bytes(log, LOG_BYTES) for log in logs]
        wanted += [commands.stat(entries)] if entries else []
        await asyncio.gather(self.features(), self.batch(wanted), self.fetch([path for path in entries if path.endswith(_SMALL_FILES)]))


def _lists(argv: Sequence[str]) -> bool:
    """Whether a read listed the entries of directories."""
    return argv[0] == "find" and argv[-1] == "-print0" and "-maxdepth" in argv


def _entries(answer: CommandResult) -> list[str]:
    return [path for path in commands.to_text(answer.stdout).split("\0") if path][:_MOST_ENTRIES]
