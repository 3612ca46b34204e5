"""Lowered modules as bytes, and the directory they are kept in."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import agent
from agent.analysis import index as indexing
from agent.analysis import ir
from agent.analysis.cache import pack, unpack
from agent.analysis.index import Index
from agent.analysis.syntax import parse, put_off_bodies
from agent.analysis.walk import children, walk
from agent.hosts.ir_cache import ENGINE, IrCache, edition
from agent.hosts.local_tree import MemoryTree
from tests.analysis.shown import shown
from tests.analysis.test_syntax_samples import SAMPLES


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_module_comes_back_as_it_was(sample: Path) -> None:
    module = parse(sample.name, sample.read_bytes())
    packed = pack(module)
    assert packed is not None
    back = unpack(packed, module.path, module.sha256, module.source)
    assert back is not None
    assert exact(back) == exact(module)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_bodies_that_nobody_read_are_put_off_again(sample: Path) -> None:
    module = parse(sample.name, sample.read_bytes(), late=True)
    unread = [each.start_byte for each in functions(module) if not each.has_body]
    packed = pack(module)
    assert packed is not None
    back = unpack(packed, module.path, module.sha256, module.source)
    assert back is not None
    assert [each.start_byte for each in functions(back) if not each.has_body] == unread
    put_off_bodies(back)
    assert exact(back) == exact(parse(sample.name, sample.read_bytes()))


def functions(module: ir.Module) -> list[ir.FunctionDef]:
    """Those that stand in no function."""
    pending: list[ir.Node] = list(module.body)
    found = []
    for each in pending:
        if isinstance(each, ir.FunctionDef):
            found.append(each)
        else:
            pending.extend(children(each))
    return found


def exact(module: ir.Module) -> list[object]:
    nodes = [node for root in (*module.body, *module.errors) for node in walk(root)]
    return [shown(module.body), [(type(node), node.line, node.end, node.start_byte, node.end_byte) for node in nodes]]


class Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        zlib.compress(b""),
        zlib.compress(b"nonsense"),
        zlib.compress(pickle.dumps(1)),
        zlib.compress(pickle.dumps(([], Harm()))),
        zlib.compress(pickle.dumps((Path("x"), []))),
        (pack(parse("a.py", b"x = 1\n")) or b"")[:-3],
    ],
)
def test_anything_else_is_refused(content: bytes) -> None:
    assert unpack(content, "a.py", "", b"") is None


def test_a_tree_too_deep_to_write_down_is_not_kept() -> None:
    assert pack(parse("a.py", b"x = a" + b" + b" * 5000)) is None


def test_a_module_is_lowered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = IrCache(tmp_path / "ir")
    files = {"a.py": "x = f(1)\n", "b.py": "x = f(1)\n"}
    first = Index(MemoryTree(files), kept).module("a.py")

    def fail(path: str, source: bytes) -> ir.Module:
        raise AssertionError(f"{path} was lowered again")

    monkeypatch.setattr(indexing.syntax, "parse", fail)
    for path in files:
        module = Index(MemoryTree(files), kept).module(path)
        assert (module.path, shown(module.body)) == (path, shown(first.body))


def test_a_damaged_entry_costs_time_and_nothing_else(tmp_path: Path) -> None:
    kept = IrCache(tmp_path / "ir")
    Index(MemoryTree({"a.py": "x = 1\n"}), kept).module("a.py")
    (entry,) = (path for path in (tmp_path / "ir").rglob("*") if path.is_file())
    entry.write_bytes(b"damaged")
    assert shown(Index(MemoryTree({"a.py": "x = 1\n"}), kept).module("a.py").body) == "[Assign([x], 1)]"
    assert entry.read_bytes() != b"damaged"


@pytest.mark.parametrize("harm", ["cut", "flipped", "of another key", "empty", "a directory", "a link", "a pipe"])
def test_an_entry_that_is_not_what_was_put_is_none(tmp_path: Path, harm: str) -> None:
    kept = IrCache(tmp_path / "ir")
    kept.put("ab" * 32, b"content")
    kept.put("cd" * 32, b"other")
    entry, other = (next(path for path in (tmp_path / "ir").rglob(f"{start * 31}")) for start in ("ab", "cd"))
    whole = entry.read_bytes()
    entry.unlink()
    if harm == "a directory":
        entry.mkdir()
    elif harm == "a link":
        entry.symlink_to("/dev/zero")
    elif harm == "a pipe":
        os.mkfifo(entry)
    else:
        entry.write_bytes({"cut": whole[:-1], "flipped": whole[:-1] + b"T", "of another key": other.read_bytes(), "empty": b""}[harm])
    assert kept.get("ab" * 32) is None
    kept.put("ab" * 32, b"content")
    assert kept.get("ab" * 32) == (None if harm == "a directory" else b"content")
    IrCache(tmp_path / "ir", limit=0).trim()
    assert IrCache(tmp_path / "ir").get("cd" * 32) is None


# --- the directory -----------------------------------------------------------------------------------------------------------


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    kept = IrCache(tmp_path / "deep" / "ir")
    kept.put("ab" * 32, b"content")
    assert kept.get("ab" * 32) == b"content"
    assert kept.get("cd" * 32) is None
    modes = {oct(path.stat().st_mode & 0o777) for path in (tmp_path / "deep" / "ir").rglob("*")} | {
        oct((tmp_path / "deep" / "ir").stat().st_mode & 0o777)
    }
    assert modes == {"0o700", "0o600"}


def test_a_directory_that_others_may_write_is_not_believed(tmp_path: Path) -> None:
    kept = IrCache(tmp_path / "ir")
    kept.put("ab" * 32, b"content")
    (tmp_path / "ir").chmod(0o777)
    again = IrCache(tmp_path / "ir")
    assert again.get("ab" * 32) is None
    again.put("cd" * 32, b"more")
    assert "not this user's own" in str(again.problem)


def test_a_place_that_cannot_be_written_is_said_and_survived(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = IrCache(tmp_path / "file" / "ir")
    kept.put("ab" * 32, b"content")
    assert kept.get("ab" * 32) is None
    assert kept.problem


def test_the_oldest_entries_go_first(tmp_path: Path) -> None:
    kept = IrCache(tmp_path / "ir", limit=1000)
    for number in range(9):
        kept.put(f"{number:064x}", bytes(100))
        os.utime(tmp_path / "ir" / edition() / "00" / f"{number:062x}", (number, number))
    kept.put("ff" * 32, bytes(300))
    sizes = [path.stat().st_size for path in (tmp_path / "ir").rglob("*") if path.is_file()]
    assert sum(sizes) <= 1000
    assert kept.get("ff" * 32) is not None
    assert kept.get(f"{0:064x}") is None
    assert kept.get(f"{8:064x}") is not None


@pytest.mark.parametrize("changed", ["analysis/syntax.py", "domain/verdict.py", "evaluation/models/config_classes.json"])
def test_an_edition_follows_the_code_of_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    before = edition()
    for room in ENGINE:
        shutil.copytree(Path(agent.__path__[0]) / room, tmp_path / room)
    monkeypatch.setattr(agent, "__path__", [str(tmp_path)])
    try:
        edition.cache_clear()
        assert edition() == before
        edition.cache_clear()
        (tmp_path / changed).write_bytes((tmp_path / changed).read_bytes() + b"\n")
        assert edition() != before
    finally:
        edition.cache_clear()


WRITER = """
import sys
from pathlib import Path
from agent.hosts.ir_cache import IrCache
kept = IrCache(Path(sys.argv[1]), limit=200_000)
for number in range(400):
    key = f"{number % 40:02x}" * 32
    kept.put(key, key.encode() * 30)
    got = kept.get(key)
    assert got is None or got == key.encode() * 30, "torn entry"
assert kept.problem is None, kept.problem
"""


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "ir")]) for _ in range(2)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    assert not list((tmp_path / "ir").rglob(".new-*"))
