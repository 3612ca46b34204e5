"""``try`` and ``with``: a handler is a path; what was written before the exception stays written."""

from __future__ import annotations

from collections.abc import Callable

from agent.analysis import ir
from agent.analysis.occurrences import names_in
from agent.analysis.walk import walk
from agent.evaluation import assign
from agent.evaluation.attributes import special_method
from agent.evaluation.exceptions import matches
from agent.evaluation.frames import Catcher, Dead, Frame, Leaf, Loop
from agent.evaluation.invocation import invoke
from agent.evaluation.machine import Handler, Machine
from agent.evaluation.state import State, merge
from agent.evaluation.values import ABSENT, AV, NONE, BoundV, ContextV, FuncV, Instance, OneOf, Unk


def try_statement(m: Machine, node: ir.Try) -> bool:
    """``try`` with handlers, ``else`` and ``finally``."""
    if node.finalbody:
        return _finally(m, node)
    return _handlers(m, node)


def _handlers(m: Machine, node: ir.Try, body: Callable[[], bool] | None = None) -> bool:
    """``body``: what is run instead of the body of ``node``."""
    if not node.handlers:
        return m.block(node.body) and m.block(node.orelse)
    base, certain, whole, exits = m.state, m.state.certain, m.state.whole, m.exits
    throws, control = m.throws, m.control
    catcher = Catcher()
    m.catchers.append(catcher)
    try:
        alive = body() if body is not None else m.block(node.body)
    finally:
        while m.catchers.pop() is not catcher:
            pass
    m.control = control
    m.throws = throws
    body_end = m.state
    if alive and node.orelse:
        alive = m.block(node.orelse)
    if catcher.vague:  # what is not known may raise in any operation; the forward run goes on without, but does not say that it does not
        m.vague.update(node.handlers)
        if m.demand is not None and not catcher.leaves:
            catcher.leaves.append(Leaf(Unk("what is not known may raise", "object"), State(base, certain=False), ()))
    catcher.leaves += [Leaf(each, State(base, certain=False), ()) for each in _from_nowhere(m, node)]
    if not catcher.leaves:
        return alive
    ends = [m.state] if alive else []
    definite = not alive and len(catcher.leaves) == 1 and m.exits == exits  # else another path left by return, break or continue
    ends += _catch(m, node, catcher, base, body_end if catcher.overflow else None, definite=definite, certain=certain)
    m.control = control
    if not ends:
        return False
    left = m.exits > exits or m.throws > throws
    m.meet(base, ends, certain=certain and not left, whole=whole and not left, clean=not left)
    return True


_INTERRUPTING = frozenset({"KeyboardInterrupt", "CancelledError", "GeneratorExit", "MemoryError", "RecursionError"})


def _from_nowhere(m: Machine, node: ir.Try) -> list[AV]:
    """Exceptions that no statement raises, for the handlers that name them."""
    named = [name for handler in node.handlers if handler.type is not None for name in names_in(handler.type) if name in _INTERRUPTING]
    return [Unk(f"{name} may come at any time", "object") for name in dict.fromkeys(named)]


def _catch(
    m: Machine, node: ir.Try, catcher: Catcher, base: State, overflow: State | None, *, definite: bool, certain: bool
) -> list[State]:
    """Sends each raised path to the handlers that may take it; gives the states at their ends."""
    taken: list[list[Leaf]] = [[] for _ in node.handlers]
    sure = definite
    for leaf in tuple(catcher.leaves):
        rest = True
        for number, handler in enumerate(node.handlers):
            m.state = State(leaf.state, certain=False)
            verdict = None if node.is_star else matches(m, leaf.value, handler)  # of a group each handler may take a part
            if verdict is not False:
                taken[number].append(leaf)
                sure = sure and verdict is True
            if verdict is True:
                rest = False
                break
        if rest:
            m.state = leaf.state
            _pass_on(m, leaf)
    ends = []
    for handler, leaves in zip(node.handlers, taken, strict=True):
        if leaves:
            ends += _run_handler(m, handler, leaves, base, overflow, certain=sure and certain)
    return ends


def _pass_on(m: Machine, leaf: Leaf) -> None:
    """No handler takes it for certain: it goes on outwards as well."""
    if isinstance(leaf.value, Unk):
        return
    try:
        m.throw(leaf.value)
    except Dead:
        return


def _run_handler(m: Machine, handler: ir.Handler, leaves: list[Leaf], base: State, overflow: State | None, *, certain: bool) -> list[State]:
    states = [leaf.state for leaf in leaves] + ([overflow] if overflow is not None else [])
    m.state = State(base, certain=certain)
    m.state.own = merge(base, states)
    m.frame.stmt = handler
    m.reads = list(leaves[0].reads)
    m.under(handler, True, True if certain else None, tuple(m.reads))
    if certain or handler not in m.marks:
        m.marks[handler] = certain
    exc = leaves[0].value if len(leaves) == 1 else Unk("one of several exceptions", "object")
    m.store((m.frame, "<handled>"), exc)
    if handler.name:
        assign.bind_name(m, handler.name, exc)
    alive = m.block(handler.body)
    if alive and handler.name:  # Python deletes it
        assign.bind_name(m, handler.name, ABSENT)
    return [m.state] if alive else []


def _finally(m: Machine, node: ir.Try) -> bool:
    return _in_any_case(m, lambda: _handlers(m, node), lambda raised: m.block(node.finalbody))


def _in_any_case(m: Machine, body: Callable[[], bool], end: Callable[[bool], bool]) -> bool:
    """Every way out of the body passes through the end: the normal one, returns, breaks, continues and (its argument) exceptions."""
    certain, whole = m.state.certain, m.state.whole
    frame = m.frame
    returns, loop = frame.returns, frame.loops[-1] if frame.loops else None
    frame.returns = []
    breaks, continues = (loop.breaks, loop.continues) if loop else ([], [])
    if loop:
        loop.breaks, loop.continues = [], []
    catcher = Catcher()
    m.catchers.append(catcher)
    outer = len(m.catchers) > 1
    try:
        alive = body()
    finally:
        while m.catchers.pop() is not catcher:
            pass
    alive = alive and _ends(lambda: end(False))
    last = m.state
    left_returns, frame.returns = frame.returns, returns
    left_breaks, left_continues = (loop.breaks, loop.continues) if loop else ([], [])
    if loop:
        loop.breaks, loop.continues = breaks, continues
    for leaf in left_returns:
        if _finish(m, leaf.state, lambda: end(False)):
            frame.returns.append(Leaf(leaf.value, m.state, leaf.reads))
    for state in left_breaks:
        if _finish(m, state, lambda: end(False)) and loop:
            loop.breaks.append(m.state)
    for state in left_continues:
        if _finish(m, state, lambda: end(False)) and loop:
            loop.continues.append(m.state)
    for leaf in catcher.leaves:
        if _finish(m, leaf.state, lambda: end(True)):
            _pass_on(m, leaf)
    m.state = last
    if alive and not outer and not left_returns and not left_breaks and not left_continues:
        m.state.certain, m.state.whole = certain, whole
    return alive


def _finish(m: Machine, state: State, end: Callable[[], bool]) -> bool:
    m.state = State(state, certain=False)
    return _ends(end)


def _ends(end: Callable[[], bool]) -> bool:
    try:
        return end()
    except Dead:
        return False


def with_statement(m: Machine, node: ir.With) -> bool:
    """``with a as b, c as d``: nested from the left."""
    if node in m.frame.hollow and m.demand is not None:
        for item in node.items:
            m.demand.passed_over.leave_out(item.context)
        return _handlers(m, ir.Try(node.body, [_may_be_taken(m, node)], [], [], False))  # it may take what the body raises
    return _with(m, node, list(node.items))


def _with(m: Machine, node: ir.With, items: list[ir.WithItem]) -> bool:
    if not items:
        return m.block(node.body)
    item, rest = items[0], items[1:]
    context = m.eval(item.context)
    if isinstance(context, OneOf):
        parts = [each for each in context.values if each is not ABSENT]
        try:
            m.fork([lambda each=each: _within(m, node, each, item, rest) for each in parts])  # type: ignore[misc]
        except Dead:
            return False
        return True
    return _within(m, node, context, item, rest)


def _within(m: Machine, node: ir.With, context: AV, item: ir.WithItem, rest: list[ir.WithItem]) -> bool:
    if isinstance(context, ContextV):
        return _generator_context(m, node, context, item, rest)
    entered = _enter(m, context)
    if item.target is not None:
        assign.assign(m, item.target, entered)
    if isinstance(context, Instance) and _swallows(m, context):
        return _suppressing(m, node, rest, context)
    if isinstance(context, Instance) and _may_swallow(m, context):
        return _perhaps_swallowing(m, node, rest, context)
    if not _has_own_exit(m, context):
        return _with(m, node, rest)
    return _in_any_case(m, lambda: _with(m, node, rest), lambda raised: _exit(m, context, raised))


def _enter(m: Machine, context: AV) -> AV:
    if isinstance(context, Instance):
        method = special_method(m, context, "__enter__")
        if method is ABSENT:
            method = special_method(m, context, "__aenter__")
        if method is not ABSENT and not isinstance(method, Unk):
            return m.call(method, [], {})
        return context
    return context if not isinstance(context, Unk) else m.missing(context.reason)


def _own_exit(m: Machine, context: AV) -> AV:
    """``__exit__`` of the tree, or ``__aexit__``; ABSENT for any other context."""
    for name in ("__exit__", "__aexit__") if isinstance(context, Instance) else ():
        method = special_method(m, context, name)
        if isinstance(method, BoundV) and isinstance(method.func, FuncV):
            return method
    return ABSENT


def _has_own_exit(m: Machine, context: AV) -> bool:
    return _own_exit(m, context) is not ABSENT


def _exit(m: Machine, context: AV, raised: bool | None) -> bool:
    """Runs ``__exit__``; ``raised``: with an exception, or with perhaps one where that is None."""
    given = NONE if raised is False else Unk("an exception", "object") if raised else Unk("an exception or None")
    m.call(_own_exit(m, context), [given] * 3, {})
    return True


def _swallows(m: Machine, context: Instance) -> bool:
    return m.state.get((context, "<suppresses>")) is not None


def _may_swallow(m: Machine, context: Instance) -> bool:
    """Whether its ``__exit__``, in the tree, may give back something true."""
    method = _own_exit(m, context)
    func = method.func if isinstance(method, BoundV) else method
    if not isinstance(func, FuncV):
        return False
    given = [node.value for node in walk(func.node) if isinstance(node, ir.Return) and node.value is not None]
    return any(not isinstance(value, ir.Constant) or bool(value.value) for value in given)


def _perhaps_swallowing(m: Machine, node: ir.With, rest: list[ir.WithItem], context: Instance) -> bool:
    """Each exception of the body reaches ``__exit__``, and may end there."""
    tried = ir.Try(list(node.body), [_may_be_taken(m, node)], [], [], False)
    return _in_any_case(m, lambda: _handlers(m, tried, lambda: _with(m, node, rest)), lambda raised: _exit(m, context, None))


def _any_exception(node: ir.With) -> ir.Handler:
    """``except: pass``."""
    handler = ir.Handler(None, None, [])
    handler.line = node.line
    return handler


def _may_be_taken(m: Machine, node: ir.With) -> ir.Handler:
    """A handler of which nobody knows what it takes: every exception goes on as well."""
    handler = _any_exception(node)
    m.caught[handler] = Unk("what a context takes")
    return handler


def _suppressing(m: Machine, node: ir.With, rest: list[ir.WithItem], context: Instance) -> bool:
    """``contextlib.suppress(E)`` is ``try: ... except E: pass``."""
    types = m.load((context, "<suppresses>"))
    assert types is not None
    handler = _any_exception(node)
    m.caught[handler] = types
    return _handlers(m, ir.Try(list(node.body), [handler], [], [], False), lambda: _with(m, node, rest))


def _generator_context(m: Machine, node: ir.With, context: ContextV, item: ir.WithItem, rest: list[ir.WithItem]) -> bool:
    """Runs the generator and, at its ``yield``, the body of the ``with`` in the frame where it stands."""
    func = context.func
    if not isinstance(func, FuncV):
        return _with(m, node, rest)
    outer = m.frame
    left = _Ways(outer)
    alive = True

    def at_yield(value: AV) -> AV:
        nonlocal alive
        inner, base = m.frame, m.state
        m.frame = outer
        kept = left.begin()
        try:
            if item.target is not None:
                assign.assign(m, item.target, value)
            alive = _with(m, node, rest)
        finally:
            m.frame = inner
            left.end(kept)
        states = left.states()
        if states:  # what comes after the yield runs on the way out, too
            m.meet(base, [*states, *([m.state] if alive else [])], certain=False, whole=False)
        elif not alive:
            raise Dead
        return NONE

    invoke(m, func, context.args, context.kwargs, on_yield=at_yield)
    if left.states():
        left.leave(m)
        return alive
    return True  # the generator went on to its end: where the body has raised, it took the exception


class _Ways:
    """The returns, breaks and continues by which a body is left, kept until what comes after it has run."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.loop = frame.loops[-1] if frame.loops else Loop()
        self.returns: list[Leaf] = []
        self.breaks: list[State] = []
        self.continues: list[State] = []

    def begin(self) -> tuple[list[Leaf], list[State], list[State]]:
        """Sets those of the frame aside."""
        kept = self.frame.returns, self.loop.breaks, self.loop.continues
        self.frame.returns, self.loop.breaks, self.loop.continues = [], [], []
        return kept

    def end(self, kept: tuple[list[Leaf], list[State], list[State]]) -> None:
        """Takes over those of the body."""
        self.returns += self.frame.returns
        self.breaks += self.loop.breaks
        self.continues += self.loop.continues
        self.frame.returns, self.loop.breaks, self.loop.continues = kept

    def states(self) -> list[State]:
        """Where they left from."""
        return [*(leaf.state for leaf in self.returns), *self.breaks, *self.continues]

    def leave(self, m: Machine) -> None:
        """Each of them goes on from here."""
        for leaf in self.returns:
            self.frame.returns.append(Leaf(leaf.value, m.state, leaf.reads))
        self.loop.breaks += [m.state] if self.breaks else []
        self.loop.continues += [m.state] if self.continues else []
        m.state = State(m.state, certain=False)


HANDLERS: dict[type, Handler] = {ir.Try: try_statement, ir.With: with_statement}
