"""Trees of published releases for playbook tests: a given folder of them, or wheels fetched with pip into the cache."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.domain.source import SourceTree


class Releases:
    """``folder``: holds ``PACKAGE-VERSION`` directories. ``fetch``: releases that are nowhere yet are fetched; else they are None."""

    def __init__(self, settings: Settings, folder: str = "", *, fetch: bool = False) -> None:
        self._cache = settings.cache_dir / "releases"
        self._wheels = settings.cache_dir / "wheels"
        self._folder = Path(folder) if folder else None
        self._fetch = fetch
        self._trees: dict[tuple[str, str], SourceTree | None] = {}

    def tree(self, package: str, version: str) -> SourceTree | None:
        """The unpacked release, the same object each time. Raises RcaError where fetching fails."""
        key = (package, version)
        if key not in self._trees:
            place = self._place(package, version)
            self._trees[key] = None if place is None else _open(place, package)
        return self._trees[key]

    def versions(self, package: str) -> list[str]:
        """Those at hand, oldest first."""
        from packaging.version import InvalidVersion, Version

        found: dict[str, Version] = {}
        for parent in (self._folder, self._cache):
            for place in parent.glob(f"{package}-*") if parent is not None and parent.is_dir() else ():
                try:
                    found[place.name.removeprefix(f"{package}-")] = Version(place.name.removeprefix(f"{package}-"))
                except InvalidVersion:  # another package whose name begins alike
                    continue
        return sorted(found, key=found.__getitem__)

    def _place(self, package: str, version: str) -> Path | None:
        name = f"{package}-{version}"
        for parent in (self._folder, self._cache):
            if parent is not None and (parent / name).is_dir():
                return parent / name
        return self._fetched(package, version) if self._fetch else None

    def _fetched(self, package: str, version: str) -> Path:
        """Unpacked beside its place and renamed into it, so that an interrupted run leaves no half tree."""
        from agent.demo.wheel import cached_wheel

        wheel = cached_wheel(package, version, self._wheels, lambda done: None)
        self._cache.mkdir(parents=True, exist_ok=True)
        scratch, place = Path(tempfile.mkdtemp(prefix=".new-", dir=self._cache)), self._cache / f"{package}-{version}"
        try:
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(".py") or ".dist-info/" in name]
                archive.extractall(scratch / "tree", members=names)
            (scratch / "tree").rename(place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return place


def _open(place: Path, package: str) -> SourceTree:
    from agent.hosts.local_tree import DirectoryTree

    name = package.replace("-", "_")
    return DirectoryTree(str(place), (name,) if (place / name).is_dir() else ())
