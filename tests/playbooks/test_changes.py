"""A launch under changes: the command line that a person can paste."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.changes import changed_launch, command_line
from agent.domain.launch import Launch
from agent.domain.verdict import Change


def change(name: str, to: object) -> Change:
    return Change(name=name, from_=None, to=to)


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("serve --a EAGLE --b 1", [change("--a", "EAGLE3")], "serve --a EAGLE3 --b 1"),
        ("serve --a=EAGLE --b", [change("--a", "EAGLE3")], "serve --a EAGLE3 --b"),
        ("serve --spec_alg EAGLE", [change("--spec-alg", "E3")], "serve --spec_alg E3"),
        ("serve --b", [change("--a", "x y")], "serve --b --a 'x y'"),
        ("serve --on --b 1", [change("--on", None)], "serve --b 1"),
        ("serve --bs 1 2 4 --b", [change("--bs", [1, 2])], "serve --bs 1 2 --b"),
        ("serve --a 1 --b --a 2 --c", [change("--a", 3)], "serve --a 3 --b --c"),
        ("serve", [change("--on", True), change("env:V", "1 2")], "V='1 2' serve --on"),
        ("serve --a 1", [change("config:/x/config.json:k", 1), change("assume:y", 2)], "serve --a 1"),
    ],
)
def test_command_line(before: str, changes: list[Change], after: str) -> None:
    assert command_line(Launch(argv=tuple(shlex.split(before))), changes) == after


def test_a_variable_taken_away_is_gone() -> None:
    launch = Launch(argv=("serve",), env={"A": "1", "B": "2"})
    assert changed_launch(launch, [change("env:A", None)]).env == {"B": "2"}


@given(st.lists(st.text(alphabet="ab-='\" ", max_size=5), max_size=6))
def test_the_changed_command_is_quoted_so_that_a_shell_reads_it_back(words: list[str]) -> None:
    launch = Launch(argv=("serve", *words))
    assert tuple(shlex.split(command_line(launch, [change("--flag", "v")]))) == changed_launch(launch, [change("--flag", "v")]).argv
