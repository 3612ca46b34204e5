"""The class that a model's architecture names, and whether it has a method that the code wants to call on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.analysis import ir
from agent.analysis.hierarchy import Hierarchy
from agent.analysis.outline import Definition
from agent.analysis.walk import walk
from agent.domain.verdict import NextEvent, Target
from agent.evaluation.dead_config import config_files

if TYPE_CHECKING:
    from agent.evaluation.engine import LaunchEngine


def architectures(engine: LaunchEngine) -> list[tuple[str, str]]:
    """(config file, first architecture) of the launch's models, in the order of the command line."""
    found = []
    for path, values in config_files(engine):
        names = values.get("architectures")
        if isinstance(names, list) and names and isinstance(names[0], str):
            found.append((path, names[0]))
    return found


def lacks_method(engine: LaunchEngine, target: Target) -> list[NextEvent]:
    """Calls ``self.model.name(...)`` in the target's statement on a class that, by the target model's architecture, has no such method."""
    statement = engine.index.statement_at(target.path, target.line)
    called = [n.func for n in walk(statement) if isinstance(n, ir.Call)] if statement else []
    names = [func.attr for func in called if isinstance(func, ir.Attribute) and on_model(func.value)]
    models = architectures(engine)
    if not names or not models:
        return []
    found = []
    for definition in engine.index.classes_named(models[0][1]):
        if definition.chain or definition.path not in engine.demand.call_sites.importable:
            continue
        for name in names:
            if not has_method(engine, definition, name):
                text = f"AttributeError: {definition.name} ({definition.path}:{definition.node.line}) has no method {name}"
                found.append(NextEvent(kind="raises", path=target.path, line=target.line, text=text))
    return found


def on_model(node: ir.Expr) -> bool:
    """Whether an expression is what the program calls its model."""
    return (isinstance(node, ir.Attribute) and node.attr == "model") or (isinstance(node, ir.Name) and node.id == "model")


def has_method(engine: LaunchEngine, definition: Definition, name: str) -> bool:
    """Whether a class or a base of it in the tree has the attribute; a base outside the tree is taken not to have it."""
    return Hierarchy(engine.index).attribute(definition, name).__class__ is Definition
