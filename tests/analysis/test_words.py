"""Words of many files, as bytes and back; what is kept of a tree's texts between processes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.analysis.imports import importable_from
from agent.analysis.index import Index
from agent.analysis.words import WordIndex
from agent.domain.source import Unreadable
from agent.hosts.local_tree import MemoryTree

TEXTS = st.lists(st.sampled_from([b"a b", b"b_1 = a", b"", b"# c\n", b"\xff\xfe", b"d(e)"]), max_size=6)
FILES = {"p/__init__.py": "", "p/a.py": "from p import b\nx = 1\n", "p/b.py": "y = x\n"}


class Kept:
    """A cache in memory."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.content.get(key)

    def put(self, key: str, content: bytes) -> None:
        self.content[key] = content


@given(TEXTS)
def test_words_come_back_as_they_were(texts: list[bytes]) -> None:
    made = WordIndex((f"{number}.py", text) for number, text in enumerate(texts))
    back = WordIndex.unpack(made.pack())
    assert back is not None
    assert {word: back.files_with(word) for word in "abcde"} == {word: made.files_with(word) for word in "abcde"}
    assert back.pack() == made.pack()


@pytest.mark.parametrize("text", ["from a import *\n", "from a import\\\n\t *", "from .a import*"])
def test_a_star_is_a_word_of_its_own(text: str) -> None:
    assert Index(MemoryTree({"a.py": "x = 2 * y\nimport b\n", "b.py": text})).files_with("*") == ("b.py",)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 32, bytes(31), WordIndex([("a.py", b"a")]).pack()[:-1]])
def test_other_bytes_are_refused(content: bytes) -> None:
    assert WordIndex.unpack(content) is None


def test_words_and_imports_are_worked_out_once_for_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Kept()
    first = Index(MemoryTree(FILES), cache)
    answers = first.files_with("x"), importable_from(first, "p/a.py")
    second, keys = Index(MemoryTree(FILES), cache), set(cache.content)
    monkeypatch.setattr(second, "_contents", lambda: iter(read))
    read = [(path, text.encode()) for path, text in FILES.items()]
    assert second._digest == first._digest
    read.clear()
    assert (second.files_with("x"), importable_from(second, "p/a.py")) == answers
    assert set(cache.content) == keys


@pytest.mark.parametrize("changed", [{"p/b.py": "y = z\n"}, {"p/c.py": ""}, {"data.json": ""}])
def test_another_text_is_another_tree(changed: dict[str, str]) -> None:
    cache = Kept()
    Index(MemoryTree(FILES), cache).files_with("x")
    before = set(cache.content)
    other = Index(MemoryTree({**FILES, **changed}), cache)
    assert other.files_with("z") == (("p/b.py",) if changed.get("p/b.py") else ())
    assert set(cache.content) > before


def test_a_damaged_entry_costs_time_and_no_answer() -> None:
    cache = Kept()
    answers = Index(MemoryTree(FILES), cache).files_with("x")
    cache.content = {key: content[:-2] + b"??" for key, content in cache.content.items()}
    again = Index(MemoryTree(FILES), cache)
    assert again.files_with("x") == answers
    assert importable_from(again, "p/a.py") == {"p/__init__.py", "p/a.py", "p/b.py"}


def test_a_search_that_was_not_complete_is_not_kept() -> None:
    class Broken(MemoryTree):
        def read(self, path: str):  # type: ignore[no-untyped-def]
            return Unreadable(path=path, reason="permission denied") if path == "p/b.py" else super().read(path)

    cache = Kept()
    index = Index(Broken(FILES), cache)
    assert index.files_with("x") == ("p/a.py",)
    assert index.unread == {"p/b.py": "permission denied"}
    assert cache.content == {}
