"""Where a process's Python looks for modules: interpreter, prefix, version, and the directories of its search path in order."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.probes.products import is_python, python_program

_VERSION = re.compile(r"python(\d+\.\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessPlace:
    """What the kernel says of a process; ``None`` is a link that could not be read."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    exe: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """Directories that may hold a package, best first: ``early`` come before the standard library, ``sites`` after it."""

    early: tuple[str, ...]
    sites: tuple[str, ...]
    prefixes: tuple[str, ...]
    version: str

    @property
    def directories(self) -> tuple[str, ...]:
        """All of them in the order in which Python asks them, each once."""
        return tuple(dict.fromkeys((*self.early, *self.sites)))


def python_version(*texts: str | None) -> str:
    """``3.11`` from the first text that names it (an executable, a library in maps, a ``pyvenv.cfg``); empty where none does."""
    for text in texts:
        found = _VERSION.search(text or "") or re.search(r"^version(?:_info)?\s*=\s*(\d+\.\d+)", text or "", re.MULTILINE)
        if found:
            return found[1]
    return ""


def interpreter_candidates(place: ProcessPlace) -> tuple[str, ...]:
    """Paths that may be the ``python`` as it was called: a virtual environment shows there and not in the resolved ``exe``."""
    program = place.argv[0] if place.argv else ""
    named = _named_program(program, place) if is_python(program) else []
    roots = [f"{root.rstrip('/')}/bin/python" for root in (place.env.get("VIRTUAL_ENV"), place.env.get("CONDA_PREFIX")) if root]
    return tuple(dict.fromkeys([*named, *([place.exe] if place.exe else []), *([] if named else roots)]))


def _named_program(program: str, place: ProcessPlace) -> list[str]:
    if program.startswith("/"):
        return [program]
    if "/" in program:
        return [posixpath.normpath(posixpath.join(place.cwd, program))] if place.cwd else []
    return [posixpath.join(folder, program) for folder in place.env.get("PATH", "").split(":") if folder.startswith("/")]


def plan_search(place: ProcessPlace, interpreters: Sequence[str], version: str) -> SearchPlan:
    """The search path of ``interpreters`` (best first) as site.py builds it; PEP 370, PEP 405 and Debian's dist-packages included.

    ``interpreters``: those that exist, as called. Every directory is a candidate: whether it exists is for the host to say.
    """
    flags = _interpreter_flags(place.argv)
    prefixes = tuple(dict.fromkeys(posixpath.dirname(posixpath.dirname(path)) for path in interpreters))
    sites = [site for prefix in prefixes for site in _sites(prefix, version)]
    if not flags & {"I", "s"} and not place.env.get("PYTHONNOUSERSITE"):
        sites = [*_user_sites(place.env, version), *sites]
    return SearchPlan(early=tuple(_early(place, flags)), sites=tuple(dict.fromkeys(sites)), prefixes=prefixes, version=version)


def _interpreter_flags(argv: Sequence[str]) -> frozenset[str]:
    """Single-letter options before the program, like ``-I`` or ``-sE``."""
    _, _, first_argument = python_program(argv)
    words = [word for word in argv[1 : max(first_argument - 1, 1)] if re.fullmatch(r"-[A-Za-z]+", word)]
    return frozenset("".join(words).replace("-", "")) - {"m"}


def _early(place: ProcessPlace, flags: frozenset[str]) -> list[str]:
    """sys.path before the standard library: the program's own directory, then PYTHONPATH."""
    first = [] if flags & {"I", "P"} or place.env.get("PYTHONSAFEPATH") else _program_directory(place)
    listed = [] if flags & {"I", "E"} else [entry for entry in place.env.get("PYTHONPATH", "").split(":") if entry]
    return [path for entry in (*first, *listed) if (path := _absolute(entry, place.cwd))]


def _program_directory(place: ProcessPlace) -> list[str]:
    kind, name, _ = python_program(place.argv)
    if kind == "module":
        return ["."]
    return [posixpath.dirname(name) or "."] if kind == "script" else []


def _absolute(entry: str, cwd: str | None) -> str:
    """Empty where a relative entry hangs on an unknown directory."""
    if entry.startswith("/"):
        return posixpath.normpath(entry)
    return posixpath.normpath(posixpath.join(cwd, entry)) if cwd else ""


def _user_sites(env: Mapping[str, str], version: str) -> list[str]:
    base = env.get("PYTHONUSERBASE") or (f"{env['HOME'].rstrip('/')}/.local" if env.get("HOME") else "")
    return [f"{base}/lib/python{version}/site-packages"] if base and version else []


def _sites(prefix: str, version: str) -> list[str]:
    if not version:
        return []
    common = [f"{prefix}/lib/python{version}/site-packages", f"{prefix}/lib64/python{version}/site-packages"]
    if prefix != "/usr":
        return common
    debian = [f"/usr/local/lib/python{version}/dist-packages", "/usr/lib/python3/dist-packages", f"/usr/lib/python{version}/dist-packages"]
    return [f"/usr/local/lib/python{version}/site-packages", *debian, *common]
