"""Asks the running server itself for its settings, over the host's own loopback. Answering may change the server: only on demand."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.domain.counting import counted
from agent.domain.verdict import AuditAnswer
from agent.hosts import commands
from agent.hosts.commands import problems, to_text
from agent.probes.products import Told
from agent.subagents.asking import ask
from agent.subagents.interface import Desk

_WHAT = "what the server answers of itself"
_NO_PROGRAM = 127
_REFUSED = {
    7: "nothing listens on port {port} of the host's loopback",
    22: "it refuses: {said}",
    28: "it does not answer in time",
}
"""Exit codes of curl(1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """``audit`` knows where the server listens. The result is empty where it tells nothing; the desk says why."""

    told: Told
    audit: AuditAnswer
    pid: int
    name: str = "server's answer"
    task: str = "ask the running server for its settings"

    async def run(self, desk: Desk) -> Mapping[str, Any]:
        host, port = (self._known(name) for name in (self.told.host, self.told.port))
        version = _loopback(host)
        if not isinstance(port, int) or version is None:
            where = f"{self.told.host} is {host!r} and {self.told.port} {port!r}"
            desk.unknown(_WHAT, f"it is asked over the host's own loopback, and {where}", "ask it by hand")
            return {}
        if why := await self._elsewhere(desk):
            desk.unknown(_WHAT, why, "ask it by hand, where it runs")
            return {}
        desk.say(f"asking port {port} for {self.told.path}")
        asked = commands.http_get(port, self.told.path, version=version)
        answers = await ask(desk.host, {"answer": asked})
        result = answers.result("answer")
        if result is None or result.status or result.truncated:
            said = answers.why_not("answer") if result is None else "; ".join(problems(result)) or f"status {result.status}"
            desk.unknown(_WHAT, _why(result.status if result else 0, port, said), "a server that wants a key is asked by hand")
            return {}
        return _settings(desk, to_text(result.stdout), self.told)

    def summary(self, result: Mapping[str, Any]) -> str:
        return counted(len(result), "setting") if result else "nothing was told"

    async def _elsewhere(self, desk: Desk) -> str:
        """Why the host's loopback may not be the server's: another server could listen there."""
        links = await ask(desk.host, {"its": commands.proc_link(self.pid, "ns/net"), "own": commands.proc_link("self", "ns/net")})
        its, own = links.link("its"), links.link("own")
        if its is None or own is None:
            return f"whether process {self.pid} shares the host's network cannot be read: {links.why_not('own' if its else 'its')}"
        return "" if its == own else f"process {self.pid} has a network of its own, as in a container"

    def _known(self, name: str) -> Any:
        found = next((row.effective for row in self.audit.settings if row.name == name), None)
        return found.value if found is not None and found.status == "known" else None


def _loopback(host: Any) -> int | None:
    """By which protocol's loopback a server that listens there is reached; None where by neither."""
    if host in ("localhost", "", None):
        return 4 if host else None
    try:
        address = ipaddress.ip_address(str(host).strip("[]"))
    except ValueError:
        return None
    return address.version if address.is_unspecified or str(address) in ("127.0.0.1", "::1") else None


def _why(status: int, port: int, said: str) -> str:
    if status == _NO_PROGRAM:
        return "the host has no curl"
    return _REFUSED.get(status, "{said}").format(port=port, said=said)


def _settings(desk: Desk, text: str, told: Told) -> dict[str, Any]:
    """The answer's own keys, and over them what its live parts agree on."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        desk.unknown(_WHAT, "its answer is no JSON object", "")
        return {}
    live = [part for key in told.live for part in _parts(found.pop(key, None))]
    later = {name: value for part in live[:1] for name, value in part.items() if all(name in one and one[name] == value for one in live)}
    return {**found, **{name: value for name, value in later.items() if name in found}}


def _parts(value: Any) -> list[dict[str, Any]]:
    return [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]
