"""Files, paths, JSON and YAML: read through the given Files; a file that was not looked at is unknown, not absent."""

from __future__ import annotations

import json
import os.path
from collections.abc import Callable
from typing import Any

from agent.domain.source import Absent, Unreadable
from agent.evaluation import facts
from agent.evaluation.concrete import NotConcrete, concrete, concrete_named, for_each, lift, reason_of
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.values import AV, NONE, Const, ExternV, Instance, OneOf, Unk, candidates, one_of

PATH = "pathlib.Path"


def path_text(m: Machine, value: AV) -> str | None:
    """The text of a str or Path value; None where it is unknown."""
    if isinstance(value, Const) and isinstance(value.v, str):
        return value.v
    if isinstance(value, Instance):
        cell = m.state.get((value, "<path>"))
        if cell is not None and isinstance(cell.value, Const):
            return str(cell.value.v)
    return None


def new_path(m: Machine, text: str) -> Instance:
    """A ``pathlib.Path``."""
    obj = Instance(ExternV(PATH))
    m.store((obj, "<path>"), Const(text))
    return obj


def read_file(m: Machine, text: str) -> bytes | Absent | Unreadable:
    """Content of a file of the host; ``file:NAME`` facts come first."""
    known = facts.table(m).named
    for name in (f"file:{text}", f"file:{os.path.basename(text)}"):
        if name in known:
            return json.dumps(known[name]).encode() if not isinstance(known[name], str) else known[name].encode()
    expanded = os.path.expanduser(text) if text.startswith("~") else text
    return m.files.read(expanded)


def open_file(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``open(path, mode)``."""
    obj = Instance(ExternV("io.TextIOWrapper"))
    text = path_text(m, args[0]) if args else None
    mode = args[1] if len(args) > 1 else kwargs.get("mode", Const("r"))
    writing = isinstance(mode, Const) and isinstance(mode.v, str) and any(c in mode.v for c in "wax+")
    if text is None or writing:
        m.may_raise("a file may not open", "OSError")
        return obj
    content = read_file(m, text)
    if isinstance(content, Absent):
        m.throw_new("FileNotFoundError", f"No such file or directory: {text!r}")
    if isinstance(content, bytes):
        binary = isinstance(mode, Const) and isinstance(mode.v, str) and "b" in mode.v
        m.store((obj, "<content>"), Const(content if binary else content.decode("utf-8", "replace")))
    else:
        m.may_raise(f"{text} was not read", "OSError")
    return obj


def _content(m: Machine, obj: AV) -> AV:
    cell = m.state.get((obj, "<content>"))
    return cell.value if cell is not None else Unk("the content of a file that was not read", "str")


def _read(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _content(m, args[0])


def _lines(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    content = _content(m, args[0])
    if isinstance(content, Const):
        return lift(m, content.v.splitlines(keepends=True))
    return m.new_list((), "list", reason_of(content))


def loads(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``json.loads``."""
    return for_each(m, args[0], lambda item: _loaded(m, item))


def _loaded(m: Machine, text: AV) -> AV:
    if not isinstance(text, Const):
        return m.missing(reason_of(text))
    try:
        return lift(m, json.loads(text.v))
    except (ValueError, TypeError) as error:
        kind = "json.JSONDecodeError" if isinstance(error, ValueError) else "builtins.TypeError"
        exc = Instance(ExternV(kind))
        m.store((exc, "args"), Const(str(error)))
        m.throw(exc, str(error))


def _load(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    content = _content(m, args[0])
    return loads(m, [content], {}) if isinstance(content, Const) else m.missing(reason_of(content))


def _dumps(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    try:
        return Const(json.dumps(concrete(m, args[0]), **concrete_named(m, kwargs)))
    except (NotConcrete, TypeError, ValueError):
        return Unk(reason_of(args[0]), "str")


def _yaml(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    source = args[0] if args else kwargs.get("stream", NONE)
    content = _content(m, source) if isinstance(source, Instance) else source
    if not isinstance(content, Const) or not isinstance(content.v, (str, bytes)):
        return m.missing(reason_of(content))
    import yaml

    try:
        return lift(m, yaml.safe_load(content.v))
    except yaml.YAMLError as error:
        return m.missing(f"YAML that does not parse: {error}"[:120])


def _exists(m: Machine, value: AV, *, want_dir: bool | None) -> AV:
    text = path_text(m, value)
    if text is None:
        return Unk(reason_of(value), "bool")
    if any(name in facts.table(m).named for name in (f"file:{text}", f"file:{os.path.basename(text)}")) and want_dir is not True:
        return Const(True)
    is_dir = m.files.is_dir(text)
    if want_dir is True:
        return Const(is_dir) if is_dir is not None else Unk(f"whether {text} is a directory was not looked up", "bool")
    if is_dir:
        return Const(want_dir is None)
    content = m.files.read(text)
    if isinstance(content, bytes):
        return Const(True)
    return Const(False) if isinstance(content, Absent) else Unk(f"whether {text} exists was not looked up", "bool")


def _exists_function(want_dir: bool | None) -> Callee:
    return lambda m, args, kwargs: one_of([_exists(m, v, want_dir=want_dir) for v in candidates(args[0])])


def _pure_path(name: str) -> Callee:
    function: Callable[..., Any] = getattr(os.path, name)

    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        texts = [path_text(m, a) for a in args]
        if any(t is None for t in texts):
            if args and isinstance(args[0], OneOf):
                return for_each(m, args[0], lambda item: run(m, [item, *args[1:]], kwargs))
            if any(isinstance(a, Const) and a.v is None for a in args):
                m.throw_new("TypeError", "expected str, bytes or os.PathLike object, not NoneType")
            return Unk(reason_of(*args), "str")
        return lift(m, function(*texts))

    return run


def _expanduser(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    text = path_text(m, args[0])
    return Const(text) if text is not None else Unk("a path", "str")


def _path(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if not args:
        return new_path(m, ".")
    texts = [path_text(m, a) for a in args]
    if any(t is None for t in texts):
        if any(isinstance(a, Const) and a.v is None for a in args):
            m.throw_new("TypeError", "argument should be a str or an os.PathLike object")
        return m.missing(reason_of(*args), "object")
    return new_path(m, os.path.normpath(os.path.join(*(str(t) for t in texts))))


def _path_attribute(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from pathlib import PurePosixPath

    text, name = path_text(m, args[0]), args[1]
    if text is None or not isinstance(name, Const):
        return Unk("part of a path")
    pure = PurePosixPath(text)
    if name.v == "parent":
        return new_path(m, str(pure.parent))
    if name.v in ("name", "suffix", "stem", "suffixes", "parts"):
        return lift(m, getattr(pure, name.v))
    return Unk(f"Path.{name.v}")


def _join(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _path(m, args, {})


def _path_read(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _content(m, open_file(m, args[:1], {}))


_FILE: dict[str, Callee] = {
    "read": _read,
    "readlines": _lines,
    "__iter__": _lines,
    "close": lambda m, a, k: NONE,
    "write": lambda m, a, k: Unk("a length", "int"),
    "flush": lambda m, a, k: NONE,
}
_PURE_PATHS = ("join", "basename", "dirname", "splitext", "split", "isabs", "normpath", "commonprefix")
_PATH_METHODS: dict[str, Callee] = {
    "exists": _exists_function(None),
    "is_file": _exists_function(False),
    "is_dir": _exists_function(True),
    "joinpath": _join,
    "__truediv__": _join,
    "expanduser": lambda m, a, k: a[0],
    "absolute": lambda m, a, k: a[0],
    "resolve": lambda m, a, k: a[0],
    "as_posix": lambda m, a, k: Const(path_text(m, a[0])),
    "__str__": lambda m, a, k: Const(path_text(m, a[0])),
    "__fspath__": lambda m, a, k: Const(path_text(m, a[0])),
    "open": lambda m, a, k: open_file(m, a, k),
    "read_text": _path_read,
    "read_bytes": lambda m, a, k: Unk("the bytes of a file", "bytes"),
    "mkdir": lambda m, a, k: NONE,
    "__getattr__": _path_attribute,
}
FUNCTIONS: dict[str, Callee] = {
    "json.loads": loads,
    "orjson.loads": loads,
    "json.load": _load,
    "json.dumps": _dumps,
    "json.dump": lambda m, a, k: NONE,
    "yaml.safe_load": _yaml,
    "yaml.load": _yaml,
    "os.path.exists": _exists_function(None),
    "os.path.lexists": _exists_function(None),
    "os.path.isfile": _exists_function(False),
    "os.path.isdir": _exists_function(True),
    "os.path.expanduser": _expanduser,
    "os.path.expandvars": _expanduser,
    "os.path.abspath": _expanduser,
    "os.path.realpath": _expanduser,
    "os.fspath": _expanduser,
    "os.makedirs": lambda m, a, k: NONE,
    "pathlib.Path": _path,
    "pathlib.PurePath": _path,
    **{f"os.path.{name}": _pure_path(name) for name in _PURE_PATHS},
}
CONSTANTS: dict[str, Attribute] = {}
METHODS: dict[str, dict[str, Callee]] = {PATH: _PATH_METHODS, "io.TextIOWrapper": _FILE}
