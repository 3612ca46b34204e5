"""Methods of strings, numbers, tuples, lists, dicts and sets."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import GeneratorType
from typing import Any

from agent.evaluation.arithmetic import MAX_TEXT, binary
from agent.evaluation.comparison import compare
from agent.evaluation.concrete import NotConcrete, concrete, for_each, lift, reason_of, united
from agent.evaluation.contents import forget
from agent.evaluation.iteration import turns
from agent.evaluation.joins import join
from agent.evaluation.machine import Machine
from agent.evaluation.subscripts import dict_get, get_item, set_item, update_dict
from agent.evaluation.values import (
    ABSENT,
    AV,
    FALSE,
    NONE,
    BuiltinV,
    Const,
    DictObj,
    ListObj,
    Map,
    OneOf,
    Perhaps,
    Seq,
    Tup,
    Unk,
    candidates,
    given,
    may_lack,
    one_of,
    perhaps,
)

Kwargs = dict[str, AV]
_RESULT_TYPES = {
    "lower": "str", "upper": "str", "strip": "str", "replace": "str", "join": "str", "format": "str", "title": "str", "lstrip": "str",
    "rstrip": "str", "removeprefix": "str", "removesuffix": "str", "startswith": "bool", "endswith": "bool", "isdigit": "bool",
    "split": "list", "rsplit": "list", "splitlines": "list", "find": "int", "rfind": "int", "count": "int", "encode": "bytes",
    "decode": "str", "capitalize": "str", "zfill": "str", "index": "int", "isalpha": "bool", "isalnum": "bool", "hex": "str",
}  # fmt: skip
_UNSAFE = frozenset({"format_map", "from_bytes"})


def native_method(m: Machine, obj: AV, name: str) -> AV:
    """A method or attribute of a built-in value; ABSENT where its type has none."""
    if isinstance(obj, Tup) and name in obj.names:
        return obj.items[obj.names.index(name)]
    if isinstance(obj, Tup) and name == "_asdict":
        rows: dict[Any, tuple[AV, AV]] = {n: (Const(n), v) for n, v in zip(obj.names, obj.items, strict=False)}
        return BuiltinV(name, lambda machine, a, k: machine.new_dict(dict(rows)))
    if isinstance(obj, Tup) and name == "_fields":
        return Tup(tuple(Const(n) for n in obj.names))
    table = _LIST if isinstance(obj, ListObj) else _DICT if isinstance(obj, DictObj) else None
    if table is not None:
        row = table.get(name)
        if row is not None:
            return BuiltinV(name, lambda machine, args, kwargs: row(machine, obj, args, kwargs))
        assert isinstance(obj, (ListObj, DictObj))
        return _other_method(obj, name)
    return _constant_method(m, obj, name)


_REAL: dict[bool, tuple[type, ...]] = {
    True: (list, set, frozenset, deque, GeneratorType, type({}.keys())),
    False: (dict, defaultdict, OrderedDict, Counter),
}
"""What a ListObj, and what a DictObj, may be in the program."""


def _other_method(obj: ListObj | DictObj, name: str) -> AV:
    """A method that no row stands for: what it gives is not known, nor what the container holds afterwards."""
    if name.startswith("__"):
        return Unk(f"{name} of a container")
    if not any(hasattr(each, name) for each in _REAL[isinstance(obj, ListObj)]):
        return ABSENT

    def run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        forget(m, obj, f"{name}() changes it")
        return m.missing(f"what {name}() gives")

    return BuiltinV(name, run)


def _constant_method(m: Machine, obj: AV, name: str) -> AV:
    raw = obj.v if isinstance(obj, Const) else ()
    if name == "__class__":
        return lift_type(type(raw))
    if not hasattr(raw, name):
        return ABSENT
    if name in _UNSAFE:
        return Unk(f"{name}()")
    if not callable(getattr(raw, name)):
        return lift(m, getattr(raw, name))

    def run(machine: Machine, args: list[AV], kwargs: Kwargs) -> AV:
        return _pure(machine, obj, name, args, kwargs)

    return BuiltinV(name, run)


def lift_type(kind: type) -> AV:
    """A built-in type as a value."""
    from agent.evaluation.models import BUILTINS

    return BUILTINS.get(kind.__name__, Unk(f"type {kind.__name__}", "type"))


def _pure(m: Machine, obj: AV, name: str, args: list[AV], kwargs: Kwargs) -> AV:
    """Runs a method of an immutable built-in on every combination of known arguments."""
    if "**" in kwargs:
        return m.missing(reason_of(kwargs["**"]))
    if any(isinstance(a, OneOf) for a in args):
        number = next(i for i, a in enumerate(args) if isinstance(a, OneOf))
        return for_each(m, args[number], lambda item: _pure(m, obj, name, [*args[:number], item, *args[number + 1 :]], kwargs))
    try:
        raw = concrete(m, obj)
        result = getattr(raw, name)(*(concrete(m, a) for a in args), **{k: concrete(m, v) for k, v in kwargs.items()})
    except NotConcrete:
        of_text = isinstance(obj, Const) and isinstance(obj.v, str)
        return Unk(reason_of(*args, *kwargs.values()), _RESULT_TYPES.get(name, "") if of_text else "")
    except Exception as error:
        m.throw_new(type(error).__name__, str(error))
    if isinstance(result, (str, bytes)) and len(result) > MAX_TEXT:
        return Unk("a very long text", type(result).__name__)
    try:
        return lift(m, list(result) if name in ("items", "keys", "values") else result)
    except RecursionError:
        return Unk(f"{name}()")


# --- lists and sets ----------------------------------------------------------------------------------------------------------


def _put(m: Machine, obj: ListObj, items: tuple[AV, ...], open_: str) -> None:
    m.store((obj, "[]"), Seq(items, open_))


def _append(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.selection(obj)
    _put(m, obj, (*content.items, args[0]), content.open)
    return NONE


def _add(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.selection(obj)
    _put(m, obj, united(content.items, (args[0],)), content.open)
    return NONE


def _extend(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.selection(obj)
    items, open_ = turns(m, args[0])
    row = united(content.items, items) if obj.kind in ("set", "frozenset") else content.items + items
    _put(m, obj, row, content.open or open_)
    return NONE


def _insert(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.items(obj)
    at = args[0]
    if content.open or not isinstance(at, Const):
        _put(m, obj, (), content.open or "an insertion at an unknown place")
        return NONE
    items = list(content.items)
    items.insert(at.v, args[1])
    _put(m, obj, tuple(items), "")
    return NONE


def _remove(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.items(obj)
    verdicts = [compare(m, "==", i, args[0]) for i in content.items]
    truths = [m.truth(v) for v in verdicts]
    if content.open or None in truths:
        _put(m, obj, (), content.open or "an unknown item was removed")
        m.may_raise("the item may be missing", "ValueError")
        return NONE
    if True in truths:
        number = truths.index(True)
        _put(m, obj, content.items[:number] + content.items[number + 1 :], "")
    elif obj.kind == "list":
        m.throw_new("ValueError", "list.remove(x): x not in list")
    return NONE


def _discard(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    return _remove(m, obj, args, kwargs)


def _pop(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.selection(obj)
    at = args[0] if args else Const(-1)
    if content.open or content.vague or not isinstance(at, Const) or obj.kind == "set":
        _put(m, obj, tuple(map(perhaps, content.items)), content.open)
        return m.missing(content.open or "an unknown item was taken")
    if not content.items or not -len(content.items) <= at.v < len(content.items):
        m.throw_new("IndexError", "pop from empty list")
    items = list(content.items)
    value = items.pop(at.v)
    _put(m, obj, tuple(items), "")
    return value


def _clear(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    _put(m, obj, (), "")
    return NONE


def _copy(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.selection(obj)
    return m.new_list(content.items, obj.kind, content.open)


def _index(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.items(obj)
    truths = [m.truth(compare(m, "==", i, args[0])) for i in content.items]
    if True in truths and None not in truths[: truths.index(True)]:
        return Const(truths.index(True))
    if content.open or None in truths:
        return m.missing("the place of an unknown item", "int")
    m.throw_new("ValueError", "is not in list")
    return FALSE


def _count(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.items(obj)
    truths = [m.truth(compare(m, "==", i, args[0])) for i in content.items]
    return Unk("a count of unknown items", "int") if content.open or None in truths else Const(truths.count(True))


def _reverse(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.items(obj)
    _put(m, obj, content.items[::-1], content.open)
    return NONE


def _sort(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.models.builtin_functions import sorted_

    done = sorted_(m, [obj], kwargs)
    if isinstance(done, ListObj):
        content = m.items(done)
        _put(m, obj, content.items, content.open)
    else:
        _put(m, obj, (), "it was sorted by something unknown")
    return NONE


def _set_operation(op: str) -> Callable[[Machine, ListObj, list[AV], Kwargs], AV]:
    def run(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
        result: AV = obj
        for other in args:
            items, open_ = turns(m, other)
            result = binary(m, op, result, m.new_list(items, "set", open_))
        return result if args else _copy(m, obj, args, kwargs)

    return run


def _compare_sets(test: Callable[[set[Any], set[Any]], bool]) -> Callable[[Machine, ListObj, list[AV], Kwargs], AV]:
    def run(m: Machine, obj: ListObj, args: list[AV], kwargs: Kwargs) -> AV:
        try:
            return Const(test(set(concrete(m, obj)), set(concrete(m, args[0]))))
        except (NotConcrete, TypeError):
            return Unk("sets with unknown members", "bool")

    return run


_LIST: dict[str, Callable[[Machine, Any, list[AV], Kwargs], AV]] = {
    "append": _append, "add": _add, "extend": _extend, "update": _extend, "insert": _insert, "remove": _remove, "discard": _discard,
    "pop": _pop, "popleft": lambda m, o, a, k: _pop(m, o, [Const(0)], k), "clear": _clear, "copy": _copy, "index": _index, "count": _count,
    "appendleft": lambda m, o, a, k: _insert(m, o, [Const(0), *a], k), "reverse": _reverse, "sort": _sort,
    "union": _set_operation("|"), "intersection": _set_operation("&"), "difference": _set_operation("-"),
    "issubset": _compare_sets(lambda a, b: a <= b), "issuperset": _compare_sets(lambda a, b: a >= b),
    "isdisjoint": _compare_sets(lambda a, b: not a & b),
}  # fmt: skip


# --- dicts -------------------------------------------------------------------------------------------------------------------


def _get(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    default = args[1] if len(args) > 1 else kwargs.get("default", NONE)
    found = []
    for index in candidates(args[0]):
        value = dict_get(m, obj, index)
        found += [default] if value is ABSENT else [given(value), default] if may_lack(value) else [value]
    return one_of(found)


def _keys(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    items, open_ = turns(m, obj)
    return m.new_list(items, "dict_keys", open_)


def _view(shown: Callable[[AV, AV], AV]) -> Callable[[Machine, DictObj, list[AV], Kwargs], AV]:
    """One item for each key; a key that may be missing gives an item that may be."""

    def run(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
        content = m.entries(obj)
        row: list[AV] = []
        for key, value in content.items.values() if not content.open else ():
            if may_lack(value):
                row.append(Perhaps(shown(key, given(value))))
            elif value is not ABSENT:
                row.append(shown(key, value))
        return m.new_list(row, "list", content.open)

    return run


def _dict_pop(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    index = args[0]
    value = dict_get(m, obj, index)
    default = args[1] if len(args) > 1 else None
    if value is ABSENT and default is None:
        m.throw_new("KeyError", repr(index))
    if not isinstance(index, Const):
        _any_may_be_gone(m, obj)
    else:
        content = m.entries(obj)
        rest = {k: v for k, v in content.items.items() if k != index.v}
        if content.open:
            rest[index.v] = (index, ABSENT)
        m.store((obj, "{}"), Map(rest, content.open))
    if value is ABSENT:
        return default or NONE
    parts = [default or NONE if v is ABSENT else v for v in candidates(value)]
    return one_of([*parts, default] if isinstance(value, Unk) and default is not None else parts)


def _popitem(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    _any_may_be_gone(m, obj)
    return m.missing("an item that was taken", "tuple")


def _any_may_be_gone(m: Machine, obj: DictObj) -> None:
    content = m.entries(obj)
    m.store((obj, "{}"), Map({k: (key, join(value, ABSENT)) for k, (key, value) in content.items.items()}, content.open))


def _setdefault(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    default = args[1] if len(args) > 1 else NONE
    value = dict_get(m, obj, args[0])
    if value is ABSENT:
        set_item(m, obj, args[0], default)
        return default
    if may_lack(value) or isinstance(value, Unk):
        joined = one_of([given(value), default])
        set_item(m, obj, args[0], joined)
        return joined
    return value


def _dict_update(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    for other in args:
        update_dict(m, obj, other)
    for name, value in kwargs.items():
        if name == "**":
            forget(m, obj, reason_of(value))
        else:
            set_item(m, obj, Const(name), value)
    return NONE


def _dict_clear(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    m.store((obj, "{}"), Map({}))
    return NONE


def _dict_copy(m: Machine, obj: DictObj, args: list[AV], kwargs: Kwargs) -> AV:
    content = m.entries(obj)
    return m.new_dict(dict(content.items), content.open)


_DICT: dict[str, Callable[[Machine, Any, list[AV], Kwargs], AV]] = {
    "get": _get, "keys": _keys, "values": _view(lambda key, value: value),
    "items": _view(lambda key, value: Tup((key, value))), "pop": _dict_pop, "setdefault": _setdefault, "update": _dict_update,
    "clear": _dict_clear, "copy": _dict_copy, "__getitem__": lambda m, o, a, k: get_item(m, o, a[0]),
    "__contains__": lambda m, o, a, k: compare(m, "in", a[0], o),
    "move_to_end": lambda m, o, a, k: NONE,
    "popitem": _popitem,
}  # fmt: skip
