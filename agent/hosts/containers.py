"""Containers: how a shell is started inside one, and how a process seen on the host is recognised as living in one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.domain.errors import UsageError
from agent.hosts.pool import SHELLS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_ENGINES: Mapping[str, Callable[[str], str]] = {
    "docker": lambda name: f"docker exec -i {name}",
    "podman": lambda name: f"podman exec -i {name}",
    "kubectl": lambda name: _kubectl(*name.split("/")),
}
# How engines name a process's cgroup, on cgroup v1 and v2, under the systemd and the cgroupfs driver.
_CGROUPS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("kubectl", re.compile(r"kubepods.*pod(?P<pod>[0-9a-f]{8}[-_0-9a-f]{28}).*?(?P<id>[0-9a-f]{64})")),
    ("docker", re.compile(r"/docker[-/](?P<id>[0-9a-f]{64})")),
    ("podman", re.compile(r"/libpod-(?:conmon-)?(?P<id>[0-9a-f]{64})")),
    ("containerd", re.compile(r"/(?:cri-containerd-|system\.slice/|default/)?(?P<id>[0-9a-f]{64})(?:\.scope)?$", re.MULTILINE)),
    ("lxc", re.compile(r"/lxc(?:\.payload)?[./](?P<id>[A-Za-z0-9_.-]+)")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """``engine``: docker, podman, kubectl (a pod), containerd, lxc. ``id``: short container id. ``hint``: what to do, for a person."""

    engine: str
    id: str
    hint: str


def shells(container: str) -> tuple[str, ...]:
    """Commands that start a shell in ``docker:NAME``, ``podman:NAME`` or ``kubectl:NAMESPACE/POD[/CONTAINER]``; the host's own for "".

    Raises UsageError for any other text.
    """
    if not container:
        return SHELLS
    engine, _, name = container.partition(":")
    if engine not in _ENGINES or not name or not all(_NAME.fullmatch(part) for part in name.split("/")):
        raise UsageError(f"not a container: {container!r}", hint="docker:NAME, podman:NAME or kubectl:NAMESPACE/POD")
    start = _ENGINES[engine](name)
    return (f"exec {start} /bin/sh -s", f"exec {start} sh -s")


def recognise(cgroup: str) -> Container | None:
    """The container of a process, from the text of its ``/proc/PID/cgroup`` as the host sees it; None where there is none."""
    for engine, pattern in _CGROUPS:
        found = pattern.search(cgroup)
        if found:
            short = found["id"][:12]
            return Container(engine=engine, id=short, hint=_hint(engine, short, found.groupdict().get("pod") or ""))
    return None


def _hint(engine: str, short: str, pod: str) -> str:
    if engine in ("docker", "podman"):
        return f"the process lives in a container, where paths differ: run again with --container {engine}:{short}"
    if engine == "kubectl":
        return f"the process lives in pod {pod.replace('_', '-')}: run again with --container kubectl:NAMESPACE/POD"
    return f"the process lives in {engine} container {short}, where paths differ: give --tree as the container sees it"


def _kubectl(namespace: str, pod: str = "", container: str = "") -> str:
    if not pod:
        namespace, pod = "default", namespace
    return f"kubectl exec -i -n {namespace} {pod}" + (f" -c {container}" if container else "") + " --"
