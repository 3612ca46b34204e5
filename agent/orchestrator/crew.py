"""Runs subagents side by side: each gets a desk, is watched by the progress display, and leaves a record however it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from agent.domain.errors import RcaError
from agent.domain.investigation import AgentRecord, UnknownThing
from agent.domain.source import Evidence
from agent.hosts.interface import Host
from agent.orchestrator.request import Progress, Tools
from agent.subagents.interface import Desk, Subagent
from agent.tools.ledger import Ledger

R = TypeVar("R")
_LOG = logging.getLogger("rca")


class Crew:
    """Records and evidence are in the order in which the work was given out, not in that in which it ended: two runs look the same."""

    def __init__(self, host: Host, tools: Tools) -> None:
        self._host = host
        self._tools = tools
        self._progress: Progress = tools.progress
        self._desks: list[Desk] = []
        self._records: list[AgentRecord] = []
        self._times: list[str] = []

    @property
    def records(self) -> tuple[AgentRecord, ...]:
        return tuple(self._records)

    @property
    def unknowns(self) -> tuple[UnknownThing, ...]:
        """What could not be found out, each once."""
        return tuple(dict.fromkeys(unknown for desk in self._desks for unknown in desk.unknowns))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Everything that was read, stamped with the time at which its finder began."""
        pairs = zip(self._desks, self._times, strict=True)
        return tuple(replace(item, observed_at=time) for desk, time in pairs for item in desk.ledger.everything())

    def desk(self, name: str, letters: str = "") -> Desk:
        """A place to work at; its evidence is numbered with the next letter, or with ``letters``, which takes none from the others."""
        number = sum(desk.ledger.prefix.isupper() for desk in self._desks)
        desk = Desk(
            host=self._host,
            ledger=Ledger(prefix=letters or _letters(number), host=self._host.spec.name),
            products=tuple(self._tools.products),
            environment=self._tools.environment,
            say=lambda text: self._progress.said(name, text),
        )
        self._desks.append(desk)
        self._times.append(self._tools.clock())
        return desk

    async def work(self, agent: Subagent[R]) -> R:
        """Runs one to its end; an RcaError is recorded and raised again."""
        desk, slot = self.desk(agent.name), self._slot(agent)
        return await self._run(agent, desk, slot)

    async def together(self, agents: Sequence[Subagent[Any]]) -> list[Any]:
        """Runs them side by side; the place of one that failed holds None, and the others go on."""
        return await self._gathered([(agent, self.desk(agent.name), self._slot(agent)) for agent in agents])

    async def extra(self, agent: Subagent[R], letters: str) -> R | None:
        """One whose being there must change nothing in the work of the others, not even the numbers of their evidence."""
        (result,) = await self._gathered([(agent, self.desk(agent.name, letters), self._slot(agent))])
        return cast("R | None", result)

    def skip(self, name: str, task: str, why: str) -> None:
        """Records work that was not begun."""
        self._records.append(AgentRecord(name=name, task=task, status="skipped", summary=why))

    async def _gathered(self, prepared: Sequence[tuple[Subagent[Any], Desk, int]]) -> list[Any]:
        results = await asyncio.gather(*(self._run(*one) for one in prepared), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, RcaError):
                raise result
        return [None if isinstance(result, BaseException) else result for result in results]

    def note(self, problem: RcaError) -> None:
        """Records an error that met no subagent; one that did is recorded already."""
        if not any(record.status == "failed" and record.summary == str(problem) for record in self._records):
            self._records.append(AgentRecord(name="orchestrator", task="plan the work", status="failed", summary=str(problem)))
            self.desk("orchestrator").unknown("plan the work", problem.what, problem.hint)

    def _slot(self, agent: Subagent[Any]) -> int:
        self._records.append(AgentRecord(name=agent.name, task=agent.task, status="failed", summary="it did not end"))
        return len(self._records) - 1

    async def _run(self, agent: Subagent[R], desk: Desk, slot: int) -> R:
        self._progress.started(agent.name, agent.task)
        try:
            result = await self._attempt(agent, desk)
        except RcaError as problem:
            self._end(slot, "failed", str(problem))
            desk.unknown(agent.task, problem.what, problem.hint or "run it again")
            raise
        self._end(slot, "done", agent.summary(result))
        return result

    async def _attempt(self, agent: Subagent[R], desk: Desk) -> R:
        """A defect in one subagent costs its own result alone, and is called what it is."""
        try:
            return await agent.run(desk)
        except RcaError:
            raise
        except Exception as defect:
            _LOG.exception("defect in %s", agent.name)
            raise RcaError(
                f"internal error: {type(defect).__name__}: {defect}", hint="RCA_DEBUG=1 shows where; please report it"
            ) from defect

    def _end(self, slot: int, status: str, summary: str) -> None:
        record = replace(self._records[slot], status=status, summary=summary)
        self._records[slot] = record
        self._progress.ended(record.name, status, summary)


def _letters(number: int) -> str:
    """A, B, ... Z, AA, AB, ...: evidence of the first finder is A1, A2, ..."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
