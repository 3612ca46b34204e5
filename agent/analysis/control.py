"""Control dependence within one function: the guards that stand between its entry and a place in it, in the order they are met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.analysis import ir
from agent.analysis.exits import ControlGuard, Exits, turns_of
from agent.analysis.outline import Outline

Scope = ir.FunctionDef | ir.Lambda | None
"""The function or lambda whose body runs; None is the module."""


def scope_of(outline: Outline, node: ir.Node) -> Scope:
    """Whose run runs the node. Decorators, defaults and annotations run with what is around their function, as class bodies do."""
    parents = outline.parents
    child, parent = node, parents.get(node)
    while parent is not None:
        if is_body_of(parent, child):
            assert isinstance(parent, (ir.FunctionDef, ir.Lambda))
            return parent
        child, parent = parent, parents.get(parent)
    return None


def is_body_of(parent: ir.Node, child: ir.Node) -> bool:
    if isinstance(parent, ir.FunctionDef):
        return child in parent.body
    return isinstance(parent, ir.Lambda) and child is parent.body


def only_as_program(outline: Outline, node: ir.Node) -> bool:
    """Whether the node stands under ``if __name__ == "__main__":``, so that it does not run where its module is imported."""
    child, parent = node, outline.parents.get(node)
    while parent is not None:
        if isinstance(parent, ir.If) and child in parent.body and _asks_for_main(parent.test):
            return True
        child, parent = parent, outline.parents.get(parent)
    return False


def _asks_for_main(test: ir.Expr) -> bool:
    if not isinstance(test, ir.Compare) or list(test.ops) != ["=="]:
        return False
    values = [test.left, *test.comparators]
    names = [value.id for value in values if isinstance(value, ir.Name)]
    return names == ["__name__"] and any(isinstance(value, ir.Constant) and value.value == "__main__" for value in values)


def guards(outline: Outline, node: ir.Node, exits: Exits | None = None) -> list[ControlGuard]:
    """What must hold in the node's own scope for it to be evaluated, outermost and earliest first.

    Each guard is necessary; together they are sufficient in a run that raises nothing, where no guard's ``asks`` is "unknown".
    The module's own statements before a function say nothing of it: see ``scope_of`` for where to ask on.
    """
    ways = exits or Exits()
    parents = outline.parents
    levels: list[list[ControlGuard]] = []
    child, parent = node, parents.get(node)
    while parent is not None:
        row = _ENTERING.get(type(parent))
        if row is not None:
            levels.append(row(ways, parent, child))
        if is_body_of(parent, child):
            break
        child, parent = parent, parents.get(parent)
    if parent is None:
        levels.append(_before(ways, outline.body, child))
    return [guard for level in reversed(levels) for guard in level]


def _before(exits: Exits, suite: list[ir.Stmt], child: Any) -> list[ControlGuard]:
    """Earlier exits of the suite."""
    return exits.passing(suite[: suite.index(child)]) if child in suite else []


def _if(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child is parent.test:
        return []
    suite = parent.body if child in parent.body else parent.orelse
    return [ControlGuard(node=parent, condition=parent.test, polarity=suite is parent.body, kind="if"), *_before(exits, suite, child)]


def _while(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child in parent.orelse:
        ended = ControlGuard(node=parent, condition=parent.test, polarity=False, kind="while")
        return [*_ended(exits, parent), ended, *_before(exits, parent.orelse, child)]
    entered = ControlGuard(node=parent, condition=parent.test, kind="while")
    return [] if child is parent.test else [entered, *_before(exits, parent.body, child)]


def _for(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child in parent.orelse:
        return [*_ended(exits, parent), *_before(exits, parent.orelse, child)]
    entered = ControlGuard(node=parent, condition=parent.iter, kind="for", asks="nonempty")
    return [] if child is parent.iter else [entered, *_before(exits, parent.body, child)]


def _ended(exits: Exits, loop: Any) -> list[ControlGuard]:
    """The loop came to its end: nothing in it left the function, no ``break`` was taken."""
    kind = "for" if isinstance(loop, ir.For) else "while"
    broken = any(isinstance(turn, ir.Break) for turn in turns_of(loop))
    return [*exits.looped(loop), *([ControlGuard(node=loop, kind=kind, asks="unknown")] if broken else [])]


def _try(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child in parent.handlers:
        return [ControlGuard(node=child, condition=child.type, kind="except", asks="raises")]
    if child in parent.orelse:
        unraised = ControlGuard(node=parent, polarity=False, kind="except", asks="raises")
        return [*exits.passing(parent.body), unraised, *_before(exits, parent.orelse, child)]
    return _before(exits, parent.body if child in parent.body else parent.finalbody, child)


def _suite(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    return _before(exits, parent.body, child)


def _with(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    place = parent.items.index(child) if child in parent.items else len(parent.items)
    entered = [ControlGuard(node=item, condition=item.context, kind="with", asks="enters") for item in parent.items[:place]]
    return [*entered, *_before(exits, parent.body, child)]


def _match(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    """The cases before it were not taken. Whether its own pattern matches is asked one level down."""
    if child is parent.subject:
        return []
    earlier = parent.cases[: parent.cases.index(child)]
    missed = [ControlGuard(node=case, condition=parent.subject, polarity=False, kind="match", asks="matches") for case in earlier]
    return [*missed, ControlGuard(node=child.pattern, condition=parent.subject, kind="match", asks="matches")]


def _case(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child in (parent.pattern, parent.guard):
        return []
    tested = [ControlGuard(node=parent, condition=parent.guard, kind="match")] if parent.guard is not None else []
    return [*tested, *_before(exits, parent.body, child)]


def _short_circuit(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    before = parent.values[: parent.values.index(child)]
    return [ControlGuard(node=parent, condition=value, polarity=parent.op == "and", kind="short_circuit") for value in before]


def _compare(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    """``a < b < f()``: the third operand is evaluated only where the first comparison holds."""
    place = parent.comparators.index(child) if child in parent.comparators else 0
    if place == 0:
        return []
    last = parent.comparators[place - 1]
    shown = ir.Compare(parent.left, parent.ops[:place], parent.comparators[:place], line=parent.line, end=last.end)
    shown.start_byte, shown.end_byte = parent.start_byte, last.end_byte
    return [ControlGuard(node=parent, condition=shown, kind="short_circuit")]


def _ternary(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child is parent.test:
        return []
    return [ControlGuard(node=parent, condition=parent.test, polarity=child is parent.body, kind="ternary")]


def _comprehension(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    clauses = parent.clauses[: parent.clauses.index(child)] if child in parent.clauses else parent.clauses
    found = [guard for clause in clauses for guard in _clause_passed(clause, len(clause.ifs))]
    if parent.kind == "generator" and child is not parent.clauses[0]:
        found.insert(0, ControlGuard(node=parent, kind="comprehension", asks="unknown"))  # run by whoever asks it for items
    return found


def _clause(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child is parent.iter:
        return []
    return _clause_passed(parent, parent.ifs.index(child) if child in parent.ifs else 0)


def _clause_passed(clause: ir.Clause, tests: int) -> list[ControlGuard]:
    entered = ControlGuard(node=clause, condition=clause.iter, kind="comprehension", asks="nonempty")
    return [entered, *(ControlGuard(node=clause, condition=test, kind="comprehension") for test in clause.ifs[:tests])]


def _assert(exits: Exits, parent: Any, child: Any) -> list[ControlGuard]:
    if child is parent.test:
        return []
    return [ControlGuard(node=parent, condition=parent.test, polarity=False, kind="assert")]


_ENTERING: dict[type[Any], Callable[[Exits, Any, Any], list[ControlGuard]]] = {
    ir.Assert: _assert,
    ir.BoolOp: _short_circuit,
    ir.Case: _case,
    ir.ClassDef: _suite,
    ir.Clause: _clause,
    ir.Compare: _compare,
    ir.Comprehension: _comprehension,
    ir.For: _for,
    ir.FunctionDef: _suite,
    ir.Handler: _suite,
    ir.If: _if,
    ir.IfExp: _ternary,
    ir.Match: _match,
    ir.Try: _try,
    ir.While: _while,
    ir.With: _with,
}
