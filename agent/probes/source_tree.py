"""The source tree that a process imports: regular packages, namespace portions, and editable installs of every kind."""

from __future__ import annotations

import ast
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlparse

_DIST_INFO = re.compile(r"(?P<name>[^/]+?)-(?P<version>[^-/]+?)(?:-py[\d.]+)?\.(?:dist|egg)-info\Z")
_FINDER = re.compile(r"__editable__.*finder\.py\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """``root`` is the directory that holds ``package/``; ``how``: in words, for the report; ``site``: where its metadata lies."""

    package: str
    root: str
    how: str
    site: str = ""
    namespace: bool = False


def probe_paths(package: str, directories: Sequence[str]) -> tuple[str, ...]:
    """What to ``stat`` to see which directory provides the package: for each, the package and its ``__init__.py``."""
    return tuple(path for folder in directories for path in (f"{folder}/{package}", f"{folder}/{package}/__init__.py"))


def find_package(package: str, directories: Sequence[str], existing: frozenset[str], sites: Sequence[str] = ()) -> Located | None:
    """The package by Python's own rule: the first directory with ``__init__.py`` wins over every namespace portion before it."""
    portions = [folder for folder in directories if f"{folder}/{package}" in existing]
    regular = [folder for folder in portions if f"{folder}/{package}/__init__.py" in existing]
    if not portions:
        return None
    root = (regular or portions)[0]
    how = f"found on the module search path in {root}"
    return Located(package=package, root=root, how=how, site=root if root in sites else "", namespace=not regular)


def editable_names(package: str, entries: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Of the files in each site directory those that can redirect imports or say where the package came from."""
    wanted = []
    for site, names in sorted(entries.items()):
        for name in sorted(names):
            if name.endswith((".pth", ".egg-link")) or _FINDER.fullmatch(name):
                wanted.append(f"{site}/{name}")
            elif name.endswith(".dist-info") and (_metadata(name) or ("",))[0] == _normal(package):
                wanted.append(f"{site}/{name}/direct_url.json")
    return tuple(wanted)


def editable_roots(package: str, files: Mapping[str, bytes]) -> tuple[Located, ...]:
    """Candidate roots from redirecting files (path -> bytes), in the order in which Python would meet them.

    Finder modules are parsed, never run. A candidate still has to be looked up: a stale file may point to nothing.
    """
    found: list[Located] = []
    for path in sorted(files, key=_redirect_order):
        site = posixpath.dirname(path)
        text = files[path].decode("utf-8", "replace")
        for root in _READERS[_kind(path)](text, package, site):
            how = f"editable install: {posixpath.basename(path)} points to {root}"
            found.append(Located(package=package, root=root, how=how, site=_site_of(path)))
    return tuple(dict.fromkeys(found))


def _redirect_order(path: str) -> tuple[int, str]:
    """Path entries before meta-path finders, since the path finder is asked first; hints that nothing executes come last."""
    return ("pth", "finder", "egg-link", "direct_url").index(_kind(path)), path


def _kind(path: str) -> str:
    name = posixpath.basename(path)
    if name == "direct_url.json":
        return "direct_url"
    return "finder" if name.endswith(".py") else name.rpartition(".")[2]


def _site_of(path: str) -> str:
    folder = posixpath.dirname(path)
    return posixpath.dirname(folder) if folder.endswith(".dist-info") else folder


def _from_pth(text: str, package: str, site: str) -> list[str]:
    """site.py: each line is a directory; lines that begin with ``import`` run code, which is read from its own file instead."""
    lines = [line.rstrip() for line in text.splitlines()]
    entries = [line for line in lines if line and not line.startswith(("#", "import ", "import\t"))]
    return [posixpath.normpath(posixpath.join(site, entry)) for entry in entries]


def _from_finder(text: str, package: str, site: str) -> list[str]:
    """setuptools' editable finder: ``MAPPING`` and ``NAMESPACES`` are literal dictionaries at module level."""
    roots = []
    for name, target in _literal_dicts(text, ("MAPPING", "NAMESPACES")):
        places = [target] if isinstance(target, str) else list(target) if isinstance(target, list | tuple) else []
        for place in places:
            parent = _parent_holding(name, place, package)
            if parent:
                roots.append(parent)
    return roots


def _literal_dicts(text: str, names: Sequence[str]) -> list[tuple[str, Any]]:
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    items: list[tuple[str, Any]] = []
    for statement in module.body:
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target] if isinstance(statement, ast.AnnAssign) else []
        )
        if statement_names(targets) & set(names):
            items.extend(_literal_items(getattr(statement, "value", None)))
    return items


def statement_names(targets: Sequence[ast.expr]) -> set[str]:
    """The plain names among assignment targets."""
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _literal_items(node: ast.expr | None) -> list[tuple[str, Any]]:
    try:
        value = ast.literal_eval(node) if node is not None else None
    except ValueError:
        return []
    return sorted((key, item) for key, item in value.items() if isinstance(key, str)) if isinstance(value, dict) else []


def _parent_holding(name: str, place: str, package: str) -> str:
    """The root for ``name`` mapped to ``place``: ``pkg`` -> /x/pkg gives /x; ``pkg.sub`` -> /x/pkg/sub gives /x too."""
    parts = name.split(".")
    if parts[0] != package:
        return ""
    folder = place.rstrip("/")
    for part in reversed(parts):
        if posixpath.basename(folder).removesuffix(".py") != part:
            return ""
        folder = posixpath.dirname(folder)
    return folder


def _from_egg_link(text: str, package: str, site: str) -> list[str]:
    """setuptools develop: the first line is the directory of the project's packages."""
    first = text.splitlines()[0].strip() if text.strip() else ""
    return [posixpath.normpath(posixpath.join(site, first))] if first else []


def _from_direct_url(text: str, package: str, site: str) -> list[str]:
    """PEP 610: the project directory; its packages lie there, in ``src`` or in ``python``."""
    try:
        record = json.loads(text)
    except ValueError:
        return []
    if not isinstance(record, dict) or not (record.get("dir_info") or {}).get("editable"):
        return []
    url = urlparse(str(record.get("url", "")))
    folder = unquote(url.path).rstrip("/") if url.scheme == "file" else ""
    return [folder, f"{folder}/src", f"{folder}/python"] if folder else []


_READERS = {"pth": _from_pth, "finder": _from_finder, "egg-link": _from_egg_link, "direct_url": _from_direct_url}


def _metadata(entry: str) -> tuple[str, str] | None:
    """Distribution (PEP 503 form) and version of a metadata directory's name."""
    found = _DIST_INFO.fullmatch(entry)
    return (_normal(found["name"]), found["version"]) if found else None


def _normal(name: str) -> str:
    """PEP 503 name comparison."""
    return re.sub(r"[-_.]+", "-", name).lower()


def package_version(package: str, entries: Sequence[str]) -> str:
    """From the metadata directory's name (``sglang-0.5.9.dist-info``); empty where there is none, or more than one that disagree."""
    versions = {version for name, version in _metadata_of(entries) if name == _normal(package)}
    return versions.pop() if len(versions) == 1 else ""


def installed_packages(entries: Sequence[str]) -> dict[str, str]:
    """Distribution name (PEP 503 form) to version, of one site directory."""
    return dict(_metadata_of(entries))


def _metadata_of(entries: Sequence[str]) -> list[tuple[str, str]]:
    return [found for entry in sorted(entries) if (found := _metadata(entry))]
