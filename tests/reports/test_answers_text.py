"""The text of `rca why` and `rca reach`: readable as a tree, plain when piped, inert whatever the source holds."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from agent.domain.verdict import (
    CallStep,
    Change,
    Counterfactual,
    Guard,
    NextEvent,
    Operand,
    PathCondition,
    Place,
    ReachAnswer,
    Target,
    WhyAnswer,
)
from agent.reports.reach_text import show_reach
from agent.reports.why_text import is_met, show_why

OUTER = Guard(path="pkg/main.py", line=3, condition="args.grpc", polarity=False, truth="false", function="run")
GUARD = Guard(
    path="pkg/runner.py",
    line=7,
    condition="self.kind.is_b() and not self.draft",
    truth="false",
    function="Runner.__init__",
    decisive_operand="self.kind.is_b()",
    operands=(
        Operand(text="self.kind.is_b()", value="False", from_=(Place(path="pkg/kinds.py", line=4), Place(path="pkg/args.py", line=2))),
        Operand(text="not self.draft", value="True"),
    ),
)
ANSWER = WhyAnswer(
    target=Target(path="pkg/runner.py", line=8, text="    self.capture(\n        layers)", function="Runner.__init__"),
    verdict="never",
    decisive=GUARD,
    assumptions=("no plug-in replaces pkg.runner",),
    paths=(
        PathCondition(
            calls=(
                CallStep(path="pkg/main.py", line=9, function="run"),
                CallStep(path="pkg/worker.py", line=5, function="Worker", instance="target"),
            ),
            guards=(OUTER, GUARD),
            open=False,
        ),
        PathCondition(calls=(CallStep(path="pkg/main.py", line=9, function="run"),), guards=(), open=None),
        PathCondition(calls=(CallStep(path="pkg/other.py", line=1, function="third"),), guards=(), open=False),
    ),
    counterfactuals=(
        Counterfactual(
            change=(Change(name="--kind", from_="A", to="B"),),
            opens=(Place(path="pkg/runner.py", line=8),),
            next=(NextEvent(kind="raises", path="pkg/runner.py", line=12, text="raise ValueError"),),
        ),
    ),
)


def printed(answer: WhyAnswer, *, width: int = 100, colour: bool = False, **options: bool) -> str:
    out = StringIO()
    show_why(answer, Console(file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None), **options)
    return out.getvalue()


def test_the_whole_answer_is_told() -> None:
    text = printed(ANSWER)
    for part in (
        "pkg/runner.py:8 in Runner.__init__ never runs",
        "self.capture( layers)",
        "x pkg/runner.py:7 self.kind.is_b() and not self.draft  must be true, is false",
        "self.kind.is_b() = False  from pkg/kinds.py:4 < pkg/args.py:2",
        "path 1 of 3: closed",
        "pkg/worker.py:5 Worker [target]",
        "+ pkg/main.py:3 args.grpc  must be false, is false",
        "path 3 of 3: closed third",
        "it would run with --kind 'A' -> 'B'",
        "then it raises: pkg/runner.py:12 raise ValueError",
        "no plug-in replaces pkg.runner",
    ):
        assert part in text, part
    assert text.count("pkg/runner.py:7") == 1, "the deciding guard is shown once"
    assert "\x1b" not in text


def test_nothing_is_cut_in_a_pipe_and_nothing_is_padded() -> None:
    text = printed(replace(ANSWER, reason="because " * 60), width=40)
    assert ("because " * 60).strip() in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_every_path_in_full_when_asked() -> None:
    assert "pkg/other.py:1 third" in printed(ANSWER, everything=True)


def test_colours_on_terminals_alone() -> None:
    assert "\x1b[" in printed(ANSWER, colour=True)


def test_an_undecided_answer_says_why() -> None:
    text = printed(
        replace(ANSWER, verdict="unknown", decisive=None, reason="torch.cuda.is_available() is not known", paths=(), counterfactuals=())
    )
    assert "could not be decided" in text and "because torch.cuda.is_available() is not known" in text


def test_what_a_host_says_is_inert() -> None:
    hostile = "[bold red]x[/] \x1b[31m \x1b]8;;http://evil\x07 \u202e"
    text = printed(replace(ANSWER, reason=hostile, target=replace(ANSWER.target, text=hostile), assumptions=(hostile,)))
    assert "\x1b" not in text and "\u202e" not in text
    assert "[bold red]x[/]" in text


def test_is_met_has_three_values() -> None:
    assert [is_met(replace(GUARD, truth=truth)) for truth in ("true", "false", "unknown")] == [True, False, None]
    assert is_met(OUTER) is True


REACH = ReachAnswer(file="pkg/a.py", always=((1, 2), (5, 5)), never=((3, 3),), may=((6, 6),), unknown=((7, 8),))
LINES = ["import x", "if x:", "    dead()", "", "run()", "perhaps()", "who(", "  knows)", "# \x1b[31m"]


def reached(*, colour: bool) -> str:
    out = StringIO()
    show_reach(
        REACH, LINES, Console(file=out, width=40, force_terminal=colour, color_system="truecolor" if colour else None, highlight=False)
    )
    return out.getvalue()


def test_each_line_has_its_mark() -> None:
    assert reached(colour=False).split("\n") == [
        "pkg/a.py: + always 3, - never 1, ? may 1, ~ unknown 2",
        "+ 1 | import x",
        "+ 2 | if x:",
        "- 3 |     dead()",
        "  4 |",
        "+ 5 | run()",
        "? 6 | perhaps()",
        "~ 7 | who(",
        "~ 8 |   knows)",
        "  9 | #",
        "",
    ]


def test_dead_lines_are_dimmed() -> None:
    (dead,) = [line for line in reached(colour=True).split("\n") if "dead()" in line]
    assert dead.startswith("\x1b[2m")
