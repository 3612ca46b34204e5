"""A directory as a source tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.domain.errors import UsageError
from agent.domain.source import Absent, SourceTree, Unreadable
from agent.hosts import local_tree
from agent.hosts.local_tree import DirectoryTree, MemoryTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "pkg/__init__.py": "",
        "pkg/a.py": "needle = 1\n",
        "pkg/sub/b.py": "needle and other\n",
        "pkg/data.txt": "needle\n",
        "pkg/__pycache__/a.pyc": "needle\n",
        "pkg-1.0.dist-info/METADATA": "Name: pkg\n",
        "zeta/c.py": "other\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def tree(root: Path) -> SourceTree:
    return DirectoryTree(root)


def test_files_are_listed_in_order_without_bytecode(root: Path) -> None:
    assert list(tree(root).files()) == [
        "pkg-1.0.dist-info/METADATA",
        "pkg/__init__.py",
        "pkg/a.py",
        "pkg/data.txt",
        "pkg/sub/b.py",
        "zeta/c.py",
    ]


def test_some_packages_alone(root: Path) -> None:
    assert list(DirectoryTree(root, ["pkg"]).files()) == list(tree(root).files())[:-1]


@pytest.mark.parametrize("held", [0, 10**9], ids=["file by file", "in one piece"])
def test_search_and_reads(root: Path, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_tree, "HELD_BYTES", held)
    one = tree(root)
    assert list(one.containing([b"needle"])) == ["pkg/a.py", "pkg/sub/b.py"]
    assert list(one.containing([b"other", b"needle"])) == ["pkg/a.py", "pkg/sub/b.py", "zeta/c.py"]
    assert list(one.containing([b"absent"])) == []
    assert list(one.containing([])) == []
    assert one.read("pkg/a.py") == b"needle = 1\n"
    assert one.read("pkg/__init__.py") == b""
    assert one.read("pkg/data.txt") == b"needle\n"


def test_absent_and_unreadable_are_told_apart(root: Path) -> None:
    os.mkfifo(root / "pkg" / "pipe.py")
    (root / "pkg" / "link.py").symlink_to("/etc/passwd")
    (root / "linked").symlink_to(root / "pkg")
    one = tree(root)
    assert one.read("pkg/no.py") == Absent(path="pkg/no.py")
    assert one.read("pkg/a.py/no.py") == Absent(path="pkg/a.py/no.py")
    assert one.read("pkg/pipe.py") == Unreadable(path="pkg/pipe.py", reason="not a regular file")
    assert one.read("pkg/link.py") == Unreadable(path="pkg/link.py", reason="a symbolic link")
    assert one.read("../secret") == Unreadable(path="../secret", reason="outside the tree")
    assert one.read("/etc/passwd") == Unreadable(path="/etc/passwd", reason="outside the tree")
    assert not {"pkg/pipe.py", "pkg/link.py", "linked/a.py"} & set(one.files())


def test_a_missing_directory_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no directory"):
        DirectoryTree(tmp_path / "no")


def test_files_in_memory() -> None:
    one: SourceTree = MemoryTree({"b.py": "x = 'é'", "a.txt": b"x"}, root="here")
    assert (one.root, list(one.files()), one.read("b.py"), one.read("c.py")) == (
        "here",
        ["a.txt", "b.py"],
        "x = 'é'".encode(),
        Absent(path="c.py"),
    )
    assert list(one.containing([b"x"])) == ["b.py"]
