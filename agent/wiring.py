"""The only module that names concrete transports, models, tickets and reports: one table each, loaded by name when used."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import __version__
from agent.config import GENERAL_ENVIRONMENT, Settings, load_settings, shipped_directory
from agent.domain.errors import PlaybookInvalid, UsageError
from agent.domain.launch import HostSpec, Launch
from agent.domain.source import Files, SourceTree
from agent.evaluation.interface import Engine
from agent.probes.products import Product, allowed_names, parse_product, python_program

if TYPE_CHECKING:
    from agent.domain.investigation import Investigation
    from agent.hosts.interface import Host
    from agent.library import Library
    from agent.orchestrator import Model, Progress, Tools
    from agent.reports.interface import Report
    from agent.store.runs import RunStore
    from agent.tickets.interface import Posting, Ticket, Tracker
    from agent.transports.interface import Transport

TRANSPORTS: Mapping[str, str] = {
    "asyncssh": "agent.transports.asyncssh_client:AsyncsshTransport",
    "paramiko": "agent.transports.paramiko_client:ParamikoTransport",
    "openssh": "agent.transports.openssh_client:OpensshTransport",
    "local": "agent.transports.local:LocalTransport",
}
MODELS: Mapping[str, str] = {
    "replay": "agent.llm.replay:open_replay",
    "": "agent.llm.endpoint:open_endpoint",
}
"""What ``--model`` begins with, up to a colon, to the factory of the client; the empty name serves all others."""
CONVERSATION = "conversation.jsonl"
"""Name under which a run's conversation with a language model is stored."""
REPORTS: Mapping[str, str] = {
    "md": "agent.reports.markdown:MarkdownReport",
    "json": "agent.reports.json:JsonReport",
    "html": "agent.reports.html:HtmlReport",
    "sarif": "agent.reports.sarif:SarifReport",
    "text": "agent.reports.terminal:TerminalReport",
}
TICKETS: Mapping[str, str] = {
    "github": "agent.tickets.github:GitHub",
    "gitlab": "agent.tickets.gitlab:GitLab",
    "jira": "agent.tickets.jira:Jira",
    "redmine": "agent.tickets.redmine:Redmine",
    "mail": "agent.tickets.mail:Mail",
    "directory": "agent.tickets.files:Directory",
}
"""In the order in which they are asked whether a reference is theirs; a client library is loaded when something is posted."""
ATTACHED = ("html", "md", "json")
"""Forms of the report that go with a ticket."""


def _named(place: str) -> Any:
    """``module:name``, imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def products() -> tuple[Product, ...]:
    """The product tables, sorted by file name."""
    import yaml

    found = []
    for path in sorted((shipped_directory("playbooks") / "products").glob("*.yaml")):
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(table, dict):
            raise PlaybookInvalid("expected a mapping", where="(top)", file=str(path))
        found.append(parse_product(table, file=str(path)))
    return tuple(found)


def transports() -> Mapping[str, Any]:
    """Name to factory; the SSH library behind a name is imported when its factory is called."""

    return {name: partial(_transport, name) for name in TRANSPORTS}


def _transport(name: str, settings: Settings) -> Transport:
    """The local one takes nothing; the SSH ones take how to log in."""
    if name == "local":
        local: Transport = _named(TRANSPORTS[name])()
        return local
    from agent.transports.ssh_options import SshOptions

    options = SshOptions(
        own_known_hosts=settings.known_hosts,
        prompt=ask_person if sys.stdin.isatty() and sys.stderr.isatty() else None,
        connect_seconds=settings.connect_timeout,
        login_seconds=settings.login_timeout,
    )
    made: Transport = _named(TRANSPORTS[name])(options)
    return made


def ask_person(question: str, shown: bool) -> str:
    """Asks on the terminal; what is typed is not shown unless it may be."""
    import getpass

    return input(f"{question} ") if shown else getpass.getpass(f"{question} ")


async def open_host(spec: HostSpec, settings: Settings, known: Sequence[Product]) -> Host:
    """A connected host, or the host behind a bundle; raises HostError or StoreError."""
    from agent.hosts.bundle import TRANSPORT
    from agent.hosts.connect import connect

    if spec.transport.startswith(TRANSPORT):
        from agent.hosts.bundle_host import open_bundle

        return open_bundle(Path(spec.transport.removeprefix(TRANSPORT)))
    patterns = allowed_names(known, GENERAL_ENVIRONMENT)
    return await connect(spec, settings, transports(), environment=patterns, tell=tell)


def tell(problem: str, *, why: str = "") -> None:
    """What does not end a run and a person should know: one line on standard error, once; once for each ``why`` where one is given."""
    if (why or problem) in _TOLD:
        return
    from agent.domain.visible import visible

    _TOLD.add(why or problem)
    print(f"rca: {visible(problem)}", file=sys.stderr, flush=True)


_TOLD: set[str] = set()


def open_engine(tree: SourceTree, launch: Launch, *, files: Files, facts: Mapping[str, Any]) -> Engine:
    """The engine on one tree under one launch; what it parses and answers is kept on disk for the next run, and no secret with it."""
    from agent.domain.redaction import redact_facts

    known = redact_facts(facts)
    engine: Engine = _named("agent.evaluation.engine:open_engine")(tree, launch, files=files, facts=known, cache=_parsed())
    return engine


def forget() -> None:
    """Lets go of what engines keep of their trees for the next question: a program that goes from host to host asks none."""
    if "agent.evaluation.engine" in sys.modules:
        _named("agent.evaluation.engine:_INDEXES").clear()
        gc.collect()  # an engine's objects refer to each other


@cache
def _parsed() -> Any:
    """One per process: lowered modules by the hash of their text."""
    return _named("agent.hosts.ir_cache:IrCache")(load_settings().cache_dir / "ir")


def local_engine(tree: str, launch: Launch, facts: Mapping[str, Any]) -> Engine:
    """An engine over a directory of this machine. Only the package that the launch starts is looked at, where it can be told."""
    from agent.hosts.local_files import LocalFiles
    from agent.hosts.local_tree import DirectoryTree

    top = python_program(launch.argv)[1].partition(".")[0]
    packages = (top,) if top and (Path(tree) / top).is_dir() else ()
    return open_engine(DirectoryTree(tree, packages), launch, files=LocalFiles(launch.cwd), facts=facts)


def report(format: str) -> Report:
    """The renderer of one format; raises UsageError for an unknown one."""
    if format not in REPORTS:
        raise UsageError(f"no report format {format!r}", hint=f"one of {', '.join(REPORTS)}")
    made: Report = _named(REPORTS[format])()
    return made


def ticket(reference: str, environ: Mapping[str, str]) -> Ticket:
    """The ticket behind an address or key; raises UsageError with the forms there are."""
    trackers: list[Tracker] = [_named(place)() for place in TICKETS.values()]
    for tracker in trackers:
        if found := tracker.ticket(reference, environ):
            return found
    forms = ", ".join(form for tracker in trackers for form in tracker.forms)
    raise UsageError(f"{reference!r} is no ticket that rca knows", hint=f"one of: {forms}")


def posting(investigation: Investigation) -> Posting:
    """The investigation in every form that a tracker takes."""
    from agent.reports.brief import brief
    from agent.reports.markdown import summary
    from agent.tickets.interface import Attachment, Posting, posting_key

    run = investigation.run
    texts = {form: form.render(investigation) for form in map(report, ATTACHED)}
    return Posting(
        key=posting_key(investigation),
        run_id=run.id,
        date=run.started_at,
        brief=brief(investigation),
        summary=summary(investigation),
        report=next(text for form, text in texts.items() if form.name == "md"),
        attachments=tuple(
            Attachment(name=f"rca-{run.id}{form.suffix}", media_type=form.media_type, content=text.encode()) for form, text in texts.items()
        ),
    )


def library(settings: Settings, extra_files: Sequence[Path] = ()) -> Library:
    """Shipped playbooks, the user's own over them, ``extra_files`` over both."""
    from agent.library import Library

    return Library(shipped_directory("playbooks"), settings.playbook_dir, extra_files)


def store(settings: Settings) -> RunStore:
    """The runs made on this machine."""
    from agent.store.runs import RunStore

    return RunStore(settings.data_dir)


def model(settings: Settings, keep: Callable[[bytes], None]) -> Model | None:
    """The language model that may be asked, None where none is configured; no connection is made before the first question."""
    if not settings.model:
        return None
    from agent.orchestrator import Model

    kind, colon, rest = settings.model.partition(":")
    factory, name = (MODELS[kind], rest) if colon and kind in MODELS else (MODELS[""], settings.model)
    return Model(
        name=settings.model, open=lambda: _named(factory)(name, settings), budget=settings.budget, always=settings.ask_always, keep=keep
    )


def keep_nothing(conversation: bytes) -> None:
    """For runs that are not stored."""


def tools(
    settings: Settings,
    progress: Progress,
    playbook_files: Sequence[Path] = (),
    keep: Callable[[bytes], None] = keep_nothing,
) -> Tools:
    """Everything an investigation needs besides a host; ``keep`` is given the conversation with a language model."""
    from agent.orchestrator import Tools

    known = products()
    return Tools(
        library=library(settings, playbook_files),
        products=known,
        environment=allowed_names(known, GENERAL_ENVIRONMENT),
        open_engine=open_engine,
        clock=now,
        version=__version__,
        progress=progress,
        model=model(settings, keep),
    )


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id() -> str:
    """Sorts by time; four random characters tell two runs of one second apart."""
    import secrets

    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
