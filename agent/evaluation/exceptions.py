"""Which handler takes an exception."""

from __future__ import annotations

from importlib import import_module

from agent.analysis import ir
from agent.evaluation.machine import Machine
from agent.evaluation.values import AV, ClassV, ExternV, Instance, OneOf, Tup, Unk


def matches(m: Machine, exc: AV, handler: ir.Handler) -> bool | None:
    """Whether ``except TYPE`` takes ``exc``; None is undecided."""
    if handler in m.caught:
        return instance_of(exc, m.caught[handler])
    if handler.type is None:
        return True
    return instance_of(exc, m.eval(handler.type))


def instance_of(exc: AV, cls: AV) -> bool | None:
    """``isinstance`` for exceptions."""
    if isinstance(cls, Tup):
        verdicts = [instance_of(exc, item) for item in cls.items]
        return True if True in verdicts else None if None in verdicts else False
    if isinstance(cls, (Unk, OneOf)):
        return None
    if isinstance(exc, Unk):
        return True if isinstance(cls, ExternV) and cls.dotted == "builtins.BaseException" else None
    return subclass_of(exc.cls, cls) if isinstance(exc, Instance) else None


def is_exception(cls: AV) -> bool:
    """Whether a class certainly derives from a built-in exception."""
    names = cls.opaque if isinstance(cls, ClassV) else (cls.dotted,) if isinstance(cls, ExternV) else ()
    found = (builtin_type(ExternV(name)) for name in names)
    return any(each is not None and issubclass(each, BaseException) for each in found)


def subclass_of(sub: AV, cls: AV) -> bool | None:
    """``issubclass``; None where a class outside the tree hides the answer."""
    if sub is cls or (isinstance(sub, ExternV) and isinstance(cls, ExternV) and sub.dotted == cls.dotted):
        return True
    if isinstance(sub, ClassV):
        return _tree_class(sub, cls)
    if isinstance(sub, ExternV) and isinstance(cls, ExternV):
        a, b = _standard_type(sub), _standard_type(cls)
        if a is not None and b is not None and cls.dotted in _STANDING_FOR:
            return None if issubclass(a, b) or issubclass(b, a) else False
        if a is not None and b is not None:
            return issubclass(a, b)
        if a is not None and b is None:
            return False
        if b in (BaseException, Exception) or b is object:
            return True
        return None
    return False if isinstance(sub, ExternV) and _standard_type(sub) is not None else None


def _tree_class(sub: ClassV, cls: AV) -> bool | None:
    if any(item is cls for item in sub.mro):
        return True
    if isinstance(cls, ExternV):
        verdicts = [subclass_of(ExternV(name), cls) for name in sub.opaque]
        if True in verdicts or cls.dotted == "builtins.object":
            return True
        return None if None in verdicts else False
    return None if "?" in sub.opaque or (isinstance(cls, ClassV) and checks_itself(cls)) else False


def checks_itself(cls: ClassV) -> bool:
    """Whether the class, a protocol or one with hooks for ``isinstance``, says what counts as an object of it."""
    metas = [each for base in cls.mro if isinstance(each := base.kwargs.get("metaclass"), ClassV)]
    hooks = ("__subclasshook__", "__instancecheck__", "__subclasscheck__")
    names = {name for each in (*cls.mro, *(base for meta in metas for base in meta.mro)) for name in each.names}
    return any(hook in names for hook in hooks) or any(base.endswith(".Protocol") for base in cls.opaque)


def builtin_type(cls: ExternV) -> type | None:
    """The real class behind ``builtins.X`` and its aliases."""
    name = _ALIASES.get(cls.dotted, cls.dotted)
    return _standard_type(ExternV(name)) if name.startswith("builtins.") else None


def _standard_type(cls: ExternV) -> type | None:
    """The real class behind one of the standard library that programs derive from."""
    module, _, name = _ALIASES.get(cls.dotted, cls.dotted).rpartition(".")
    found = getattr(import_module(module), name, None) if module in _STANDARD else None
    return found if isinstance(found, type) else None


_STANDARD = frozenset({"builtins", "abc", "argparse", "collections", "enum", "json", "logging", "pathlib", "threading", "typing"})
_STANDING_FOR = frozenset(
    "json.JSONDecodeError json.decoder.JSONDecodeError subprocess.SubprocessError subprocess.CalledProcessError subprocess.TimeoutExpired "
    "importlib.metadata.PackageNotFoundError importlib_metadata.PackageNotFoundError argparse.ArgumentTypeError argparse.ArgumentError "
    "asyncio.CancelledError socket.gaierror".split()
)
"""Of the aliases those of a class that is derived from the one that stands for it: not all of its objects are of that class."""
_ALIASES = {
    "json.JSONDecodeError": "builtins.ValueError",
    "json.decoder.JSONDecodeError": "builtins.ValueError",
    "subprocess.SubprocessError": "builtins.Exception",
    "subprocess.CalledProcessError": "builtins.Exception",
    "subprocess.TimeoutExpired": "builtins.Exception",
    "importlib.metadata.PackageNotFoundError": "builtins.ModuleNotFoundError",
    "importlib_metadata.PackageNotFoundError": "builtins.ModuleNotFoundError",
    "argparse.ArgumentTypeError": "builtins.Exception",
    "argparse.ArgumentError": "builtins.Exception",
    "asyncio.TimeoutError": "builtins.TimeoutError",
    "asyncio.CancelledError": "builtins.BaseException",
    "socket.error": "builtins.OSError",
    "socket.gaierror": "builtins.OSError",
}
