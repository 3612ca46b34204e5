"""Runs a launch forward from its entry point, once, and keeps what the machine saw."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from agent.evaluation.entry import Entry
from agent.evaluation.frames import Dead, Frame, TooLong
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell
from agent.evaluation.values import Const, ModuleV

RECURSION = 12_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """The machine recurses with the analysed program; the interpreter's limit is raised for that time only."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def run(machine: Machine, entry: Entry) -> None:
    """Runs the entry module as ``__main__``, or one of its functions. Nothing is returned: the machine holds it all."""
    machine.singletons["argv values"] = entry.argv
    machine.entry_path = entry.path
    module = ModuleV("__main__" if not entry.function else machine.index.dotted(entry.path), entry.path, machine.index)
    package = machine.index.dotted(entry.path)
    if not entry.function:
        machine.root.own[(module, "__name__")] = Cell(Const("__main__"))
        machine.root.own[(module, "__package__")] = Cell(Const(package.rpartition(".")[0]))
        module.dotted = package
    machine.modules[package] = module
    frame = Frame(module, None, None, "<module>")
    frame.deadline = machine.fuel
    machine.frame = frame
    with deep_recursion():
        _run(machine, module, entry)


def _run(machine: Machine, module: ModuleV, entry: Entry) -> None:
    assert module.ir is not None
    try:
        if entry.function:
            machine.call(machine.getattr(module, entry.function), [], {})
        else:
            machine.block(module.ir.body)
    except Dead:
        pass
    except TooLong:
        machine.finished = False
