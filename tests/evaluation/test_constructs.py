"""Each class of statement and expression of the tree is evaluated, or listed here as a part of another."""

from __future__ import annotations

import gc

from agent.analysis import ir
from agent.evaluation.constructs import EXPRESSIONS, STATEMENTS


def classes(base: type) -> set[type]:
    gc.collect()  # a dataclass with slots replaces the class it was made from, which lives on until then
    found = set(base.__subclasses__())
    return found | {deeper for each in found for deeper in classes(each)}


PARTS = {"FormattedValue": "evaluated with the f-string around it"}
"""Classes that no table holds: where they are dealt with."""


def test_every_statement_has_a_handler() -> None:
    assert {each.__name__ for each in classes(ir.Stmt) - set(STATEMENTS)} - set(PARTS) == set()


def test_every_expression_has_a_handler() -> None:
    assert {each.__name__ for each in classes(ir.Expr) - set(EXPRESSIONS)} - set(PARTS) == set()


def test_nothing_is_listed_that_has_a_handler() -> None:
    assert not {each.__name__ for each in (*STATEMENTS, *EXPRESSIONS)} & set(PARTS)
