"""Published schemas and scripts for tests, out of npm packages: fetched with npm into a cache, never committed."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rca-tests" / "npm"
_TIMEOUT = 300.0


class PackageUnavailable(RuntimeError):
    """npm could not fetch the package; the message is npm's own last line."""


def npm_file(package: str, member: str) -> Path:
    """One file of ``name@version``, read only by convention. Safe under several processes at once. Raises PackageUnavailable."""
    place = CACHE / re.sub(r"[^\w.@-]", "_", package) / member
    if place.is_file():
        return place
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.is_file():
            _fetch(package, member, place)
    return place


def _fetch(package: str, member: str, place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".new-", dir=CACHE) as scratch:
        archive = _download(package, Path(scratch))
        with tarfile.open(archive) as packed:
            content = packed.extractfile(f"package/{member}")
            assert content, member
            unfinished = Path(scratch) / "member"
            with unfinished.open("wb") as file:
                shutil.copyfileobj(content, file)
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished.rename(place)


def _download(package: str, into: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise PackageUnavailable(f"no npm in PATH to fetch {package} with")
    try:
        done = subprocess.run([npm, "pack", "--silent", package], cwd=into, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise PackageUnavailable(f"{package}: npm did not answer within {_TIMEOUT:.0f} s") from None
    archives = sorted(into.glob("*.tgz"))
    if done.returncode or not archives:
        raise PackageUnavailable(f"{package}: {(done.stderr.strip().splitlines() or ['npm said nothing'])[-1]}")
    return archives[0]
