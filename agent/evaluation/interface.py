"""What the rest of the house asks of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agent.domain.launch import Launch
from agent.domain.source import SourceTree
from agent.domain.values import Value
from agent.domain.verdict import AuditAnswer, Change, Counterfactual, ReachAnswer, Setting, Target, WhyAnswer


class Engine(Protocol):
    """One source tree under one launch. Answers are deterministic; an unknown names the fact that would settle it.

    A launch that the program's own command line refuses has no answers: ``why``, ``reach``, ``setting`` and ``after`` raise
    LaunchRejected. Its ``audit`` lists the refusal among the raises.
    """

    tree: SourceTree
    launch: Launch

    def targets(self, query: str) -> tuple[Target, ...]:
        """Places meant by ``path:line``, ``symbol``, ``call:name``, ``assign:name``, ``define:name``, ``string:text``.

        Raises TargetNotFound with near misses.
        """
        ...

    def why(self, query: str, *, counterfactuals: bool = True) -> WhyAnswer:
        """Why the target runs or not; of several places the first that is never reached, else the first."""
        ...

    def after(self, query: str, changes: Sequence[Change]) -> Counterfactual | None:
        """Given changes, evaluated from the start. None where the changed launch does not start.

        ``opens`` holds the place and its deciding guard where the place was never reached and then is not "never" any more; else it is
        empty. ``next`` is what the changed launch raises, swallows, lacks: of places that ran before, too.
        """
        ...

    def reach(self, path: str) -> ReachAnswer:
        """Each statement of the file: always, never, may or unknown."""
        ...

    def audit(self) -> AuditAnswer:
        """Every setting, dead configuration keys, raises, smells."""
        ...

    def setting(self, name: str) -> Value:
        """Effective value of a configuration field or flag, e.g. ``speculative_algorithm``."""
        ...

    def attribute(self, name: str) -> Setting | None:
        """``Class.attribute`` of any class of the tree: what its objects hold there, and the lines that write it; None where none does."""
        ...

    def under(self, changes: Sequence[Change]) -> Engine:
        """The same tree under a changed launch (flag, ``env:NAME``, ``config:FILE:KEY``, ``assume:NAME``); parses are shared."""
        ...

    @property
    def assumed(self) -> Mapping[str, Any]:
        """The facts that were given."""
        ...
