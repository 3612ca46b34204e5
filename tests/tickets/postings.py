"""What is posted in these tests: the founding case, short or too long for one comment, and its hostile twin."""

from __future__ import annotations

from dataclasses import replace

from agent import wiring
from agent.domain.investigation import Investigation
from agent.tickets.interface import Posting
from tests.reports import samples


def founding(run_id: str = "run-1", **changes: object) -> Posting:
    return wiring.posting(samples.founding(run=samples.run(id=run_id), **changes))


def later() -> Posting:
    """Another run, another result, the same host and symptom."""
    return wiring.posting(replace(samples.nothing_found(), run=samples.run(id="run-2", started_at="2026-05-02T08:00:00Z")))


def long(lines: int = 59) -> Posting:
    """A report of several comments' length: twelve excerpts of some ten thousand characters."""
    evidence = tuple(samples.evidence(at, "log", f"/log/{at}", 1, "\n".join(["x" * 170] * lines)) for at in range(12))
    return founding(evidence=evidence)


def hostile(text: str) -> Posting:
    investigation: Investigation = replace(samples.hostile(text), run=samples.run(id="run-h", host="gpu-07"))
    return wiring.posting(investigation)
