"""The engine's answers: guards on paths to a line, verdicts, counterfactuals, settings, reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.domain.serialize import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Plain):
    """A line of the source tree."""

    path: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand(Plain):
    """One operand of a guard: its text, value as text, and the places the value came from, nearest first."""

    text: str
    value: str
    from_: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard(Plain):
    """A condition that controls a line; ``polarity`` is what the condition must be for the line to run.

    ``kind``: "if", "while", "for", "match", "ternary", "short_circuit", "except", "early_exit", "import",
    "comprehension", "assert", "dispatch" (another class or function is taken).
    """

    path: str
    line: int
    condition: str
    polarity: bool = True
    truth: str = "unknown"
    kind: str = "if"
    function: str = ""
    decisive_operand: str = ""
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStep(Plain):
    """One call on the way from the entry point to the target; ``instance`` tells two instances of a class apart."""

    path: str
    line: int
    function: str
    instance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCondition(Plain):
    """One call path and its guards; ``open``: True reached, False closed by a guard, None undecided."""

    calls: tuple[CallStep, ...]
    guards: tuple[Guard, ...]
    open: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Plain):
    """One changed input; ``name`` is a flag, ``env:NAME`` or ``config:FILE:KEY``."""

    name: str
    from_: Any
    to: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NextEvent(Plain):
    """What follows once the target opens; ``kind``: raises, closed_guard, override, swallowed."""

    kind: str
    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual(Plain):
    """A change that was evaluated from the start: lines that then run, what comes next, lines that no longer run, settings that differ."""

    change: tuple[Change, ...]
    opens: tuple[Place, ...]
    next: tuple[NextEvent, ...] = ()
    closes: tuple[Place, ...] = ()
    sets: tuple[Change, ...] = ()
    may: tuple[Place, ...] = ()
    """Lines of which it is not decided whether they run then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Plain):
    """The line that was asked about."""

    path: str
    line: int
    text: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """What the server made of it; ``status``: known, candidates, unknown."""

    status: str
    value: Any = None
    values: tuple[Any, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A name that a line reads, with its value there; ``from_``: the lines that gave it, nearest first.

    ``guards``: the conditions under which the nearest of them ran, outermost first. ``instance``: the object on which the method ran;
    empty where it may be any.
    """

    text: str
    effective: Effective
    from_: tuple[Place, ...] = ()
    guards: tuple[Guard, ...] = ()
    instance: str = ""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAnswer(Plain):
    """Answer to "why does this line not run": contract ``rca.why/1``."""

    schema: str = "rca.why/1"
    target: Target
    verdict: str
    decisive: Guard | None
    assumptions: tuple[str, ...]
    paths: tuple[PathCondition, ...]
    counterfactuals: tuple[Counterfactual, ...] = ()
    reason: str = ""
    """Why the verdict is "may" or "unknown": the missing fact."""
    depends_on: Guard | None = None
    """Of a "may": the nearest guard that is not decided, else one that is shut on some of the ways only."""
    uses: tuple[Used, ...] = ()
    """What a line that may run reads, in file order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for a setting; ``source``: flag, env, file, default."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What the running server says of it; ``source``: log, limits_log, server_info."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBy:
    """A statement that wrote the setting after it was asked for, with the guards it ran under."""

    path: str
    line: int
    text: str = ""
    guards: tuple[Guard, ...] = ()
    logged: str = ""
    """The log message that tells of it; empty where none is known, which does not say that there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Plain):
    """One setting, asked against effective against observed.

    ``verdict``: as_asked, overridden, defaulted, never_read, unknown.
    """

    name: str
    flag: str
    asked: Asked
    effective: Effective
    observed: Observed | None = None
    changed_by: tuple[ChangedBy, ...] = ()
    verdict: str = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A place that would read a key."""

    path: str
    line: int
    verdict: str
    decisive: Guard | None = None


COMMAND_LINE, ENVIRONMENT = "command line", "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadKey(Plain):
    """A provided key that nothing reads under this launch; ``readers`` empty: nothing in the tree reads it at all.

    ``file``: the config file, COMMAND_LINE for a flag, ENVIRONMENT for a variable.
    """

    file: str
    key: str
    value: Any
    readers: tuple[Reader, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise(Plain):
    """A launch-time failure; ``certainty``: always or may."""

    path: str
    line: int
    type: str
    message: str
    guards: tuple[Guard, ...] = ()
    certainty: str = "may"


@dataclass(frozen=True, slots=True, kw_only=True)
class Smell(Plain):
    """A place where such faults grow; ``why`` says why it matters under this launch."""

    kind: str
    path: str
    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAnswer(Plain):
    """Contract ``rca.audit/1``."""

    schema: str = "rca.audit/1"
    settings: tuple[Setting, ...]
    dead_config: tuple[DeadKey, ...] = ()
    raises: tuple[Raise, ...] = ()
    smells: tuple[Smell, ...] = ()
    unread_keys: tuple[DeadKey, ...] = ()
    assumptions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """What a reader must know of the answer: that the launch fails on the way, that asking did more than reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachAnswer(Plain):
    """Contract ``rca.reach/1``: inclusive line ranges in ascending order."""

    schema: str = "rca.reach/1"
    file: str
    always: tuple[tuple[int, int], ...]
    never: tuple[tuple[int, int], ...]
    may: tuple[tuple[int, int], ...]
    unknown: tuple[tuple[int, int], ...]
    assumptions: tuple[str, ...] = field(default=())
