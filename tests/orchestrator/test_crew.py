"""Subagents side by side: records in a fixed order, failures kept as values, evidence numbered the same on every run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agent.domain.errors import ConnectionLost, RcaError, TargetNotFound
from agent.domain.launch import HostSpec
from agent.library import Library
from agent.orchestrator import Tools
from agent.orchestrator.crew import Crew
from agent.subagents.interface import Desk
from agent.subagents.shared_engine import SharedEngine
from tests.engines import FakeEngine, FakeTree


class NoHost:
    spec = HostSpec(name="gpu-07")


@dataclass
class Spy:
    """Everything that a progress display is told."""

    told: list[tuple[str, ...]]

    def started(self, name: str, task: str) -> None:
        self.told.append(("started", name))

    def said(self, name: str, text: str) -> None:
        self.told.append(("said", name, text))

    def ended(self, name: str, status: str, summary: str) -> None:
        self.told.append(("ended", name, status))


@dataclass(frozen=True)
class Worker:
    name: str
    work: Callable[[Desk], Any]
    task: str = "work"

    async def run(self, desk: Desk) -> Any:
        result = self.work(desk)
        return await result if asyncio.iscoroutine(result) else result

    def summary(self, result: Any) -> str:
        return f"got {result}"


def crew(tmp_path: Any, told: list[tuple[str, ...]] | None = None) -> Crew:
    tools = Tools(
        library=Library(tmp_path),
        products=(),
        environment=(),
        open_engine=None,  # type: ignore[arg-type]
        clock=lambda: "2026-05-01T15:20:01Z",
        version="0",
        progress=Spy(told if told is not None else []),
    )
    return Crew(NoHost(), tools)  # type: ignore[arg-type]


async def test_they_work_at_the_same_time(tmp_path: Any) -> None:
    """Each waits until all five are there."""
    barrier = asyncio.Barrier(5)

    async def wait(desk: Desk) -> str:
        await barrier.wait()
        return "done"

    async with asyncio.timeout(5):
        results = await crew(tmp_path).together([Worker(f"w{n}", wait) for n in range(5)])
    assert results == ["done"] * 5


async def test_order_is_that_of_the_work_not_of_its_end(tmp_path: Any) -> None:
    first_may_end = asyncio.Event()

    async def late(desk: Desk) -> str:
        await first_may_end.wait()
        desk.ledger.add("log", "late")
        return "late"

    def early(desk: Desk) -> str:
        desk.ledger.add("log", "early")
        first_may_end.set()
        return "early"

    team = crew(tmp_path)
    await team.together([Worker("a", late), Worker("b", early)])
    assert [record.name for record in team.records] == ["a", "b"]
    assert [(item.id, item.excerpt) for item in team.evidence] == [("A1", "late"), ("B1", "early")]
    assert {item.observed_at for item in team.evidence} == {"2026-05-01T15:20:01Z"}


async def test_a_failure_is_a_value_and_takes_nothing_from_the_others(tmp_path: Any) -> None:
    def lost(desk: Desk) -> None:
        desk.ledger.add("log", "seen before")
        desk.unknown("x", "y")
        raise ConnectionLost("the connection was lost", host="h", hint="again")

    def defect(desk: Desk) -> None:
        raise KeyError("oops")

    told: list[tuple[str, ...]] = []
    team = crew(tmp_path, told)
    results = await team.together([Worker("a", lost), Worker("b", defect), Worker("c", lambda desk: 3)])
    assert results == [None, None, 3]
    assert [(record.status, record.summary) for record in team.records] == [
        ("failed", "the connection was lost (again)"),
        ("failed", "internal error: KeyError: 'oops' (RCA_DEBUG=1 shows where; please report it)"),
        ("done", "got 3"),
    ]
    assert [item.excerpt for item in team.evidence] == ["seen before"]
    assert [unknown.why for unknown in team.unknowns][:2] == ["y", "the connection was lost"]
    assert ("ended", "a", "failed") in told and ("ended", "c", "done") in told


async def test_one_alone_raises_what_it_met(tmp_path: Any) -> None:
    def refuse(desk: Desk) -> None:
        raise RcaError("no")

    team = crew(tmp_path)
    with pytest.raises(RcaError, match="no"):
        await team.work(Worker("a", refuse))
    team.note(RcaError("no"))
    assert len(team.records) == 1, "it is recorded once"
    team.note(RcaError("another"))
    assert team.records[-1].summary == "another"


async def test_cancelling_ends_them_all(tmp_path: Any) -> None:
    ended: list[str] = []
    begun = asyncio.Barrier(3)

    async def wait(desk: Desk) -> None:
        await begun.wait()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("x")

    task = asyncio.create_task(crew(tmp_path).together([Worker("a", wait), Worker("b", wait)]))
    await begun.wait()
    await asyncio.sleep(0)  # both go on to where they wait for ever
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["x", "x"]


def test_many_letters(tmp_path: Any) -> None:
    team = crew(tmp_path)
    prefixes = [team.desk(str(number)).ledger.prefix for number in range(54)]
    assert prefixes[:2] == ["A", "B"] and prefixes[25:28] == ["Z", "AA", "AB"] and prefixes[51:] == ["AZ", "BA", "BB"]
    assert len(set(prefixes)) == 54


def test_a_shared_engine_is_asked_once() -> None:
    tree = FakeTree({"a.py": "if off:\n    run()\n"})
    calls: list[str] = []

    class Asked(FakeEngine):
        def why(self, query: str, *, counterfactuals: bool = True) -> Any:
            calls.append(query)
            return super().why(query, counterfactuals=counterfactuals)

    shared = SharedEngine(Asked(tree=tree, verdicts={"a.py:2": 1}))
    threads = [threading.Thread(target=lambda: shared.why("a.py:2")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == ["a.py:2"]
    assert shared.why("a.py:2", counterfactuals=False) is shared.why("a.py:2")
    assert calls == ["a.py:2"]


def test_a_shared_engine_remembers_that_there_is_no_answer() -> None:
    shared = SharedEngine(FakeEngine(tree=FakeTree({"a.py": "x = 1\n"})))
    for _ in range(2):
        with pytest.raises(TargetNotFound):
            shared.targets("call:nowhere")


def test_a_changed_engine_is_shared_too() -> None:
    from agent.domain.verdict import Change

    tree = FakeTree({"a.py": "x = 1\n"})
    shared = SharedEngine(FakeEngine(tree=tree, changed=FakeEngine(tree=tree)))
    change = [Change(name="--x", from_=None, to=1)]
    assert shared.under(change) is shared.under(change)


async def test_askers_take_turns_in_the_order_in_which_they_came() -> None:
    """What an engine has in its caches shows in how it tells the same thing: the order of questions is no accident of threads."""
    shared = SharedEngine(FakeEngine(tree=FakeTree({"a.py": "x = 1\n"})))
    told: list[str] = []
    first_may_end = threading.Event()

    def slow() -> None:
        told.append("first begins")
        first_may_end.wait(30)
        told.append("first ends")

    waiting = [asyncio.create_task(shared.turn(slow)), asyncio.create_task(shared.turn(lambda: told.append("second")))]
    await asyncio.sleep(0)
    first_may_end.set()
    await asyncio.gather(*waiting)
    assert told == ["first begins", "first ends", "second"]
