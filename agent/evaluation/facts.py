"""Given facts of the host: looked up by dotted name, by call text, or by package name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from agent.analysis import ir
from agent.evaluation.concrete import lift
from agent.evaluation.machine import Machine
from agent.evaluation.values import AV, Const, ExternV, Instance, Unk

_STANDARD = frozenset(sys.stdlib_module_names)


def normal(text: str) -> str:
    """Call text without blanks and with one kind of quotes, so that two spellings of a call compare equal."""
    return "".join(text.split()).replace('"', "'")


class FactTable:
    """Facts prepared for look-up; an unbalanced trailing bracket in a name is forgiven."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.named = dict(facts)
        self.packages: dict[str, Any] = dict(facts.get("packages") or {})
        self.calls: dict[str, Any] = {}
        self.missing_attributes: set[str] = set()
        for name, value in facts.items():
            self._sort_in(name, value)

    def _sort_in(self, name: str, value: Any) -> None:
        if name.startswith(("package ", "package.")):
            self.packages[name[8:].strip()] = value
        elif name.startswith("import "):
            self.packages[name[7:].strip()] = "" if value is True else None
        elif " has attribute " in name:
            owner, _, attribute = name.partition(" has attribute ")
            if value is False:
                self.missing_attributes.add(f"{owner.rpartition('.')[2]}.{attribute}")
        elif "(" in name or ")" in name:
            self.calls[normal(name)] = value


def table(m: Machine) -> FactTable:
    """The machine's facts, prepared once."""
    found = m.singletons.get("facts")
    if found is None:
        found = m.singletons["facts"] = FactTable(m.facts)
    assert isinstance(found, FactTable)
    return found


def result_of(m: Machine, dotted: str, args: list[AV]) -> AV | None:
    """A fact named like a function gives the function's result; ``name(arg)`` is more exact than ``name``."""
    facts = table(m)
    if facts.calls:
        shown = ",".join(repr(a.v) if isinstance(a, Const) else a.dotted if isinstance(a, ExternV) else "?" for a in args)
        exact = facts.calls.get(normal(f"{dotted}({shown})"), _NOTHING)
        if exact is not _NOTHING:
            return lift(m, exact)
    value = facts.named.get(dotted, _NOTHING)
    return None if value is _NOTHING else _lifted(m, dotted, value)


def attribute_fact(m: Machine, dotted: str) -> AV | None:
    """A fact named like a value outside the tree."""
    value = table(m).named.get(dotted, _NOTHING)
    return None if value is _NOTHING else _lifted(m, dotted, value)


def _lifted(m: Machine, dotted: str, value: Any) -> AV:
    if dotted in _TUPLES and isinstance(value, list):
        value = tuple(value)
    return lift(m, value)


_TUPLES = frozenset({"torch.cuda.get_device_capability", "torch.cuda.mem_get_info", "torch.xpu.get_device_capability", "sys.version_info"})
_NOTHING: Any = object()


def call_text(m: Machine, node: ir.Call) -> AV | None:
    """A fact whose name is the text of this call."""
    facts = table(m)
    if not facts.calls:
        return None
    module = m.frame.module.ir
    if module is None:
        return None
    text = normal(module.source[node.start_byte : node.end_byte].decode("utf-8", "replace"))
    for name, value in facts.calls.items():
        if name == text or (name.count("(") != name.count(")") and name.replace(")", "") == text.replace("(", ".").replace(")", "")):
            return lift(m, value)
    return None


def importable(m: Machine, dotted: str) -> bool | None:
    """Whether a module outside the tree can be imported: standard library, a package fact, or unknown."""
    top = dotted.partition(".")[0]
    if top in _STANDARD or top in ("__future__", "typing_extensions"):
        return True
    packages = table(m).packages
    for name in (dotted, top):
        for spelling in (name, name.replace("_", "-"), name.replace("-", "_")):
            if spelling in packages:
                return packages[spelling] is not None
    return None


def package_version(m: Machine, name: str) -> AV | None:
    """Version fact of a distribution; None where nothing is known."""
    packages = table(m).packages
    for spelling in (name, name.replace("_", "-"), name.replace("-", "_")):
        if spelling in packages:
            version = packages[spelling]
            if version is None:
                exc = Instance(ExternV("importlib.metadata.PackageNotFoundError"))
                m.throw(exc, name)
            return Const(version) if version else Unk(f"version of {name}", "str")
    return None
