"""The law of reach, on generated programs that are run: whatever the unknown inputs are, "never" does not run and "always" does."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import MemoryTree
from tests.evaluation.tracing import contradictions, judged
from tests.evaluation.worlds import in_worlds

Lines = list[str]

HEAD = """\
import argparse
import contextlib
import sys
from outside import ask, many, u0, u1


class Left(Exception):
    pass


class Box:
    kind = "plain"

    def __init__(self, v):
        self.v = v
        self.seen = []

    def put(self, v):
        if v:
            self.v = v
        return self.v


LEVEL = 0
TABLE = {"a": 1}


def f(x, y):
    global LEVEL
"""
MAIN = """\

def main():
    global LEVEL
    parser = argparse.ArgumentParser()
    parser.add_argument("--k0", action="store_true")
    parser.add_argument("--k1", type=int, default=0)
    args = parser.parse_args()
    k0, k1 = args.k0, args.k1
    x, y = 0, None
    xs = [1]
    box = Box(0)
"""
TAIL = """

def start():
    main()


if __name__ == "__main__":
    start()
"""

atoms = st.sampled_from(
    "u0|u1|x|y|x == 1|x > 1|y is None|y is not None|x in (1, 2)|xs|len(xs) > 1|LEVEL|LEVEL == 2|TABLE.get('b')|'b' in TABLE|ask() == 1|x == y|not xs".split(  # noqa: E501
        "|"
    )
)
own = st.sampled_from(
    "k0|k1|k1 == 2|box.v|box.v == 1|box.seen|box.put(x) == 1|getattr(box, 'w', None)|hasattr(box, 'w')|isinstance(y, int)".split("|")
)


def conditions(main: bool) -> st.SearchStrategy[str]:
    leaf = st.one_of(atoms, own) if main else atoms
    return st.one_of(
        leaf,
        leaf.map(lambda a: f"not ({a})"),
        st.tuples(leaf, leaf).map(lambda t: f"{t[0]} and {t[1]}"),
        st.tuples(leaf, leaf).map(lambda t: f"{t[0]} or {t[1]}"),
        st.tuples(leaf, leaf, leaf).map(lambda t: f"({t[0]}) if {t[1]} else ({t[2]})"),
        leaf.map(lambda a: f"(x := 2) and {a}"),
        leaf.map(lambda a: f"any({a} for x in xs)"),
    )


def simple(main: bool, in_loop: bool) -> st.SearchStrategy[Lines]:
    texts = [
        "x = 1", "x = 2", "x = 0", "x += 1", "y = None", "y = x", "y = 1", "x = int(u0)", "xs = []", "xs.append(x)", "xs = [i for i in xs if i]",  # noqa: E501
        "LEVEL = x", "LEVEL += 1", "TABLE['b'] = x", "TABLE.pop('b', None)", "x, y = 1, x", "x = y or 1", "return x", "return None", "raise Left", "del xs[:]",  # noqa: E501
        "xs = [*xs, 2]", "y = TABLE.get('b', 0)", "x = many and many[-1]", "assert not u1 or x, 'no'", "ask()",
    ]  # fmt: skip
    if main:
        texts += [
            "x = f(x, y)", "y = f(u0, xs)", "box.v = x", "x = box.v", "box.seen.append(x)", "box.w = 1", "setattr(box, 'w', x)", "sys.exit(0)", "box = Box(x)",  # noqa: E501
            "del box.w", "box.put(y)", "x = box.put(u0)", "args.k1 = x", "k1 = 2", "k0 = not k0", "other = box; other.v = 1", "g = lambda: x; y = g()",  # noqa: E501
        ]  # fmt: skip
    if in_loop:
        texts += ["break", "continue"]
    return st.sampled_from(texts).map(lambda text: [text])


def indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


def suites(depth: int, main: bool, in_loop: bool) -> st.SearchStrategy[Lines]:
    return st.lists(statements(depth, main, in_loop), min_size=1, max_size=3).map(lambda parts: [line for part in parts for line in part])


def statements(depth: int, main: bool, in_loop: bool) -> st.SearchStrategy[Lines]:
    if depth == 0:
        return simple(main, in_loop)
    test, body, loop = conditions(main), suites(depth - 1, main, in_loop), suites(depth - 1, main, True)
    last = simple(main, False)  # one statement: the interpreter's own clean-up bears the number of a finally clause's last line
    over = st.sampled_from(["range(2)", "(0, 1)", "many", "xs", "list(xs)", "range(x)", "[]", "TABLE", "enumerate(many)", "zip(xs, many)"])
    caught = st.sampled_from(
        ["except Left:", "except Exception:", "except (Left, TypeError):", "except:", "except Left as problem:", "except AssertionError:"]
    )
    return st.one_of(
        simple(main, in_loop),
        simple(main, in_loop),
        st.tuples(test, body).map(lambda t: [f"if {t[0]}:", *indented(t[1])]),
        st.tuples(test, body, body).map(lambda t: [f"if {t[0]}:", *indented(t[1]), "else:", *indented(t[2])]),
        st.tuples(test, body, test, body).map(lambda t: [f"if {t[0]}:", *indented(t[1]), f"elif {t[2]}:", *indented(t[3])]),
        st.tuples(over, loop).map(lambda t: [f"for i in {t[0]}:", *indented(t[1])]),
        st.tuples(over, loop, body).map(lambda t: [f"for i in {t[0]}:", *indented(t[1]), "else:", *indented(t[2])]),
        st.tuples(test, loop).map(lambda t: [f"while {t[0]}:", *indented(t[1])]),
        loop.map(lambda t: ["while x < 3:", "    x += 1", *indented(t)]),
        st.tuples(body, caught, body).map(lambda t: ["try:", *indented(t[0]), t[1], *indented(t[2])]),
        st.tuples(body, caught, body, body).map(lambda t: ["try:", *indented(t[0]), t[1], *indented(t[2]), "else:", *indented(t[3])]),
        st.tuples(body, last).map(lambda t: ["try:", *indented(t[0]), "finally:", *indented(t[1])]),
        st.tuples(body, caught, body, last).map(lambda t: ["try:", *indented(t[0]), t[1], *indented(t[2]), "finally:", *indented(t[3])]),
        body.map(lambda t: ["with contextlib.suppress(Left):", *indented(t)]),
        st.tuples(test, body, body).map(
            lambda t: ["match x:", "    case 1:", *indented(indented(t[1])), f"    case 2 if {t[0]}:", *indented(indented(t[2]))]
        ),
        st.tuples(body, body).map(
            lambda t: ["match x:", "    case 0 | 1:", *indented(indented(t[0])), "    case _:", *indented(indented(t[1]))]
        ),
    )


def program(function: Lines, main: Lines) -> str:
    # One statement after each block, so that what follows it is judged too.
    return HEAD + "\n".join(indented([*function, "return y"])) + "\n" + MAIN + "\n".join(indented([*main, "return x"])) + TAIL


def engine_over(source: str, argv: tuple[str, ...]) -> LaunchEngine:
    return open_engine(
        MemoryTree({"sample.py": source}), Launch(argv=("python3", "-m", "sample", *argv)), files=LocalFiles("/nonexistent"), facts={}
    )


def wrong(source: str, argv: tuple[str, ...]) -> list[str]:
    """Every contradiction between reach and the runs in every world."""
    engine = engine_over(source, argv)
    statements_ = judged(engine.index, engine.reach("sample.py"))
    found = []
    for world, trace in in_worlds(source, argv):
        meant = trace.ended is None  # both words speak of a launch that raises nothing
        found += [f"{world}: {text}" for text in contradictions(statements_, trace.lines["sample.py"], complete=meant)]
    return found


RETURNS_OR_RAISES = ["try:", "    if u1:", "        raise KeyError", "    return x", "except KeyError:", "    x = 1"]
"""A suite of which one path returns: its handler runs on the other only."""


GUARD_OF_ANOTHER = ["match x:", "    case 1:", "        x = 1", "    case 2 if xs.missing:", "        x = 2", "x = 3"]
"""What a guard does happens only where its pattern fits."""


@example(function=["pass"], main=RETURNS_OR_RAISES, argv=())
@example(function=GUARD_OF_ANOTHER, main=["y = f(u0, xs)"], argv=())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(function=suites(2, False, False), main=suites(3, True, False), argv=st.sampled_from([(), ("--k0",), ("--k0", "--k1", "2")]))
@example(function=["x = 1"], main=["if u0:", "    x = f(x, y)"], argv=())
def test_reach_never_contradicts_a_run(function: Lines, main: Lines, argv: tuple[str, ...]) -> None:
    source = program(function, main)
    found = wrong(source, argv)
    numbered = "\n".join(f"{number:3} {line}" for number, line in enumerate(source.splitlines(), 1))
    assert not found, f"{argv}\n{numbered}\n" + "\n".join(found)
