"""Real releases for tests: wheels fetched with pip into a cache, only their Python files and metadata kept."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rca-tests" / "wheels"
_PLATFORMS = ("manylinux_2_34_x86_64", "manylinux_2_31_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64", "any")
_TIMEOUT = 900.0

WheelTree = Callable[[str, str], Path]


class WheelUnavailable(RuntimeError):
    """pip could not fetch the wheel; the message is pip's own last line."""


def fetch_tree(package: str, version: str) -> Path:
    """A directory that holds ``PACKAGE/**/*.py`` and its dist-info, read only by convention.

    Safe under several processes at once: one downloads under a file lock, the tree appears by one rename.
    Raises WheelUnavailable.
    """
    tree = CACHE / f"{package}-{version}"
    if tree.is_dir():
        return tree
    with _locked(CACHE / f".{package}-{version}.lock"):
        if not tree.is_dir():
            _build(package, version, tree)
    return tree


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build(package: str, version: str, tree: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=CACHE))
    try:
        wheel = _download(package, version, scratch / "wheel")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch / "tree", members=[n for n in archive.namelist() if n.endswith(".py") or ".dist-info/" in n])
        (scratch / "tree").rename(tree)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _download(package: str, version: str, into: Path) -> Path:
    """The tests read wheels, they never install them: platform and Python version of this machine do not matter."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(into)]
    command += [f"--platform={name}" for name in _PLATFORMS] + ["--python-version=3.11", f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT)
    wheels = sorted(into.glob("*.whl"))
    if done.returncode or not wheels:
        raise WheelUnavailable(f"{package}=={version}: {(done.stderr.strip().splitlines() or ['pip said nothing'])[-1]}")
    return wheels[0]


@pytest.fixture(scope="session")
def wheel_tree() -> WheelTree:
    """``wheel_tree("sglang", "0.5.9")`` gives the unpacked release; without a package index the test is skipped with pip's reason."""

    def tree(package: str, version: str) -> Path:
        try:
            return fetch_tree(package, version)
        except (WheelUnavailable, subprocess.TimeoutExpired) as problem:
            pytest.skip(f"wheel not available: {problem}")

    return tree
