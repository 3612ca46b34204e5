"""What must hold for control to come out below a statement: branches that leave, loops that return, calls that never return."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agent.analysis import ir
from agent.analysis.resolve import dotted_text
from agent.analysis.walk import children


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlGuard:
    """One condition that a place in a function depends on.

    ``asks`` says what is asked of ``condition``, and ``polarity`` what the answer must be:
      true      is it true?
      nonempty  does it, the iterable of a loop or comprehension, give an item?
      matches   does it, the subject, match the pattern ``node``; or, where ``node`` is a Case, is that case taken?
      raises    does the suite of ``node`` (a Try, or the Try of a Handler) raise? ``condition`` is the type caught
      enters    it is entered as a context manager
      never     nothing: control never comes here, whatever holds
      unknown   nothing in the text decides it
    ``kind``: "if", "while", "for", "match", "ternary", "short_circuit", "except", "early_exit", "comprehension", "assert", "with".
    ``exit``: the statement that leaves, of an early exit. ``unless``: the guard is met too where one of these is.
    """

    node: ir.Node
    condition: ir.Expr | None = None
    polarity: bool = True
    kind: str
    asks: str = "true"
    exit: ir.Stmt | None = None
    unless: tuple[ControlGuard, ...] = ()

    @property
    def line(self) -> int:
        return self.condition.line if self.condition is not None else self.node.line


_EXITS = frozenset({"sys.exit", "os._exit", "os.abort", "exit", "quit"})
_SWALLOWING = re.compile(r"(?i)suppress|swallow|ignor|silenc|catch|raises")


def never_returns(call: ir.Call) -> bool:
    """The calls of the standard library that end the process or raise SystemExit."""
    return dotted_text(call.func) in _EXITS


def may_swallow(context: ir.Expr) -> bool:
    """Whether a context manager looks like one that hides exceptions, by its name; ``contextlib.suppress`` does."""
    named = context.func if isinstance(context, ir.Call) else context
    return _SWALLOWING.search(dotted_text(named) or "suppress") is not None


class Exits:
    """Conditions for passing statements. The two questions that syntax cannot answer are asked of the caller's functions."""

    def __init__(
        self, never_returns: Callable[[ir.Call], bool] = never_returns, may_swallow: Callable[[ir.Expr], bool] = may_swallow
    ) -> None:
        self._never_returns = never_returns
        self._may_swallow = may_swallow

    def passing(self, suite: list[ir.Stmt]) -> list[ControlGuard]:
        """For control to come out below the suite, in order; an ``asks="never"`` without alternatives ends the list."""
        found: list[ControlGuard] = []
        for statement in suite:
            row = _ROWS.get(type(statement))
            if row is not None:
                found.extend(row(self, statement))
            if found and is_never(found[-1]):
                break
        return found

    def _leaves(self, statement: ir.Stmt) -> list[ControlGuard]:
        return [_never(statement)]

    def _expression(self, statement: Any) -> list[ControlGuard]:
        value = statement.value.value if isinstance(statement.value, ir.Await) else statement.value
        return [_never(statement)] if isinstance(value, ir.Call) and self._never_returns(value) else []

    def _assert(self, statement: Any) -> list[ControlGuard]:
        return [ControlGuard(node=statement, condition=statement.test, kind="assert", exit=statement)]

    def _if(self, statement: Any) -> list[ControlGuard]:
        """From the last ``elif`` upwards: what leaves below a branch matters only where no branch before it was taken."""
        ladder = [statement]
        while len(below := ladder[-1].orelse) == 1 and isinstance(below[0], ir.If):
            ladder.append(below[0])
        rest = self.passing(ladder[-1].orelse)
        for rung in reversed(ladder):
            taken = ControlGuard(node=rung, condition=rung.test, kind="early_exit")
            body = self.passing(rung.body)
            if not any(map(is_never, body)):
                rest = [_or(guard, taken) for guard in rest]
            elif any(map(is_never, rest)):
                # the later of the two exits: a loop around it sees then that the other one may turn it before
                rest = [replace(max(filter(is_never, [*body, *rest]), key=_exit_at), node=rung)]
                continue
            rest = [*(_or(guard, replace(taken, polarity=False)) for guard in body), *rest]
        return rest

    def _match(self, statement: Any) -> list[ControlGuard]:
        found: list[ControlGuard] = []
        passed: list[ControlGuard] = []
        for case in statement.cases:
            taken = ControlGuard(node=case, condition=statement.subject, kind="early_exit", asks="matches")
            body = self.passing(case.body)
            missed = [] if is_irrefutable(case) else [replace(taken, polarity=False)]
            found.extend(_or(guard, *passed, *missed) for guard in body)
            if not any(map(is_never, body)):
                passed.append(taken)
        return found

    def looped(self, statement: Any) -> list[ControlGuard]:
        """For control to come out of a ``for`` or ``while``, before its ``else``. To leave the function from within it must be entered."""
        endless = isinstance(statement, ir.While) and isinstance(statement.test, ir.Constant) and bool(statement.test.value)
        turns = turns_of(statement)
        breaks = any(isinstance(turn, ir.Break) for turn in turns)
        if endless and not breaks:
            return [_never(statement)]
        entered = [] if endless else [_not_entered(statement)]
        first = min((turn.start_byte for turn in turns), default=statement.end_byte)
        found: list[ControlGuard] = []
        for guard in self.passing(statement.body):
            if not isinstance(guard.exit, (ir.Break, ir.Continue)):
                detour = guard.exit is None or guard.exit.start_byte > first
                found.append(_or(guard, *entered, *([_unknown(statement, "early_exit")] if detour else [])))
        return found

    def _loop(self, statement: Any) -> list[ControlGuard]:
        breaks = any(isinstance(turn, ir.Break) for turn in turns_of(statement))
        after = self.passing(statement.orelse)
        return [*self.looped(statement), *(_or(guard, _unknown(statement, "early_exit")) if breaks else guard for guard in after)]

    def _try(self, statement: Any) -> list[ControlGuard]:
        """A handler that goes on is a way around whatever leaves in the body, a ``return`` included: what comes before it may raise.

        What leaves in ``finally`` overrides everything that leaves before.
        """
        final = self.passing(statement.finalbody)
        if any(map(is_never, final)):
            return final
        found = self.passing([*statement.body, *statement.orelse])
        raised = ControlGuard(node=statement, kind="except", asks="raises")
        ends = [next(filter(is_never, self.passing(handler.body)), None) for handler in statement.handlers]
        turns = [end.exit for end in ends if end is not None and isinstance(end.exit, (ir.Break, ir.Continue))]
        unraised: list[ControlGuard] = []
        if ends and None not in ends and not any(map(is_never, found)):
            unraised = [replace(raised, polarity=False, exit=turns[0] if turns else statement)]
        if turns or None in ends:
            found = [_or(guard, raised) for guard in found]
        if final:
            found = [_or(guard, _unknown(statement, "early_exit")) for guard in found]
        return [*found, *unraised, *final]

    def _with(self, statement: Any) -> list[ControlGuard]:
        found = self.passing(statement.body)
        if not any(self._may_swallow(item.context) for item in statement.items):
            return found
        return [_or(guard, ControlGuard(node=statement, kind="with", asks="raises")) for guard in found]


_ROWS: dict[type[Any], Callable[[Exits, Any], list[ControlGuard]]] = {
    ir.Return: Exits._leaves,
    ir.Raise: Exits._leaves,
    ir.Break: Exits._leaves,
    ir.Continue: Exits._leaves,
    ir.ExprStmt: Exits._expression,
    ir.Assert: Exits._assert,
    ir.If: Exits._if,
    ir.Match: Exits._match,
    ir.While: Exits._loop,
    ir.For: Exits._loop,
    ir.Try: Exits._try,
    ir.With: Exits._with,
}


def is_never(guard: ControlGuard) -> bool:
    """Whether no value lets control pass."""
    return guard.asks == "never" and not guard.unless


def _exit_at(guard: ControlGuard) -> int:
    return guard.exit.start_byte if guard.exit is not None else -1


def is_irrefutable(case: ir.Case) -> bool:
    """``case _:`` and ``case name:``."""
    pattern = case.pattern
    return case.guard is None and isinstance(pattern, ir.MatchAs) and pattern.pattern is None


def _never(statement: ir.Stmt) -> ControlGuard:
    return ControlGuard(node=statement, kind="early_exit", asks="never", exit=statement)


def _unknown(node: ir.Node, kind: str) -> ControlGuard:
    return ControlGuard(node=node, kind=kind, asks="unknown")


def _not_entered(loop: Any) -> ControlGuard:
    if isinstance(loop, ir.For):
        return ControlGuard(node=loop, condition=loop.iter, polarity=False, kind="early_exit", asks="nonempty")
    return ControlGuard(node=loop, condition=loop.test, polarity=False, kind="early_exit")


def _or(guard: ControlGuard, *alternatives: ControlGuard) -> ControlGuard:
    """The guard, or else one of the alternatives; what never passes by itself is the first alternative."""
    if not alternatives:
        return guard
    if is_never(guard):
        first, *rest = alternatives
        return replace(first, exit=guard.exit, unless=(*first.unless, *rest))
    return replace(guard, unless=(*guard.unless, *alternatives))


def turns_of(loop: Any) -> list[ir.Stmt]:
    """Each ``break`` and ``continue`` that belongs to the loop, not to one inside it."""
    found: list[ir.Stmt] = []
    pending: list[ir.Node] = list(loop.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ir.Break, ir.Continue)):
            found.append(node)
        elif isinstance(node, (ir.For, ir.While)):
            pending.extend(node.orelse)
        elif not isinstance(node, (ir.FunctionDef, ir.ClassDef, ir.Expr)):
            pending.extend(child for child in children(node) if isinstance(child, (ir.Stmt, ir.Handler, ir.Case)))
    return found
