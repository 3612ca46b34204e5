"""After a fix: what the log's numbers and the guards say now, against before."""

from agent.verification.check import Check
from agent.verification.numbers import Series, series_of, since_start
from agent.verification.verdict import Again, Now, Numbers, Verification, verify
from agent.verification.watch import GrowingLog, Watch, follow

__all__ = [
    "Again",
    "Check",
    "GrowingLog",
    "Now",
    "Numbers",
    "Series",
    "Verification",
    "Watch",
    "follow",
    "series_of",
    "since_start",
    "verify",
]
