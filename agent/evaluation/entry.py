"""From a launch command to the code that starts: ``python -m module``, a script's path, or a console script."""

from __future__ import annotations

import configparser
import os.path
from typing import NamedTuple

from agent.analysis.index import Index
from agent.domain.errors import TargetNotFound
from agent.domain.launch import Launch
from agent.domain.source import SourceTree

_VALUED = frozenset({"-W", "-X", "-Q"})


class Entry(NamedTuple):
    """``function`` "" runs the module's body as ``__main__``; ``argv`` is the program's ``sys.argv``."""

    path: str
    function: str
    argv: tuple[str, ...]


def find_entry(index: Index, launch: Launch, given: str = "") -> Entry:
    """The module and function that the command starts; ``given`` (``module:function``) overrides. Raises TargetNotFound."""
    words = launch.argv
    if given:
        return _function(index, given, tuple(words))
    if not words:
        raise TargetNotFound("the launch command is empty", hint="give it with --launch")
    if os.path.basename(words[0]).startswith(("python", "pypy")):
        return _interpreter(index, words)
    if words[0].endswith(".py"):
        return _script(index, words)
    return _console_script(index, words)


def _interpreter(index: Index, words: tuple[str, ...]) -> Entry:
    position = 1
    while position < len(words):
        word = words[position]
        if word == "-m" and position + 1 < len(words):
            return _module(index, words[position + 1], words[position + 2 :])
        if word.startswith("-m") and not word.startswith("--"):
            return _module(index, word[2:], words[position + 1 :])
        if word in _VALUED:
            position += 2
            continue
        if not word.startswith("-"):
            return _script(index, words[position:])
        position += 1
    hint = "it should look like: python3 -m package.module --flag value"
    raise TargetNotFound("the launch command starts no module or script", hint=hint)


def _module(index: Index, dotted: str, rest: tuple[str, ...]) -> Entry:
    path = index.module_path(dotted)
    inner = index.module_path(f"{dotted}.__main__")
    if inner is not None and (path is None or path.endswith("__init__.py")):
        path = inner
    if path is None:
        raise TargetNotFound(f"module {dotted} is not in the source tree", hint="is --tree the directory that holds the package?")
    return Entry(path, "", (path, *rest))


def _script(index: Index, words: tuple[str, ...]) -> Entry:
    name = words[0]
    scripts = [p for p in index.files if p.endswith(".py") and (p == name or name.endswith("/" + p))]
    if scripts:
        return Entry(max(scripts, key=len), "", words)
    return _console_script(index, words)


def _console_script(index: Index, words: tuple[str, ...]) -> Entry:
    name = os.path.basename(words[0])
    target = console_scripts(index.tree).get(name)
    if target is None:
        raise TargetNotFound(
            f"{words[0]} is neither a module, a script of the tree, nor a console script that it installs",
            hint="give the command as python3 -m package.module ...",
        )
    return _function(index, target, (words[0], *words[1:]))


def _function(index: Index, target: str, argv: tuple[str, ...]) -> Entry:
    dotted, _, function = target.partition(":")
    path = index.module_path(dotted.strip())
    if path is None:
        raise TargetNotFound(f"module {dotted} of the entry point is not in the source tree")
    return Entry(path, function.partition("[")[0].strip(), argv)


def console_scripts(tree: SourceTree) -> dict[str, str]:
    """Console scripts of every distribution beside the packages (``*.dist-info/entry_points.txt``, ini format).

    A file that is not of this format starts nothing.
    """
    found: dict[str, str] = {}
    for path in tree.files():
        if path.endswith(".dist-info/entry_points.txt"):
            content = tree.read(path)
            if isinstance(content, bytes):
                parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
                parser.optionxform = str  # type: ignore[assignment, method-assign]
                try:
                    parser.read_string(content.decode("utf-8", "replace"))
                except configparser.Error:
                    continue
                if parser.has_section("console_scripts"):
                    found.update(parser.items("console_scripts"))
    return found
