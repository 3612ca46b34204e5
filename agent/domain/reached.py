"""Three readings of an answer to "why does this line not run", for those who have to act on it."""

from __future__ import annotations

from typing import Final

from agent.domain.verdict import Guard, WhyAnswer

NEVER: Final = "never"
RUNS: Final = "runs"
OPEN: Final = "open"


def reading(answer: WhyAnswer) -> str:
    """``never``; ``runs`` (certainly, or on a path on which every guard is as it must be: it runs whenever that is taken); or ``open``.

    An undecided assertion leaves a path free: where it fails, the program ends with a message, which no silent fault does.
    """
    if answer.verdict in ("never", "unknown"):
        return NEVER if answer.verdict == "never" else OPEN
    free = any(path.open or all(map(_lets_pass, path.guards)) for path in answer.paths)
    return RUNS if answer.verdict == "always" or free else OPEN


def _lets_pass(guard: Guard) -> bool:
    return guard.truth == str(guard.polarity).lower() or (guard.kind == "assert" and guard.truth == "unknown")
