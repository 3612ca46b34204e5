"""``functools``, ``contextlib``, ``copy``, ``re``, ``importlib``, ``typing``, ``collections``, ``itertools`` and their small kin."""

from __future__ import annotations

import itertools
import re
import shlex
from typing import Any

from agent.evaluation import facts
from agent.evaluation.caching import remember
from agent.evaluation.concrete import NotConcrete, concrete, concrete_named, lift, reason_of
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs, argument
from agent.evaluation.subscripts import get_item, set_item, update_dict
from agent.evaluation.values import (
    AV,
    FALSE,
    NONE,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    ContextFuncV,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    ListObj,
    Map,
    PartialV,
    Perhaps,
    PropertyV,
    Seq,
    Tup,
    Unk,
    perhaps,
    present,
)


def _same(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return args[0] if args else NONE


def _decorator(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """Used bare or with options: the function stays what it is."""
    return args[0] if args and isinstance(args[0], (FuncV, BoundV, ContextFuncV)) else BuiltinV("decorator", _same)


def _cache(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """Used bare or with options."""
    if args and isinstance(args[0], FuncV):
        return remember(m, args[0])
    return args[0] if args and isinstance(args[0], (BoundV, ContextFuncV)) else BuiltinV("cache", lambda mm, aa, kk: _kept(mm, aa))


def _kept(m: Machine, args: list[AV]) -> AV:
    return remember(m, args[0]) if args and isinstance(args[0], FuncV) else _same(m, args, {})


def _partial(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return PartialV(args[0], args[1:], kwargs)


def _reduce(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    items, open_ = iterate(m, args[1])
    values = [*args[2:3], *items]
    if open_ or not values:
        return m.missing(open_ or "reduce of nothing")
    total = values[0]
    for item in values[1:]:
        total = m.call(args[0], [total, item], {})
    return total


def _copy(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _copied(m, args[0], {}, deep=False)


def _deepcopy(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _copied(m, args[0], {}, deep=True)


def _copied(m: Machine, value: AV, done: dict[AV, AV], *, deep: bool) -> AV:
    if value in done:
        return done[value]
    if isinstance(value, ListObj):
        content = m.selection(value)
        made: AV = m.new_list(content.items, value.kind, content.open)
        done[value] = made
        if deep:
            copies = (_copied(m, present(i), done, deep=True) for i in content.items)
            kept = (perhaps(copy) if type(i) is Perhaps else copy for i, copy in zip(content.items, copies, strict=True))
            m.store((made, "[]"), Seq(tuple(kept), content.open))
        return made
    if isinstance(value, DictObj):
        entries = m.entries(value)
        made = m.new_dict(dict(entries.items), entries.open, value.kind)
        done[value] = made
        if deep:
            m.store((made, "{}"), Map({k: (key, _copied(m, v, done, deep=True)) for k, (key, v) in entries.items.items()}, entries.open))
        return made
    return _copied_instance(m, value, done, deep=deep) if isinstance(value, Instance) else value


def _copied_instance(m: Machine, value: Instance, done: dict[AV, AV], *, deep: bool) -> AV:
    from agent.evaluation.invocation import known_attributes
    from agent.evaluation.values import ClassV

    if isinstance(value.cls, ClassV) and value.cls.enum_members is not None:
        return value
    made = Instance(value.cls, value.origin, value.open)
    done[value] = made
    for name in known_attributes(m, value):
        cell = m.state.get((value, name))
        if cell is not None:
            m.store((made, name), _copied(m, cell.value, done, deep=True) if deep else cell.value)
    return made


def _suppress(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = Instance(ExternV("contextlib.suppress"))
    m.store((obj, "<suppresses>"), Tup(tuple(args)))
    return obj


_REGEX_RESULTS = {"sub": "str", "escape": "str", "split": "list", "findall": "list"}
_REGEX_FUNCTIONS = ("match", "search", "fullmatch", "sub", "split", "findall", "escape")
_REGEX_MODULES = ("re", "regex")
"""``regex`` of the package index takes every pattern of ``re`` for the same; one that ``re`` refuses may be right there."""


def _regex(name: str, module: str = "re") -> Callee:
    function = getattr(re, name)

    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        try:
            if name == "sub" and isinstance(args[1], (FuncV, BoundV)):
                return _substituted(m, [concrete(m, args[0]), args[1], *(concrete(m, a) for a in args[2:])], concrete_named(m, kwargs))
            result = function(*(concrete(m, a) for a in args), **concrete_named(m, kwargs))
        except NotConcrete:
            return m.missing(reason_of(*args, *kwargs.values()), _REGEX_RESULTS.get(name, ""))
        except (re.error, TypeError, ValueError) as error:
            if module == "regex":
                return m.missing("a pattern of the regex library", _REGEX_RESULTS.get(name, ""))
            m.throw_new(type(error).__name__, str(error))
            return NONE
        return _match(m, result)

    return run


def _substituted(m: Machine, args: list[Any], named: dict[str, Any]) -> AV:
    """``re.sub`` with a function of the program, which is called for each match."""
    pattern, function, *rest = args
    given: list[AV] = []

    def replaced(match: re.Match[Any]) -> Any:
        given.append(m.call(function, [_match(m, match)], {}))
        return given[-1].v if isinstance(given[-1], Const) else ""

    text = re.sub(pattern, replaced, *rest, **named)
    unknown = [each for each in given if not isinstance(each, Const)]
    return m.missing(reason_of(*unknown), "str") if unknown else lift(m, text)


def _match(m: Machine, result: Any) -> AV:
    if not isinstance(result, re.Match):
        return lift(m, result)
    obj = Instance(ExternV("re.Match"))
    m.store((obj, "<groups>"), lift(m, (result.group(0), *result.groups())))
    m.store((obj, "<names>"), lift(m, result.groupdict()))
    return obj


def _compile(module: str) -> Callee:
    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        obj = Instance(ExternV("re.Pattern"))
        m.store((obj, "pattern"), args[0])
        try:
            compiled: AV = Const(re.compile(*(concrete(m, a) for a in args), **concrete_named(m, kwargs)))
        except NotConcrete:
            compiled = m.missing(reason_of(*args, *kwargs.values()))
        except (re.error, TypeError, ValueError) as error:
            if module == "re":
                m.throw_new("ValueError", str(error))
            compiled = m.missing("a pattern of the regex library")
        m.store((obj, "<compiled>"), compiled)
        return obj

    return run


def _pattern_method(name: str) -> Callee:
    plain = _regex(name)

    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        pattern = m.load((args[0], "<compiled>")) or Unk("a pattern")
        return plain(m, [pattern, *args[1:]], kwargs)

    return run


def _group(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    groups, names = m.load((args[0], "<groups>")), m.load((args[0], "<names>"))
    index = args[1] if len(args) > 1 else Const(0)
    if isinstance(index, Const) and isinstance(index.v, int) and isinstance(groups, Tup):
        return groups.items[index.v] if index.v < len(groups.items) else NONE
    return get_item(m, names, index) if names is not None else Unk("a group")


def _groups(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    groups = m.load((args[0], "<groups>"))
    return Tup(groups.items[1:]) if isinstance(groups, Tup) else Unk("groups", "tuple")


def _find_spec(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``importlib.util.find_spec``: from the tree or the package facts."""
    if not isinstance(args[0], Const):
        return m.missing(reason_of(args[0]))
    name = str(args[0].v)
    if m.index.module_path(name) or m.index.is_package(name):
        return Unk(f"the spec of {name}", "object")
    available = facts.importable(m, name)
    if available is None:
        return Unk(f"whether {name} is installed is not known (give it with --assume 'package {name}=VERSION')")
    return Unk(f"the spec of {name}", "object") if available else NONE


def _import_module(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.modules import absolute, check_import, import_module
    from agent.evaluation.values import ModuleV

    if not isinstance(args[0], Const):
        return m.missing(reason_of(args[0]))
    name = str(args[0].v)
    if name.startswith("."):
        package = argument(args, kwargs, 1, "package")
        base = package.v if isinstance(package, Const) else m.frame.module.dotted
        name = absolute(m.frame.module, name.lstrip("."), 1) if not isinstance(package, Const) else f"{base}{name}"
    module = import_module(m, name)
    if isinstance(module, ModuleV) and m.catchers:
        check_import(m, module)
    return module


def _version(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if isinstance(args[0], Const):
        known = facts.package_version(m, str(args[0].v))
        if known is not None:
            return known
    return m.missing(f"the installed version of {args[0]!r} is not known", "str")


def _defaultdict(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = m.new_dict(kind="defaultdict")
    obj.factory = args[0] if args else None
    for other in args[1:]:
        update_dict(m, obj, other)
    return obj


def _ordered(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = m.new_dict()
    for other in args:
        update_dict(m, obj, other)
    for name, value in kwargs.items():
        set_item(m, obj, Const(name), value)
    return obj


def _deque(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    items, open_ = iterate(m, args[0]) if args else ((), "")
    most = args[1] if len(args) > 1 else kwargs.get("maxlen", NONE)
    if most is not NONE and not (isinstance(most, Const) and most.v is None):
        return m.new_list((), "deque", "a queue that drops items")
    return m.new_list(items, "deque", open_)


def _itertool(name: str) -> Callee:
    function = getattr(itertools, name)

    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        columns = [iterate(m, a) for a in args if not isinstance(a, Const) or not isinstance(a.v, int)]
        numbers = [a.v for a in args if isinstance(a, Const) and isinstance(a.v, int)]
        open_ = next((o for _, o in columns if o), "") or ("its keywords are not followed" if kwargs else "")
        if open_:
            return m.new_list((), "iterator", open_)
        made = list(itertools.islice(function(*(c for c, _ in columns), *numbers), 2000))
        return m.new_list([Tup(tuple(x)) if isinstance(x, tuple) else x for x in made], "iterator")

    return run


def _chain(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    columns = [iterate(m, a) for a in args]
    open_ = next((o for _, o in columns if o), "")
    return m.new_list([i for c, _ in columns for i in c] if not open_ else [], "iterator", open_)


def _chain_iterable(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    items, open_ = iterate(m, args[0])
    return _chain(m, list(items), {}) if not open_ else m.new_list((), "iterator", open_)


def _cast(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return args[-1] if args else NONE


def _version_parse(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if not isinstance(args[0], Const):
        return m.missing(reason_of(args[0]), "object")
    obj = Instance(ExternV("packaging.version.Version"))
    m.store((obj, "<text>"), args[0])
    return obj


def _version_compare(op: str) -> Callee:
    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        from packaging.version import InvalidVersion, Version

        texts = [m.load((a, "<text>")) if isinstance(a, Instance) else None for a in args[:2]]
        if not all(isinstance(t, Const) for t in texts):
            return Unk("a version", "bool")
        try:
            left, right = (Version(str(t.v)) for t in texts if isinstance(t, Const))
        except InvalidVersion:
            return Unk("a version that does not parse", "bool")
        return Const({"lt": left < right, "le": left <= right, "gt": left > right, "ge": left >= right, "eq": left == right}[op])

    return run


def _signature(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if args and isinstance(args[0], (FuncV, BoundV)):
        func = args[0].func if isinstance(args[0], BoundV) else args[0]
        if isinstance(func, FuncV):
            obj = Instance(ExternV("inspect.Signature"), open_="a signature")
            params = func.node.params[1:] if isinstance(args[0], BoundV) else func.node.params
            m.store((obj, "parameters"), m.new_dict({p.name: (Const(p.name), Unk(f"parameter {p.name}", "object")) for p in params}))
            return obj
    return m.missing("a signature", "object")


def _is_class(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return Unk("a class", "bool") if isinstance(args[0], Unk) else Const(isinstance(args[0], ClassV))


def _words(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``shlex.split(text)``."""
    plain = len(args) == 1 and not kwargs and isinstance(args[0], Const)
    return lift(m, shlex.split(args[0].v)) if plain else Unk("words", "list")  # type: ignore[attr-defined]


FUNCTIONS: dict[str, Callee] = {
    "functools.lru_cache": _cache, "functools.cache": _cache, "functools.wraps": lambda m, a, k: BuiltinV("wraps", _same),
    "functools.total_ordering": _same, "functools.partial": _partial, "functools.reduce": _reduce,
    "functools.update_wrapper": _same,
    "functools.cached_property": lambda m, a, k: PropertyV(a[0], None, True),
    "contextlib.contextmanager": lambda m, a, k: ContextFuncV(a[0]), "contextlib.asynccontextmanager": lambda m, a, k: ContextFuncV(a[0]),
    "contextlib.suppress": _suppress, "contextlib.nullcontext": lambda m, a, k: a[0] if a else Instance(ExternV("contextlib.nullcontext")),
    "copy.copy": _copy, "copy.deepcopy": _deepcopy, "abc.abstractmethod": _same, "typing.overload": _same, "typing.final": _same,
    "typing.cast": _cast, "typing.no_type_check": _same, "typing.runtime_checkable": _same, "typing_extensions.deprecated": _decorator,
    "typing.TypeVar": lambda m, a, k: Unk("a type variable", "object"),
    "typing.NewType": lambda m, a, k: BuiltinV("NewType", lambda mm, aa, kk: aa[0]),
    "importlib.util.find_spec": _find_spec, "importlib.import_module": _import_module, "importlib.metadata.version": _version,
    "importlib_metadata.version": _version, "pkg_resources.get_distribution": _version,
    "collections.defaultdict": _defaultdict, "collections.OrderedDict": _ordered, "collections.deque": _deque,
    "itertools.chain": _chain, "itertools.chain.from_iterable": _chain_iterable, "itertools.product": _itertool("product"),
    "itertools.combinations": _itertool("combinations"), "itertools.permutations": _itertool("permutations"),
    "itertools.islice": _itertool("islice"), "inspect.signature": _signature, "inspect.isclass": _is_class,
    **{f"{module}.{name}": _regex(name, module) for module in _REGEX_MODULES for name in _REGEX_FUNCTIONS},
    **{f"{module}.compile": _compile(module) for module in _REGEX_MODULES},
    "packaging.version.parse": _version_parse, "packaging.version.Version": _version_parse,
    "shlex.split": _words,
    "types.SimpleNamespace": lambda m, a, k: _namespace(m, k), "types.MappingProxyType": _same,
}  # fmt: skip


def _namespace(m: Machine, kwargs: Kwargs) -> AV:
    obj = Instance(ExternV("types.SimpleNamespace"))
    for name, value in kwargs.items():
        m.store((obj, name), value)
    return obj


CONSTANTS: dict[str, Attribute] = {
    "typing.TYPE_CHECKING": lambda m: FALSE,
    "typing_extensions.TYPE_CHECKING": lambda m: FALSE,
    **{
        f"{module}.{name}": (lambda m, flag=flag: Const(flag.value))  # type: ignore[misc]
        for module in _REGEX_MODULES
        for name, flag in re.RegexFlag.__members__.items()
    },
    "logging.DEBUG": lambda m: Const(10),
    "logging.INFO": lambda m: Const(20),
    "logging.WARNING": lambda m: Const(30),
    "logging.ERROR": lambda m: Const(40),
}
METHODS: dict[str, dict[str, Callee]] = {
    "re.Pattern": {name: _pattern_method(name) for name in _REGEX_FUNCTIONS if name != "escape"},
    "re.Match": {
        "group": _group,
        "groups": _groups,
        "__getitem__": _group,
        "groupdict": lambda m, a, k: m.load((a[0], "<names>")) or Unk("groups", "dict"),
    },
    "packaging.version.Version": {f"__{op}__": _version_compare(op) for op in ("lt", "le", "gt", "ge", "eq")},
    "types.SimpleNamespace": {"__closed__": _same},
}
