"""Reads the config.json of every model that the launch names, in a directory or in the hub's download cache."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.domain.command import Command
from agent.domain.counting import counted
from agent.domain.facts import ABSENT
from agent.domain.source import Absent, Unreadable
from agent.domain.values import Unknown
from agent.hosts import commands
from agent.hosts.commands import to_text
from agent.hosts.shell import display
from agent.probes.model_config import config_path, hub_folder, hub_snapshot, parse_config
from agent.probes.products import model_value
from agent.subagents.asking import ask
from agent.subagents.interface import Desk
from agent.subagents.server_process import ProcessFound


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigsFound:
    """By role: the parsed file, ABSENT (no such model, or no such file) or Unknown; its path; its bytes; the names in its directory."""

    configs: Mapping[str, Any]
    paths: Mapping[str, str]
    raw: Mapping[str, bytes]
    folders: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfigs:
    """Target and draft, or whatever roles the product's table lists."""

    process: ProcessFound
    name: str = "model configs"
    task: str = "read the config.json of target and draft"

    async def run(self, desk: Desk) -> ConfigsFound:
        models = self._models()
        contents = await self._contents(desk, models)
        configs: dict[str, Any] = dict.fromkeys(self._roles(), ABSENT)
        for role, (path, content) in contents.items():
            configs[role] = self._judged(desk, role, models[role], path, content)
        folders = await _folders(desk, {posixpath.dirname(path) for path, content in contents.values() if isinstance(content, bytes)})
        return ConfigsFound(
            configs=configs,
            paths={role: path for role, (path, _) in contents.items()},
            raw={role: content for role, (_, content) in contents.items() if isinstance(content, bytes)},
            folders=folders,
        )

    def summary(self, result: ConfigsFound) -> str:
        return "; ".join(f"{role}: {_shape(config)}" for role, config in sorted(result.configs.items())) or "the launch names no model"

    def _roles(self) -> Mapping[str, tuple[str, ...]]:
        return self.process.product.model if self.process.product else {}

    def _models(self) -> dict[str, str]:
        """The roles that this launch fills, with what it says."""
        found = {role: model_value(self.process.launch.argv, names) for role, names in self._roles().items()}
        return {role: value for role, value in found.items() if value}

    async def _contents(self, desk: Desk, models: Mapping[str, str]) -> dict[str, tuple[str, bytes | Absent | Unreadable]]:
        """First the directory that the value names; where there is none, the hub's cache."""
        desk.say("reading config.json of " + " and ".join(sorted(models)))
        paths = {role: config_path(model, self.process.cwd) for role, model in models.items()}
        hubs = {role: folder for role, model in models.items() if (folder := hub_folder(model, self.process.launch.env))}
        wanted = {f"file {role}": whole_config(path) for role, path in paths.items() if path}
        wanted |= {f"ref {role}": commands.read_bytes(f"{folder}/refs/main", size=200) for role, folder in hubs.items()}
        answers = await ask(desk.host, wanted)
        found = {
            role: (
                path,
                answers.whole(f"file {role}") if path else Unreadable(path=models[role], reason="the server's directory is unknown"),
            )
            for role, path in paths.items()
        }
        snapshots = {
            role: hub_snapshot(folder, to_text(revision))
            for role, folder in hubs.items()
            if not isinstance(found[role][1], bytes) and (revision := answers.bytes_or_none(f"ref {role}"))
        }
        cached = await ask(desk.host, {role: whole_config(path) for role, path in snapshots.items()})
        return found | {role: (path, cached.whole(role)) for role, path in snapshots.items()}

    def _judged(self, desk: Desk, role: str, model: str, path: str, content: bytes | Absent | Unreadable) -> Any:
        if isinstance(content, bytes):
            config = parse_config(content, path)
            if isinstance(config, Unknown):
                desk.unknown(f"the {role} model's config", config.reason, f"repair {path}")
            return config
        if isinstance(content, Absent):
            desk.ledger.add("absence", "", path=path, command=display(whole_config(path)))
            desk.unknown(
                f"the {role} model's config", f"there is no {path}, and no downloaded snapshot of {model}", "give the model's directory"
            )
            return ABSENT
        desk.unknown(f"the {role} model's config", f"{path} cannot be read: {content.reason}", "connect as the server's user or as root")
        return Unknown(reason=f"{path} cannot be read: {content.reason}")


def whole_config(path: str) -> Command:
    """The read of a config.json, the same whenever one is read: what is masked in it then is masked alike."""
    return commands.whole(path, limit=8 * commands.MEGABYTE)


async def _folders(desk: Desk, folders: set[str]) -> dict[str, tuple[str, ...]]:
    """The names in each model directory, so that a file that is not there need not be asked for."""
    answers = await ask(desk.host, {folder: commands.find([folder], kind="", min_depth=1, max_depth=1) for folder in sorted(folders)})
    found = {}
    for folder in answers.commands:
        result = answers.result(folder)
        if result and result.status == 0 and not result.truncated:
            found[folder] = tuple(sorted(posixpath.basename(path) for path in to_text(result.stdout).split("\0") if path))
    return found


def _shape(config: Any) -> str:
    if not isinstance(config, Mapping):
        return config.reason if isinstance(config, Unknown) else "none"
    names = config.get("architectures")
    return ", ".join(map(str, names)) if isinstance(names, list) else counted(len(config), "key")
