"""The tests of a playbook draft: the launch as it was found, and the launch under the fix."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent.domain.changes import changed_launch
from agent.domain.facts import ROLES
from agent.domain.investigation import Finding, Investigation
from agent.domain.launch import Launch
from agent.domain.verdict import Change

_OF_THE_MACHINE: Final = frozenset(("PATH", "HOME", "PWD", "LANG", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "XDG_CACHE_HOME"))
"""Variables that say where things lie on one machine: no part of what reproduces a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a run left behind beside its report. ``configs``: role to (path of config.json, content); ``log`` None: it was not read."""

    configs: Mapping[str, tuple[str, Mapping[str, Any]]]
    facts: Mapping[str, Any]
    log: tuple[str, ...] | None = None


def own_tests(run: Investigation, finding: Finding, remembered: Remembered) -> Iterator[dict[str, Any]]:
    """The run's own launch, where the playbook has to confirm, and the launch under the fix, where it has to be silent."""
    assert run.launch is not None and run.subject is not None
    env = {name: value for name, value in run.launch.env.items() if name not in _OF_THE_MACHINE}
    launch = Launch(argv=run.launch.argv, env=env)
    base = {
        "release": {"package": run.subject.package, "version": run.subject.version},
        "symptom": run.symptom.text,
        "models": {folder_of(run, path): dict(config) for path, config in remembered.configs.values()},
        **{role: folder_of(run, path) for role, (path, _) in remembered.configs.items() if role in ROLES},
        **({"assume": dict(remembered.facts)} if remembered.facts else {}),
    }
    guard = {"guard": {"path": finding.guard.path, "line": finding.guard.line}} if finding.guard else {}
    yield {"name": "as it was found", **base, **_launch(launch), "expect": "confirmed", **guard}
    changes = _inputs(finding)
    if changes:
        yield {"name": "healthy under the fix", **base, **_launch(changed_launch(launch, changes)), "expect": "silent"}


def folder_of(run: Investigation, path: str) -> str:
    """The model's directory as the launch names it: relative, absolute, or as the name of a repository in the download cache."""
    folder = posixpath.dirname(path)
    if run.launch is None:
        return folder
    for word in run.launch.argv:
        value = word.partition("=")[2] if word.startswith("--") else word
        if value and (
            posixpath.normpath(posixpath.join(run.launch.cwd, value)) == folder or f"/models--{value.replace('/', '--')}/" in path
        ):
            return posixpath.normpath(value)
    return folder


def _inputs(finding: Finding) -> tuple[Change, ...]:
    """The fix's changes, if flags and variables are all that it changes."""
    changes = finding.counterfactual.change if finding.counterfactual else ()
    return changes if all(change.name.startswith(("--", "env:")) for change in changes) else ()


def _launch(launch: Launch) -> dict[str, Any]:
    return {"launch": list(launch.argv), **({"env": dict(launch.env)} if launch.env else {})}
