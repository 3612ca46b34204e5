"""Patterns that take for ever are refused when they are read, and no others are."""

from __future__ import annotations

import pytest

from agent.config import shipped_directory
from agent.domain.patterns import problem_with
from agent.library import Library

FOR_EVER = [
    r"(a+)+b",
    r"(a*)*b",
    r"(a|ab|b)*c",
    r"(a|aa)+$",
    r"(.*)*x",
    r"(\w+\s?)*$",
    r"^(\w+|\d+)+$",
    r"(x{1,2}){1,30}y",
    r"(a?b?)*c",
    r"(a{2,9}){3,}z",
    r"(?=(a+)+b)x",
    r"(?:.*?,)*z",
    r"((a?)+)+b",
    r"(?i)(ab|A.)*\d",
    r"(?:a|(?>a+))*b",
    r".*.*.*.*.*x",
    r"a.*b.*c.*d.*e.*f",
    r"\d*\w*\d*\w*\d*!",
]
HARMLESS = [
    r"(a+b)+c",
    r"(\w+\.)+x",
    r"(\s*\w)*!",
    r".*foo.*bar",
    r"a.*b.*c.*d.*e",
    r"a*b*c*d*e*f*",
    r"(?:a+|b+|c+|d+|e+|f+)!",
    r"(?i)accept(ance)?[ _-]?(len(gth)?|rate)",
    r"([0-9a-f]{8})+",
    r"(?:a++)*b",
    r"(?>a+)*b",
    r"(ab|cd|ef)*g",
    r"\b(\d{1,3}\.){3}\d{1,3}\b",
    r"(?:[^,]*,)*x",
    r"a{0,1000}b",
    r"(x)?(?(1)a|b)",
    r"(?P<n>a)(?P=n)*",
    r"(?<!a)(?!b)c*",
    "\u597d(\u7684|\u5417)*",
]


@pytest.mark.parametrize("pattern", FOR_EVER)
def test_a_pattern_that_takes_for_ever_is_refused(pattern: str) -> None:
    assert "takes for ever" in problem_with(pattern)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_harmless_one_is_not(pattern: str) -> None:
    assert problem_with(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "what"), [("(", "unterminated"), ("a{99999999999}", "too large"), ("(" * 3000 + ")" * 3000, "nested too deeply")]
)
def test_what_is_no_pattern_says_why(pattern: str, what: str) -> None:
    assert what in problem_with(pattern)


def test_every_shipped_pattern_is_fine() -> None:
    for playbook in Library(shipped_directory("playbooks")).all():
        for pattern in (*playbook.match.symptom, *playbook.match.log):
            assert problem_with(pattern) == ""
