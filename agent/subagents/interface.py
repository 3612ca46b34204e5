"""What a subagent is: one kind of investigation with a desk to work at and a result that says how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from agent.domain.investigation import UnknownThing
from agent.hosts.interface import Host
from agent.probes.products import Product
from agent.tools.ledger import Ledger

Say = Callable[[str], None]
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Everything a subagent may use: the host, its own ledger of evidence, a list for what it could not find out, a voice."""

    host: Host
    ledger: Ledger
    products: tuple[Product, ...]
    environment: tuple[str, ...]
    """Names of environment variables that may be read, as patterns."""
    say: Say = field(default=lambda text: None)
    unknowns: list[UnknownThing] = field(default_factory=list)

    def unknown(self, what: str, why: str, settle_by: str = "") -> None:
        """Records something that could not be determined."""
        self.unknowns.append(UnknownThing(what=what, why=why, settle_by=settle_by))


class Subagent(Protocol[R_co]):
    """``name`` is unique in a run. ``run`` may raise RcaError: then what it had put on its desk is kept."""

    @property
    def name(self) -> str: ...

    @property
    def task(self) -> str: ...

    async def run(self, desk: Desk) -> R_co:
        """The result; ``summary_of`` turns it into one line."""
        ...

    def summary(self, result: Any) -> str:
        """One line of what came out."""
        ...
