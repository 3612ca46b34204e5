"""Finds the source tree that a process imports, by asking the host the way its own Python would look."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.domain.errors import NotFoundOnHost
from agent.hosts import commands
from agent.hosts.commands import FileStat, to_text
from agent.probes.interpreter import ProcessPlace, SearchPlan, interpreter_candidates, plan_search, python_version
from agent.probes.source_tree import Located, editable_names, editable_roots, find_package, installed_packages, package_version, probe_paths
from agent.subagents.asking import Answers, ask
from agent.subagents.interface import Desk
from agent.subagents.server_process import ProcessFound

_METADATA = ("*.dist-info", "*.egg-info", "*.pth", "*.egg-link", "__editable__*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFound:
    """Where the package lies, its version (empty is unknown), and what is installed beside it (name to version)."""

    located: Located
    version: str
    python: str
    installed: Mapping[str, str]
    evidence: tuple[str, ...]


async def find_tree(desk: Desk, process: ProcessFound, package: str) -> TreeFound:
    """Raises NotFoundOnHost, naming every directory that was asked."""
    desk.say(f"looking for the {package} that process {process.pid} imports")
    place = ProcessPlace(argv=process.launch.argv, env=process.launch.env, cwd=process.cwd, exe=process.exe)
    version = python_version(process.exe) or await _version_from_maps(desk, process.pid)
    candidates = interpreter_candidates(place)
    answers = await _look(desk, process.pid, place, candidates, version, package)
    stats = _stats(answers)
    plan = plan_search(place, _interpreters(candidates, process, stats, answers), version)
    entries = _entries(answers)
    located = find_package(package, plan.directories, frozenset(stats), plan.sites)
    if located is None or located.namespace:
        located = await _editable(desk, package, plan, entries) or located
    if located is None:
        raise _no_tree(desk, package, plan)
    return _report(desk, process, located, plan, entries)


async def given_tree(desk: Desk, package: str, root: str) -> TreeFound:
    """A directory that a person named, and the release that its metadata names. Whether it is there is for the snapshot to find."""
    answers = await ask(desk.host, {"entries": commands.find([root], names=_METADATA, kind="", min_depth=1, max_depth=1)})
    entries = _entries(answers).get(root, [])
    version = package_version(package, entries)
    if not version:
        desk.unknown(f"the version of {package}", f"no metadata directory in {root} names it, or several disagree", "name its release")
    located = Located(package=package, root=root, how="given with --tree")
    return TreeFound(
        located=located, version=version, python="", installed=installed_packages(entries), evidence=_beside(desk, root, entries)
    )


def _beside(desk: Desk, root: str, entries: Sequence[str]) -> tuple[str, ...]:
    """The metadata directories as evidence, where there are any."""
    found = "\n".join(f"{root}/{name}" for name in sorted(entries) if name.endswith("-info"))
    return (desk.ledger.add("command", found, path=root, command=f"ls -d {shlex.quote(root)}/*-info"),) if found else ()


async def _version_from_maps(desk: Desk, pid: int) -> str:
    """For executables that are just called ``python``: the version in the paths of loaded libraries."""
    answers = await ask(desk.host, {"maps": commands.proc_file(pid, "maps")})
    return python_version(to_text(answers.bytes_or_none("maps") or b""))


async def _look(desk: Desk, pid: int, place: ProcessPlace, candidates: Sequence[str], version: str, package: str) -> Answers:
    """One round trip for every interpreter that may be the one: which exist, their pyvenv.cfg, which directories hold the package."""
    plan = plan_search(place, candidates, version)
    paths = [*candidates, f"/proc/{pid}/exe", *probe_paths(package, plan.directories)]
    wanted = {"stat": commands.stat(paths)}
    if plan.sites:
        wanted["entries"] = commands.find(plan.sites, names=_METADATA, kind="", min_depth=1, max_depth=1)
    for candidate in candidates:
        wanted[_config_path(candidate)] = commands.read_bytes(_config_path(candidate), size=64_000)
    return await ask(desk.host, wanted)


def _config_path(interpreter: str) -> str:
    """PEP 405: pyvenv.cfg stands one directory above the executable."""
    return f"{posixpath.dirname(posixpath.dirname(interpreter))}/pyvenv.cfg"


def _stats(answers: Answers) -> dict[str, FileStat]:
    result = answers.result("stat")
    return commands.parse_stat(result) if result else {}


def _interpreters(candidates: Sequence[str], process: ProcessFound, stats: Mapping[str, FileStat], answers: Answers) -> list[str]:
    """The interpreter as called when it belongs to a virtual environment, else the executable that it resolves to."""
    exe = stats.get(f"/proc/{process.pid}/exe")
    same = [path for path in candidates if path in stats and (exe is None or _inode(stats[path]) == _inode(exe))]
    for path in same:
        config = answers.bytes_or_none(_config_path(path))
        if config is not None:
            inherits = b"include-system-site-packages = true" in config.lower()
            return [path, *([process.exe] if inherits and process.exe else [])]
    return [process.exe] if process.exe else same[:1]


def _inode(stat: FileStat) -> tuple[int, int]:
    return stat.device, stat.inode


def _entries(answers: Answers) -> dict[str, list[str]]:
    """Names of metadata and redirecting entries by site directory."""
    result = answers.result("entries") if "entries" in answers.commands else None
    found: dict[str, list[str]] = {}
    for path in to_text(result.stdout).split("\0") if result else ():
        if path:
            found.setdefault(posixpath.dirname(path), []).append(posixpath.basename(path))
    return found


async def _editable(desk: Desk, package: str, plan: SearchPlan, entries: Mapping[str, Sequence[str]]) -> Located | None:
    """Reads what redirects imports and keeps the first root that really holds the package."""
    names = editable_names(package, {site: entries[site] for site in plan.sites if site in entries})
    answers = await ask(desk.host, {name: commands.read_bytes(name, size=1_000_000) for name in names})
    files = {name: content for name in names if (content := answers.bytes_or_none(name)) is not None}
    roots = editable_roots(package, files)
    if not roots:
        return None
    found = await desk.host.run(commands.stat([path for root in roots for path in probe_paths(package, [root.root])]))
    existing = commands.parse_stat(found)
    regular = [root for root in roots if f"{root.root}/{package}/__init__.py" in existing]
    return next(iter(regular), None) or next((root for root in roots if f"{root.root}/{package}" in existing), None)


def _no_tree(desk: Desk, package: str, plan: SearchPlan) -> NotFoundOnHost:
    asked = ", ".join(plan.directories) or "no directory: the interpreter could not be read"
    desk.ledger.add("absence", "", path=package, command=f"stat {' '.join(f'{folder}/{package}' for folder in plan.directories)}")
    return NotFoundOnHost(
        f"the package {package} that the process imports was not found on {desk.host.spec.name}",
        looked_for=package,
        where=asked,
        hint=f"give its directory with --tree DIR; asked: {asked}",
    )


def _report(desk: Desk, process: ProcessFound, located: Located, plan: SearchPlan, entries: Mapping[str, Sequence[str]]) -> TreeFound:
    site_entries = entries.get(located.site, ()) if located.site else [name for site in plan.sites for name in entries.get(site, ())]
    version = package_version(located.package, site_entries)
    if not version:
        desk.unknown(f"the version of {located.package}", "no metadata directory names it, or several disagree", "pip show on the host")
    installed: dict[str, str] = {}
    for site in reversed(plan.sites):
        installed.update(installed_packages(entries.get(site, ())))
    excerpt = f"{located.package} {version or 'of unknown version'} in {located.root}: {located.how}"
    shown = desk.ledger.add(
        "command", excerpt, path=f"{located.root}/{located.package}", command=f"stat -L -- {located.root}/{located.package}/__init__.py"
    )
    return TreeFound(located=located, version=version, python=plan.version, installed=dict(sorted(installed.items())), evidence=(shown,))
