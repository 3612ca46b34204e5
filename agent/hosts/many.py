"""Many hosts at once: bounded concurrency, a failure stays on its host, equal outcomes are told once."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agent.domain.errors import RcaError
from agent.domain.launch import HostSpec
from agent.hosts.host_names import fold

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """What came of one host: a result, or the error that ended the work there. ``name``: without account and port."""

    host: str
    name: str = ""
    result: T | None = None
    error: RcaError | None = None

    def as_line(self, plain: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
        """The host's row of ``--json-lines``."""
        if self.error is not None:
            return {"host": self.host, "error": {"type": type(self.error).__name__, "what": self.error.what, "hint": self.error.hint}}
        assert self.result is not None
        return {"host": self.host, "result": plain(self.result)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Hosts with the same outcome. ``failed``: nothing could be found out there."""

    cause: str
    hosts: tuple[str, ...]
    failed: bool
    total: int

    @property
    def summary(self) -> str:
        """``37 of 40 hosts: ... (gpu[01-36,38])``."""
        hosts = "host" if self.total == 1 else "hosts"
        return f"{len(self.hosts)} of {self.total} {hosts}: {self.cause} ({fold(self.hosts)})"


async def each_host(specs: Sequence[HostSpec], work: Callable[[HostSpec], Awaitable[T]], *, at_once: int = 32) -> AsyncIterator[Outcome[T]]:
    """Outcomes as they come. Whatever goes wrong on one host is its outcome; leaving the loop early cancels the rest."""
    gate = asyncio.Semaphore(at_once)

    async def one(name: str, spec: HostSpec) -> Outcome[T]:
        async with gate:
            try:
                return Outcome(host=name, name=spec.name, result=await work(spec))
            except RcaError as error:
                return Outcome(host=name, name=spec.name, error=error)
            except Exception as error:  # a fault of ours on one host must not cost the other 199 their answers
                told = RcaError(f"{type(error).__name__}: {error}", hint="this is a fault of rca; RCA_DEBUG=1 shows it")
                return Outcome(host=name, name=spec.name, error=told)

    tasks = [asyncio.create_task(one(name, spec)) for name, spec in zip(distinct_names(specs), specs, strict=True)]
    try:
        for finished in asyncio.as_completed(tasks):
            yield await finished
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def distinct_names(specs: Sequence[HostSpec]) -> tuple[str, ...]:
    """A name per host: as the user typed it, with account, port and container where several have the same."""
    alike = Counter(spec.name for spec in specs)
    return tuple(spec.name if alike[spec.name] == 1 else _in_full(spec) for spec in specs)


def group_outcomes(outcomes: Sequence[Outcome[T]], cause: Callable[[T], str]) -> tuple[Group, ...]:
    """Hosts by identical cause, the largest group first, failures last; the host's own name in an error does not tell it apart."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.error is not None, _cause(outcome, cause)), []).append(outcome.host)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1]))
    return tuple(Group(cause=text, hosts=tuple(sorted(hosts)), failed=failed, total=len(outcomes)) for (failed, text), hosts in ordered)


def _cause(outcome: Outcome[T], cause: Callable[[T], str]) -> str:
    if outcome.error is not None:
        return unnamed(unnamed(str(outcome.error), outcome.host), outcome.name or outcome.host)
    assert outcome.result is not None
    return cause(outcome.result)


def unnamed(text: str, host: str) -> str:
    """The text without the host's name: two hosts that say the same are alike."""
    return re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)", "the host", text)


def _in_full(spec: HostSpec) -> str:
    account, port = f"{spec.user}@" if spec.user else "", f":{spec.port}" if spec.port else ""
    return f"{account}{spec.name}{port}" + (f" {spec.container}" if spec.container else "")
