"""``rca audit --diff A B``: two launches, two hosts or two bundles side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.asking import ask_both
from agent.cli.options import Output, What, Where
from agent.cli.presenting import present

if TYPE_CHECKING:
    from agent.domain.audit_difference import AuditDifference
    from agent.domain.verdict import AuditAnswer
    from agent.evaluation.engine import LaunchEngine
    from agent.evaluation.interface import Engine
    from agent.orchestrator import Progress
    from agent.probes.log import LogReading

_STEP = "audits"


def show_difference(names: tuple[str, str], where: Where, what: What, output: Output, *, everything: bool) -> None:
    """Audits both sides, compares them, and prints the result. Raises UsageError for a side that is nothing of these."""
    from agent.reports.difference_text import difference_markdown, show

    sides = [side(name, where, what) for name in names]
    found = ask_both(sides, output, "rca audit", lambda engines, progress: _compared(engines, names, everything, progress))
    markdown = difference_markdown(found, everything=everything) if output.format == "md" else ""
    present(found.as_dict(), lambda console: show(found, console, everything=everything), output, "audit-diff", markdown=markdown)


def side(name: str, where: Where, what: What) -> tuple[Where, What]:
    """A command (it has spaces), a bundle (a file), ``pid:N`` on the host that is given, or a host."""
    from agent.domain.errors import UsageError

    word, _, number = name.partition(":")
    if " " in name.strip():
        if not (what.tree or where.hosts or where.bundle or where.inventory or where.transport == "local"):
            raise UsageError(
                "a command is judged with a source tree", hint='give --tree DIR, or the --host whose tree it is: --diff "CMD" "CMD"'
            )
        return where, replace(what, launch=name)
    if word == "pid" and number.isdigit():
        return where, replace(what, pid=int(number))
    if Path(name).is_file():
        return replace(where, bundle=name, hosts=(), inventory=""), what
    if not name or name.startswith("-"):
        raise UsageError(f"--diff {name!r} is no host, bundle or command", hint='write --diff HOST HOST, FILE FILE or "CMD ..." "CMD ..."')
    return replace(where, hosts=(name,), inventory="", bundle=""), what


def _compared(
    engines: Sequence[tuple[Engine, LogReading]], names: tuple[str, str], everything: bool, progress: Progress
) -> AuditDifference:
    from agent.domain.redaction import redact_text
    from agent.evaluation.audit_difference import audit_difference
    from agent.subagents.observed import observed

    progress.started(_STEP, "judging every setting of both")
    audits: list[AuditAnswer] = [observed(engine.audit(), log) for engine, log in engines]
    shown = (redact_text(names[0]), redact_text(names[1]))
    a, b = (_launch_engine(engine) for engine, _ in engines)
    found = audit_difference(a, b, (audits[0], audits[1]), shown, all_lines=everything, say=lambda text: progress.said(_STEP, text))
    progress.ended(_STEP, "done", f"{len(found.settings)} settings and {len(found.lines)} runs of lines differ")
    return found


def _launch_engine(engine: Engine) -> LaunchEngine:
    from agent.evaluation.engine import LaunchEngine
    from agent.subagents.shared_engine import SharedEngine

    found = engine.inner if isinstance(engine, SharedEngine) else engine
    assert isinstance(found, LaunchEngine)
    return found
