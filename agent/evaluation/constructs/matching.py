"""``match``: cases are tried in order; an undecided pattern is a fork."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.evaluation import assign
from agent.evaluation.attributes import lookup_attribute
from agent.evaluation.comparison import compare
from agent.evaluation.constructs import expressions
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Handler, Machine
from agent.evaluation.models.types import isinstance_truth
from agent.evaluation.subscripts import dict_get
from agent.evaluation.values import ABSENT, AV, Const, DictObj, Instance, ListObj, Tup, Unk


def match_statement(m: Machine, node: ir.Match) -> bool:
    """``match subject``."""
    return _cases(m, node, m.eval(node.subject), 0)


def _cases(m: Machine, node: ir.Match, subject: AV, number: int) -> bool:
    if number == len(node.cases):
        return True
    case = node.cases[number]
    m.reads = []
    fits = _pattern(m, case.pattern, subject)
    asked = case.guard if fits is not False else None
    truth = fits if asked is None or fits is None else expressions.asked(m, asked)
    deps, control = m.tested(case, truth), m.control

    def taken() -> bool:
        m.under(case, True, truth, deps)
        return m.block(case.body)

    def others() -> bool:
        m.under(case, False, truth, deps)
        return _cases(m, node, subject, number + 1)

    def asked_first() -> bool:
        """The guard is evaluated only where the pattern fits."""
        assert asked is not None
        passed = expressions.asked(m, asked)
        return bool(m.fork([taken, others])) if passed is None else taken() if passed else others()

    if truth is not None:
        alive = taken() if truth else others()
        m.control = control
        return alive
    m.fork([asked_first if asked is not None and fits is None else taken, others])
    return True


def _pattern(m: Machine, pattern: ir.Pattern, subject: AV) -> bool | None:
    row = _PATTERNS.get(type(pattern))
    return row(m, pattern, subject) if row is not None else None


def _value(m: Machine, pattern: ir.MatchValue, subject: AV) -> bool | None:
    expected = m.eval(pattern.value)
    identity = isinstance(expected, Const) and (expected.v is None or isinstance(expected.v, bool))
    return m.truth(compare(m, "is" if identity else "==", subject, expected))


def _as(m: Machine, pattern: ir.MatchAs, subject: AV) -> bool | None:
    truth = _pattern(m, pattern.pattern, subject) if pattern.pattern is not None else True
    if truth is not False and pattern.name:
        assign.bind_name(m, pattern.name, subject)
    return truth


def _or(m: Machine, pattern: ir.MatchOr, subject: AV) -> bool | None:
    truths = [_pattern(m, item, subject) for item in pattern.patterns]
    return True if True in truths else None if None in truths else False


def _sequence(m: Machine, pattern: ir.MatchSequence, subject: AV) -> bool | None:
    if isinstance(subject, Const):
        return False
    if not isinstance(subject, (Tup, ListObj)) or (isinstance(subject, ListObj) and subject.kind not in ("list", "deque")):
        _bind_all(m, pattern)
        return None
    items, open_ = iterate(m, subject)
    star = next((i for i, p in enumerate(pattern.patterns) if isinstance(p, ir.MatchStar)), None)
    fits = len(items) == len(pattern.patterns) if star is None else len(items) >= len(pattern.patterns) - 1
    if open_ or not fits:
        _bind_all(m, pattern)
        return None if open_ else False
    truth: bool | None = True
    for sub, item in _paired(m, pattern.patterns, items, star):
        truth = _both(truth, _pattern(m, sub, item))
    return truth


def _both(one: bool | None, other: bool | None) -> bool | None:
    """``and`` over True, False and None for undecided."""
    return False if one is False or other is False else None if one is None or other is None else True


def _paired(m: Machine, patterns: list[ir.Pattern], items: tuple[AV, ...], star: int | None) -> list[tuple[ir.Pattern, AV]]:
    if star is None:
        return list(zip(patterns, items, strict=True))
    tail = len(patterns) - star - 1
    middle = items[star : len(items) - tail]
    name = patterns[star].name  # type: ignore[attr-defined]
    if name:
        assign.bind_name(m, name, m.new_list(middle))
    return [*zip(patterns[:star], items[:star], strict=True), *zip(patterns[star + 1 :], items[len(items) - tail :], strict=True)]


def _mapping(m: Machine, pattern: ir.MatchMapping, subject: AV) -> bool | None:
    if not isinstance(subject, DictObj):
        _bind_all(m, pattern)
        return False if isinstance(subject, Const) else None
    truth: bool | None = True
    for key, sub in zip(pattern.keys, pattern.patterns, strict=True):
        value = dict_get(m, subject, m.eval(key))
        part = False if value is ABSENT else None if isinstance(value, Unk) else _pattern(m, sub, value)
        truth = _both(truth, part)
    if pattern.rest:
        assign.bind_name(m, pattern.rest, Unk("the rest of a matched mapping", "dict"))
    return truth


def _class(m: Machine, pattern: ir.MatchClass, subject: AV) -> bool | None:
    cls = m.eval(pattern.cls)
    truth = isinstance_truth(m, subject, cls)
    if truth is False:
        return False
    names = list(pattern.kwd_names)
    if pattern.patterns:
        declared = lookup_attribute(m, cls, "__match_args__") if isinstance(subject, Instance) else Unk("positional class pattern")
        if not isinstance(declared, Tup):
            if isinstance(subject, Const) and len(pattern.patterns) == 1:
                return _pattern(m, pattern.patterns[0], subject) if truth else None
            _bind_all(m, pattern)
            return None
        names = [str(item.v) for item in declared.items[: len(pattern.patterns)] if isinstance(item, Const)] + names
    for name, sub in zip(names, [*pattern.patterns, *pattern.kwd_patterns], strict=False):
        truth = _both(truth, _pattern(m, sub, m.getattr(subject, name)))
    return truth


def _bind_all(m: Machine, pattern: ir.Pattern) -> None:
    """Names of a pattern that cannot be followed become unknown."""
    for node in walk(pattern):
        name = getattr(node, "name", None) if isinstance(node, (ir.MatchAs, ir.MatchStar)) else None
        if name:
            assign.bind_name(m, name, Unk("part of a matched value"))


_PATTERNS: dict[type[ir.Pattern], Callable[[Machine, Any, AV], bool | None]] = {
    ir.MatchValue: _value,
    ir.MatchAs: _as,
    ir.MatchOr: _or,
    ir.MatchSequence: _sequence,
    ir.MatchMapping: _mapping,
    ir.MatchClass: _class,
}
HANDLERS: dict[type, Handler] = {ir.Match: match_statement}
