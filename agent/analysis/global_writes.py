"""Which globals the functions of a module bind, and on which lines."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from agent.analysis import ir
from agent.analysis.outline import Outline
from agent.analysis.scopes import binds
from agent.analysis.walk import walk
from agent.analysis.words import positions

_GLOBALS: WeakKeyDictionary[ir.Module, dict[str, list[int]]] = WeakKeyDictionary()


def global_writes(module: ir.Module) -> dict[str, list[int]]:
    """For each global that a function of the module declares, the lines on which one binds it."""
    found = _GLOBALS.get(module)
    if found is None:
        found = _GLOBALS[module] = {}
        definitions = Outline(module).definitions if any(positions(module.source, "global")) else ()
        for function in (d.node for d in definitions if isinstance(d.node, ir.FunctionDef)):
            if b"global" not in module.source[function.start_byte : function.end_byte]:
                continue
            nodes = list(walk(function, into_scopes=False))
            for name in {name for node in nodes if isinstance(node, ir.Global) for name in node.names}:
                binding = (node for node in nodes if isinstance(node, ir.Stmt) and not isinstance(node, (ir.Expr, ir.FunctionDef)))
                found.setdefault(name, []).extend(node.line for node in binding if binds(node, name))
    return found
