"""What the engine knows of library code: one file per library, rows found by dotted name."""

from __future__ import annotations

from agent.evaluation.calls import perhaps
from agent.evaluation.contents import callables_in
from agent.evaluation.machine import Machine
from agent.evaluation.models import (
    argument_parser,
    builtin_functions,
    concurrency,
    containers,
    enums,
    environment,
    files,
    model_configs,
    neural_modules,
    numbers,
    plain_objects,
    records,
    standard,
    standard_callables,
    typing_forms,
)
from agent.evaluation.models.interface import Attribute, Callee
from agent.evaluation.values import ABSENT, AV, NONE, BuiltinV, ClassV, ExternV, Instance, SuperV, Unk

BUILTINS: dict[str, AV] = builtin_functions.table()
_FAMILIES = (
    argument_parser,
    concurrency,
    enums,
    environment,
    files,
    model_configs,
    neural_modules,
    numbers,
    records,
    standard,
    standard_callables,
    typing_forms,
)
FUNCTIONS: dict[str, Callee] = {name: row for family in _FAMILIES for name, row in family.FUNCTIONS.items()}
CONSTANTS: dict[str, Attribute] = {name: row for family in _FAMILIES for name, row in family.CONSTANTS.items()} | plain_objects.CONSTANTS
METHODS: dict[str, dict[str, Callee]] = {cls: rows for family in _FAMILIES for cls, rows in family.METHODS.items()}
"""Methods of opaque classes: ``{"argparse.ArgumentParser": {"add_argument": impl}}``; the receiver is the first argument."""


def call_extern(m: Machine, func: ExternV, args: list[AV], kwargs: dict[str, AV]) -> AV | None:
    """A call of a name outside the tree; None where no model knows it."""
    dotted = func.dotted
    row = FUNCTIONS.get(dotted)
    if row is not None:
        return row(m, args, kwargs)
    owner, _, name = dotted.rpartition(".")
    method = METHODS.get(owner, {}).get(name)
    if method is not None:
        return method(m, args, kwargs)
    if dotted in METHODS:
        return construct(m, dotted, args, kwargs)
    builtin = BUILTINS.get(dotted.removeprefix("builtins.")) if dotted.startswith("builtins.") else None
    if isinstance(builtin, BuiltinV):
        return builtin.impl(m, args, kwargs)
    described = model_configs.library_class(m, dotted, kwargs)
    if described is not None:
        return described
    for prefix in SILENT:
        if dotted.startswith(prefix):
            for callback in callables_in(m, [*args, *kwargs.values()]):
                perhaps(m, callback)
            return Unk(f"{dotted}()", "object")
    return _exception(m, dotted, args) if dotted.startswith("builtins.") or dotted.endswith(("Error", "Exception")) else None


SILENT = (
    "logging.",
    "warnings.",
    "loguru.",
    "typing.",
    "typing_extensions.",
    "abc.",
    "__future__.",
    "atexit.",
    "signal.",
    "gc.",
    "faulthandler.",
)
"""Libraries whose calls neither raise nor change anything that the engine tracks."""


def _exception(m: Machine, dotted: str, args: list[AV]) -> AV:
    exc = Instance(ExternV(dotted))
    if args:
        m.store((exc, "args"), args[0])
    return exc


def construct(m: Machine, dotted: str, args: list[AV], kwargs: dict[str, AV]) -> Instance:
    """An instance of a modelled opaque class."""
    place = m.place()
    obj = Instance(ExternV(dotted), f"{place.path}:{place.line}")
    init = METHODS[dotted].get("__init__")
    if init is not None:
        init(m, [obj, *args], kwargs)
    return obj


def extern_constant(m: Machine, dotted: str) -> AV | None:
    """The value of a modelled name; None where no model knows it."""
    row = CONSTANTS.get(dotted)
    if row is not None:
        return row(m)
    if dotted.startswith("builtins."):
        return BUILTINS.get(dotted.removeprefix("builtins."))
    return None


def is_modelled(dotted: str) -> bool:
    """Whether a call of this name is understood."""
    owner, _, name = dotted.rpartition(".")
    return dotted in FUNCTIONS or dotted in METHODS or name in METHODS.get(owner, {})


def extern_has(m: Machine, dotted: str, name: str) -> bool | None:
    """``hasattr`` on a name outside the tree."""
    full = f"{dotted}.{name}"
    return True if is_modelled(full) or full in CONSTANTS or full in _CERTAIN else None


_CERTAIN = frozenset(
    {
        "torch.cuda",
        "torch.version",
        "torch.backends",
        "torch.nn",
        "torch.distributed",
        "torch.float8_e4m3fn",
        "sys.argv",
        "os.environ",
        "torch.version.hip",
        "torch.version.cuda",
    }
)
"""Attributes that every supported release of their library has."""


def _opaque_names(cls: AV) -> tuple[str, ...]:
    return cls.opaque if isinstance(cls, ClassV) else (cls.dotted,) if isinstance(cls, ExternV) else ()


def instance_attribute(m: Machine, obj: Instance, name: str) -> AV | None:
    """A modelled method or attribute of an instance whose class, or a base of it, is outside the tree."""
    for dotted in _opaque_names(obj.cls):
        rows = METHODS.get(_CANONICAL.get(dotted, dotted))
        if rows is None:
            continue
        row = rows.get(name)
        if row is not None:
            return BuiltinV(f"{dotted}.{name}", lambda machine, args, kwargs, row=row: row(machine, [obj, *args], kwargs))  # type: ignore[misc]
        hook = rows.get("__getattr__")
        if hook is not None:
            return hook(m, [obj, _text(name)], {})
        if "__closed__" in rows and not obj.open and not name.startswith("__") and len(_opaque_names(obj.cls)) == 1:
            return ABSENT
    return records.record_method(m, obj, name)


def more_attributes(m: Machine, obj: Instance) -> dict[str, AV] | None:
    """Attributes that a modelled library class gives an object besides those written; None where they are not all known."""
    if any(_CANONICAL.get(name, name) == model_configs.CONFIG for name in _opaque_names(obj.cls)):
        return model_configs.all_attributes(m, obj)
    return None


def _text(name: str) -> AV:
    from agent.evaluation.values import Const

    return Const(name)


def class_extra(m: Machine, cls: ClassV, name: str) -> AV | None:
    """Attributes that metaclasses and decorators give a class of the tree."""
    found = enums.class_attribute(m, cls, name) or records.class_attribute(m, cls, name)
    if found is not None:
        return found
    for dotted in cls.opaque:
        row = METHODS.get(_CANONICAL.get(dotted, dotted), {}).get(name)
        if row is not None:
            if name in _CLASS_METHODS:
                return BuiltinV(f"{dotted}.{name}", lambda machine, args, kwargs, row=row: row(machine, [cls, *args], kwargs))  # type: ignore[misc]
            return BuiltinV(f"{dotted}.{name}", row)
    return None


_CLASS_METHODS = frozenset({"from_pretrained", "from_dict", "get_config_dict"})


def super_method(m: Machine, obj: SuperV, name: str) -> AV:
    """``super().name`` where the next class is outside the tree."""
    receiver = obj.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    for dotted in _opaque_names(cls):
        row = METHODS.get(_CANONICAL.get(dotted, dotted), {}).get(name)
        if row is not None:
            return BuiltinV(f"{dotted}.{name}", lambda machine, args, kwargs, row=row: row(machine, [receiver, *args], kwargs))  # type: ignore[misc]
    if name in ("__init__", "__init_subclass__", "__post_init__", "__enter__", "__exit__", "__set_name__"):
        return BuiltinV(f"super().{name}", _super_init(receiver) if name == "__init__" else builtin_functions.nothing)
    plain = plain_objects.method(name, receiver)
    if plain is not None:
        return plain
    return Unk(f"super().{name} is outside the tree")


def _super_init(receiver: AV) -> Callee:
    def run(m: Machine, args: list[AV], kwargs: dict[str, AV]) -> AV:
        if isinstance(receiver, Instance) and isinstance(receiver.cls, ClassV):
            if any(b.startswith("builtins.") for b in receiver.cls.opaque) and args:
                m.store((receiver, "args"), args[0])
            for name, value in kwargs.items():
                if any(base in model_configs.CONFIG_CLASSES for base in receiver.cls.opaque) and name != "**":
                    m.store((receiver, name), value)
        return NONE

    return run


_CANONICAL = {
    "transformers.PretrainedConfig": "transformers.configuration_utils.PretrainedConfig",
    "transformers.PreTrainedConfig": "transformers.configuration_utils.PretrainedConfig",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.PurePath": "pathlib.Path",
}


native_method = containers.native_method
