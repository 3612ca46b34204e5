"""Inventories: which hosts a file names. Plain lists with ranges, Ansible INI and Ansible YAML; nothing in a file is ever run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.domain.errors import UsageError
from agent.domain.launch import HostSpec
from agent.hosts.host_names import expand

_SECTION = re.compile(r"\[(?P<name>[^\[\]:]+)(?::(?P<kind>children|vars))?\]")
_JUMP = re.compile(r"(?:-J\s*|ProxyJump[= ]\s*)(?P<hops>[^\s'\"]+)")
Variables = dict[str, Any]


def read_inventory(path: Path, defaults: HostSpec) -> tuple[HostSpec, ...]:
    """The hosts of a file, each once, in its order. What the file says of a host comes before ``defaults``. Raises UsageError."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--inventory {path}: {getattr(error, 'strerror', None) or error}") from error
    found = parse_inventory(text, defaults, file=str(path), yaml=path.suffix in (".yaml", ".yml"))
    if not found:
        raise UsageError(f"--inventory {path} names no host", hint="one host per line, or an Ansible inventory")
    return found


def parse_inventory(text: str, defaults: HostSpec, *, file: str = "inventory", yaml: bool = False) -> tuple[HostSpec, ...]:
    """The same of a text; ``yaml``: it is YAML for sure, otherwise its first lines tell."""
    rows = [row for row in (line.partition("#")[0].strip() for line in text.splitlines()) if row]
    if yaml or text.startswith("---"):
        hosts = _yaml_hosts(text, file)
    elif any(_SECTION.fullmatch(row) for row in rows) or any("=" in row for row in rows):
        hosts = _ini_hosts(text, file)
    else:
        hosts = ((name, {}) for row in rows for word in row.split() for name in expand(word))
    found: dict[str, HostSpec] = {}
    for name, variables in hosts:
        found.setdefault(name, _spec(name, variables, defaults, file))
    return tuple(found.values())


def _spec(name: str, variables: Mapping[str, Any], defaults: HostSpec, file: str) -> HostSpec:
    """A host with its Ansible variables; the older ``ansible_ssh_*`` names mean the same."""

    def variable(what: str) -> str:
        return str(variables.get(f"ansible_{what}") or variables.get(f"ansible_ssh_{what}") or "")

    try:
        spec = HostSpec.parse(variable("host") or name)
        port = int(variable("port") or spec.port or defaults.port)
    except ValueError:
        raise UsageError(f"{file}: {name!r} is no host", hint="write [user@]host[:port]") from None
    key = variable("private_key_file") or str(variables.get("ansible_ssh_private_key_file") or "")
    jump = _JUMP.search(f"{variables.get('ansible_ssh_common_args', '')} {variables.get('ansible_ssh_extra_args', '')}")
    local = variables.get("ansible_connection") == "local"
    return replace(
        defaults,
        name=spec.name,
        user=variable("user") or spec.user or defaults.user,
        port=port,
        identities=(key, *defaults.identities) if key else defaults.identities,
        jump=tuple(jump["hops"].split(",")) if jump else defaults.jump,
        transport="local" if local else defaults.transport,
    )


def _ini_hosts(text: str, file: str) -> Iterator[tuple[str, Variables]]:
    """Ansible's INI: group variables below a group's own, host variables last."""
    hosts: dict[str, Variables] = {}
    members: dict[str, list[str]] = {}
    children: dict[str, list[str]] = {}
    settings: dict[str, Variables] = {}
    group, kind = "ungrouped", ""
    for number, line in enumerate(text.splitlines(), 1):
        row = line.strip()
        if not row or row.startswith(("#", ";")):
            continue
        section = _SECTION.fullmatch(row.partition("#")[0].strip())
        if section:
            group, kind = section["name"], section["kind"] or ""
        elif kind == "vars":
            name, _, value = row.partition("=")
            settings.setdefault(group, {})[name.strip()] = value.strip().strip("'\"")
        elif kind == "children":
            children.setdefault(group, []).append(row)
        else:
            words = _words(row, file, number)
            pairs = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            for name in expand(words[0]):
                hosts.setdefault(name, {}).update(pairs)
                members.setdefault(group, []).append(name)
    for name, own in hosts.items():
        yield name, {**_group_variables(name, members, children, settings), **own}


def _group_variables(
    host: str, members: Mapping[str, list[str]], children: Mapping[str, list[str]], settings: Mapping[str, Variables]
) -> Variables:
    """Of ``all``, then of the groups around the host, outer ones first."""
    depths: dict[str, int] = {}
    waiting = [(group, 0) for group, names in members.items() if host in names]
    while waiting:
        group, depth = waiting.pop()
        if depths.get(group, -1) >= depth or depth > len(children) + 1:
            continue
        depths[group] = depth
        waiting += [(parent, depth + 1) for parent, below in children.items() if group in below]
    found: Variables = dict(settings.get("all", {}))
    for group in sorted(depths, key=lambda name: (-depths[name], name)):
        found |= settings.get(group, {})
    return found


def _words(row: str, file: str, number: int) -> list[str]:
    try:
        return shlex.split(row, comments=True)
    except ValueError as error:
        raise UsageError(f"{file}:{number}: {error}") from None


def _yaml_hosts(text: str, file: str) -> Iterator[tuple[str, Variables]]:
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{file} is no YAML: {str(error).splitlines()[0]}") from None
    if isinstance(document, list):
        return iter([(name, {}) for item in document for name in expand(str(item))])
    if not isinstance(document, dict):
        raise UsageError(f"{file} is no inventory", hint="a list of hosts, or groups with `hosts:` and `children:`")
    return iter([found for group in document.values() for found in _yaml_group(group, {}, file)])


def _yaml_group(group: Any, outer: Variables, file: str) -> Iterator[tuple[str, Variables]]:
    if group is None:
        return
    if not isinstance(group, dict):
        raise UsageError(f"{file}: a group holds {type(group).__name__}, not `hosts:`, `children:` or `vars:`")
    inner = {**outer, **(group.get("vars") or {})}
    for pattern, own in (group.get("hosts") or {}).items():
        for name in expand(str(pattern)):
            yield name, {**inner, **(own or {})}
    for child in (group.get("children") or {}).values():
        yield from _yaml_group(child, inner, file)
