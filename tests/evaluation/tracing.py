"""What really ran, told by a tracer, and what the engine says would run, statement by statement."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agent.analysis import ir
from agent.analysis.control import scope_of
from agent.analysis.index import Index
from agent.analysis.syntax import statement_lines
from agent.domain.verdict import ReachAnswer


class Stopped(BaseException):
    """The traced run took too many lines."""


@dataclass(slots=True)
class Trace:
    """Lines run by file name; ``ended`` is the exception that ended the run, if any."""

    budget: int = 100_000
    lines: dict[str, set[int]] = field(default_factory=dict)
    ended: BaseException | None = None

    @contextmanager
    def following(self, names: Mapping[str, str]) -> Iterator[None]:
        """Notes lines of the files named (real file name to name in the tree) while the block runs; keeps what it raises."""
        for name in names.values():
            self.lines.setdefault(name, set())

        def of_line(frame: types.FrameType, event: str, _: Any) -> Any:
            if event == "line":
                self.budget -= 1
                if self.budget < 0:
                    raise Stopped
                self.lines[names[frame.f_code.co_filename]].add(frame.f_lineno)
            return of_line

        def of_call(frame: types.FrameType, event: str, _: Any) -> Any:
            return of_line if frame.f_code.co_filename in names else None

        before = sys.gettrace()
        sys.settrace(of_call)
        try:
            yield
        except BaseException as problem:
            self.ended = problem
        finally:
            sys.settrace(before)
            if self.budget < 0 and self.ended is None:  # the program itself has swallowed it
                self.ended = Stopped()


def run_source(source: str, name: str, argv: Sequence[str], *, budget: int = 4000) -> Trace:
    """Executes a program's text as ``__main__`` under the tracer."""
    trace = Trace(budget=budget)
    code = compile(source, f"<{name}>", "exec", dont_inherit=True)
    kept, sys.argv = sys.argv, [name, *argv]
    module = types.ModuleType("__main__")
    kept_main = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        with trace.following({f"<{name}>": name}):
            exec(code, module.__dict__)
    finally:
        sys.argv = kept
        sys.modules["__main__"] = kept_main
    return trace


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement inside a function with its verdict ("" where it has none)."""

    first: int
    last: int
    function: str
    verdict: str

    def ran(self, lines: set[int]) -> bool:
        return any(line in lines for line in range(self.first, self.last + 1))


def verdicts(answer: ReachAnswer) -> dict[int, str]:
    """Verdict by line."""
    found: dict[int, str] = {}
    for word in ("may", "unknown", "always", "never"):
        for first, last in getattr(answer, word):
            found.update(dict.fromkeys(range(first, last + 1), word))
    return found


def judged(index: Index, answer: ReachAnswer) -> list[Judged]:
    """Statements of function bodies that run something, each as its header's lines."""
    by_line = verdicts(answer)
    outline = index.outline(answer.file)
    found = []
    for statement, first, last in statement_lines(index.module(answer.file)):
        scope = scope_of(outline, statement)
        if isinstance(scope, ir.FunctionDef) and not _silent(statement):
            found.append(Judged(first, last, scope.name, by_line.get(first, "")))
    return found


def _silent(statement: ir.Stmt) -> bool:
    """Runs nothing that a tracer sees."""
    if isinstance(statement, (ir.Global, ir.Nonlocal)) or (isinstance(statement, ir.AnnAssign) and statement.value is None):
        return True
    return isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Constant)


def contradictions(statements: Sequence[Judged], lines: set[int], *, complete: bool) -> list[str]:
    """Statements judged against what ran; ``complete``: the run ended as the program meant it to, so that "always" is judged too."""
    found = []
    for each in statements:
        if each.verdict == "never" and each.ran(lines):
            found.append(f"line {each.first} ({each.function}): never, and it ran")
        elif each.verdict == "always" and complete and not each.ran(lines):
            found.append(f"line {each.first} ({each.function}): always, and it did not run")
    return found
