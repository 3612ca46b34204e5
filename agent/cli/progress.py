"""Shows how a run goes, on standard error: a live tree on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from agent.domain.visible import one_line

if TYPE_CHECKING:
    from agent.orchestrator import Progress

_MARKS = {"done": "ok", "failed": "failed", "skipped": "skipped"}
_COLOURS = {"done": "green", "failed": "red", "skipped": "yellow"}


class PlainProgress:
    """One line per beginning and end; with ``verbose`` also what each is doing."""

    def __init__(self, stream: TextIO, *, verbose: bool = False) -> None:
        self._stream = stream
        self._verbose = verbose

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._stream.flush()

    def started(self, name: str, task: str) -> None:
        if self._verbose:
            self._write(f"{name}: {task}")

    def said(self, name: str, text: str) -> None:
        if self._verbose:
            self._write(f"{name}: {text} ...")

    def ended(self, name: str, status: str, summary: str) -> None:
        self._write(f"{name}: {_MARKS.get(status, status)}: {summary}")

    def _write(self, text: str) -> None:
        print(one_line(text), file=self._stream, flush=True)


class LiveProgress:
    """A tree that is drawn again as things happen: each subagent with what it is doing, then with its result."""

    def __init__(self, stream: TextIO, title: str) -> None:
        from rich.console import Console
        from rich.live import Live

        self._title = title
        self._rows: dict[str, tuple[str, str]] = {}
        self._began: dict[str, float] = {}
        # What is printed meanwhile goes above the tree; into a file or a pipe it goes as ever.
        redirect = sys.stdout.isatty()
        self._live = Live(console=Console(file=stream), refresh_per_second=12, get_renderable=self._tree, redirect_stdout=redirect)

    def __enter__(self) -> LiveProgress:
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._live.__exit__(kind, value, trace)

    def started(self, name: str, task: str) -> None:
        self._began[name] = time.monotonic()
        self._rows[name] = ("running", task)

    def said(self, name: str, text: str) -> None:
        self._rows[name] = ("running", text)

    def ended(self, name: str, status: str, summary: str) -> None:
        self._rows[name] = (status, summary)

    def _tree(self) -> Any:
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree(Text(self._title, style="bold"), guide_style="dim")
        for name, (status, text) in self._rows.items():
            row = Table.grid(padding=(0, 1), expand=True)
            word = _MARKS.get(status, status)
            row.add_column(no_wrap=True, min_width=1 if status == "running" else len(word))  # a long summary takes no room from it
            row.add_column(overflow="ellipsis", no_wrap=True, ratio=1)
            label = Text(name, style="bold")
            shown = Text(one_line(text), style="dim" if status == "running" else "")
            mark: Any = Spinner("dots") if status == "running" else Text(word, style=_COLOURS.get(status, ""))
            row.add_row(mark, Text.assemble(label, " ", shown))
            tree.add(row)
        return tree


def open_progress(title: str, *, quiet: bool, verbose: bool) -> Any:
    """A context manager that is a Progress. The live tree needs a terminal and no ``--verbose``."""
    from agent.orchestrator import Silence

    if quiet:
        return _Quiet(Silence())
    if sys.stderr.isatty() and not verbose:
        return LiveProgress(sys.stderr, title)
    return PlainProgress(sys.stderr, verbose=verbose)


class _Quiet:
    def __init__(self, silence: Progress) -> None:
        self._silence = silence

    def __enter__(self) -> Progress:
        return self._silence

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None: ...
