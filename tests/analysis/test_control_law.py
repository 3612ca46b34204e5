"""The law of guards: on any run, a place is reached exactly where its guards hold; checked by running generated functions."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.analysis import ir
from agent.analysis.control import guards
from agent.analysis.exits import ControlGuard, is_irrefutable
from agent.analysis.outline import Outline
from agent.analysis.syntax import parse, text_of
from agent.analysis.walk import walk

NAMES = ("a", "b", "c", "d")
Lines = list[str]

conditions = st.sampled_from(["a", "b", "c", "d", "not a", "a and b", "a or c", "m() and a", "b if m() else c"])
leaving = st.sampled_from(
    ["return", "raise Left", "assert a, m()", "exit()", "x = a and m()", "x = [m() for i in xs if b]", "x = m() if c else m()"]
)


def suites(depth: int, in_loop: bool) -> st.SearchStrategy[Lines]:
    return st.lists(statements(depth, in_loop), min_size=1, max_size=3).map(lambda parts: [line for part in parts for line in part])


def indented(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


def statements(depth: int, in_loop: bool) -> st.SearchStrategy[Lines]:
    simple = st.one_of(st.just(["m()"]), leaving.map(lambda text: [text]))
    if in_loop:
        simple = st.one_of(simple, st.sampled_from([["break"], ["continue"]]))
    if depth == 0:
        return simple
    below = suites(depth - 1, in_loop)
    loop_body = suites(depth - 1, True)
    return st.one_of(
        simple,
        st.tuples(conditions, below).map(lambda t: [f"if {t[0]}:", *indented(t[1])]),
        st.tuples(conditions, below, below).map(lambda t: [f"if {t[0]}:", *indented(t[1]), "else:", *indented(t[2])]),
        st.tuples(conditions, below, conditions, below).map(lambda t: [f"if {t[0]}:", *indented(t[1]), f"elif {t[2]}:", *indented(t[3])]),
        st.tuples(loop_body, below).map(lambda t: ["for x in xs:", *indented(t[0]), "else:", *indented(t[1])]),
        loop_body.map(lambda body: ["for x in xs:", *indented(body)]),
        st.tuples(conditions, loop_body).map(lambda t: [f"while tick() and ({t[0]}):", *indented(t[1])]),
        loop_body.map(lambda body: ["while True:", "  tick_or_stop()", *indented(body)]),
        st.tuples(below, below).map(lambda t: ["try:", *indented(t[0]), "except Left:", *indented(t[1])]),
        st.tuples(below, below, below).map(lambda t: ["try:", *indented(t[0]), "except Left:", *indented(t[1]), "else:", *indented(t[2])]),
        st.tuples(below, below).map(lambda t: ["try:", *indented(t[0]), "finally:", *indented(t[1])]),
        below.map(lambda body: ["with suppress(Left):", *indented(body)]),
        below.map(lambda body: ["with nullcontext():", *indented(body)]),
        st.tuples(conditions, below, below).map(
            lambda t: ["match n:", "  case 1:", *indented(indented(t[1])), f"  case 2 if {t[0]}:", *indented(indented(t[2]))]
        ),
        st.tuples(below, below).map(lambda t: ["match n:", "  case 1:", *indented(indented(t[0])), "  case _:", *indented(indented(t[1]))]),
    )


class Stopped(Exception):
    """The run took too many turns."""


class Left(Exception):
    """Raised by generated code."""


def run(source: str, values: dict[str, Any]) -> tuple[set[int], bool]:
    """Which marks were met, and whether the run was cut short."""
    import contextlib

    met: set[int] = set()
    turns = [0]

    def m(number: int) -> bool:
        met.add(number)
        return True

    def tick_or_stop() -> None:
        turns[0] += 1
        if turns[0] > 6:
            raise Stopped

    def tick() -> bool:
        tick_or_stop()
        return True

    def leave() -> None:
        raise SystemExit

    names = {"m": m, "tick": tick, "tick_or_stop": tick_or_stop, "exit": leave, "Left": Left}
    scope: dict[str, Any] = {**names, "suppress": contextlib.suppress, "nullcontext": contextlib.nullcontext}
    exec(compile(source, "generated", "exec"), scope)
    try:
        scope["f"](**values)
    except (Left, SystemExit, AssertionError):
        return met, False
    except Stopped:
        return met, True
    return met, False


def holds(module: ir.Module, guard: ControlGuard, values: dict[str, Any]) -> bool | None:
    """Strong Kleene: None is not known."""
    answers = [_own(module, guard, values), *(holds(module, each, values) for each in guard.unless)]
    return True if True in answers else None if None in answers else False


def _own(module: ir.Module, guard: ControlGuard, values: dict[str, Any]) -> bool | None:
    if guard.asks == "never":
        return False
    if guard.asks == "enters":
        return True
    if guard.asks in ("raises", "unknown"):
        return None
    assert guard.condition is not None
    if guard.asks == "matches":
        answer = _matches(module, guard.node, values)
    else:
        text = text_of(module, guard.condition)
        if "tick()" in text and guard.polarity is False and guard.kind == "while":
            return None  # the loop's last test: it may have been left by its ticks
        answer = bool(eval(text, {"tick": lambda: True, "m": lambda number: True, **values}))
    return answer is guard.polarity


def _matches(module: ir.Module, node: ir.Node, values: dict[str, Any]) -> bool:
    pattern = node.pattern if isinstance(node, ir.Case) else node
    if isinstance(pattern, ir.MatchAs):
        return True
    matched = values["n"] == int(text_of(module, pattern))
    if isinstance(node, ir.Case) and node.guard is not None and not is_irrefutable(node):
        return matched and bool(eval(text_of(module, node.guard), {"m": lambda number: True, **values}))
    return matched


@example(
    body=["while True:", "  tick_or_stop()", "  if a:", "    return", "  else:", "    break", "m()"],
    truths=(False, False, False, False),
    xs=(),
    n=0,
)
@settings(max_examples=150, deadline=None)
@given(
    body=suites(3, False),
    truths=st.tuples(*[st.booleans()] * 4),
    xs=st.sampled_from([(), (1,), (1, 2)]),
    n=st.sampled_from([0, 1, 2]),
)
def test_a_place_is_reached_exactly_where_its_guards_hold(body: Lines, truths: tuple[bool, ...], xs: tuple[int, ...], n: int) -> None:
    numbered, count = [], 0
    for line in ["def f(a, b, c, d, xs, n):", *indented(body), "  m()"]:
        while "m()" in line:
            count += 1
            line = line.replace("m()", f"m({count})", 1)
        numbered.append(line)
    source = "\n".join(numbered) + "\n"
    module = parse("generated.py", source.encode())
    assert not module.errors
    outline = Outline(module)
    values: dict[str, Any] = {**dict(zip(NAMES, truths, strict=True)), "xs": xs, "n": n}
    met, cut_short = run(source, values)
    raised_within = "raise Left" in source or "assert" in source  # what a handler or suppress may have hidden
    for node in (each for root in module.body for each in walk(root)):
        if not (isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "m"):
            continue
        number = node.args[0].value  # type: ignore[attr-defined]
        answers = [holds(module, guard, values) for guard in guards(outline, node)]
        if number in met:
            assert False not in answers, f"{source}{values}: m({number}) ran against its guards {answers}"
        elif all(answer is True for answer in answers) and not cut_short and not raised_within:
            raise AssertionError(f"{source}{values}: m({number}) did not run though its guards hold")
