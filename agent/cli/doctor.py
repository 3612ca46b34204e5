"""``rca doctor``: say what is missing on this machine and on the host, and what to do about it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from agent.cli.folding import say
from agent.cli.options import Where, settings, where_options

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.launch import HostSpec
    from agent.hosts.checkup import Check

Found = Mapping[str, Sequence["Check"]]
_MARKS = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}
_HERE = "this machine"


@click.command("doctor")
@where_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the result.")
def command(where: Where, form: str) -> int:
    """Look at this machine and, with --host, at a host; every finding says what to do.

    Exit code 0: all is well, or only slower; 1: something will not work.
    """
    from agent.cli.own_machine import check_machine
    from agent.hosts.checkup import PROBLEM, worst

    config = settings()
    asked = bool(where.hosts or where.inventory or where.bundle or where.transport == "local")
    specs = where.specs() if asked else ()
    found: Found = {_HERE: check_machine(config), **(asyncio.run(_hosts(specs, config)) if specs else {})}
    if form == "json":
        click.echo(json.dumps(_plain(found), indent=2))
    else:
        say(_text(found))
    return 1 if any(worst(checks) == PROBLEM for checks in found.values()) else 0


async def _hosts(specs: Sequence[HostSpec], config: Settings) -> Found:
    """Each host by its name, in the order in which they were named; one that cannot be reached has that as its only finding."""
    from agent import wiring
    from agent.hosts.checkup import PROBLEM, Check, check_host
    from agent.hosts.many import distinct_names, each_host

    products = wiring.products()

    async def look(spec: HostSpec) -> list[Check]:
        host = await wiring.open_host(spec, config, products)
        try:
            return await check_host(host, products)
        finally:
            await host.close()

    found: dict[str, list[Check]] = {}
    async for outcome in each_host(specs, look, at_once=config.max_hosts):
        failed = [Check(name="connection", status=PROBLEM, found=outcome.error.what, to_do=outcome.error.hint)] if outcome.error else []
        found[outcome.host] = outcome.result or failed
    return {name: found[name] for name in distinct_names(specs)}


def _plain(found: Found) -> dict[str, object]:
    rows = [{"where": place, **check.as_dict()} for place, checks in found.items() for check in checks]
    return {"schema": "rca.doctor/1", "checks": rows}


def _text(found: Found) -> str:
    rows: list[str] = []
    for place, checks in found.items():
        width = max(len(check.name) for check in checks)
        rows += [*([""] if rows else []), place]
        for check in checks:
            rows.append(f"  {_MARKS[check.status]} {check.name:{width}}  {check.found}")
            if check.to_do:
                rows.append(f"  {'':7} {'':{width}}  -> {check.to_do}")
    return "\n".join(rows)
