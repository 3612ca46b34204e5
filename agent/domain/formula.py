"""The formula language of playbooks: a strict, side-effect free subset of Python expressions over facts, in three-valued logic.

A library such as simpleeval was weighed and left: it evaluates to values or raises, where a playbook must tell "false" from "not
known" and from "not there". The language is a whitelist of syntax nodes and of the functions in ``FUNCTIONS``; everything else is
refused when the formula is read, not when it is used. Names are dotted fact names (``agent.domain.facts``) and local values.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agent.domain.facts import Answer, Facts, known_family
from agent.domain.formula_evaluation import ARITHMETIC, COMPARE, FUNCTIONS, PATTERN_LAST, Scope, dotted, evaluate, truth_of, worked
from agent.domain.patterns import problem_with
from agent.domain.truth import Truth

MAX_LENGTH: Final = 600


class FormulaError(ValueError):
    """The text is no formula; the message says which part and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A formula that was read and found well-formed; ``names`` are the facts it asks for, in order of appearance."""

    text: str
    names: tuple[str, ...]
    tree: ast.expr = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, *, local: Sequence[str] = ()) -> Formula:
        """Raises FormulaError. ``local`` names are allowed besides facts (``asked``, ``effective``)."""
        if len(text) > MAX_LENGTH:
            raise FormulaError(f"longer than {MAX_LENGTH} characters")
        try:
            tree = _parsed(text.strip())
        except (SyntaxError, ValueError) as problem:
            raise FormulaError(f"not an expression: {problem.args[0]}") from None
        names: dict[str, None] = {}
        _check(tree, frozenset(local), names)
        return cls(text=text.strip(), names=tuple(names), tree=tree)

    @property
    def log_patterns(self) -> tuple[str, ...]:
        """The patterns that it looks for in the log's lines."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and node.args and dotted(node.args[0]) == "log.lines"]
        return tuple(
            node.args[-1].value for node in calls if isinstance(node.args[-1], ast.Constant) and isinstance(node.args[-1].value, str)
        )

    def value(self, facts: Facts, local: Mapping[str, Answer] | None = None) -> Answer:
        """Known, ABSENT, or Unknown with the missing fact as its reason; never raises for a well-formed formula."""
        return evaluate(self.tree, Scope(facts=facts, local=local or {}))

    def worked(self, facts: Facts) -> str:
        """A calculation with its numbers in it, like ``3 x 7168``; empty for anything else."""
        return worked(self.tree, Scope(facts=facts, local={}))

    def truth(self, facts: Facts, local: Mapping[str, Answer] | None = None) -> Truth:
        """The value as a condition; something absent counts as false, something unknown as unknown."""
        return truth_of(self.value(facts, local))


def _parsed(text: str) -> ast.expr:
    """Patterns are written without doubled backslashes, which newer Pythons warn about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (SyntaxWarning if sys.version_info >= (3, 12) else DeprecationWarning))
        return ast.parse(text, mode="eval").body


def _check(node: ast.expr, local: frozenset[str], names: dict[str, None]) -> None:
    """Refuses what is not in the whitelist; collects fact names."""
    name = dotted(node)
    if name is not None:
        if name not in local:
            _check_fact(name)
            names[name] = None
        return
    if isinstance(node, ast.Call):
        _check_call(node)
        children: list[ast.expr] = list(node.args)
    elif type(node) in _CHILDREN:
        children = _CHILDREN[type(node)](node)
    else:
        raise FormulaError(f"{ast.unparse(node)!r}: {type(node).__name__} is not part of the formula language")
    for child in children:
        _check(child, local, names)


def _check_fact(name: str) -> None:
    if not known_family(name):
        raise FormulaError(f"{name!r} is no fact: names begin with subject, symptom, launch, config, log, host or setting")
    try:
        Facts().get(name)
    except KeyError:
        raise FormulaError(f"{name!r} is no fact of that family") from None


def _check_call(node: ast.Call) -> None:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        raise FormulaError(f"{ast.unparse(node.func)!r} is no function: there are {', '.join(sorted(FUNCTIONS))}")
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise FormulaError(f"{ast.unparse(node)!r}: only plain arguments")
    low, high = FUNCTIONS[node.func.id].arity
    if not low <= len(node.args) <= high:
        raise FormulaError(f"{ast.unparse(node)!r}: takes {low}{'' if low == high else f' to {high}'} arguments")
    if node.func.id in PATTERN_LAST:
        _check_pattern(node.args[-1], catches=node.func.id == "number_at")


def _check_pattern(node: ast.expr, *, catches: bool) -> None:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise FormulaError(f"{ast.unparse(node)!r}: the pattern is written out as text")
    problem = problem_with(node.value)
    if problem:
        raise FormulaError(f"{node.value!r} is no regular expression to search with: {problem}")
    if catches and not re.compile(node.value).groups:
        raise FormulaError(f"{node.value!r}: a group catches the number, like ([0-9.]+)")


def _operators(node: Any) -> list[ast.expr]:
    if not all(type(op) in COMPARE for op in node.ops):
        raise FormulaError(f"{ast.unparse(node)!r}: compare with == != < <= > >= in, not in; ask absent(x) instead of `is None`")
    return [node.left, *node.comparators]


def _arithmetic(node: Any) -> list[ast.expr]:
    if type(node.op) not in ARITHMETIC:
        raise FormulaError(f"{ast.unparse(node)!r}: {type(node.op).__name__} is not part of the formula language")
    return [node.left, node.right]


def _sign(node: Any) -> list[ast.expr]:
    if not isinstance(node.op, (ast.Not, ast.USub)):
        raise FormulaError(f"{ast.unparse(node)!r}: only `not` and `-`")
    return [node.operand]


def _indexed(node: Any) -> list[ast.expr]:
    if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, (int, str)):
        raise FormulaError(f"{ast.unparse(node)!r}: only a number or a text as index")
    return [node.value]


def _literal(node: Any) -> list[ast.expr]:
    if node.value is not None and not isinstance(node.value, (str, int, float, bool)):
        raise FormulaError(f"{ast.unparse(node)!r}: only text, numbers, True, False and None")
    return []


_CHILDREN: dict[type[ast.expr], Callable[[Any], list[ast.expr]]] = {
    ast.BoolOp: lambda node: list(node.values),
    ast.UnaryOp: _sign,
    ast.BinOp: _arithmetic,
    ast.Compare: _operators,
    ast.Constant: _literal,
    ast.Subscript: _indexed,
    ast.List: lambda node: list(node.elts),
    ast.Tuple: lambda node: list(node.elts),
    ast.IfExp: lambda node: [node.test, node.body, node.orelse],
}
