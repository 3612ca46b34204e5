"""One thing that `rca verify` looked at again."""

from __future__ import annotations

from dataclasses import dataclass

from agent.domain.serialize import Plain

PASSED, FAILED, OPEN = "passed", "failed", "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Plain):
    """``kind``: process, launch, guard, setting, playbook, log, number. ``status``: passed, failed, undecided (``why`` names what is
    missing).
    """

    kind: str
    name: str
    before: str
    after: str
    status: str
    why: str = ""
