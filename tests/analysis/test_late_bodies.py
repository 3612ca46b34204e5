"""Bodies of functions that are lowered when they are first read: the same trees, each node once."""

from __future__ import annotations

import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from agent.analysis import ir
from agent.analysis.outline import Outline
from agent.analysis.syntax import parse
from tests.analysis.test_cache import exact, functions
from tests.analysis.test_syntax_samples import SAMPLES

LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


@pytest.mark.parametrize("path", [*SAMPLES, *Random(7).sample(LIBRARY, 40)], ids=lambda path: path.stem)
def test_late_bodies_are_the_same(path: Path) -> None:
    source = path.read_bytes()
    assert exact(parse(path.name, source, late=True)) == exact(parse(path.name, source))


def test_a_body_waits_until_it_is_read() -> None:
    module = parse("a.py", b"def f(x):\n    if x:\n        return 1\n    # the end\n\ndef g():\n    yield 1\n", late=True)
    first, second = functions(module)
    assert (first.has_body, second.has_body) == (False, True)
    assert (first.name, first.end, first.is_generator) == ("f", 3, False)
    assert first.body is first.body
    assert first.has_body


def test_readers_on_several_threads_get_one_body() -> None:
    text = b"def f():\n" + b"    x = [1, 2, 3]\n" * 300
    function = functions(parse("a.py", text, late=True))[0]
    with ThreadPoolExecutor(8) as pool:
        bodies = list(pool.map(lambda _: function.body, range(64)))
    assert len({id(body) for body in bodies}) == 1


@pytest.mark.parametrize(
    "source",
    [
        b"def f():\n    print >> out, 1\n",
        b"def f():\n    print 'a'\n\nx = 1\n",
        b"class A:\n    def f(self):\n        with a if x else b as v:\n            pass\n",
        b"def f():\n    g = lambda (a, b): a\n    return g\n",
        b"def f():\n    while x:\n        # nothing\n\n    return 1\n",
        b"\xef\xbb\xbfdef f():\n    return 1\n",
        b"# coding: latin-1\ndef f():\n    return '\xe4'\n",
        b"def f():\n\treturn 1; \n",
        b"def f(): return 1\r\ndef g():\r\n  return 2\r\n",
        b"async def f():\n    await g()",
    ],
)
def test_what_the_grammar_misreads_is_read_as_it_is_at_once(source: bytes) -> None:
    late = parse("a.py", source, late=True)
    bodies = [each.body for each in functions(late)]
    assert bodies
    assert exact(late) == exact(parse("a.py", source))


def test_an_expression_that_is_nested_deep_does_not_depend_on_who_reads_it() -> None:
    function = functions(parse("a.py", b"def f():\n    return " + b"-" * 150 + b"1\n", late=True))[0]

    def read_below(depth: int) -> list[ir.Stmt]:
        return function.body if depth == 0 else read_below(depth - 1)

    returned = read_below(600)[0]
    assert isinstance(returned, ir.Return)


def test_definitions_inside_unread_functions_are_found() -> None:
    source = b"def f():\n    def g(): pass\n\ndef h():\n    return 1\n\nclass A:\n    async def k(self):\n        class B: pass\n"
    module = parse("a.py", source, late=True)
    assert [each.qualname for each in Outline(module).definitions] == ["f", "f.g", "h", "A", "A.k", "A.k.B"]
    assert [each.name for each in functions(module) if not each.has_body] == ["h"]
