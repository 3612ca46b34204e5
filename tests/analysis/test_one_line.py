"""Source on one line: comments go, strings stay."""

from __future__ import annotations

import pytest

from agent.analysis.one_line import one_line


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a and b", "a and b"),
        ('name == "two  spaces"', 'name == "two  spaces"'),
        ('tag != "#none"', 'tag != "#none"'),
        ("a\n    # why b counts\n    and b", "a and b"),
        ("a  # first\n    and b  # second", "a and b"),
        ("is_on(\n    first,  # the first\n    second,\n)", "is_on(first, second,)"),
        ('a and \\\n    b == "x # y  z"', 'a and b == "x # y  z"'),
        ('text == """one\n  # two"""\n    and b', 'text == """one\\n  # two""" and b'),
        ("f\"{name}  # {{kept}}\" in\\\n    seen", "f\"{name}  # {{kept}}\" in seen"),
        ("ein_größter\n    # Maß\n    > 3", "ein_größter > 3"),
        ("a\r\n    and b", "a and b"),
    ],
)  # fmt: skip
def test_one_line(source: str, shown: str) -> None:
    assert one_line(source) == shown


@pytest.mark.parametrize("source", ["a and 'open\n  b", "(a\n  # b", "a)\n  (b"])
def test_what_no_tokenizer_reads_is_shown_all_the_same(source: str) -> None:
    assert one_line(source) == " ".join(source.split())
