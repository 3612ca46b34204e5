"""The public Python API (docs in ``agent.api``), loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["HostSpec", "__version__", "audit", "engine", "investigate", "open_tree", "reach", "why"]

if TYPE_CHECKING:
    from agent.api import HostSpec, audit, engine, investigate, open_tree, reach, why


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'agent' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("agent.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
