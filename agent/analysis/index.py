"""One source tree, read on demand: modules by path or dotted name, definitions by name, each file parsed only when it is hit."""

from __future__ import annotations

import gc
import re
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from agent.analysis import ir, syntax
from agent.analysis.cache import SummaryCache, pack, unpack
from agent.analysis.outline import Def, Definition, Outline
from agent.analysis.words import KIND, WordIndex, is_word, positions
from agent.domain.errors import NotFoundOnHost
from agent.domain.source import Absent, SourceTree, Unreadable, sha256

T = TypeVar("T")

HELD_BYTES = 14_000_000
"""Source of the modules kept at hand; their trees take up to sixteen times as much memory, where every function of them was read."""

TEXT_BYTES = 5_000_000
"""Text of files kept at hand: a search reads the same files again and again, and a file from the disk costs as much as searching it."""

_BLANK = b" \t\f\r\n\\"
_GAP = re.compile(rb"(?:[ \t\f]|\\\r?\n)+")
_FAR = 256


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A syntax tree is many objects and no cycle: with the cyclic collector running, loading one costs three times as much."""
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()


class Index:
    """A SourceTree with its Python understood. A module is the same object as long as anybody holds it, so its nodes keep their identity.

    ``unread``: files that could not be read, with the reason, from the first search on; while there are any, a search was not complete.
    """

    def __init__(self, tree: SourceTree, cache: SummaryCache | None = None, *, held_bytes: int = HELD_BYTES) -> None:
        self.tree = tree
        self.unread: dict[str, str] = {}
        self._cache = cache
        self._held_bytes = held_bytes
        self._held: OrderedDict[str, ir.Module] = OrderedDict()
        self._size = 0
        self._texts: dict[str, bytes] = {}
        self._room = TEXT_BYTES
        self._defining: dict[tuple[bytes, str], tuple[str, ...]] = {}
        self._alive: WeakValueDictionary[str, ir.Module] = WeakValueDictionary()
        self._outlines: WeakKeyDictionary[ir.Module, Outline] = WeakKeyDictionary()

    # --- modules ---------------------------------------------------------------------------------------------------------

    def module(self, path: str) -> ir.Module:
        """The lowered file. Raises NotFoundOnHost when it is absent or cannot be read, and says which."""
        module = self._alive.get(path)
        if module is None:
            with _collector_paused():
                module = self._load(path)
            self._alive[path] = module
        self._hold(module)
        return module

    def outline(self, path: str) -> Outline:
        module = self.module(path)
        outline = self._outlines.get(module)
        if outline is None:
            outline = self._outlines[module] = Outline(module)
        return outline

    def _load(self, path: str) -> ir.Module:
        source = self.read(path)
        if isinstance(source, Absent):
            raise NotFoundOnHost(f"there is no file {path} in the source tree", looked_for=path, where=self.tree.root)
        if isinstance(source, Unreadable):
            raise NotFoundOnHost(f"{path} cannot be read: {source.reason}", looked_for=path, where=self.tree.root)
        if self._cache is None:
            return syntax.parse(path, source, late=True)
        key = sha256(source)
        packed = self._cache.get(key)
        module = unpack(packed, path, key, source) if packed is not None else None
        if module is not None:
            syntax.put_off_bodies(module)
        else:
            module = syntax.parse(path, source, late=True)
            packed = pack(module)
            if packed is not None:
                self._cache.put(key, packed)
        return module

    def _hold(self, module: ir.Module) -> None:
        """The most recently used modules stay; the last one always does."""
        if module.path in self._held:
            self._held.move_to_end(module.path)
            return
        self._held[module.path] = module
        self._size += len(module.source)
        while self._size > self._held_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self._size -= len(dropped.source)

    # --- names of modules ------------------------------------------------------------------------------------------------

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(self.tree.files())

    @cached_property
    def _folders(self) -> frozenset[str]:
        """Every directory in which a Python file lies, at any depth."""
        folders: set[str] = set()
        for path in self.files:
            if path.endswith(".py"):
                folder = path.rpartition("/")[0]
                while folder and folder not in folders:
                    folders.add(folder)
                    folder = folder.rpartition("/")[0]
        return frozenset(folders)

    def module_path(self, dotted: str) -> str | None:
        """The file of a module; of a regular package its ``__init__.py``. None for what is not in the tree, or is a namespace package."""
        base = dotted.replace(".", "/")
        return next((path for path in (f"{base}/__init__.py", f"{base}.py") if path in self.files), None)

    def is_package(self, dotted: str) -> bool:
        """A directory with Python files in it, with ``__init__.py`` or without (PEP 420)."""
        return dotted.replace(".", "/") in self._folders

    def dotted(self, path: str) -> str:
        """The name under which the file at ``path`` is imported."""
        return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def package_of(self, path: str) -> str:
        """The package that relative imports in ``path`` start from; empty for a top-level module."""
        dotted = self.dotted(path)
        return dotted if path.endswith("/__init__.py") else dotted.rpartition(".")[0]

    def import_source(self, path: str, statement: ir.ImportFrom) -> str | None:
        """The absolute module name that a ``from`` import in ``path`` names; None when its dots lead out of the tree."""
        if not statement.level:
            return statement.module
        parts = self.package_of(path).split(".") if self.package_of(path) else []
        if statement.level > len(parts):
            return None
        base = parts[: len(parts) - statement.level + 1]
        return ".".join([*base, statement.module] if statement.module else base)

    # --- searches --------------------------------------------------------------------------------------------------------

    def files_with(self, word: str) -> tuple[str, ...]:
        """Python files in which the identifier ``word`` stands, in strings and comments too; in path order.

        ``*``: those that may import all names of a module.
        """
        if word == "*" or (word.isascii() and word.isidentifier()):
            return self._words.files_with(word)
        found = ((path, self.read(path)) for path in self.tree.containing([word.encode()]))
        return tuple(path for path, content in found if isinstance(content, bytes) and any(positions(content, word)))

    @cached_property
    def _words(self) -> WordIndex:
        if self._cache is None:
            return WordIndex(self._contents())
        content = self.kept(f"words {KIND}")
        words = WordIndex.unpack(content) if content is not None else None
        if words is None:
            words = WordIndex(self._contents())
            self.keep(f"words {KIND}", words.pack())
        return words

    @property
    def keeps(self) -> bool:
        """Whether there is a cache behind it."""
        return self._cache is not None

    def kept(self, what: str) -> bytes | None:
        """What was worked out of the texts of exactly these files before, if it is kept and whole."""
        packed = self._cache.get(self._key(what)) if self._cache is not None else None
        try:
            return zlib.decompress(packed) if packed is not None else None
        except (zlib.error, MemoryError):
            return None

    def keep(self, what: str, content: bytes) -> None:
        """For the next process; only what follows from the Python files of the tree alone."""
        if self._cache is not None and not self.unread:
            self._cache.put(self._key(what), zlib.compress(content, 1))

    def _key(self, what: str) -> str:
        return sha256(f"{what} {self._digest}".encode("utf-8", "surrogateescape"))

    @cached_property
    def _digest(self) -> str:
        """Of the paths of all files and of every Python file's text."""
        names = "\0".join(sorted(self.files)).encode("utf-8", "surrogateescape")
        texts = ((path.encode("utf-8", "surrogateescape"), sha256(content)) for path, content in self._contents())
        return sha256(names + b"".join(path + b"\0" + digest.encode() for path, digest in texts))

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.files):
            if path.endswith(".py"):
                content = self._texts.get(path) or self.tree.read(path)  # most files are read for this alone
                if isinstance(content, bytes):
                    yield path, content
                else:
                    self.unread[path] = content.reason if isinstance(content, Unreadable) else "it has gone"

    def modules_with(self, word: str) -> Iterator[ir.Module]:
        """Those files, lowered; one that cannot be read is listed in ``unread``."""
        for path in self.files_with(word):
            try:
                yield self.module(path)
            except NotFoundOnHost as problem:
                self.unread[path] = problem.what

    def functions_named(self, name: str) -> list[Definition]:
        return [each for each in self._defined(name, b"def") if isinstance(each.node, ir.FunctionDef)]

    def classes_named(self, name: str) -> list[Definition]:
        return [each for each in self._defined(name, b"class") if isinstance(each.node, ir.ClassDef)]

    def _defined(self, name: str, keyword: bytes) -> Iterator[Definition]:
        for path in self._files_defining(name, keyword):
            yield from (each for each in self.outline(path).definitions if each.name == name)

    def _files_defining(self, name: str, keyword: bytes) -> tuple[str, ...]:
        """By the text of the files; worked out once a name."""
        known = self._defining.get((keyword, name))
        if known is None:
            found = (path for path in self.files_with(name) if _defines(self._content(path), keyword, name))
            known = self._defining[keyword, name] = tuple(found)
        return known

    def _content(self, path: str) -> bytes:
        """Empty for a file that cannot be read, which is then listed in ``unread``."""
        content = self.read(path)
        if isinstance(content, bytes):
            return content
        self.unread[path] = content.reason if isinstance(content, Unreadable) else "it has gone"
        return b""

    def read(self, path: str) -> bytes | Absent | Unreadable:
        """A file's bytes, as ``SourceTree.read`` gives them; texts stay at hand as long as there is room."""
        content = self._texts.get(path)
        if content is None:
            found = self.tree.read(path)
            if not isinstance(found, bytes):
                return found
            content = found
            if self._room >= len(content):
                self._room -= len(content)
                self._texts[path] = content
        return content

    # --- places ----------------------------------------------------------------------------------------------------------

    def enclosing(self, path: str, line: int) -> tuple[Def, ...]:
        """The definitions around a line, outermost first."""
        return self.outline(path).enclosing(line)

    def statement_at(self, path: str, line: int) -> ir.Stmt | None:
        """See Outline.statement_at."""
        return self.outline(path).statement_at(line)


def _defines(content: bytes, keyword: bytes, name: str) -> bool:
    """Whether ``keyword name`` stands in a text, with blanks and continued lines between."""
    for at in positions(content, name):
        before = content[max(0, at - _FAR) : at]
        text = before.rstrip(_BLANK)
        if len(text) <= len(keyword) and len(before) == _FAR:
            pattern = rb"\b" + keyword + _GAP.pattern + re.escape(name.encode()) + rb"(?![A-Za-z0-9_])"
            return re.search(pattern, content) is not None
        if text.endswith(keyword) and not is_word(text[-len(keyword) - 1 : -len(keyword)]) and _GAP.fullmatch(before, len(text)):
            return True
    return False


def once_a_word(search: Callable[[Index, str], T]) -> Callable[[Index, str], T]:
    """Keeps a text search's answer with the index. For answers that hold no nodes: nodes would keep their modules from being let go."""
    known: WeakKeyDictionary[Index, dict[str, T]] = WeakKeyDictionary()

    @wraps(search)
    def answer(index: Index, word: str) -> T:
        found = known.setdefault(index, {})
        if word not in found:
            found[word] = search(index, word)
        return found[word]

    return answer
