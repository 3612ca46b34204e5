"""What the machine is: platform, Python, installed packages, GPUs; each fact known, or unknown with its reason."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.domain.counting import counted
from agent.domain.values import Fact, Known, Unknown, Value
from agent.hosts import commands
from agent.hosts.commands import problems, to_text
from agent.subagents.asking import Answers, ask
from agent.subagents.imported_tree import TreeFound
from agent.subagents.interface import Desk

_GPU_FIELDS = {
    "index": "",
    "name": "gpu.name",
    "compute_cap": "gpu.compute_capability",
    "memory.total": "gpu.memory_mb",
    "driver_version": "gpu.driver",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Dotted names as in the fact namespace: ``platform``, ``machine``, ``python``, ``package.NAME``, ``gpu.*``."""

    tree: TreeFound
    name: str = "host facts"
    task: str = "read platform, packages and GPUs"

    async def run(self, desk: Desk) -> tuple[Fact, ...]:
        desk.say("asking for platform and GPUs")
        answers = await ask(desk.host, {"uname": commands.uname(), "gpus": commands.gpus(tuple(_GPU_FIELDS))})
        facts = {**self._platform(desk, answers), **_gpus(desk, answers)}
        facts |= {f"package.{name}": Known(value=version) for name, version in self.tree.installed.items()}
        return tuple(Fact(name=name, value=value) for name, value in sorted(facts.items()))

    def summary(self, result: tuple[Fact, ...]) -> str:
        known = {fact.name: fact.value for fact in result}
        packages = sum(name.startswith("package.") for name in known)
        return f"{counted(packages, 'package')}, GPUs: {_words(known.get('gpu.count'))}, Python {_words(known.get('python'))}"

    def _platform(self, desk: Desk, answers: Answers) -> dict[str, Value]:
        words = to_text(answers.bytes_or_none("uname") or b"").split()
        if not words:
            missing = Unknown(reason=f"uname: {answers.why_not('uname')}")
            return {"platform": missing, "machine": missing, "python": self._python()}
        desk.ledger.add("command", " ".join(words), command="uname -a")
        machine = next((word for word in reversed(words) if word in ("x86_64", "aarch64", "arm64", "ppc64le", "riscv64")), words[-1])
        return {"platform": Known(value=words[0].lower()), "machine": Known(value=machine), "python": self._python()}

    def _python(self) -> Value:
        return Known(value=self.tree.python) if self.tree.python else Unknown(reason="the interpreter's version could not be read")


def _gpus(desk: Desk, answers: Answers) -> dict[str, Value]:
    """From nvidia-smi. Without it there may still be other accelerators: the count is unknown, not zero."""
    result = answers.result("gpus")
    if result is None or result.status != 0:
        why = "; ".join(problems(result)) if result else answers.why_not("gpus")
        return {name: Unknown(reason=f"nvidia-smi: {why}") for name in ("gpu.count", *filter(None, _GPU_FIELDS.values()))}
    text = to_text(result.stdout)
    desk.ledger.add("command", text.strip(), command=" ".join(result.command.argv))
    rows = list(csv.reader(io.StringIO(text), skipinitialspace=True))[1:]
    facts: dict[str, Value] = {"gpu.count": Known(value=len(rows))}
    for position, name in enumerate(_GPU_FIELDS.values()):
        values = {_plain(row[position]) for row in rows if len(row) > position}
        if name:
            facts[name] = Known(value=values.pop()) if len(values) == 1 else Unknown(reason=f"the GPUs differ: {sorted(map(str, values))}")
    return facts


def _plain(cell: str) -> Any:
    """``81559 MiB`` is a number of MiB; everything else stays text."""
    number = cell.removesuffix(" MiB")
    return int(number) if re.fullmatch(r"[0-9]{1,18}", number) else cell


def _words(value: Value | None) -> str:
    return str(value.value) if isinstance(value, Known) else "unknown"


def as_mapping(facts: tuple[Fact, ...]) -> Mapping[str, Any]:
    """The known ones as the engine takes them."""
    return {fact.name: fact.value.value for fact in facts if isinstance(fact.value, Known)}
