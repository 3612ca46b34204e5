"""``rca capture``: save all that a run needs as one redacted bundle."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.options import What, Where, settings, what_options, where_options
from agent.cli.progress import open_progress
from agent.domain.counting import counted
from agent.domain.errors import NotFoundOnHost, UsageError

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.launch import HostSpec
    from agent.hosts.bundle import Bundle
    from agent.orchestrator import Progress


@click.command("capture")
@click.option("-o", "--output", "file", metavar="FILE", required=True, help="The bundle to write.")
@click.option("--symptom", metavar="TEXT", default="", help="Read what a run for this symptom reads, too.")
@where_options
@what_options
@click.option("--playbook", "playbooks", multiple=True, metavar="ID|FILE", help="Read what this playbook needs; may be repeated.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@click.option("--verbose", "-v", is_flag=True, help="Say more.")
def command(file: str, symptom: str, where: Where, what: What, playbooks: tuple[str, ...], force: bool, quiet: bool, verbose: bool) -> int:
    """Read a host once, so that it can be examined elsewhere: rca run --bundle FILE --symptom ...

    Secrets are masked before anything is written. Source files are in the bundle, model weights are not.
    """
    path = Path(file)
    if path.exists() and not path.is_file():
        raise UsageError(f"{file} is no regular file", hint="a bundle takes the place of what is there")
    if path.exists() and not force:
        raise UsageError(f"{file} exists", hint="choose another name, or --force")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no directory {path.absolute().parent}")
    if where.bundle:
        raise UsageError("--bundle is what capture makes", hint="name a host")
    config = settings()
    spec = where.one()
    with open_progress(f"rca capture on {spec.name}", quiet=quiet, verbose=verbose) as progress:
        bundle = asyncio.run(_captured(spec, symptom, what, playbooks, replace(config, model=""), progress))
    bundle.save(path)
    if not quiet:
        size = path.stat().st_size / 1e6
        source = counted(sum(len(tree.contents) for tree in bundle.trees), "source file")
        held = f"{counted(len(bundle.answers), 'read')}, {counted(len(bundle.files), 'file')}, {source}"
        click.echo(
            f"{file}: {held}, {size:.1f} MB. Look into it before you send it: secrets were masked by their names and shapes.", err=True
        )
    sys.stdout.flush()
    return 0


async def _captured(spec: HostSpec, symptom: str, what: What, playbooks: tuple[str, ...], config: Settings, progress: Progress) -> Bundle:
    """Everything that a run collects before it judges, and some more. A host without a server still gives a bundle of what there is."""
    from agent import __version__, wiring
    from agent.domain.investigation import Symptom
    from agent.hosts.bundle import Bundle
    from agent.hosts.capturing import CapturingHost
    from agent.orchestrator import Request
    from agent.orchestrator.crew import Crew
    from agent.orchestrator.scene import Scene, collect

    files = tuple(Path(text) for text in playbooks if text.endswith((".yaml", ".yml")))
    tools = wiring.tools(config, progress, files)
    request = Request(
        symptom=Symptom.parse(symptom),
        pid=what.pid,
        tree=what.tree,
        launch=what.given_launch(),
        log=what.log,
        env=what.env,
        assume=what.assume,
        playbooks=tuple(text for text in playbooks if not text.endswith((".yaml", ".yml"))),
    )
    bundle = Bundle(host=spec.name, container=spec.container, captured_at=wiring.now(), rca_version=__version__)
    inner = await wiring.open_host(spec, config, tuple(tools.products))
    bundle.transport = inner.transport_name
    host = CapturingHost(inner, bundle)
    try:
        await collect(Scene(), host, Crew(host, tools), request, tools)
    except NotFoundOnHost as problem:
        click.echo(f"rca: {problem}; the bundle holds the host's processes and facts alone", err=True)
    finally:
        await host.close()
    return bundle
