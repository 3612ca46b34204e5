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
    """Files, with what the first read of each gave: an answer that was kept holds as long as they give the same.

    ``moved``: whether one gave something else later; what is worked out then may rest on both.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self.noted: dict[tuple[str, str], str] = {}
        self.moved = False

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """See Files."""
        content = self._files.read(path)
        self._note("read", path, content)
        return content

    def is_dir(self, path: str) -> bool | None:
        """See Files."""
        found = self._files.is_dir(path)
        self._note("is_dir", path, found)
        return found

    def still(self, noted: Mapping[tuple[str, str], str]) -> bool:
        """Whether the same reads give the same now."""
        return all(
            _digest(self._files.read(path) if how == "read" else self._files.is_dir(path)) == what for (how, path), what in noted.items()
        )

    def _note(self, how: str, path: str, gave: object) -> None:
        digest = _digest(gave)
        self.moved |= self.noted.setdefault((how, path), digest) != digest


def _digest(gave: object) -> str:
    return sha256(gave) if isinstance(gave, bytes) else repr(gave)


class KeptAnswers:
    """Of one launch. The engine's own edition is that of the cache; a process's number decides nothing.

    An answer that raised is not kept, nor one during which a file changed.
    """

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
        content = None if self.files.moved else _packed((self.files.noted, made))
        if content is not None:
            self._index.keep(key, content)
        return made

    def _known(self, content: bytes | None) -> tuple[Any] | None:
        if content is None:
            return None
        try:
            noted, made = load(content, _NOUNS)
            return (made,) if self.files.still(noted) else None
        except DAMAGE:
            return None


def _packed(answer: object) -> bytes | None:
    """None for an answer too deep to be written down, or that holds what cannot be."""
    try:
        return pickle.dumps(answer, 5)
    except (pickle.PicklingError, RecursionError, TypeError, AttributeError):
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
