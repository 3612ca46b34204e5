"""``rca demo``: the founding case on an embedded SSH server on loopback; needs nothing set up."""

from __future__ import annotations

import asyncio
import importlib
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.options import Output, What, output_options, settings
from agent.cli.progress import open_progress
from agent.cli.run import investigate, present

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.demo.case import DemoCase
    from agent.demo.stage import Stage
    from agent.domain.investigation import Investigation
    from agent.orchestrator import Progress


@click.command("demo")
@click.option("--model", default="default", metavar="NAME", help='Target model: "default", or "kimi" for a second fault behind the first.')
@click.option("--transport", type=click.Choice(["auto", "asyncssh", "paramiko", "openssh"]), default="asyncssh", help="How to connect.")
@output_options("md", "json", "html", "sarif", "text", terminal="text")
def command(model: str, transport: str, output: Output) -> int:
    """Run the founding case: a draft model that never helps, and why.

    Starts an SSH server on loopback, fetches the release in question with pip (5 MB, once), starts a stand-in process with the
    recorded launch command, and investigates it over SSH as `rca run` does. Everything is removed afterwards.
    """
    from agent.demo.case import load_case
    from agent.demo.stage import staging

    config = settings()
    case = load_case("founding", model)
    wheel = _wheel(case, config, quiet=output.quiet)
    title = f"rca demo: {case.title}"
    with staging(case, wheel) as stage, open_progress(title, quiet=output.quiet, verbose=output.verbose) as progress:
        found = asyncio.run(_perform(case, stage, transport, config, progress))
    return present(found, output, config, next_steps=_next_steps(model))


async def _perform(case: DemoCase, staging: Future[Stage], transport: str, config: Settings, progress: Progress) -> Investigation:
    """The server, and the ordinary run against it and the stage, which is laid out meanwhile."""
    from dataclasses import replace

    from agent.demo.ssh_server import serving

    async with serving() as spec:
        importlib.import_module("agent.library.schema")  # what the run will load first
        stage = await asyncio.wrap_future(staging)
        return await investigate(replace(spec, transport=transport), case.symptom, What(pid=stage.pid), (), config, progress)


def _wheel(case: DemoCase, config: Settings, *, quiet: bool) -> Path:
    """The release, from the cache or the package index, with a progress bar on a terminal."""
    from agent.demo.wheel import cached_wheel

    folder = config.cache_dir / "wheels"
    if quiet or not sys.stderr.isatty():
        return cached_wheel(case.package, case.version, folder, lambda done: None)
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("fetching {task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(f"{case.package} {case.version}", total=case.wheel_bytes or None)
        return cached_wheel(case.package, case.version, folder, lambda done: bar.update(task, completed=done))


def _next_steps(model: str) -> list[tuple[str, str]]:
    other = "rca demo --model kimi" if model == "default" else "rca demo"
    return [("Next", other), ("Your own", 'rca run --host USER@HOST --symptom "what you see"')]
