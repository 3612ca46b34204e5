"""Running one call of a function of the tree: its arguments bound, its body run, its returns joined; or not followed."""

from __future__ import annotations

from collections.abc import Callable

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.evaluation.contents import forget
from agent.evaluation.frames import Catcher, Dead, Frame, Leaf, TooLong
from agent.evaluation.machine import Machine
from agent.evaluation.state import Cell, Control, State
from agent.evaluation.suspended import later_than_called, suspended
from agent.evaluation.values import AV, NONE, Const, DictObj, FuncV, Instance, ListObj, Obj, Tup, Unk, given, may_lack, one_of

Kwargs = dict[str, AV]
MAX_DEPTH = 70
MAX_ACTIVE = 3
LACKED_BY = "[lacked by]"
"""Of an unknown name: the object that has no such attribute, and those that it had when that was asked."""
RESOLUTION = 100_000
"""Statements that one method of the configuration record may take beyond what bounds the rest."""


def invoke(m: Machine, func: FuncV, args: list[AV], kwargs: dict[str, AV], *, on_yield: Callable[[AV], AV] | None = None) -> AV:
    """Runs a function of the tree and joins its returns; ``on_yield`` runs at each ``yield`` of a context manager."""
    node = func.node
    if m.drained:
        m.frontier[node] = func
        return Unk(f"{func.qualname}() was not followed: it runs after the configuration is made")
    if m.between is not None:
        m.between((*args, *kwargs.values()))
    if m.depth >= MAX_DEPTH or m.active.get(node, 0) >= MAX_ACTIVE:
        return skip(m, func, args, kwargs, f"{func.qualname}() calls itself too deeply")
    if m.demand is not None and m.active.get(node, 0) and _says_nothing(func, args, kwargs):
        return skip(m, func, args, kwargs, f"{func.qualname}() calls itself with what is not known")
    if m.enter is not None and not m.enter(func):
        return skip(m, func, args, kwargs, f"{func.qualname}() was not followed")
    if on_yield is None and later_than_called(m, func):
        return suspended(m, func, lambda: _followed(m, func, args, kwargs))
    return _followed(m, func, args, kwargs, on_yield=on_yield)


def _followed(m: Machine, func: FuncV, args: list[AV], kwargs: Kwargs, *, on_yield: Callable[[AV], AV] | None = None) -> AV:
    node = func.node
    frame = Frame(func.module, func.closure, m.scope(node), func.qualname)
    frame.func = func
    frame.owner = func.owner
    frame.receiver = args[0] if args else None
    frame.on_yield = on_yield
    frame.deadline = min(_deadline(m), m.steps + m.call_fuel)
    if isinstance(node, ir.FunctionDef) and node.is_generator and on_yield is None:
        frame.yields, frame.forks = [], m.forks
    bind(m, frame, func, args, kwargs)
    too_long = f"{func.qualname}() takes too many steps to follow"
    resolves = func.owner is not None and m.demand is None and frame.receiver is m.configuration is not None
    run = _settle if resolves else run_frame
    return run(m, frame, node, lambda: skip(m, func, args, kwargs, too_long))


def _says_nothing(func: FuncV, args: list[AV], kwargs: Kwargs) -> bool:
    """Whether nothing is known of any argument: what a call in a call of the same function finds out about it, the outer one does."""
    given = [*args[func.owner is not None :], *kwargs.values()]
    return bool(given) and all(isinstance(value, Unk) for value in given)


def _deadline(m: Machine) -> int:
    """When a callee must have ended: for a question its caller keeps a tenth, to go on with what it does next."""
    deadline = m.frame.deadline
    return deadline if m.demand is None else deadline - max(deadline - m.steps, 0) // 10


def _settle(m: Machine, frame: Frame, node: ir.FunctionDef | ir.Lambda, give_up: Callable[[], AV]) -> AV:
    """A method of the configuration record may still resolve its values: it is followed to its end, beyond what bounds the rest."""
    limit, before, m.limit = m.limit, m.steps, min(m.fuel, max(m.limit, m.steps + RESOLUTION))
    m.building += 1
    try:
        return run_frame(m, frame, node, give_up)
    finally:
        m.building -= 1
        m.limit = min(m.fuel, limit + m.steps - before)


def run_frame(m: Machine, frame: Frame, node: ir.FunctionDef | ir.Lambda, give_up: Callable[[], AV]) -> AV:
    """Runs a prepared activation; restores the caller's context whatever happens."""
    caller, control, reads = m.frame, m.control, m.reads
    entry, certain, whole, throws = m.state, m.state.certain, m.state.whole, m.throws
    depth, catchers, exits = m.depth, list(m.catchers), m.exits
    m.frame, m.depth, entry.whole = frame, m.depth + 1, True
    m.active[node] = m.active.get(node, 0) + 1
    m.entered.add(node)
    loose = isinstance(node, ir.FunctionDef) and node.is_async
    m.loose += loose
    if m.loose:
        m.detached.add(node)
    try:
        leaves = _leaves(m, frame, node)
    except TooLong as stop:
        if stop.frame is not frame and frame.deadline >= caller.deadline:
            raise
        _abandon(m, caller, entry, control, reads, depth, catchers, whole)
        return give_up()
    finally:
        m.active[node] -= 1
        m.loose -= loose
        m.frame, m.depth, m.control, m.exits = caller, depth, control, exits
    if not leaves and frame.yields is not None:  # an endless generator: who takes its items goes on
        _abandon(m, caller, entry, control, reads, depth, catchers, whole)
        return m.new_list(frame.yields, "iterator", f"{frame.label}() gives items without end")
    if not leaves:
        m.reads = reads
        raise Dead
    _rejoin(m, entry, leaves, certain=certain, whole=whole, throws=throws)
    _drop_locals(m, frame)
    m.reads = [*reads, *(cell for leaf in leaves[:4] for cell in leaf.reads[:6])]
    if frame.yields is not None:
        return m.new_list(frame.yields, "iterator", frame.open_yields)
    return one_of([leaf.value for leaf in leaves])


def _leaves(m: Machine, frame: Frame, node: ir.FunctionDef | ir.Lambda) -> list[Leaf]:
    m.reads = []
    if isinstance(node, ir.Lambda):
        try:
            value = m.eval(node.body)
        except Dead:
            return []
        return [Leaf(value, m.state, tuple(m.reads))]
    if m.block(node.body):
        frame.returns.append(Leaf(NONE, m.state, ()))
    return frame.returns


def _rejoin(m: Machine, entry: State, leaves: list[Leaf], *, certain: bool, whole: bool, throws: int) -> None:
    untouched = throws == m.throws
    if len(leaves) == 1 and (leaves[0].state is entry or not untouched):
        m.state = leaves[0].state
    else:
        m.resume(entry, [leaf.state for leaf in leaves], untouched=untouched)
    caught_inside = not untouched and bool(m.catchers)
    m.state.certain = certain and not caught_inside
    m.state.whole = whole and not caught_inside


def _abandon(
    m: Machine, caller: Frame, entry: State, control: Control | None, reads: list[Cell], depth: int, catchers: list[Catcher], whole: bool
) -> None:
    m.frame, m.control, m.reads, m.depth, m.catchers = caller, control, reads, depth, catchers
    m.state = State(entry, entry.certain)
    entry.whole = whole


def _drop_locals(m: Machine, frame: Frame) -> None:
    if frame.kept or frame.scope is None:
        return
    own = m.state.own
    for name in frame.scope.local:
        own.pop((frame, name), None)


def bind(m: Machine, frame: Frame, func: FuncV, args: list[AV], kwargs: Kwargs) -> None:
    """Binds arguments to parameters in the new frame; a mismatch raises TypeError in the analysed program."""
    rest = dict(kwargs)
    spread = rest.pop("**", None)
    positional = list(args)
    node = func.node
    taken: dict[str, AV] = {}
    for param in node.params:
        if param.kind in ("posonly", "normal"):
            if positional:
                taken[param.name] = positional.pop(0)
                if param.name in rest and param.kind == "normal" and not spread:
                    m.throw_new("TypeError", f"{func.name}() got multiple values for argument {param.name!r}")
            else:
                taken[param.name] = _argument(m, func, param, rest, spread)
        elif param.kind == "vararg":
            known = not isinstance(spread, Unk) or positional or not _open_args(args)
            taken[param.name] = Tup(tuple(positional)) if known else Unk("*args")
            positional = []
        elif param.kind == "kwonly":
            taken[param.name] = _argument(m, func, param, rest, spread)
        else:
            extra = {k: (Const(k), v) for k, v in rest.items()}
            rest = {}
            taken[param.name] = m.new_dict(dict(extra), spread.reason if isinstance(spread, Unk) else "")
    surplus = [name for name, value in rest.items() if not may_lack(value)]
    if (positional or surplus) and not spread:
        m.throw_new("TypeError", f"{func.name}() got an unexpected argument {surplus[0] if surplus else len(args)!r}")
    if rest and not spread:
        m.may_raise(f"{func.name}() may get an unexpected argument {next(iter(rest))!r}", "TypeError")
    place, deps = m.place(), tuple(m.reads[:12])
    for name, value in taken.items():
        m.state.own[(frame, name)] = Cell(value, place, deps, m.control, None, f"{name} of {func.qualname}()", name)


def _open_args(args: list[AV]) -> bool:
    return not args


def _argument(m: Machine, func: FuncV, param: ir.Param, rest: Kwargs, spread: AV | None) -> AV:
    default = func.defaults.get(param.name)
    if param.name in rest and param.kind != "posonly":
        return or_default(m, rest.pop(param.name), default, f"{func.name}() may miss the argument {param.name!r}")
    if isinstance(spread, Unk):
        return Unk(spread.reason)
    if default is None:
        m.throw_new("TypeError", f"{func.name}() missing required argument {param.name!r}")
    assert default is not None
    return default


def or_default(m: Machine, value: AV, default: AV | None, problem: str) -> AV:
    """An argument that a spread dictionary may not have in it: its default, or perhaps a TypeError, where it has not."""
    if not may_lack(value):
        return value
    if default is None:
        m.may_raise(problem, "TypeError")
        return given(value)
    return one_of([given(value), default])


def skip(m: Machine, func: FuncV, args: list[AV], kwargs: Kwargs, reason: str) -> AV:
    """Does not follow a call: forgets whatever the callee may write on its arguments."""
    m.skipped.setdefault(f"{func.module.path}:{func.node.line}", reason)
    m.unfollowed.add(func.node)
    names = [p.name for p in func.node.params if p.kind in ("posonly", "normal")]
    given = [*zip(names, args, strict=False), *((k, v) for k, v in kwargs.items() if k != "**")]
    for name, value in given:
        _forget_argument(m, func, name, value, reason)
    return m.missing(reason)


def _forget_argument(m: Machine, func: FuncV, param: str, value: AV, reason: str) -> None:
    if isinstance(value, (ListObj, DictObj)):
        forget(m, value, reason)
    if not isinstance(value, Instance) or (m.demand is not None and m.demand.answers_for(value)):
        return
    written = writes_on(func.node, param)
    if written is None:
        value.open = value.open or reason
        for name in known_attributes(m, value):
            m.store((value, name), Unk(reason))
    else:
        for name in sorted(written):
            m.store((value, name), Unk(reason))


def forget_all(m: Machine, value: AV, reason: str) -> None:
    """What code that is not followed may have changed on an object or in a container."""
    forget(m, value, reason)
    if isinstance(value, Instance) and not (m.demand is not None and m.demand.answers_for(value)):
        value.open = value.open or reason
        for name in known_attributes(m, value):
            m.store((value, name), Unk(reason))


def known_attributes(m: Machine, obj: Obj) -> list[str]:
    """Names of every attribute that the object may have now."""
    names: dict[str, None] = {}
    state = m.state
    while state is not None:
        for owner, name in state.own:
            if owner is obj:
                names[name] = None
        state = state.parent  # type: ignore[assignment]
    return sorted(names)


def writes_on(node: ir.FunctionDef | ir.Lambda, param: str) -> set[str] | None:
    """Attributes that a function assigns on one parameter in its own body; None, for any, when the parameter goes elsewhere."""
    written: set[str] = set()
    attribute_bases: set[ir.Node] = set()
    for part in walk(node):
        if isinstance(part, ir.Attribute) and isinstance(part.value, ir.Name) and part.value.id == param:
            attribute_bases.add(part.value)
        if isinstance(part, (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.Delete)):
            targets = part.targets if isinstance(part, (ir.Assign, ir.Delete)) else [part.target]
            for target in targets:
                if isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name) and target.value.id == param:
                    written.add(target.attr)
        if isinstance(part, ir.Call) and isinstance(part.func, ir.Attribute):
            owner = part.func.value
            if isinstance(owner, ir.Name) and owner.id == param:
                return None
    for part in walk(node):
        if isinstance(part, ir.Name) and part.id == param and part not in attribute_bases:
            return None
    return written
