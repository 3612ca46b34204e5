"""``rca playbook save``: a stored run becomes a playbook draft that reproduces it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import settings
from agent.cli.releases import Releases
from agent.cli.stored import run_argument

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.investigation import Investigation
    from agent.domain.playbook import Playbook
    from agent.domain.source import SourceTree
    from agent.evaluation.interface import Engine
    from agent.subagents.playbook.draft_tests import Remembered
    from agent.subagents.playbook.origin import Origin


@click.command("save")
@run_argument()
@click.option("--id", "id_", required=True, metavar="NAME", help="Name of the playbook: lower case, digits and hyphens.")
@click.option("--trees", default="", metavar="DIR", help="Folder of unpacked releases, named PACKAGE-VERSION.")
@click.option("--fetch", is_flag=True, help="Fetch the run's own release with pip where it is not there.")
@click.option("--out", default="", metavar="FILE", help="Write it here instead of into the configuration directory.")
@click.option("--force", is_flag=True, help="Write over a playbook of that name.")
def command(run: str, id_: str, trees: str, fetch: bool, out: str, force: bool) -> int:
    """Make a playbook draft of the stored RUN (an id, the beginning of one, or "last").

    Its lines become code queries, its launch and configs a test. A finding without a line or setting, which rests on configuration or
    log alone, is asked again as the run's own playbook asks it. Where trees of neighbouring releases are at hand, the draft is tried on
    them and its version range says where it held.
    """
    from agent.domain.errors import UsageError
    from agent.library.reading import parse_playbook
    from agent.subagents.playbook.draft import draft

    config = settings()
    place = Path(out) if out else config.playbook_dir / f"{id_}.yaml"
    if place.exists() and not force:
        raise UsageError(f"{place} is there already", hint="choose another --id, or give --force")
    investigation, remembered = _load(run, config)
    releases = Releases(config, trees, fetch=fetch)
    content = draft(investigation, id_, remembered, _engine(investigation, remembered, releases), _origin(investigation, config))
    playbook = parse_playbook(_yaml(content, investigation), str(place))
    _try_on_releases(playbook, content, releases)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(_yaml(content, investigation))
    click.echo(place)
    click.echo(f"A draft: read it, then try it with `rca playbook test {place} --trees DIR`.", err=True)
    return 0


def _load(reference: str, config: Settings) -> tuple[Investigation, Remembered]:
    from agent import wiring
    from agent.orchestrator import remembered as names
    from agent.subagents.playbook.draft_tests import Remembered

    store = wiring.store(config)
    try:
        investigation = store.load(reference)
        kept = {name: store.artefact(reference, name) for name in store.artefacts(reference)}
    finally:
        store.close()
    configs = json.loads(kept.get(names.CONFIGS, b"{}"))
    log = kept.get(names.LOG)
    return investigation, Remembered(
        configs={role: (one["path"], one["config"]) for role, one in configs.items()},
        facts=json.loads(kept.get(names.FACTS, b"{}")),
        log=None if log is None else tuple(log.decode("utf-8", "replace").split("\n")),
    )


def _origin(run: Investigation, config: Settings) -> Origin | None:
    """The playbook that the run followed, where it is still there."""
    from agent import wiring
    from agent.domain.errors import UsageError
    from agent.library.reading import raw_playbook
    from agent.subagents.playbook.origin import Origin

    try:
        playbook = wiring.library(config).get(run.playbook)
    except UsageError:
        return None
    return Origin(playbook=playbook, content=raw_playbook(Path(playbook.origin)))


def _engine(run: Investigation, remembered: Remembered, releases: Releases) -> Engine | None:
    """On the published release: its lines are those of the run where nobody patched the host's files."""
    from agent import wiring
    from agent.domain.launch import Launch
    from agent.subagents.playbook.draft_tests import folder_of
    from agent.subagents.playbook.rehearsal import GivenFiles

    tree = releases.tree(run.subject.package, run.subject.version) if run.subject else None
    if tree is None or run.launch is None:
        return None
    contents = {f"{folder_of(run, path)}/config.json": json.dumps(config).encode() for path, config in remembered.configs.values()}
    files = GivenFiles(contents=contents)
    return wiring.open_engine(tree, Launch(argv=run.launch.argv, env=run.launch.env), files=files, facts=remembered.facts)


def _try_on_releases(playbook: Playbook, content: dict[str, Any], releases: Releases) -> None:
    """Plays the draft's own test on every release at hand; the range and one line for each go into the draft and onto the terminal."""
    from agent import wiring
    from agent.subagents.playbook.rehearsal import rehearse
    from agent.subagents.playbook.spread import spread

    test = playbook.tests[0]
    own = releases.tree(test.package, test.version)
    if own is None:
        click.echo(f"The range is {test.version} alone: no tree of it is at hand (--trees DIR, or --fetch).", err=True)
        return
    for problem in rehearse(playbook, test, own, wiring.open_engine).problems:
        click.echo(f"The draft does not reproduce the run on {test.version}: {problem}", err=True)
        return
    found = spread(playbook, test, releases.versions(test.package), partial(_announced, releases, test.package), wiring.open_engine)
    content["applies_to"] = [{"package": test.package, "versions": found.specifier}]
    click.echo(f"It holds on {', '.join(found.held)}.", err=True)
    for version, problem in found.failed.items():
        click.echo(f"It does not hold on {version}: {problem}", err=True)


def _announced(releases: Releases, package: str, version: str) -> SourceTree | None:
    """The tree; judging it takes its time, so it is told before."""
    tree = releases.tree(package, version)
    if tree is not None:
        click.echo(f"Trying {package} {version}.", err=True)
    return tree


def _yaml(content: dict[str, Any], run: Investigation) -> bytes:
    import yaml

    head = f"# Draft from run {run.run.id}. The words are the report's, conditions and queries are generalised: read it first.\n"
    plain = json.loads(json.dumps(content))  # nothing in it is shared, so nothing is written as an alias
    text: str = yaml.safe_dump(plain, sort_keys=False, width=140, allow_unicode=True)
    return (head + text).encode()
