"""A line within a statement is judged by what stands before it in the statement, too."""

from __future__ import annotations

import pytest

from tests.evaluation.test_missing_items import engine_of, line_of

SOURCE = """
import argparse
from outside import ask
TABLE = (
    ask("at import")
    if 1 == 2
    else ask("otherwise")
)
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", action="store_true")
    on = parser.parse_args().on
    first = (
        ask("taken")
        if on
        else ask("not taken")
    )
    second = (
        on
        and ask("and")
    )
    third = (
        on
        or ask("or")
    )
    fourth = (
        ask("perhaps")
        if ask()
        else None
    )
    fifth = (lambda:
        ask("body"))
main()
"""


@pytest.mark.parametrize(
    ("argv", "text", "verdict"),
    [
        ((), "at import", "never"),
        ((), "otherwise", "always"),
        ((), '"taken"', "never"),
        ((), "not taken", "always"),
        (("--on",), '"taken"', "always"),
        (("--on",), "not taken", "never"),
        ((), '"and"', "never"),
        (("--on",), '"and"', "always"),
        ((), '"or"', "always"),
        (("--on",), '"or"', "never"),
        ((), '"perhaps"', "may"),
        ((), '"body"', "unknown"),
    ],
)
def test_verdict(argv: tuple[str, ...], text: str, verdict: str) -> None:
    assert engine_of(SOURCE, *argv).why(f"sample.py:{line_of(SOURCE, text)}").verdict == verdict


def test_the_test_of_a_conditional_expression_decides() -> None:
    answer = engine_of(SOURCE).why(f"sample.py:{line_of(SOURCE, chr(34) + 'taken')}")
    assert answer.decisive is not None
    assert (answer.decisive.line, answer.decisive.condition) == (line_of(SOURCE, "        if on"), "on")
