"""The built-in functions and types."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from agent.evaluation.arithmetic import binary
from agent.evaluation.attributes import class_attribute, delete_attribute, instance_dict, lookup_attribute, set_attribute, special_method
from agent.evaluation.concrete import NotConcrete, concrete, concrete_named, for_each, lift, reason_of, united
from agent.evaluation.contents import forget
from agent.evaluation.invocation import LACKED_BY, known_attributes
from agent.evaluation.iteration import iterate, turns
from agent.evaluation.machine import Machine
from agent.evaluation.models import types
from agent.evaluation.render import to_text
from agent.evaluation.subscripts import set_item, update_dict
from agent.evaluation.suspended import perhaps_later
from agent.evaluation.values import (
    ABSENT,
    AV,
    FALSE,
    NONE,
    TRUE,
    BoundV,
    BuiltinV,
    ClassMethodV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    FuncV,
    Instance,
    ListObj,
    ModuleV,
    OneOf,
    Perhaps,
    PropertyV,
    StaticV,
    SuperV,
    Tup,
    Unk,
    candidates,
    one_of,
    perhaps,
    present,
)

Kwargs = dict[str, AV]


def str_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``str(x)``."""
    if not args:
        return Const("")
    if len(args) > 1 or kwargs:
        return _pure("str", "str")(m, args, kwargs)

    def one(value: AV) -> AV:
        text = to_text(m, value)
        if text is not None:
            return Const(text)
        if isinstance(value, Instance) and isinstance(value.cls, ClassV):
            method = special_method(m, value, "__str__")
            if isinstance(method, BoundV):
                return m.call(method, [], {})
        return Unk(reason_of(value), "str")

    return for_each(m, args[0], one)


def repr_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``repr(x)``."""
    try:
        return Const(repr(concrete(m, args[0])))
    except NotConcrete:
        return Unk(reason_of(args[0]), "str")


def _number(kind: type) -> Callable[[Machine, list[AV], Kwargs], AV]:
    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        if not args:
            return Const(kind())

        def one(value: AV) -> AV:
            try:
                return Const(kind(concrete(m, value), *(concrete(m, a) for a in args[1:]), **concrete_named(m, kwargs)))
            except NotConcrete:
                if isinstance(value, Unk) and value.typ in ("int", "float", "bool"):
                    return Unk(value.reason, kind.__name__)
                return m.missing(reason_of(value), kind.__name__)
            except (TypeError, ValueError, OverflowError) as error:
                m.throw_new(type(error).__name__, str(error))
                return ABSENT

        return for_each(m, args[0], one)

    return run


def bool_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``bool(x)``."""
    return types.verdict(m.truth(args[0]), reason_of(args[0])) if args else FALSE


def _collection(kind: str) -> Callable[[Machine, list[AV], Kwargs], AV]:
    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        items, open_ = (iterate if kind == "tuple" else turns)(m, args[0]) if args else ((), "")
        if open_ and args:
            m.may_raise(open_)
        if kind == "tuple":
            return Unk(open_, "tuple") if open_ else Tup(tuple(items))
        if kind in ("set", "frozenset"):
            items = united((), items)
        return m.new_list(items, kind, open_)

    return run


def dict_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``dict(...)``."""
    obj = m.new_dict()
    if args:
        update_dict(m, obj, args[0])
    for name, value in kwargs.items():
        if name == "**":
            forget(m, obj, reason_of(value))
        else:
            set_item(m, obj, Const(name), value)
    return obj


def len_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``len(x)``."""

    def one(value: AV) -> AV:
        if isinstance(value, Const):
            try:
                return Const(len(value.v))
            except TypeError as error:
                m.throw_new("TypeError", str(error))
        if isinstance(value, (Tup, ListObj, DictObj)) or (isinstance(value, ClassV) and value.enum_members is not None):
            items, open_ = turns(m, value)
            certain = sum(type(item) is not Perhaps for item in items)
            return Unk(open_, "int") if open_ else one_of(map(Const, range(certain, len(items) + 1)))
        if isinstance(value, Instance):
            method = special_method(m, value, "__len__")
            if isinstance(method, BoundV):
                return m.call(method, [], {})
        return m.missing(reason_of(value), "int")

    return for_each(m, args[0], one)


def range_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``range(...)``."""
    if all(isinstance(a, Const) and isinstance(a.v, int) for a in args):
        try:
            return Const(range(*(a.v for a in args)))  # type: ignore[attr-defined]
        except (TypeError, ValueError) as error:
            m.throw_new(type(error).__name__, str(error))
    if any(isinstance(a, Const) and not isinstance(a.v, int) for a in args):
        m.throw_new("TypeError", "range() needs integers")
    return Unk(reason_of(*args), "range")


def _extreme(pick: Callable[..., Any]) -> Callable[[Machine, list[AV], Kwargs], AV]:
    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        values, open_ = iterate(m, args[0]) if len(args) == 1 else (tuple(args), "")
        if open_ or "key" in kwargs:
            return m.missing(open_ or "an order by a key")
        if not values:
            if "default" in kwargs:
                return kwargs["default"]
            m.throw_new("ValueError", "empty sequence")
        return _fold(m, list(values), pick)

    return run


def _fold(m: Machine, values: list[AV], pick: Callable[..., Any]) -> AV:
    number = next((i for i, v in enumerate(values) if isinstance(v, OneOf)), None)
    if number is not None:
        return for_each(m, values[number], lambda item: _fold(m, [*values[:number], item, *values[number + 1 :]], pick))
    try:
        return lift(m, pick([concrete(m, v) for v in values]))
    except NotConcrete:
        numeric = all(isinstance(v, Const) or (isinstance(v, Unk) and v.typ in ("int", "float")) for v in values)
        return m.missing(reason_of(*values), "int" if numeric else "object")
    except TypeError as error:
        m.throw_new("TypeError", str(error))
        return ABSENT


def sum_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``sum(...)``."""
    values, open_ = iterate(m, args[0])
    if open_:
        return m.missing(open_)
    total: AV = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    for value in values:
        total = binary(m, "+", total, value)
    return total


def sorted_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``sorted(...)``: exact for known items and known keys."""
    values, open_ = turns(m, args[0])
    reverse = kwargs.get("reverse", FALSE)
    try:
        if open_ or not isinstance(reverse, Const):
            raise NotConcrete
        order = kwargs.get("key")
        keyed = values if order is None or (isinstance(order, Const) and order.v is None) else [_called_with(m, order, v) for v in values]
        ranks = [concrete(m, present(k)) for k in keyed]
        positions = sorted(builtins.range(len(values)), key=lambda i: ranks[i], reverse=bool(reverse.v))
        return m.new_list([values[i] for i in positions])
    except (NotConcrete, TypeError):
        return m.new_list((), "list", open_ or "an order of unknown items")


def any_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``any(...)``."""
    values, open_ = turns(m, args[0])
    truths = [_certainly(m, value, True) for value in values]
    return types.verdict(True if True in truths else None if open_ or None in truths else False, open_ or reason_of(*values))


def _certainly(m: Machine, value: AV, wanted: bool) -> bool | None:
    """The truth of an item; None where an item that would decide may be missing."""
    truth = m.truth(present(value))
    return None if type(value) is Perhaps and truth is wanted else truth


def all_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``all(...)``."""
    values, open_ = turns(m, args[0])
    truths = [_certainly(m, value, False) for value in values]
    return types.verdict(False if False in truths else None if open_ or None in truths else True, open_ or reason_of(*values))


def zip_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``zip(...)``."""
    columns = [iterate(m, a) for a in args]
    open_ = next((o for _, o in columns if o), "")
    return m.new_list([Tup(row) for row in zip(*(c for c, _ in columns), strict=False)] if not open_ else [], "iterator", open_)


def enumerate_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``enumerate(...)``."""
    items, open_ = iterate(m, args[0])
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    first = start.v if isinstance(start, Const) else 0
    return m.new_list([Tup((Const(first + i), item)) for i, item in enumerate(items)] if not open_ else [], "iterator", open_)


def map_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``map(f, ...)``."""
    columns = [iterate(m, a) for a in args[1:]]
    open_ = next((o for _, o in columns if o), "")
    if open_:
        m.fork([lambda: None, lambda: m.call(args[0], [Unk(open_)] * len(columns), {})])
        return m.new_list((), "iterator", open_)
    rows = list(zip(*(c for c, _ in columns), strict=False))
    return perhaps_later(m, m.call_node, "map", lambda: m.new_list([m.call(args[0], list(row), {}) for row in rows], "iterator"))


def filter_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``filter(f, items)``."""
    items, open_ = turns(m, args[1])
    if isinstance(args[0], Const) and args[0].v is None:
        return _kept(m, items, open_, present)
    if open_:
        m.fork([lambda: None, lambda: m.call(args[0], [Unk(open_)], {})])
    return perhaps_later(m, m.call_node, "filter", lambda: _kept(m, items, open_, lambda item: _called_with(m, args[0], item)))


def _kept(m: Machine, items: tuple[AV, ...], open_: str, test: Callable[[AV], AV]) -> AV:
    kept = []
    for item in items:
        truth = m.truth(test(item))
        if truth is not False:
            kept.append(item if truth else perhaps(item))
    return m.new_list(kept if not open_ else [], "iterator", open_)


def _called_with(m: Machine, func: AV, item: AV) -> AV:
    """``func(item)``, which does not happen where the item is missing."""
    if not isinstance(item, Perhaps):
        return m.call(func, [item], {})
    results: dict[int, AV] = dict(m.fork([lambda: None, lambda: m.call(func, [item.value], {})]))
    return results.get(1, FALSE)


def reversed_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``reversed(x)``."""
    items, open_ = turns(m, args[0])
    return m.new_list(items[::-1], "iterator", open_)


def next_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``next(it, default)``."""
    items, open_ = iterate(m, args[0])
    if items and not open_:
        if isinstance(args[0], ListObj):
            from agent.evaluation.values import Seq

            m.store((args[0], "[]"), Seq(items[1:]))
        return items[0]
    if not open_ and len(args) > 1:
        return args[1]
    if not open_ and not items and isinstance(args[0], ListObj):
        m.throw_new("StopIteration", "")
    return m.missing(open_ or "the next item")


def iter_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``iter(x)``: a second row of the items, which is used up by itself."""
    if len(args) != 1:
        return m.new_list((), "iterator", "iter() of a function")
    value = args[0]
    if isinstance(value, (Unk, OneOf)) or (isinstance(value, ListObj) and value.kind == "iterator"):
        return value
    if isinstance(value, Instance):
        made = special_method(m, value, "__iter__")
        return m.call(made, [], {}) if isinstance(made, BoundV) else m.missing(f"iter() of {value!r}"[:200])
    items, open_ = turns(m, value)
    return m.new_list(items, "iterator", open_)


def getattr_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``getattr(obj, name[, default])``."""
    if not isinstance(args[1], Const):
        if isinstance(args[1], OneOf):
            return one_of([getattr_(m, [args[0], n, *args[2:]], {}) for n in args[1].values])
        found_by_name = m.missing(reason_of(args[1]))
        found_by_name.of = args[0]
        return found_by_name
    name = str(args[1].v)
    if len(args) < 3:
        return m.getattr(args[0], name)
    found = []
    for obj in candidates(args[0]):
        if obj is not ABSENT:
            found += _with_default(m, obj, name, args[2])
    return one_of(found)


def _with_default(m: Machine, obj: AV, name: str, default: AV) -> list[AV]:
    has = types.hasattr_truth(m, obj, name)
    if has is False:
        return [default]
    value = types.quiet_lookup(m, lookup_attribute, obj, name)
    if has is None:
        if isinstance(value, Unk):
            return [Unk(value.reason)]
        return [default if v is ABSENT else v for v in candidates(value)]
    return [default if v is ABSENT else v for v in candidates(value)]


def hasattr_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``hasattr(obj, name)``."""
    if not isinstance(args[1], Const):
        return Unk(reason_of(args[1]), "bool")
    truth = types.hasattr_truth(m, args[0], str(args[1].v))
    reason = args[0].reason if isinstance(args[0], Unk) else f"whether {args[0]!r} has {args[1].v!r} is not known"
    return types.verdict(truth, reason[:200])


def setattr_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``setattr``."""
    obj, name, value = args
    hook = class_attribute(m, obj.cls, "__setattr__") if isinstance(obj, Instance) and isinstance(obj.cls, ClassV) else None
    if isinstance(name, Unk) and hook is not None and isinstance(hook[0], FuncV):
        m.call(BoundV(hook[0], obj), [name, value], {})
    else:
        set_by_name(m, obj, name, value, set_attribute)
    return NONE


def set_by_name(m: Machine, obj: AV, name: AV, value: AV, put: Callable[[Machine, AV, str, AV], None]) -> None:
    """Writes the attribute that ``name`` names; an unknown name may be any attribute that the object has, or another one."""
    if isinstance(name, (Const, OneOf)):
        for_each(m, name, lambda item: _put(m, obj, item, value, put))
    elif isinstance(obj, Instance):
        obj.open = obj.open or f"setattr with an unknown name at {m.place().path}:{m.place().line}"
        spared = _lacked(m, obj, name)
        for attribute in known_attributes(m, obj):
            if attribute not in spared:
                m.fork([lambda: None, lambda attribute=attribute: put(m, obj, attribute, Unk(obj.open))])  # type: ignore[misc]


def _put(m: Machine, obj: AV, name: AV, value: AV, put: Callable[[Machine, AV, str, AV], None]) -> AV:
    put(m, obj, str(getattr(name, "v", "")), value)
    return NONE


def _lacked(m: Machine, obj: Instance, name: AV) -> set[object]:
    """The attributes that the object had when it was found to have none of this name."""
    lacked = m.load((name, LACKED_BY))
    if not isinstance(lacked, Tup) or lacked.items[0] is not obj:
        return set()
    return {each.v for each in lacked.items[1:] if isinstance(each, Const)}


def delattr_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``delattr``."""
    if isinstance(args[1], Const):
        delete_attribute(m, args[0], str(args[1].v))
    return NONE


def type_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``type(x)`` and ``type(name, bases, dict)``."""
    if len(args) == 3:
        return _make_class(m, args)
    return for_each(m, args[0], lambda value: types.class_of(m, value))


def _make_class(m: Machine, args: list[AV]) -> AV:
    from agent.evaluation.classes import link

    name, bases, body = args
    if not (isinstance(name, Const) and isinstance(bases, Tup)):
        return Unk("a class made by type()", "type")
    cls = ClassV(str(name.v), m.frame.module, None, tuple(b for b in bases.items if isinstance(b, (ClassV, ExternV))))
    link(cls)
    if isinstance(body, DictObj):
        for key, value in m.entries(body).items.values():
            if isinstance(key, Const):
                cls.names.append(str(key.v))
                m.store((cls, str(key.v)), value)
    return cls


def callable_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``callable(x)``."""
    value = args[0]
    if isinstance(value, (FuncV, BoundV, BuiltinV, ClassV)):
        return TRUE
    if isinstance(value, (Const, Tup, ListObj, DictObj)):
        return FALSE
    return Unk(reason_of(value), "bool")


def vars_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``vars(obj)``."""
    return m.getattr(args[0], "__dict__") if args else Unk("vars()", "dict")


def dir_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``dir(obj)``."""
    obj = args[0] if args else None
    cls = obj.cls if isinstance(obj, Instance) else obj
    known = isinstance(cls, ClassV) and not cls.opaque and not (isinstance(obj, Instance) and (obj.open or m.demand is not None))
    if isinstance(cls, ClassV) and known:
        own = [name for name in known_attributes(m, obj) if name[:1] not in "<[{"] if isinstance(obj, Instance) else []
        names = {*(n for c in cls.mro for n in c.names), *own, *dir(object)}
        return m.new_list([Const(n) for n in sorted(names)])
    if args and isinstance(args[0], ModuleV):
        from agent.evaluation.modules import _bindings

        return m.new_list([Const(n) for n in sorted(_bindings(args[0]))])
    return m.new_list((), "list", "dir() of something open")


def super_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``super(cls, obj)``."""
    if len(args) == 2 and isinstance(args[0], ClassV):
        return SuperV(args[0], args[1])
    return Unk("super()")


def property_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``property(fget, fset)``."""
    return PropertyV(args[0] if args else kwargs.get("fget", NONE), args[1] if len(args) > 1 else kwargs.get("fset"))


def nothing(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """Has no effect that the engine tracks."""
    return NONE


def identity_hash(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``id`` and ``hash``."""
    return Unk("an identity", "int")


def _pure(name: str, typ: str = "") -> Callable[[Machine, list[AV], Kwargs], AV]:
    """``round``, ``abs``, ``divmod`` and other pure functions of known numbers."""
    function = getattr(builtins, name)

    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        if len(args) and isinstance(args[0], OneOf):
            return for_each(m, args[0], lambda v: run(m, [v, *args[1:]], kwargs))
        try:
            return lift(m, function(*(concrete(m, a) for a in args), **concrete_named(m, kwargs)))
        except NotConcrete:
            return m.missing(reason_of(*args, *kwargs.values()), typ)
        except (TypeError, ValueError, ArithmeticError) as error:
            m.throw_new(type(error).__name__, str(error))
            return ABSENT

    return run


def exec_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``exec``/``eval``: anything may happen; nothing afterwards is certain."""
    m.finished = False
    m.skipped.setdefault(f"{m.place().path}:{m.place().line}", "exec or eval of text")
    given = args[1] if len(args) > 1 else None
    if isinstance(given, DictObj) and isinstance(given.mirrors, ModuleV):
        module, text = given.mirrors, args[0]
        for (owner, name), cell in [*m.root.own.items(), *m.state.own.items()]:
            meant = not isinstance(text, Const) or not isinstance(text.v, str) or name in text.v
            if owner is module and meant and not isinstance(cell.value, (FuncV, ClassV, ModuleV)):
                m.store((module, name), Unk("it may be changed by a text that is run"))
    return m.missing("the result of exec or eval")


def import_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``__import__(name)``."""
    from agent.evaluation.modules import import_module

    name = args[0]
    return import_module(m, name.v) if isinstance(name, Const) and isinstance(name.v, str) else m.missing("an import by an unknown name")


def open_(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``open(path)``: a file that knows its path."""
    from agent.evaluation.models.files import open_file

    return open_file(m, args, kwargs)


_FUNCTIONS: dict[str, Callable[[Machine, list[AV], Kwargs], AV]] = {
    "str": str_, "repr": repr_, "int": _number(int), "float": _number(float), "complex": _number(complex), "bool": bool_,
    "list": _collection("list"), "tuple": _collection("tuple"), "set": _collection("set"), "frozenset": _collection("frozenset"),
    "dict": dict_, "len": len_,
    "range": range_, "min": _extreme(min), "max": _extreme(max), "sum": sum_, "sorted": sorted_, "any": any_, "all": all_, "zip": zip_,
    "enumerate": enumerate_, "map": map_, "filter": filter_, "reversed": reversed_, "next": next_, "getattr": getattr_,
    "hasattr": hasattr_, "setattr": setattr_, "delattr": delattr_, "isinstance": types.isinstance_, "issubclass": types.issubclass_,
    "type": type_, "callable": callable_, "vars": vars_, "dir": dir_, "super": super_, "property": property_,
    "staticmethod": lambda m, a, k: StaticV(a[0]), "classmethod": lambda m, a, k: ClassMethodV(a[0]), "print": nothing, "id": identity_hash,
    "hash": identity_hash, "round": _pure("round"), "abs": _pure("abs"), "divmod": _pure("divmod"), "pow": _pure("pow"),
    "ord": _pure("ord"), "chr": _pure("chr"), "hex": _pure("hex"), "bin": _pure("bin"), "oct": _pure("oct"), "ascii": _pure("ascii"),
    "format": _pure("format"), "bytes": _pure("bytes", "bytes"),
    "iter": iter_, "exec": exec_, "eval": exec_, "__import__": import_, "open": open_,
    "object": lambda m, a, k: Instance(ExternV("builtins.object")), "input": lambda m, a, k: Unk("what a person types", "str"),
    "globals": lambda m, a, k: instance_dict(m, m.frame.module), "locals": lambda m, a, k: Unk("locals()", "dict"),
    "bytearray": lambda m, a, k: Unk("a bytearray", "bytearray"), "memoryview": lambda m, a, k: Unk("a memoryview", "memoryview"),
    "slice": lambda m, a, k: Unk("a slice", "slice"),
}  # fmt: skip


def table() -> dict[str, AV]:
    """Every built-in name."""
    found: dict[str, AV] = {name: BuiltinV(name, impl) for name, impl in _FUNCTIONS.items()}
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            found[name] = ExternV(f"builtins.{name}")
    found.update({"NotImplemented": ExternV("builtins.NotImplemented"), "Ellipsis": Const(...), "__debug__": TRUE})
    for name in vars(builtins):
        if not name.startswith("_"):
            found.setdefault(name, Unk(f"built-in {name}"))
    return found
