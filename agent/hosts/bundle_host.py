"""A bundle as a Host: what was asked when it was captured is answered alike; other reads are answered from its files, or not at all."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.domain.command import Command, CommandResult
from agent.domain.errors import NotFoundOnHost, RcaError
from agent.domain.investigation import Cost
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, SourceTree, Unreadable
from agent.hosts.basic_regex import basic_regex
from agent.hosts.bundle import TRANSPORT, Bundle, load
from agent.hosts.commands import command_lines, problems, to_text
from agent.hosts.interface import Features
from agent.hosts.shell import display
from agent.hosts.snapshot_tree import SnapshotTree

NOT_IN_BUNDLE = 125
Found = bytes | Absent | Unreadable


class BundleHost:
    """See ``hosts.interface.Host``. A read that the bundle cannot answer has status 125 and says so: unknown, never absent."""

    def __init__(self, bundle: Bundle, spec: HostSpec) -> None:
        self._bundle = bundle
        self.spec = spec
        self.transport_name = "bundle"
        self.transport_reason = f"captured {bundle.captured_at} over {bundle.transport}"
        self._files = _known_files(bundle)
        self._tails = _known_tails(bundle)
        self._rows, self._missed = _known_stats(bundle)
        self._commands = 0

    @property
    def cost(self) -> Cost:
        return Cost(commands=self._commands)

    @property
    def chosen(self) -> int | None:
        """The one process that was read without a look at the others: that of ``--pid`` when the bundle was made."""
        argvs = self._bundle.answers
        read = {match[1] for argv in argvs if (match := re.fullmatch(r"/proc/(\d+)/cmdline", argv[-1]))}
        return int(read.pop()) if len(read) == 1 and command_lines().argv not in argvs else None

    async def features(self) -> Features:
        if self._bundle.features is None:
            raise NotFoundOnHost("the bundle does not say what the host's programs can do", looked_for="features")
        return self._bundle.features

    async def run(self, command: Command) -> CommandResult:
        (answer,) = await self.batch([command])
        assert isinstance(answer, CommandResult)
        return answer

    async def batch(self, commands: Sequence[Command]) -> list[CommandResult | RcaError]:
        self._commands += len(commands)
        return [self._answer(command) for command in commands]

    async def stream(self, command: Command) -> AsyncIterator[bytes]:
        answer = await self.run(command)
        if answer.status == NOT_IN_BUNDLE:
            raise NotFoundOnHost(answer.stderr.decode("utf-8", "replace").strip(), looked_for=display(command), where="the bundle")
        if answer.stdout:
            yield answer.stdout

    async def fetch(self, paths: Sequence[str]) -> dict[str, Found]:
        return {path: self._file(path) for path in paths}

    async def sync_tree(self, root: str, packages: Sequence[str]) -> SourceTree:
        for tree in self._bundle.trees:
            if tree.root.rstrip("/") == root.rstrip("/") and (not tree.packages or set(packages) <= set(tree.packages)):
                return SnapshotTree(root=tree.root, contents=tree.contents, unreadable=tree.unreadable, notes=tree.notes)
        held = ", ".join(f"{tree.root} ({' '.join(tree.packages)})" for tree in self._bundle.trees) or "no tree"
        raise NotFoundOnHost(f"{root} ({' '.join(packages)}) is not in the bundle, which holds {held}", looked_for=root, where="the bundle")

    async def close(self) -> None:
        """Nothing is open."""

    def _answer(self, command: Command) -> CommandResult:
        kept = self._bundle.answers.get(command.argv)
        if kept is not None:
            cut = command.limit < kept.command.limit and len(kept.stdout) > command.limit  # masking may have made it longer than its limit
            if not cut:
                return replace(kept, command=command)
            return replace(kept, command=command, stdout=kept.stdout[: command.limit], truncated=True)
        answer = _READS.get(command.argv[0], _nothing)(self, command)
        return answer if answer is not None else _missing(command)

    def _file(self, path: str) -> Found:
        if path in self._files:
            return self._files[path]
        for tree in self._bundle.trees:
            inside = any(path.startswith(f"{tree.root}/{package}/") for package in tree.packages)
            if inside and path.endswith(".py"):
                missing = SnapshotTree(root=tree.root, contents={}, notes=tree.notes).read(path.removeprefix(f"{tree.root}/"))
                return Absent(path=path) if isinstance(missing, Absent) else missing
        return Unreadable(path=path, reason="it is not in the bundle")

    # Reads that were not made when the bundle was captured, from the files in it.

    def _lines(self, command: Command) -> CommandResult | None:
        """``sed -n -e A,Bp;Bq -- PATH``."""
        first, last = map(int, re.findall(r"\d+", command.argv[3])[:2])
        return self._part(command, lambda content: b"".join(re.findall(rb"[^\n]*\n|[^\n]+", content)[first - 1 : last]))

    def _head(self, command: Command) -> CommandResult | None:
        return self._part(command, lambda content: content[: int(command.argv[2])])

    def _tail(self, command: Command) -> CommandResult | None:
        """``tail -c N``, from the whole file or from a longer tail; a part line at the beginning is left out, as it was then.

        Sizes are those of the masked text, so that a few lines more or less may come than on the host.
        """
        path, wanted = command.argv[-1], command.argv[2]
        content = self._file(path)
        if not isinstance(content, bytes):
            content = self._tails.get(path, b"")
        if wanted.startswith("+") or not content:
            return None
        if len(content) < int(wanted):
            return _result(command, 0, content) if path in self._files else None
        part = content[-int(wanted) :]
        return _result(command, 0, part[part.find(b"\n") + 1 :] if b"\n" in part else b"")

    def _stat(self, command: Command) -> CommandResult | None:
        """From every listing in the bundle; a path that is known to be absent is missed as on the host."""
        rows, missed = [], []
        for path in command.argv[command.argv.index("--") + 1 :]:
            if path in self._rows:
                rows.append(self._rows[path])
            elif path in self._missed or isinstance(self._file(path), Absent):
                missed.append(f"stat: cannot stat '{path}': No such file or directory\n")
            else:
                return None
        return _result(command, 1 if missed else 0, "".join(rows).encode("utf-8", "surrogateescape"), "".join(missed).encode())

    def _part(self, command: Command, take: Callable[[bytes], bytes]) -> CommandResult | None:
        content = self._file(command.argv[-1])
        if isinstance(content, bytes):
            return _result(command, 0, take(content))
        if isinstance(content, Absent):
            return _result(command, 1, b"", f"{command.argv[0]}: {command.argv[-1]}: No such file or directory\n".encode())
        return None

    def _find(self, command: Command) -> CommandResult | None:
        """``find PLACES ... -exec grep ... +`` over Python files below trees that the bundle holds whole."""
        argv = command.argv
        places = [word.rstrip("/") for word in argv[1 : next(i for i, word in enumerate(argv) if not word.startswith("/") and i)]]
        names = [argv[i + 1] for i, word in enumerate(argv) if word == "-name"]
        if "grep" not in argv:
            return None
        files: dict[str, bytes] = {}
        for place in places:
            below = self._below(place, names)
            if below is None:
                return None
            files |= below
        found = _grep(command, files)
        partial = any(path not in self._files for path in files)
        return replace(found, truncated=True) if found and partial else found

    def _below(self, place: str, names: Sequence[str]) -> Mapping[str, bytes] | None:
        """The files that find would select; None where the bundle cannot tell."""
        alone = self._files.get(place)
        if isinstance(alone, bytes):
            return {place: alone}
        if place in self._tails:
            return {place: self._tails[place]}
        if not names or not all(name.endswith(".py") for name in names):
            return None
        for tree in self._bundle.trees:
            if any(f"{place}/".startswith(f"{tree.root}/{package}/") for package in tree.packages):
                files = ((f"{tree.root}/{path}", content) for path, content in sorted(tree.contents.items()))
                return {
                    path: content
                    for path, content in files
                    if path.startswith(f"{place}/") and any(fnmatch.fnmatchcase(path.rpartition("/")[2], name) for name in names)
                }
        return None


def open_bundle(path: Path) -> BundleHost:
    """Raises StoreError for a file that is no bundle."""
    found = load(path)
    return BundleHost(found, HostSpec(name=found.host, container=found.container, transport=f"{TRANSPORT}{path}"))


def _known_files(bundle: Bundle) -> dict[str, Found]:
    """Everything the bundle knows of single files: of trees, fetched ones, and those that a read gave whole."""
    found: dict[str, Found] = {}
    for tree in bundle.trees:
        found |= {f"{tree.root}/{path}": content for path, content in tree.contents.items()}
        found |= {f"{tree.root}/{path}": Unreadable(path=f"{tree.root}/{path}", reason=why) for path, why in tree.unreadable.items()}
    for argv, answer in bundle.answers.items():
        whole = argv[0] == "cat" or (argv[0] == "head" and len(answer.stdout) < int(argv[2]))
        if whole and answer.status == 0 and not answer.truncated:
            found[argv[-1]] = answer.stdout
    return found | bundle.files


def _known_tails(bundle: Bundle) -> dict[str, bytes]:
    """The longest end that was read of each file."""
    found: dict[str, bytes] = {}
    for argv, answer in bundle.answers.items():
        if argv[0] == "tail" and answer.status == 0 and len(answer.stdout) > len(found.get(argv[-1], b"")):
            found[argv[-1]] = answer.stdout
    return found


def _known_stats(bundle: Bundle) -> tuple[dict[str, str], set[str]]:
    """The row of every path that some ``stat`` printed, and the paths that one missed."""
    rows: dict[str, str] = {}
    missed: set[str] = set()
    for argv, answer in bundle.answers.items():
        if "stat" not in argv:
            continue
        text = to_text(answer.stdout)
        rows |= {row.split(" ", 8)[8]: f"{row}\n" for row in text.split("\n") if row.count(" ") >= 8}
        asked = set(argv[argv.index("--") + 1 :])
        missed |= {
            path for path in asked - set(rows) for line in problems(answer) if path in line and line.endswith("No such file or directory")
        }
    return rows, missed


def _grep(command: Command, files: Mapping[str, bytes]) -> CommandResult | None:
    argv = command.argv
    patterns = [argv[i + 1] for i, word in enumerate(argv) if word == "-e"]
    try:
        wanted = [basic_regex(pattern, fixed="-F" in argv, ignore_case="-i" in argv) for pattern in patterns]
    except re.error:
        return None
    rows: list[bytes] = []
    for path, content in files.items():
        if "-I" in argv and b"\0" in content[:32768]:
            continue
        hits = [
            (number, line)
            for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1)
            if any(pattern.search(line) for pattern in wanted)
        ]
        name = path.encode("utf-8", "surrogateescape") + b"\0"
        rows += [name] if "-l" in argv and hits else [] if "-l" in argv else [b"%s%d:%s\n" % (name, number, line) for number, line in hits]
    return _result(command, 0 if rows else 1, b"".join(rows))


def _result(command: Command, status: int, stdout: bytes, stderr: bytes = b"") -> CommandResult:
    cut = len(stdout) > command.limit
    return CommandResult(command=command, status=status, stdout=stdout[: command.limit], stderr=stderr, truncated=cut)


def _missing(command: Command) -> CommandResult:
    return _result(command, NOT_IN_BUNDLE, b"", f"this read is not in the bundle: {display(command)}\n".encode("utf-8", "surrogateescape"))


def _nothing(host: BundleHost, command: Command) -> CommandResult | None:
    return None


_READS: Mapping[str, Callable[[BundleHost, Command], CommandResult | None]] = {
    "sed": BundleHost._lines,
    "head": BundleHost._head,
    "tail": BundleHost._tail,
    "stat": BundleHost._stat,
    "cat": lambda host, command: host._part(command, lambda content: content),
    "find": BundleHost._find,
}
