"""Every value that the unknown inputs of a small program can have: a stand-in for the package ``outside`` in each."""

from __future__ import annotations

import itertools
import os
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from tests.evaluation.tracing import Trace, run_source

WORLDS = tuple(itertools.product((False, True), (False, True), ((), (1,), (0, 2))))
"""``u0`` (also ``unknown``), ``u1`` (also what ``ask()`` gives), ``many`` (also ``items``)."""


def _outside(u0: bool, u1: bool, many: tuple[int, ...]) -> types.ModuleType:
    module: Any = types.ModuleType("outside")
    module.u0, module.u1, module.many, module.ask = u0, u1, many, lambda: int(u1)
    module.unknown, module.items = u0, many
    return module  # type: ignore[no-any-return]


def in_worlds(source: str, argv: Sequence[str], env: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[tuple[Any, ...], Trace]]:
    """The program run in each world."""
    kept = sys.modules.get("outside")
    try:
        for world in WORLDS:
            sys.modules["outside"] = _outside(*world)
            with environment(env):
                trace = run_source(source, "sample.py", argv)
            yield world, trace
    finally:
        sys.modules.pop("outside", None)
        if kept is not None:
            sys.modules["outside"] = kept


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """These variables besides the process's own; all that the block changes is undone."""
    kept = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
