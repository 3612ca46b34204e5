"""Have we seen this fault before? Past runs of one fingerprint, as a sentence a person reads."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from agent.domain.fingerprint import cause_fingerprint, fingerprint
from agent.domain.investigation import Finding
from agent.domain.serialize import Plain

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
_NAMED = 3
"""Hosts listed by name before the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen(Plain):
    """Earlier runs with the same fault. ``same_guard`` False: the same cause, behind another guard. Oldest first."""

    finding: str
    fingerprint: str
    same_guard: bool
    times: int
    first_at: str
    last_at: str
    hosts: tuple[str, ...]
    playbooks: tuple[str, ...]
    runs: tuple[str, ...]

    def sentence(self) -> str:
        """Like "seen 3 times since May 2026, on gpu-03 and gpu-07; playbook prefix-cache-off"."""
        what = "seen" if self.same_guard else "the same cause behind another guard was seen"
        times = "once before," if self.times == 1 else f"{self.times} times since"
        when = f"in {_month(self.first_at)}" if self.times == 1 else _month(self.first_at)
        playbook = f"; playbook {', '.join(self.playbooks)}" if self.playbooks else ""
        return f"{what} {times} {when}, on {_enumerated(self.hosts)}{playbook}"


def seen(connection: sqlite3.Connection, finding: Finding, package: str, *, but: str) -> Seen | None:
    """Past finished runs other than ``but`` with this finding: by guard and cause first, by cause alone else."""
    for column, digest in (("fingerprint", fingerprint(finding, package)), ("cause_fingerprint", cause_fingerprint(finding, package))):
        rows = connection.execute(
            f"SELECT DISTINCT runs.seq, runs.id, started_at, host, playbook FROM runs JOIN findings ON runs.id = run_id"
            f" WHERE {column} = ? AND runs.id != ? ORDER BY started_at, runs.seq",
            (digest, but),
        ).fetchall()
        if rows:
            return _summed(finding, digest, rows, same_guard=column == "fingerprint")
    return None


def _summed(finding: Finding, digest: str, rows: list[sqlite3.Row], *, same_guard: bool) -> Seen:
    return Seen(
        finding=finding.id,
        fingerprint=digest,
        same_guard=same_guard,
        times=len(rows),
        first_at=rows[0]["started_at"],
        last_at=rows[-1]["started_at"],
        hosts=tuple(sorted({row["host"] for row in rows})),
        playbooks=tuple(sorted({row["playbook"] for row in rows} - {""})),
        runs=tuple(row["id"] for row in rows),
    )


def _month(moment: str) -> str:
    """``2026-05-01T...`` is "May 2026"; anything else stands as it is."""
    year, _, rest = moment.partition("-")
    number = rest[:2]
    return f"{_MONTHS[int(number) - 1]} {year}" if number.isdigit() and 1 <= int(number) <= 12 else moment


def _enumerated(names: tuple[str, ...]) -> str:
    named = [*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
