"""Answers that were worked out before for the same sources, launch, facts and files: kept between processes, beside the modules."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from agent.analysis.cache import DAMAGE, load
from agent.analysis.index import Index
from agent.domain import values, verdict
from agent.domain.launch import Launch
from agent.domain.source import Absent, Files, Unreadable, sha256
from agent.evaluation.entry import console_scripts

T = TypeVar("T")
P = ParamSpec("P")

_NOUNS = {(room.__name__, name): kind for room in (values, verdict) for name, kind in vars(room).items() if isinstance(kind, type)}
"""What an answer may be made of, besides plain values."""


class NotedFiles:
    """Files, with what each read gave: an answer that was kept holds as long as they give the same."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.noted: dict[tuple[str, str], str] = {}

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """See Files."""
        content = self._files.read(path)
        self.noted["read", path] = sha256(content) if isinstance(content, bytes) else repr(content)
        return content

    def is_dir(self, path: str) -> bool | None:
        """See Files."""
        found = self._files.is_dir(path)
        self.noted["is_dir", path] = repr(found)
        return found

    def still(self, noted: Mapping[tuple[str, str], str]) -> bool:
        """Whether the same reads give the same now."""
        for (how, path), what in noted.items():
            self.read(path) if how == "read" else self.is_dir(path)
            if self.noted[how, path] != what:
                return False
        return True


class KeptAnswers:
    """Of one launch. The engine's own edition is that of the cache; what raised is not kept; a process's number decides nothing."""

    def __init__(self, index: Index, launch: Launch, files: Files, facts: Mapping[str, Any]) -> None:
        self.files = NotedFiles(files)
        self._index = index
        self._about = repr((index.tree.root, replace(launch, pid=None).as_dict(), sorted(facts.items())))

    def answer(self, question: str, work_out: Callable[[], T]) -> T:
        """The answer kept, else the one worked out now, which is kept."""
        if not self._index.keeps:
            return work_out()
        scripts = sorted(console_scripts(self._index.tree).items())
        key = f"answer {sha256(repr((self._about, scripts, question)).encode('utf-8', 'surrogateescape'))}"
        known = self._known(self._index.kept(key))
        if known is not None:
            found: T = known[0]
            return found
        made = work_out()
        self._index.keep(key, pickle.dumps((dict(self.files.noted), made), 5))
        return made

    def _known(self, content: bytes | None) -> tuple[Any] | None:
        if content is None:
            return None
        try:
            noted, made = load(content, _NOUNS)
            return (made,) if self.files.still(noted) else None
        except DAMAGE:
            return None


class _Asked(Protocol):
    kept: KeptAnswers


A = TypeVar("A", bound=_Asked)


def kept(question: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[A, P], T]:
    """A question of an engine whose answer is kept."""

    @wraps(question)
    def answered(engine: A, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return engine.kept.answer(f"{question.__name__}{args!r}{sorted(kwargs.items())!r}", lambda: question(engine, *args, **kwargs))

    return answered
