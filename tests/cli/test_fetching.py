"""Wheels come from pip, here out of a folder: whole and once, or with pip's own reason."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from agent.demo.wheel import cached_wheel
from agent.domain.errors import RcaError
from tests.store.test_crashes import small_disk

__all__ = ["small_disk"]


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its index, with one wheel of a megabyte."""
    shop = tmp_path / "shop"
    shop.mkdir()
    with zipfile.ZipFile(shop / "bicycle-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("bicycle/__init__.py", "")
        wheel.writestr("bicycle/bell.bin", os.urandom(1_000_000))
        wheel.writestr("bicycle-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: bicycle\nVersion: 1.0\n")
        wheel.writestr("bicycle-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("bicycle-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shop))
    return shop


def test_a_wheel_is_fetched_once(tmp_path: Path, shop: Path) -> None:
    seen: list[int] = []
    first = cached_wheel("bicycle", "1.0", tmp_path / "cache", seen.append)
    assert first.read_bytes() == (shop / first.name).read_bytes()
    (shop / first.name).unlink()
    assert cached_wheel("bicycle", "1.0", tmp_path / "cache", seen.append) == first
    assert list((tmp_path / "cache").iterdir()) == [first], "nothing unfinished stays"


def test_half_a_wheel_is_fetched_again(tmp_path: Path, shop: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (whole,) = shop.iterdir()
    (cache / whole.name).write_bytes(whole.read_bytes()[:5000])
    assert cached_wheel("bicycle", "1.0", cache, lambda size: None).read_bytes() == whole.read_bytes()


def test_a_place_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RcaError, match=r"file/cache: Not a directory.*RCA_HOME names another directory"):
        cached_wheel("bicycle", "1.0", tmp_path / "file" / "cache", lambda size: None)


def test_a_release_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RcaError, match=r"pip cannot fetch bicycle 2.0: No matching distribution.*check the network"):
        cached_wheel("bicycle", "2.0", tmp_path / "cache", lambda size: None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_disk_that_is_full(small_disk: Path) -> None:
    with pytest.raises(RcaError, match=r"No space left on device.*make room on the disk of"):
        cached_wheel("bicycle", "1.0", small_disk / "cache", lambda size: None)
    assert list((small_disk / "cache").iterdir()) == []
