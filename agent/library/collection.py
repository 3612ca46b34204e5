"""The playbooks at hand: shipped ones, the user's own over them, files named on the command line over both."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from agent.domain.errors import PlaybookInvalid, UsageError
from agent.domain.facts import Facts
from agent.domain.investigation import Symptom
from agent.domain.playbook import Match, Playbook, RuledOut


class Library:
    """Reads lazily, once. A file that breaks the schema is an error that names it, never a playbook that is silently not there."""

    def __init__(self, shipped_dir: Path, user_dir: Path | None = None, extra_files: Sequence[Path] = ()) -> None:
        self._shipped_dir = shipped_dir
        self._user_dir = user_dir
        self._extra_files = tuple(extra_files)

    def entries(self) -> Iterator[tuple[Path, Playbook | PlaybookInvalid]]:
        """Every file with its playbook or what is wrong with it: shipped, then the user's, then the extra ones.

        Of two in one directory with one id neither goes before the other, and the second is wrong.
        """
        from agent.library.reading import read_playbook

        known: dict[tuple[Path, str], Path] = {}
        for path in self._paths():
            try:
                playbook = read_playbook(path)
                first = known.setdefault((path.parent, playbook.id), path)
                if first != path:
                    raise PlaybookInvalid(f"{playbook.id!r} is the id of {first.name} as well", where="id", file=str(path))
                yield path, playbook
            except PlaybookInvalid as problem:
                yield path, problem

    def all(self) -> tuple[Playbook, ...]:
        """Sorted by id; of two with one id the later source wins. Raises PlaybookInvalid."""
        return tuple(self._by_id[id] for id in sorted(self._by_id))

    def get(self, id: str) -> Playbook:
        """Raises UsageError with near misses."""
        if id not in self._by_id:
            near = difflib.get_close_matches(id, self._by_id, n=3) or sorted(self._by_id)[:5]
            raise UsageError(f"no playbook {id!r}", hint=f"there is {', '.join(near)}; `rca playbook list` shows all")
        return self._by_id[id]

    def match(self, symptom: Symptom, facts: Facts) -> tuple[Match, ...]:
        """Best first; empty where the audit has to decide the targets."""
        return self.consider(symptom, facts)[0]

    def consider(self, symptom: Symptom, facts: Facts) -> tuple[tuple[Match, ...], tuple[RuledOut, ...]]:
        """The matches, and every other playbook with the reason why not."""
        from agent.library.matching import judge, ranked

        answers = [judge(playbook, symptom, facts) for playbook in self.all()]
        matches = ranked(answer for answer in answers if isinstance(answer, Match))
        return matches, tuple(answer for answer in answers if isinstance(answer, RuledOut))

    @cached_property
    def _by_id(self) -> dict[str, Playbook]:
        found: dict[str, Playbook] = {}
        for _, entry in self.entries():
            if isinstance(entry, PlaybookInvalid):
                raise entry
            found[entry.id] = entry
        return found

    def _paths(self) -> Iterator[Path]:
        for directory in (self._shipped_dir, self._user_dir):
            if directory is not None and directory.is_dir():
                named = (path for path in directory.iterdir() if path.suffix in (".yaml", ".yml"))
                yield from sorted(path for path in named if path.is_file() or path.is_symlink())
        yield from self._extra_files
