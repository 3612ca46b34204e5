"""What ``rca doctor`` looks at on this machine: Python, libraries, ssh, keys, directories, compression, trackers, language model."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

from agent.config import Settings
from agent.domain.errors import RcaError
from agent.domain.launch import HostSpec
from agent.hosts.checkup import NOTE, OK, PROBLEM, Check
from agent.hosts.decoding import formats

DISTRIBUTION = "rca-agent"
_SECONDS = 5.0
_TRACKERS = ("github", "gitlab", "jira", "redmine")  # extras of the distribution, by name


def check_machine(config: Settings) -> list[Check]:
    """Everything about this machine; nothing is sent anywhere."""
    return [look(config) for look in _CHECKS]


def _python(config: Settings) -> Check:
    return Check(name="Python", status=OK, found=sys.version.split()[0])


def _libraries(config: Settings) -> Check:
    """Every library that this distribution asks for, in a version that it asks for."""
    try:
        wanted = list(_requirements())
    except metadata.PackageNotFoundError:
        return Check(name="libraries", status=NOTE, found="rca runs from its source, not installed", to_do=f"pip install {DISTRIBUTION}")
    wrong = [why for name, allowed in wanted if (why := _wrong(name, allowed))]
    if wrong:
        return Check(
            name="libraries", status=PROBLEM, found="; ".join(wrong), to_do=f"install {DISTRIBUTION} again, in an environment of its own"
        )
    shown = ", ".join(f"{name} {metadata.version(name)}" for name in ("asyncssh", "paramiko", "tree-sitter"))
    return Check(name="libraries", status=OK, found=f"all {len(wanted)}, among them {shown}")


def _ssh(config: Settings) -> Check:
    if shutil.which("ssh") is None:
        advice = "ssh_config is read by asyncssh alone, and --transport openssh is not possible: install an OpenSSH client"
        return Check(name="ssh", status=NOTE, found="not installed", to_do=advice)
    return Check(name="ssh", status=OK, found=_said("ssh", "-V").strip() or "installed")


def _ssh_config(config: Settings) -> Check:
    from agent.transports.ssh_config import resolve
    from agent.transports.ssh_options import SshOptions

    try:
        asyncio.run(resolve(HostSpec(name="localhost"), SshOptions(own_known_hosts=config.known_hosts)))
    except RcaError as error:
        return Check(name="ssh_config", status=PROBLEM, found=error.what, to_do=error.hint)
    return Check(name="ssh_config", status=OK, found="can be used" if (Path.home() / ".ssh" / "config").exists() else "there is none")


def _keys(config: Settings) -> Check:
    files = [path.name for path in sorted((Path.home() / ".ssh").glob("id_*")) if path.suffix != ".pub"]
    agent = len(_said("ssh-add", "-L").splitlines()) if os.environ.get("SSH_AUTH_SOCK") else 0
    if not files and not agent:
        advice = "pass --identity FILE, or load a key with ssh-add"
        return Check(name="keys", status=NOTE, found="no key file, no key in an agent", to_do=advice)
    return Check(name="keys", status=OK, found=f"files: {', '.join(files) or 'none'}; in the agent: {agent}")


def _known_hosts(config: Settings) -> Check:
    files = [path for path in (Path.home() / ".ssh" / "known_hosts", config.known_hosts) if path.exists()]
    lines = sum(len(path.read_text(errors="replace").splitlines()) for path in files)
    if not lines:
        return Check(name="known hosts", status=NOTE, found="none yet", to_do="connect once with ssh, or use --host-key-policy accept-new")
    return Check(name="known hosts", status=OK, found=f"{lines} keys in {', '.join(map(str, files))}")


def _directories(config: Settings) -> Check:
    for path in (config.cache_dir, config.data_dir, config.config_dir):
        found = _existing(path)
        if not (found.is_dir() and os.access(found, os.W_OK)):
            return Check(name="directories", status=PROBLEM, found=f"{path} cannot be written", to_do="set RCA_HOME to one that can")
    kept = sum(path.stat().st_size for path in config.cache_dir.rglob("*") if path.is_file()) / 1e6
    free = shutil.disk_usage(_existing(config.cache_dir)).free / 1e9
    return Check(
        name="directories", status=OK, found=f"cache {config.cache_dir} ({kept:.0f} MB, {free:.0f} GB are free), runs {config.data_dir}"
    )


def _compression(config: Settings) -> Check:
    if "z" in formats():
        return Check(name="zstd", status=OK, found="source trees arrive compressed with zstd")
    return Check(name="zstd", status=NOTE, found="not available: gzip is used", to_do="pip install backports.zstd")


def _trackers(config: Settings) -> Check:
    """Clients of trackers are extras."""
    missing = [name for name in _TRACKERS if any(_wrong(*each) for each in _requirements_of(name))]
    if missing:
        advice = f"pip install '{DISTRIBUTION}[{','.join(missing)}]', to put reports on their tickets"
        return Check(name="trackers", status=NOTE, found=f"no client for {', '.join(missing)}", to_do=advice)
    return Check(name="trackers", status=OK, found=", ".join(_TRACKERS))


def _model(config: Settings) -> Check:
    if config.model:
        return Check(name="language model", status=OK, found=f"{config.model} at {config.base_url or 'the default address'}")
    found = "none: the engine and the playbooks work alone"
    return Check(name="language model", status=NOTE, found=found, to_do="--model and --base-url, if wanted")


_CHECKS: Sequence[Callable[[Settings], Check]] = (
    _python, _libraries, _ssh, _ssh_config, _keys, _known_hosts, _directories, _compression, _trackers, _model,
)  # fmt: skip


Requirement = tuple[str, str]
"""A distribution's name and the versions that will do."""


def _requirements(extra: str = "") -> Iterator[Requirement]:
    """What the installed distribution asks for, on this Python; with an extra, also what that one asks for."""
    from packaging.requirements import Requirement as Parsed

    for line in metadata.requires(DISTRIBUTION) or ():
        parsed = Parsed(line)
        if parsed.marker is None or parsed.marker.evaluate({"extra": extra}):
            yield parsed.name, str(parsed.specifier)


def _requirements_of(extra: str) -> list[Requirement]:
    try:
        return [each for each in _requirements(extra) if each not in set(_requirements())]
    except metadata.PackageNotFoundError:
        return []


def _wrong(name: str, allowed: str) -> str:
    """What is wrong with an installed library; empty where nothing is."""
    from packaging.specifiers import SpecifierSet

    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is missing"
    return "" if SpecifierSet(allowed).contains(version, prereleases=True) else f"{name} is {version}, not {allowed}"


def _existing(path: Path) -> Path:
    """The path, or the nearest directory above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _said(*argv: str) -> str:
    """What a program of this machine prints; empty where it fails."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr) if done.returncode == 0 else ""
