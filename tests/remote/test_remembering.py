"""A host that remembers: the second attempt asks only for what the first did not get."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.domain.errors import ConnectFailed, RcaError
from agent.domain.launch import HostSpec
from agent.domain.source import Absent, Unreadable
from agent.hosts import commands
from agent.hosts.interface import Host
from agent.hosts.remembering import RememberingHost
from agent.hosts.snapshots import SnapshotCache
from tests.remote.conftest import Connect

SPEC = HostSpec(name="localhost", transport="local")
NOTHING = SnapshotCache(None)


class Notebook:
    """A Memory in a dictionary."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.written: dict[str, bytes] = {}

    def recall(self, name: str) -> bytes | None:
        return self.pages.get(name)

    def keep(self, answers: Mapping[str, bytes]) -> None:
        self.written.update(answers)

    def next_attempt(self) -> Notebook:
        after = Notebook()
        after.pages = {**self.pages, **self.written}
        return after


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "one.py").write_bytes(b"x = 1\n")
    (tmp_path / "package" / "two.py").write_bytes("y = 'é\0'\n".encode())
    (tmp_path / "config.json").write_bytes(b'{"a": 1}\n')
    return tmp_path


async def unreachable() -> Host:
    raise ConnectFailed("the host is not asked again", host="localhost")


async def test_everything_comes_back_without_a_host(connect: Connect, place: Path, tmp_path: Path) -> None:
    notebook, cache = Notebook(), tmp_path / "cache"
    first = RememberingHost(SPEC, lambda: connect("local", SPEC, cache_dir=cache), notebook, SnapshotCache(cache))
    paths = [str(place / "config.json"), str(place / "missing"), str(place / "package" / "two.py")]
    asked = [commands.stat([str(place / "config.json")]), commands.stat([str(place / "missing")])]
    files, answers, features = await first.fetch(paths), await first.batch(asked), await first.features()
    tree = await first.sync_tree(str(place), ["package"])
    await first.close()
    assert first.recalled == 0

    second = RememberingHost(SPEC, unreachable, notebook.next_attempt(), SnapshotCache(cache))
    assert await second.fetch(paths) == files
    assert isinstance(files[str(place / "missing")], Absent)
    again = await second.batch(asked)
    assert [(one.status, one.stdout, one.stderr) for one in again if not isinstance(one, RcaError)] == [
        (one.status, one.stdout, one.stderr) for one in answers if not isinstance(one, RcaError)
    ]
    assert await second.features() == features
    kept = await second.sync_tree(str(place), ["package"])
    assert list(kept.files()) == list(tree.files())
    assert [kept.read(path) for path in kept.files()] == [tree.read(path) for path in tree.files()]
    assert kept.root == tree.root
    assert list(kept.containing([b"y ="])) == ["package/two.py"]
    assert (second.transport_name, second.transport_reason) == ("local", first.transport_reason)
    assert second.cost.commands == 0
    assert second.recalled == 7
    await second.close()


async def test_a_tree_whose_contents_are_gone_is_asked_for_again(connect: Connect, place: Path, tmp_path: Path) -> None:
    notebook, cache = Notebook(), tmp_path / "cache"
    first = RememberingHost(SPEC, lambda: connect("local", SPEC, cache_dir=cache), notebook, SnapshotCache(cache))
    tree = await first.sync_tree(str(place), ["package"])
    await first.close()
    for pack in (cache / "snapshots" / "packs").iterdir():
        pack.unlink()

    second = RememberingHost(SPEC, lambda: connect("local", SPEC, cache_dir=cache), notebook.next_attempt(), SnapshotCache(cache))
    again = await second.sync_tree(str(place), ["package"])
    assert [again.read(path) for path in again.files()] == [tree.read(path) for path in tree.files()]
    assert (second.recalled, second.asked) == (0, 1)
    await second.close()


async def test_only_the_unknown_is_asked(connect: Connect, place: Path) -> None:
    notebook = Notebook()
    first = RememberingHost(SPEC, lambda: connect("local", SPEC), notebook, NOTHING)
    known = commands.stat([str(place / "config.json")])
    await first.run(known)
    await first.close()

    second = RememberingHost(SPEC, lambda: connect("local", SPEC), notebook.next_attempt(), NOTHING)
    (place / "config.json").unlink()
    fresh = commands.stat([str(place / "package")])
    told, new = await second.batch([known, fresh])
    assert not isinstance(told, RcaError) and b"config.json" in told.stdout, "as it was"
    assert not isinstance(new, RcaError) and b"package" in new.stdout
    assert second.cost.commands == 1
    assert (second.recalled, second.asked) == (1, 1)
    await second.close()


async def test_errors_and_unreadable_files_are_asked_again(place: Path) -> None:
    class Failing:
        transport_name, transport_reason = "fake", ""

        async def batch(self, asked: list[object]) -> list[RcaError]:
            return [RcaError("lost") for _ in asked]

        async def fetch(self, paths: list[str]) -> dict[str, Unreadable]:
            return {path: Unreadable(path=path, reason="not permitted") for path in paths}

        async def close(self) -> None: ...

    notebook = Notebook()

    async def opened() -> Host:
        return Failing()  # type: ignore[return-value]

    host = RememberingHost(SPEC, opened, notebook, NOTHING)
    with pytest.raises(RcaError, match="lost"):
        await host.run(commands.stat(["/x"]))
    await host.fetch(["/secret"])
    await host.close()
    assert set(notebook.written) == {"transport"}


async def test_what_is_kept_was_redacted_before(connect: Connect, place: Path) -> None:
    (place / "config.json").write_text('{"api_key": "sk-this-must-not-be-kept-0123456789"}\n')
    notebook = Notebook()
    host = RememberingHost(SPEC, lambda: connect("local", SPEC), notebook, NOTHING)
    await host.fetch([str(place / "config.json")])
    await host.run(commands.read_bytes(str(place / "config.json")))
    await host.close()
    assert len(notebook.written) == 3
    assert b"must-not-be-kept" not in b"".join(notebook.written.values())
