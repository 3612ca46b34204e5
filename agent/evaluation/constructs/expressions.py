"""Expressions other than comprehensions."""

from __future__ import annotations

from collections.abc import Callable

from agent.analysis import ir
from agent.evaluation import arithmetic
from agent.evaluation.comparison import compare
from agent.evaluation.concrete import key_of, reason_of
from agent.evaluation.contents import entries_of
from agent.evaluation.frames import Frame
from agent.evaluation.invocation import skip
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Handler, Machine
from agent.evaluation.names import binding, read, variable
from agent.evaluation.refine import refine
from agent.evaluation.render import format_value, source_of
from agent.evaluation.subscripts import get_item, index_value, set_item, update_dict
from agent.evaluation.suspended import result
from agent.evaluation.values import (
    ABSENT,
    AV,
    FALSE,
    NONE,
    TRUE,
    BoundV,
    ClassV,
    Const,
    ExternV,
    FuncV,
    Lazy,
    OneOf,
    SuperV,
    Tup,
    Unk,
    given,
    may_lack,
    one_of,
)
from agent.evaluation.watch import Beside

MAX_YIELDS = 2000


def constant(m: Machine, node: ir.Constant) -> AV:
    """A literal."""
    return Const(node.value)


def name(m: Machine, node: ir.Name) -> AV:
    """A name; one that is bound nowhere raises NameError."""
    value = read(m, node.id)
    if value is ABSENT:
        local = m.frame.scope is not None and node.id in m.frame.scope.local
        m.throw_new("UnboundLocalError" if local else "NameError", f"name {node.id!r} is not defined")
    if may_lack(value):
        m.may_raise(f"{node.id} may be unbound", "UnboundLocalError")
    return given(value)


def attribute(m: Machine, node: ir.Attribute) -> AV:
    """``value.attr``."""
    return m.getattr(m.eval(node.value), node.attr)


def subscript(m: Machine, node: ir.Subscript) -> AV:
    """``value[index]``."""
    obj = m.eval(node.value)
    return get_item(m, obj, index_value(m, node.index))


def call(m: Machine, node: ir.Call) -> AV:
    """A call; ``super()`` without arguments takes its class and receiver from the frame."""
    assumed = m.assumed_call(node)
    if assumed is not None:
        return assumed
    watch = m.watched.get(node)
    if watch is not None and not isinstance(watch, Beside):
        watch.note(m, node)
        return Unk("the call that is asked about")
    func = m.eval(node.func)
    if isinstance(node.func, ir.Name) and node.func.id == "super" and not node.args:
        return _zero_super(m)
    follows = isinstance(func, (FuncV, ClassV)) or (isinstance(func, BoundV) and isinstance(func.func, FuncV))
    args: list[AV] = []
    open_ = ""
    for arg in node.args:
        if isinstance(arg, ir.Starred):
            items, reason = iterate(m, m.eval(arg.value))
            args += items
            open_ = open_ or reason
        else:
            args.append(passed(m, arg) if follows else m.eval(arg))
    kwargs: dict[str, AV] = {}
    for keyword in node.keywords:
        value = passed(m, keyword.value) if follows and keyword.name is not None else m.eval(keyword.value)
        if keyword.name is not None:
            kwargs[keyword.name] = value
        else:
            open_ = _spread(m, value, kwargs, to_outside=isinstance(func, ExternV)) or open_
    if open_:
        kwargs["**"] = Unk(open_)
    if watch is not None and isinstance(func, BoundV) and isinstance(func.func, FuncV):
        return skip(m, func.func, [func.receiver, *args], kwargs, "the call that is asked about")
    if watch is not None and isinstance(func, FuncV):
        return skip(m, func, args, kwargs, "the call that is asked about")
    previous, m.call_node = m.call_node, node
    try:
        return m.call(func, args, kwargs)
    finally:
        m.call_node = previous


def passed(m: Machine, node: ir.Expr) -> AV:
    """A value on its way to a variable or parameter: a lazy one stays lazy."""
    if isinstance(node, ir.Name) and m.demand is not None:
        found = variable(m, node.id)
        if found is not None and isinstance(found[1].value, Lazy):
            m.reads.append(found[1])
            return found[1].value
    elif isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and m.demand is not None:
        owner = m.eval(node.value)
        if m.demand.works_out(owner, node.attr):
            quiet = m.demand.runs.quiet
            return Lazy(lambda: quiet(lambda: m.getattr(owner, node.attr)))
    return m.eval(node)


def _spread(m: Machine, value: AV, kwargs: dict[str, AV], *, to_outside: bool) -> str:
    """Adds what ``**value`` gives; an argument that may be missing says so, but to code outside the tree, which does not expect that."""
    content = entries_of(m, value)
    if content is None:
        return reason_of(value)
    unclear = ""
    for key, item in content.items.values():
        if to_outside and may_lack(item):
            unclear = f"the argument {key!r} may not be given"
        elif isinstance(key, Const) and item is not ABSENT:
            kwargs[str(key.v)] = item
    return content.open or unclear


def _zero_super(m: Machine) -> AV:
    frame: Frame | None = m.frame
    while frame is not None and frame.owner is None:
        frame = frame.closure
    if frame is None or frame.owner is None or frame.receiver is None:
        return Unk("super() outside a method")
    return SuperV(frame.owner, frame.receiver)


def unary(m: Machine, node: ir.UnaryOp) -> AV:
    """``not x`` and arithmetic signs."""
    if node.op != "not":
        return arithmetic.unary(m, node.op, m.eval(node.operand))
    value = _condition(m, node.operand)
    truth = m.truth(value)
    return Unk(reason_of(value), "bool") if truth is None else FALSE if truth else TRUE


def binary(m: Machine, node: ir.BinOp) -> AV:
    """``left op right``; a long chain is walked without recursion."""
    chain = [node]
    while isinstance(chain[-1].left, ir.BinOp):
        chain.append(chain[-1].left)
    value = m.eval(chain[-1].left)
    for part in reversed(chain):
        value = arithmetic.binary(m, part.op, value, m.eval(part.right))
    return value


def boolean(m: Machine, node: ir.BoolOp) -> AV:
    """``and``/``or``: later operands run only as far as the earlier ones let them."""
    return _bool_from(m, node, 0, Machine.eval)


def asked(m: Machine, node: ir.Expr) -> bool | None:
    """Whether a condition holds: of ``a and False`` the value may be that of ``a``, but it is never true."""
    return m.truth(_condition(m, node))


def _condition(m: Machine, node: ir.Expr) -> AV:
    """A value that is true where the expression's value is."""
    return _bool_from(m, node, 0, _condition) if isinstance(node, ir.BoolOp) else m.eval(node)


def _bool_from(m: Machine, node: ir.BoolOp, number: int, value_of: Callable[[Machine, ir.Expr], AV]) -> AV:
    operand = node.values[number]
    value = value_of(m, operand)
    if number == len(node.values) - 1:
        return value
    wanted = node.op == "and"
    truth = m.truth(value)
    m.tested(operand, truth)
    if truth is not None:
        if truth is not wanted:
            return value
        refine(m, operand, truth)
        return _bool_from(m, node, number + 1, value_of)

    def stop() -> AV:
        refine(m, operand, not wanted)
        if value_of is _condition:
            return FALSE if wanted else TRUE
        return _falsy(value) if wanted else _truthy(value)

    def further() -> AV:
        refine(m, operand, wanted)
        return _bool_from(m, node, number + 1, value_of)

    return one_of([result for _, result in m.fork([stop, further])])


def _falsy(value: AV) -> AV:
    if isinstance(value, Unk) and value.typ == "bool":
        return FALSE
    if isinstance(value, OneOf):
        kept = [v for v in value.values if not (isinstance(v, Const) and v.v)]
        return one_of(kept) if kept else value
    return value


def _truthy(value: AV) -> AV:
    if isinstance(value, Unk) and value.typ == "bool":
        return TRUE
    if isinstance(value, OneOf):
        kept = [v for v in value.values if not (isinstance(v, Const) and not v.v)]
        return one_of(kept) if kept else value
    return value


def comparison(m: Machine, node: ir.Compare) -> AV:
    """``a < b <= c``."""
    left = m.eval(node.left)
    result: AV = TRUE
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = m.eval(right_node)
        part = compare(m, op, left, right)
        result = part if result is TRUE else _both(m, result, part)
        if m.truth(result) is False:
            return result
        left = right
    return result


def _both(m: Machine, a: AV, b: AV) -> AV:
    first, second = m.truth(a), m.truth(b)
    if first is False or second is False:
        return FALSE
    return TRUE if first and second else Unk(reason_of(a, b), "bool")


def conditional(m: Machine, node: ir.IfExp) -> AV:
    """``body if test else orelse``."""
    truth = asked(m, node.test)
    deps, control = m.tested(node, truth), m.control

    def branch(expr: ir.Expr, polarity: bool) -> AV:
        m.under(node, polarity, truth, deps)
        refine(m, node.test, polarity)
        try:
            return m.eval(expr)
        finally:
            m.control = control

    if truth is not None:
        return branch(node.body if truth else node.orelse, truth)
    return one_of([r for _, r in m.fork([lambda: branch(node.body, True), lambda: branch(node.orelse, False)])])


def lambda_(m: Machine, node: ir.Lambda) -> AV:
    """``lambda``."""
    defaults = {p.name: m.eval(p.default) for p in node.params if p.default is not None}
    m.frame.kept = True
    return FuncV(node, m.frame.module, m.frame, defaults, m.frame.owner, f"{m.frame.label}.<lambda>")


def _items(m: Machine, nodes: list[ir.Expr]) -> tuple[list[AV], str]:
    items: list[AV] = []
    open_ = ""
    for node in nodes:
        if isinstance(node, ir.Starred):
            more, reason = iterate(m, m.eval(node.value))
            items += more
            open_ = open_ or reason
        else:
            items.append(m.eval(node))
    return items, open_


def list_display(m: Machine, node: ir.ListExpr) -> AV:
    """``[a, b]``."""
    items, open_ = _items(m, node.items)
    return m.new_list(items, "list", open_)


def set_display(m: Machine, node: ir.SetExpr) -> AV:
    """``{a, b}``."""
    items, open_ = _items(m, node.items)
    return m.new_list(list({key_of(i): i for i in items}.values()), "set", open_)


def tuple_display(m: Machine, node: ir.TupleExpr) -> AV:
    """``a, b``."""
    items, open_ = _items(m, node.items)
    return Unk(open_, "tuple") if open_ else Tup(tuple(items))


def dict_display(m: Machine, node: ir.DictExpr) -> AV:
    """``{k: v, **more}``."""
    obj = m.new_dict()
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            update_dict(m, obj, m.eval(value))
        else:
            set_item(m, obj, m.eval(key), m.eval(value))
    return obj


def fstring(m: Machine, node: ir.FString) -> AV:
    """``f"..."``: known when every part is."""
    parts: list[str] = []
    unknown: Unk | None = None
    for part in node.parts:
        if isinstance(part, ir.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ir.FormattedValue)
        value = m.eval(part.value)
        spec = m.eval(part.format_spec) if part.format_spec is not None else Const("")
        text = format_value(m, value, part.conversion, spec)
        if text is None:
            unknown = unknown or Unk(reason_of(value), "str")
        else:
            parts.append(part.self_text + text)
    return unknown or Const("".join(parts))


def named(m: Machine, node: ir.NamedExpr) -> AV:
    """``(name := value)``."""
    value = m.eval(node.value)
    if isinstance(node.target, ir.Name):
        frame = m.frame
        m.store(binding(frame, node.target.id), value)
    return value


def awaited(m: Machine, node: ir.Await) -> AV:
    """``await value``: coroutines ran when they were made."""
    return result(m, m.eval(node.value))


def yielded(m: Machine, node: ir.Yield) -> AV:
    """``yield``: collects, or runs the body of the ``with`` that waits for it."""
    value = m.eval(node.value) if node.value is not None else NONE
    frame: Frame | None = m.frame
    while frame is not None and frame.func is None:
        frame = frame.closure
    if frame is None:
        return Unk("yield")
    if frame.on_yield is not None:
        return frame.on_yield(value)
    if frame.yields is not None:
        _collect(m, frame, node, value)
        if m.between is not None:
            m.between(())
    return Unk("what is sent into a generator")


def _collect(m: Machine, frame: Frame, node: ir.Yield, value: AV) -> None:
    """Notes what a generator gives, and that there may be less or more of it."""
    assert frame.yields is not None
    if node.is_from:
        items, open_ = iterate(m, value)
        frame.yields += items
        frame.open_yields = frame.open_yields or open_
    elif len(frame.yields) < MAX_YIELDS:
        frame.yields.append(value)
    if m.forks > frame.forks:
        frame.yields.clear()
        frame.open_yields = "what a generator gives depends on a branch that is undecided"
    elif len(frame.yields) >= MAX_YIELDS:
        frame.open_yields = "a generator gives very many items"


def starred(m: Machine, node: ir.Starred) -> AV:
    """``*value`` outside a display or call."""
    return m.eval(node.value)


def sliced(m: Machine, node: ir.Slice) -> AV:
    """A slice inside a tuple of indices."""
    return index_value(m, node)


def unsupported(m: Machine, node: ir.Unsupported) -> AV:
    """Something the engine cannot read."""
    return m.missing(f"{node.kind} is not understood: {source_of(m, node)[:60]}")


HANDLERS: dict[type, Handler] = {
    ir.Constant: constant,
    ir.Name: name,
    ir.Attribute: attribute,
    ir.Subscript: subscript,
    ir.Call: call,
    ir.UnaryOp: unary,
    ir.BinOp: binary,
    ir.BoolOp: boolean,
    ir.Compare: comparison,
    ir.IfExp: conditional,
    ir.Lambda: lambda_,
    ir.ListExpr: list_display,
    ir.SetExpr: set_display,
    ir.TupleExpr: tuple_display,
    ir.DictExpr: dict_display,
    ir.FString: fstring,
    ir.NamedExpr: named,
    ir.Await: awaited,
    ir.Yield: yielded,
    ir.Starred: starred,
    ir.Slice: sliced,
    ir.Unsupported: unsupported,
}
