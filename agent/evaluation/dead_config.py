"""Keys of the given config files that nothing reads under this launch, and those that nothing in the tree reads at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.analysis import ir
from agent.analysis.occurrences import occurrences
from agent.domain.secrets import mask
from agent.domain.verdict import DeadKey, Reader, Target
from agent.evaluation.concrete import NotConcrete, concrete
from agent.evaluation.machine import Machine
from agent.evaluation.models.argument_parser import command_line

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine

MAX_READERS = 6
COMMON = 12
"""A key whose name stands in more files than this is taken to be read."""
_LIBRARY_KEYS = frozenset(
    {"architectures", "model_type", "torch_dtype", "dtype", "transformers_version", "auto_map", "_name_or_path", "quantization_config"}
)


def dead_and_unread(engine: LaunchEngine) -> tuple[tuple[DeadKey, ...], tuple[DeadKey, ...]]:
    """(dead under this launch with every reader judged, named nowhere in the tree). A refused launch comes to no reader."""
    if engine.refused is not None:
        return (), ()
    dead: list[DeadKey] = []
    unread: list[DeadKey] = []
    for path, values in config_files(engine):
        for key, value in values.items():
            if key in _LIBRARY_KEYS or key in _table_keys(values):
                continue
            found = _judge(engine, path, key, value)
            if found is None:
                continue
            (dead if found.readers else unread).append(found)
    return tuple(dead), tuple(unread)


def _table_keys(values: dict[str, Any]) -> frozenset[str]:
    """Keys that the library's own configuration class takes: it reads them whatever the tree does."""
    from agent.evaluation.models.model_configs import BASE_DEFAULTS, library_classes

    row = library_classes()["classes"].get(values.get("model_type"))
    known = set(BASE_DEFAULTS) | (set(row["known"]) | set(row["computed"]) | set(row["map"]) if row else set())
    return frozenset(known)


def config_files(engine: LaunchEngine) -> list[tuple[str, dict[str, Any]]]:
    """``config.json`` of every directory that a value of the command line names."""
    m = engine.machine
    found: dict[str, dict[str, Any]] = {}
    for directory in _directories(m):
        path = f"{directory.rstrip('/')}/config.json"
        content = engine.files.read(path)
        if isinstance(content, bytes) and path not in found:
            try:
                values = json.loads(content)
            except ValueError:
                continue
            if isinstance(values, dict):
                found[path] = values
    return list(found.items())


def _directories(m: Machine) -> list[str]:
    names: dict[str, None] = {}
    for namespace in command_line(m).namespaces:
        for name, option in command_line(m).options.items():
            cell = m.state.get((namespace, name))
            if cell is None or not option.given:
                continue
            try:
                value = concrete(m, cell.value)
            except NotConcrete:
                continue
            if isinstance(value, str) and value and not value.startswith("-") and len(value) < 500:
                names[value] = None
    return list(names)


def _judge(engine: LaunchEngine, path: str, key: str, value: Any) -> DeadKey | None:
    """None when somebody reads the key, or when that cannot be ruled out."""
    files = engine.index.files_with(key)
    if not files:
        return DeadKey(file=path, key=key, value=mask(key, value))
    reachable = [f for f in files if f in engine.demand.call_sites.importable]
    if len(reachable) > COMMON or not reachable:
        return None
    readers: list[Reader] = []
    for file in reachable:
        for target in _reads(engine, file, key):
            answer = engine.guarded_off(target)
            if answer.verdict != "never":
                return None
            readers.append(Reader(path=target.path, line=target.line, verdict=answer.verdict, decisive=answer.decisive))
            if len(readers) >= MAX_READERS:
                return None
    if not readers:
        return None
    return DeadKey(file=path, key=key, value=mask(key, value), readers=tuple(readers), counterfactuals=openers(engine, readers[0]))


def openers(engine: LaunchEngine, reader: Reader) -> tuple[Any, ...]:
    """Changes under which the reader runs."""
    from agent.evaluation.counterfactual import counterfactuals

    return counterfactuals(engine, f"{reader.path}:{reader.line}", engine.guarded_off(engine.targets(f"{reader.path}:{reader.line}")[0]))


def _reads(engine: LaunchEngine, file: str, key: str) -> list[Target]:
    """Statements of a file that read the key: an attribute, a subscript or a string argument of that name."""
    module = engine.index.module(file)
    found: dict[int, Target] = {}
    for at in occurrences(module, key):
        node = at.node
        reads = isinstance(node, ir.Attribute) and node.attr == key
        reads = reads or (isinstance(node, ir.Constant) and node.value == key)
        if not reads or _written(at.parent, node):
            continue
        statement = at.statement
        if statement.line not in found:
            found[statement.line] = engine.targets(f"{file}:{statement.line}")[0]
    return list(found.values())


def _written(parent: ir.Node | None, node: ir.Node) -> bool:
    return isinstance(parent, ir.Assign) and node in parent.targets
