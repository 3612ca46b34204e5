"""What is special to one server product, as plain tables: which commands start it, what its workers are called, what it logs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from agent.domain.errors import PlaybookInvalid

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?(?:\.exe)?\Z")
_TAKES_VALUE = frozenset("XW")
"""Interpreter options with a separate argument; ``-m`` and ``-c`` end them (python(1))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A console script; with ``subcommand``, only that word after it makes it a server."""

    name: str
    subcommand: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPatterns:
    """How the product's log is read. ``record``: group ``record`` holds a repr of the effective configuration;
    ``anchors``: fixed texts of the few lines per start that are worth finding far from the log's end;
    ``limits``: lines with ``key=value`` pairs; ``batch``: periodic lines with ``key: value`` pairs; ``notable``: signs of trouble.
    """

    anchors: tuple[str, ...] = ()
    record: tuple[re.Pattern[str], ...] = ()
    limits: tuple[re.Pattern[str], ...] = ()
    batch: tuple[re.Pattern[str], ...] = ()
    notable: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Where a running server tells its settings over HTTP. ``host`` and ``port``: the settings that say where it listens;
    ``live``: keys of its answer below which later values of the settings stand; ``warning``: what answering does to the server.
    """

    path: str
    host: str
    port: str
    live: tuple[str, ...] = ()
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One row of ``playbooks/products/*.yaml``. ``model``: for each role ("target", "draft", ...) what names its directory,
    best first, as for ``model_value``."""

    name: str
    packages: tuple[str, ...]
    modules: tuple[str, ...] = ()
    scripts: tuple[Script, ...] = ()
    workers: tuple[re.Pattern[str], ...] = ()
    environment: tuple[str, ...] = ()
    model: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    log: LogPatterns = field(default_factory=LogPatterns)
    told: Told | None = None

    def is_worker(self, title: str) -> bool:
        """A process title that the product gives to its own child processes."""
        return any(pattern.search(title) for pattern in self.workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """A command line that starts ``product``; ``argv`` begins at the interpreter or script, ``entry`` is the module or script name."""

    product: Product
    argv: tuple[str, ...]
    entry: str


def server_command(argv: Sequence[str], products: Sequence[Product]) -> ServerCommand | None:
    """The product that this command line starts, or None."""
    for product in products:
        entry = _entry(argv, product)
        if entry:
            return ServerCommand(product=product, argv=tuple(argv), entry=entry)
    return None


def is_python(program: str) -> bool:
    """Whether argv[0] is a Python interpreter by its name."""
    return bool(_PYTHON.fullmatch(program.rpartition("/")[2]))


def python_program(argv: Sequence[str]) -> tuple[str, str, int]:
    """What a ``python ...`` command line runs: ("module" | "script" | "", name, index of its first argument)."""
    index = 1
    while index < len(argv):
        word = argv[index]
        if not word.startswith("-") or word == "-":
            return ("script", word, index + 1) if word != "-" else ("", "", index + 1)
        ends = re.fullmatch(r"-[A-Za-z]*?([mc])(.*)", word) if not word.startswith("--") else None
        if ends and not set(word[1 : ends.start(1)]) & _TAKES_VALUE:
            name = ends[2] or (argv[index + 1] if index + 1 < len(argv) else "")
            return ("module" if ends[1] == "m" else "", name if ends[1] == "m" else "", index + (1 if ends[2] else 2))
        index += 2 if word[1:] and word[-1] in _TAKES_VALUE and not word.startswith("--") else 1
    return "", "", index


def _entry(argv: Sequence[str], product: Product) -> str:
    if not argv:
        return ""
    if not is_python(argv[0]):
        return _script_entry(argv[0], argv[1:], product)
    kind, name, rest = python_program(argv)
    if kind == "module":
        return name if name in product.modules else ""
    return _script_entry(name, argv[rest:], product) if kind == "script" else ""


def _script_entry(program: str, arguments: Sequence[str], product: Product) -> str:
    for module in product.modules:
        path = module.replace(".", "/")
        if program.endswith((f"/{path}.py", f"/{path}/__main__.py")) or program == f"{path}.py":
            return module
    name = program.rpartition("/")[2]
    for script in product.scripts:
        if name == script.name and script.subcommand in ("", *arguments[:1]):
            return script.name
    return ""


def model_value(argv: Sequence[str], names: Sequence[str]) -> str | None:
    """What the first of ``names`` says: a flag, ``--flag.key`` for a key of its JSON value, or a word that the value follows."""
    for name in names:
        flag, dot, key = name.partition(".")
        if not name.startswith("--"):
            value = next((after for word, after in pairwise(argv) if word == name and not after.startswith("-")), None)
        else:
            value = option(argv, (flag,))
            value = _json_key(value, key) if dot and value is not None else value
        if value:
            return value
    return None


def _json_key(text: str, key: str) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None


def option(argv: Sequence[str], names: Sequence[str]) -> str | None:
    """The value of a long option in ``--name value`` or ``--name=value`` form; the last one wins, ``_`` and ``-`` are the same."""
    wanted = {_dashed(name) for name in names}
    value: str | None = None
    for index, word in enumerate(argv):
        name, has_value, given = word.partition("=")
        if not word.startswith("--") or _dashed(name) not in wanted:
            continue
        if has_value:
            value = given
        elif index + 1 < len(argv):
            value = argv[index + 1]
    return value


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def allowed_names(products: Sequence[Product], general: Sequence[str]) -> tuple[str, ...]:
    """The environment allow-list as shell-style patterns, sorted."""
    return tuple(sorted({*general, *(pattern for product in products for pattern in product.environment)}))


def is_allowed(name: str, patterns: Sequence[str]) -> bool:
    """Whether an environment variable of this name may be read."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def parse_product(table: Mapping[str, Any], *, file: str) -> Product:
    """A product from its YAML table; raises PlaybookInvalid naming the wrong entry."""
    reader = _Reader(table, file)
    log = _Reader(reader.table("log"), file, "log.")
    return Product(
        name=reader.word("name"),
        packages=reader.words("packages"),
        modules=reader.words("modules"),
        scripts=tuple(Script(name=name, subcommand=sub) for name, _, sub in (line.partition(" ") for line in reader.words("scripts"))),
        workers=reader.patterns("workers"),
        environment=reader.words("environment"),
        model={role: _Reader(reader.table("model"), file, "model.").words(role) for role in reader.table("model")},
        log=LogPatterns(anchors=log.words("anchors"), **{name: log.patterns(name) for name in ("record", "limits", "batch", "notable")}),
        told=_told(_Reader(reader.table("http"), file, "http.")) if reader.table("http") else None,
    )


def _told(http: _Reader) -> Told:
    return Told(
        path=http.word("path"), host=http.word("host"), port=http.word("port"), live=http.words("live"), warning=http.word("warning")
    )


class _Reader:
    """Typed access to one YAML mapping; every error names the entry."""

    def __init__(self, table: Mapping[str, Any], file: str, prefix: str = "") -> None:
        self._table, self._file, self._prefix = table, file, prefix

    def _wrong(self, key: str, expected: str) -> PlaybookInvalid:
        return PlaybookInvalid(f"expected {expected}", where=self._prefix + key, file=self._file)

    def word(self, key: str) -> str:
        value = self._table.get(key)
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "a text")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        value = self._table.get(key, ())
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "a list of texts")
        return tuple(value)

    def table(self, key: str) -> Mapping[str, Any]:
        value = self._table.get(key, {})
        if not isinstance(value, Mapping):
            raise self._wrong(key, "a mapping")
        return value

    def patterns(self, key: str) -> tuple[re.Pattern[str], ...]:
        try:
            return tuple(re.compile(text) for text in self.words(key))
        except re.error as problem:
            raise self._wrong(key, f"regular expressions ({problem})") from None
