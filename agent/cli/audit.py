"""``rca audit``: every setting, asked, effective, observed; dead config; launches that will fail."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from agent.cli.asking import ask_session, ask_with_log, log_of
from agent.cli.options import Output, What, Where, output_options, what_options, where_options
from agent.cli.presenting import present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.domain.verdict import AuditAnswer, Change, Raise
    from agent.evaluation.interface import Engine
    from agent.orchestrator import Session
    from agent.probes.log import LogReading


@click.command("audit")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@where_options
@what_options
@click.option("--all", "everything", is_flag=True, help="Also what is as asked, unknown, or read by nothing.")
@click.option("--what-if", "what_if", default="", metavar='"--FLAG VALUE ..."', help="Audit the command with these flags changed.")
@click.option(
    "--diff", "sides", nargs=2, metavar="A B", default=None, help='Compare two hosts, bundle files, pid:N of --host, or "CMD ..." commands.'
)
@click.option(
    "--http",
    "http",
    is_flag=True,
    help="Also ask the running server itself, over the host's loopback. No pure read: some releases change the live server by answering.",
)
@output_options("text", "md", "json")
def command(
    names: tuple[str, ...],
    where: Where,
    what: What,
    everything: bool,
    what_if: str,
    sides: tuple[str, str] | None,
    http: bool,
    output: Output,
) -> int:
    """Show what became of every setting: asked, effective, observed; overridden by which line; read by nobody.

    NAME: only these, as field, --flag, env:VARIABLE, object.field or Class.attribute. From a host, or with --log FILE, the server's own
    start-up record stands beside them. Offline: --tree DIR --launch "CMD ...". Exit code 0: answered.

    --diff A B: which settings differ, and which lines run on one side alone because of them. --http: without it no request is made;
    with it, what the server's product is known to change when it answers is said first.
    """
    from agent.domain.errors import UsageError

    if sides is not None:
        if names or what_if or http:
            raise UsageError("--diff compares whole audits", hint="leave NAME, --what-if and --http out")
        from agent.cli.audit_diff import show_difference

        show_difference(sides, where, what, output, everything=everything)
        return 0
    if http:
        answer = _asked_itself(where, what, output, names, what_if)
    else:
        answer = ask_with_log(where, what, output, "rca audit", lambda engine, log: _audit(engine, log, what_if, names))
    from agent.reports.audit_text import audit_markdown, show_audit

    everything = everything or bool(names)
    markdown = audit_markdown(answer, everything=everything) if output.format == "md" else ""
    present(answer.as_dict(), lambda console: show_audit(answer, console, everything=everything), output, "audit", markdown=markdown)
    return 0


def _asked_itself(where: Where, what: What, output: Output, names: Sequence[str], what_if: str) -> AuditAnswer:
    """The audit with what the running server answers. Raises UsageError where none runs that is judged as it is."""
    from agent.domain.errors import UsageError

    if where.bundle or what.launch or what_if:
        raise UsageError("--http asks the server that runs", hint="leave --bundle, --launch and --what-if out, and give --host")

    async def work(session: Session) -> AuditAnswer:
        from agent import wiring
        from agent.subagents.observed import observed
        from agent.subagents.server_info import ServerInfo
        from agent.subagents.thinking import think

        audit = await think(session.engine.audit)
        process = session.scene.subject.process if session.scene.subject else None
        told = process.product.told if process is not None and process.product is not None else None
        if process is None or told is None:
            raise UsageError("how this server is asked for its settings is not known", hint="leave --http out")
        if told.warning:
            wiring.tell(told.warning)
        before = session.crew.unknowns
        answer = await session.crew.work(ServerInfo(told=told, audit=audit, pid=process.pid))
        for unknown in session.crew.unknowns:
            if unknown not in before:
                wiring.tell(f"{unknown.what} is not known: {unknown.why}")
        seen = observed(audit, log_of(session), answer)
        seen = replace(seen, notices=(*seen.notices, *([told.warning] if told.warning else [])))
        return await think(lambda: _only(seen, session.engine, names)) if names else seen

    return ask_session(where, what, output, "rca audit", work)


def _audit(engine: Engine, log: LogReading, what_if: str, names: Sequence[str]) -> AuditAnswer:
    """What was observed belongs to the launch as it runs, not to one that is changed."""
    from agent.subagents.observed import observed

    engine = engine.under(_changes(what_if)) if what_if else engine
    found = engine.audit() if what_if else observed(engine.audit(), log)
    return _only(found, engine, names) if names else found


def _only(audit: AuditAnswer, engine: Engine, names: Sequence[str]) -> AuditAnswer:
    """The rows of some settings, with the failures that are certain or that depend on one of them. Raises UsageError for a name that is
    none.
    """
    from agent.domain.errors import UsageError
    from agent.evaluation.audit import row_of

    rows = [row_of(engine, audit, name) for name in names]
    missing = [name for name, row in zip(names, rows, strict=True) if row is None]
    if missing:
        raise UsageError(f"no setting of this launch is called {', '.join(missing)}", hint="rca audit --all lists them")
    kept = tuple(row for row in rows if row is not None)
    asked = {row.name.rpartition(".")[2].removeprefix("env:") for row in kept}
    raises = tuple(found for found in audit.raises if found.certainty == "always" or _depends_on(found, asked))
    return replace(audit, settings=kept, raises=raises, dead_config=(), unread_keys=(), smells=())


def _depends_on(found: Raise, names: set[str]) -> bool:
    return any(not names.isdisjoint(re.findall(r"\w+", guard.condition)) for guard in found.guards)


def _changes(text: str) -> list[Change]:
    """``--flag value --switch env:NAME=VALUE`` as changes; the old values are the engine's to know."""
    from agent.domain.errors import UsageError
    from agent.domain.verdict import Change

    changes: list[Change] = []
    for word in shlex.split(text):
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            changes.append(Change(name=flag, from_=None, to=value if equals else True))
        elif word.startswith("env:") and "=" in word:
            name, _, value = word.partition("=")
            changes.append(Change(name=name, from_=None, to=value))
        elif changes:
            last = changes[-1]
            changes[-1] = replace(last, to=word if last.to is True else [*(last.to if isinstance(last.to, list) else [last.to]), word])
        else:
            raise UsageError(f"--what-if {text!r} begins with no flag", hint='write --what-if "--flag value"')
    return changes
