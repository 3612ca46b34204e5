"""The evidence one investigator came across: numbered in the order of finding, each thing once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.domain.source import Evidence, sha256


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Ids are ``PREFIX`` and a number: the same questions in the same order give the same ids."""

    prefix: str
    host: str = ""
    _items: dict[tuple[str, str, int, int, str, str], Evidence] = field(default_factory=dict)

    def add(self, kind: str, excerpt: str, *, path: str = "", start: int = 0, end: int = 0, command: str = "") -> str:
        """The id of this piece of evidence; ``excerpt`` is hashed as it is shown, in UTF-8."""
        digest = sha256(excerpt.encode("utf-8", "surrogateescape"))
        key = (kind, path, start, end, command, digest)
        if key not in self._items:
            self._items[key] = Evidence(
                id=f"{self.prefix}{len(self._items) + 1}", kind=kind, host=self.host, path=path, start=start, end=end or start,
                command=command, sha256=digest, excerpt=excerpt,
            )  # fmt: skip
        return self._items[key].id

    def get(self, id_: str) -> Evidence | None:
        return next((e for e in self._items.values() if e.id == id_), None)

    def only(self, ids: Iterable[str]) -> tuple[Evidence, ...]:
        """The evidence of these ids, in order of finding; ids of nobody are left out."""
        wanted = set(ids)
        return tuple(e for e in self._items.values() if e.id in wanted)

    def everything(self) -> tuple[Evidence, ...]:
        """All of it, in order of finding."""
        return tuple(self._items.values())
