"""Reading, setting and deleting ``x[i]``, and updating a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.analysis import ir
from agent.evaluation.attributes import special_method
from agent.evaluation.comparison import equal
from agent.evaluation.concrete import alternatives, key_of, reason_of
from agent.evaluation.contents import entries_of, forget
from agent.evaluation.frames import Dead
from agent.evaluation.iteration import iterate, turns
from agent.evaluation.machine import Machine
from agent.evaluation.values import (
    ABSENT,
    AV,
    NONE,
    AliasV,
    BoundV,
    BuiltinV,
    ClassV,
    Const,
    DictObj,
    ExternV,
    Instance,
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
    present,
)

BY_NAME = "filled with classes by their names"
MAX_NAMESAKES = 4
"""What a registry says of itself that is only known by its keys; classes of one name that it may mean, and nothing."""


def index_value(m: Machine, node: ir.Expr) -> AV:
    """The value of ``x[...]``'s bracket; slices become a Const slice or unknown."""
    if isinstance(node, ir.Slice):
        parts = [m.eval(p) if p is not None else NONE for p in (node.lower, node.upper, node.step)]
        if all(isinstance(p, Const) and (p.v is None or isinstance(p.v, int)) for p in parts):
            return Const(slice(*(p.v for p in parts)))  # type: ignore[attr-defined]
        return Unk(reason_of(*parts), "slice")
    return m.eval(node)


def get_item(m: Machine, obj: AV, index: AV) -> AV:
    """``obj[index]``."""
    if isinstance(obj, OneOf) or isinstance(index, OneOf):
        pairs = [(o, i) for o in candidates(obj) for i in candidates(index) if o is not ABSENT and i is not ABSENT]
        return alternatives(m, [lambda o=o, i=i: get_item(m, o, i) for o, i in pairs])  # type: ignore[misc]
    row = _GET_ITEM.get(type(obj))
    return row(m, obj, index) if row is not None else m.missing(reason_of(obj, index))


def _item_sequence(m: Machine, obj: Const | Tup | ListObj, index: AV) -> AV:
    if isinstance(index, Unk):
        items, open_ = iterate(m, obj)
        one = m.missing(index.reason)
        return one_of(items) if items and not open_ and index.typ != "slice" else one
    if isinstance(obj, ListObj) and m.items(obj).open:
        return m.missing(m.items(obj).open)
    if not isinstance(index, Const):
        return m.missing(reason_of(index))
    raw = obj.v if isinstance(obj, Const) else obj.items if isinstance(obj, Tup) else m.items(obj).items
    try:
        found = raw[index.v]
    except (IndexError, KeyError, TypeError) as error:
        m.throw_new(type(error).__name__, str(error))
    if isinstance(obj, Const):
        return Const(found)
    if isinstance(index.v, slice):
        return Tup(found) if isinstance(obj, Tup) else m.new_list(found, obj.kind)
    result: AV = found
    return result


def dict_get(m: Machine, obj: DictObj, index: AV) -> AV:
    """The stored value, ABSENT where the key is certainly missing, Unk where it may be there."""
    if isinstance(index, Unk):
        content = m.entries(obj)
        values = [v for _, v in content.items.values() if v is not ABSENT]
        return ABSENT if not values and not content.open else _any_of(m, values, content.open, index.reason)
    content = m.entries_when_needed(obj)
    found = m.entry(obj, key_of(index)) if not isinstance(index, (ListObj, DictObj)) else None
    if found is not None:
        return found[1]
    if not content.open and any(isinstance(k, Instance) for k, _ in content.items.values()) and isinstance(index, Const):
        return _by_equality(m, content, index)
    if content.open.startswith(BY_NAME) and isinstance(index, Const) and isinstance(index.v, str):
        return _class_named(m, index.v) or Unk(f"{_key_text(index)}: {content.open}")
    return Unk(f"{_key_text(index)}: {content.open}") if content.open else ABSENT


def set_by_name(m: Machine, obj: DictObj, value: AV) -> None:
    """``registry[cls.__name__] = cls`` for a class that is not known: under a key there is nothing but the class of that name."""
    content = m.entries(obj)
    if isinstance(value, Unk) and not content.items and (not content.open or content.open.startswith(BY_NAME)):
        m.store((obj, "{}"), Map({}, f"{BY_NAME} at {m.place().path}:{m.place().line}"))
    else:
        set_item(m, obj, Unk(reason_of(value)), value)


def _class_named(m: Machine, name: str) -> AV | None:
    """The classes of the tree that have the name, or nothing: whether they are registered is not known."""
    from agent.evaluation.modules import import_module

    found: list[AV] = [ABSENT]
    for definition in m.index.classes_named(name):
        if not definition.chain:
            try:
                found.append(m.getattr(import_module(m, m.index.dotted(definition.path)), name))
            except Dead:
                return None
    if not 2 <= len(found) <= MAX_NAMESAKES or not all(item is ABSENT or isinstance(item, ClassV) for item in found):
        return None
    m.assume(f"what is registered as {name} is the class of that name in the tree")
    return one_of(found)


def _any_of(m: Machine, values: list[AV], open_: str, reason: str) -> AV:
    """What an unknown key gives; where it cannot be said, containers among the values may be changed by whoever gets one."""
    found = one_of([*values, ABSENT]) if not open_ else Unk(reason)
    if isinstance(found, Unk):
        for value in values:
            forget(m, value, f"it is read by a key that is not known: {reason}"[:200])
        return Unk(reason)
    return found


def _by_equality(m: Machine, content: Map, index: AV) -> AV:
    for stored, value in content.items.values():
        verdict = equal(m, stored, index)
        if verdict is not False:
            return value if verdict else Unk("a key that may be equal")
    return ABSENT


def _key_text(index: AV) -> str:
    return str(index.v) if isinstance(index, Const) else repr(index)


def _item_dict(m: Machine, obj: DictObj, index: AV) -> AV:
    value = dict_get(m, obj, index)
    if value is ABSENT:
        if isinstance(index, Unk):
            return m.missing(index.reason)
        if obj.factory is not None:
            made = m.call(obj.factory, [], {})
            set_item(m, obj, index, made)
            return made
        m.throw_new("KeyError", _key_text(index))
    if isinstance(value, Unk):
        m.may_raise(value.reason, "KeyError")
    elif may_lack(value):
        m.may_raise(f"key {_key_text(index)} may be missing", "KeyError")
    return given(value)


def _item_type(m: Machine, obj: AV, index: AV) -> AV:
    from agent.evaluation.models.typing_forms import MARKERS, subscript

    if isinstance(obj, ExternV) and not obj.dotted.startswith(_TYPE_MODULES) and obj.dotted not in MARKERS:
        return m.missing(f"an item of {obj.dotted}")
    return subscript(m, obj, index)


_TYPE_MODULES = (
    "typing.",
    "typing_extensions.",
    "collections.",
    "builtins.",
    "types.",
    "contextlib.",
    "numpy.",
    "torch.",
    "asyncio.",
    "weakref.",
    "re.",
    "os.PathLike",
)


def _item_class(m: Machine, obj: ClassV, index: AV) -> AV:
    if obj.enum_members is not None:
        if isinstance(index, Const):
            member = obj.enum_members.get(index.v)
            if member is None:
                m.throw_new("KeyError", repr(index.v))
            assert member is not None
            return member
        return m.missing(reason_of(index), "object")
    from agent.evaluation.models.typing_forms import subscript

    return subscript(m, obj, index)


def _item_instance(m: Machine, obj: Instance, index: AV) -> AV:
    method = special_method(m, obj, "__getitem__")
    if isinstance(method, BoundV):
        return m.call(method, [index], {})
    return m.missing(f"an item of {obj!r}")


_GET_ITEM: dict[type, Callable[[Machine, Any, AV], AV]] = {
    Const: _item_sequence,
    Tup: _item_sequence,
    ListObj: _item_sequence,
    DictObj: _item_dict,
    ClassV: _item_class,
    Instance: _item_instance,
    ExternV: lambda m, obj, index: _item_type(m, obj, index),
    BuiltinV: lambda m, obj, index: _item_type(m, obj, index),
    AliasV: lambda m, obj, index: obj,
}


def set_item(m: Machine, obj: AV, index: AV, value: AV) -> None:
    """``obj[index] = value``."""
    if isinstance(obj, DictObj):
        content = m.entries(obj)
        if isinstance(index, (Unk, OneOf, ListObj)):
            m.store((obj, "{}"), Map({}, reason_of(index)))
        else:
            m.store((obj, "{}"), Map({**content.items, key_of(index): (index, value)}, content.open))
    elif isinstance(obj, ListObj):
        _set_list_item(m, obj, index, value)
    elif isinstance(obj, OneOf):
        forget(m, obj, "one of several containers was changed")
    elif isinstance(obj, Instance):
        method = special_method(m, obj, "__setitem__")
        if isinstance(method, BoundV):
            m.call(method, [index, value], {})
        else:
            m.may_raise(f"an item of {obj!r} is set")


def _set_list_item(m: Machine, obj: ListObj, index: AV, value: AV) -> None:
    content = m.items(obj)
    if not content.open and isinstance(index, Const) and isinstance(index.v, int) and -len(content.items) <= index.v < len(content.items):
        items = list(content.items)
        items[index.v] = value
        m.store((obj, "[]"), Seq(tuple(items)))
    elif not content.open and isinstance(index, Const) and isinstance(index.v, int):
        m.throw_new("IndexError", "list assignment index out of range")
    else:
        m.store((obj, "[]"), Seq((), reason_of(index) if isinstance(index, Unk) else content.open or "a slice was assigned"))


def delete_item(m: Machine, obj: AV, index: AV) -> None:
    """``del obj[index]``."""
    if isinstance(obj, DictObj):
        content = m.entries(obj)
        if isinstance(index, Const):
            if index.v not in content.items and not content.open:
                m.throw_new("KeyError", repr(index.v))
            rest = {k: v for k, v in content.items.items() if k != index.v}
            if content.open:
                rest[index.v] = (index, ABSENT)
            m.store((obj, "{}"), Map(rest, content.open))
            return
    if isinstance(obj, ListObj) and isinstance(index, Const) and not m.items(obj).open:
        items = list(m.items(obj).items)
        try:
            del items[index.v]
        except (IndexError, TypeError) as error:
            m.throw_new(type(error).__name__, str(error))
        m.store((obj, "[]"), Seq(tuple(items)))
        return
    method = special_method(m, obj, "__delitem__") if isinstance(obj, Instance) else None
    if isinstance(method, BoundV):
        m.call(method, [index], {})
    forget(m, obj, "an item was deleted")


def update_dict(m: Machine, obj: DictObj, other: AV) -> None:
    """``obj.update(other)``."""
    content = m.entries(obj)
    more = entries_of(m, other)
    if more is not None:
        added, open_ = more.items, more.open
    else:
        items, open_ = turns(m, other)
        added = {}
        for item in items:
            pair = iterate(m, present(item))[0]
            if len(pair) == 2 and not isinstance(pair[0], (Unk, OneOf)):
                key, value = key_of(pair[0]), pair[1]
                if type(item) is Perhaps:
                    value = one_of([added[key][1] if key in added else ABSENT, value])
                added[key] = (pair[0], value)
            else:
                open_ = open_ or "an update with unknown keys"
    if content.items and open_.startswith(BY_NAME):
        open_ = "an update with unknown keys"
    kept = {} if open_ else dict(content.items)  # unknown keys may be any of those that were there
    for key, (shown, value) in added.items():
        before = kept.get(key)
        kept[key] = (shown, value if not may_lack(value) or open_ else _updated(before[1] if before else ABSENT, value))
    m.store((obj, "{}"), Map(kept, content.open or open_))


def _updated(before: AV, value: AV) -> AV:
    """A value that may not be there leaves what was there before."""
    return one_of([before, given(value)])
