"""Lowering: the grammar covered, text and places right, bad input survived."""

from __future__ import annotations

import ast
import time

import pytest
import tree_sitter_python
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Language

from agent.analysis import ir
from agent.analysis.lower_expressions import EXPRESSIONS
from agent.analysis.lower_patterns import PATTERNS
from agent.analysis.lower_statements import STATEMENTS
from agent.analysis.syntax import EXTRAS, PARTS, parse, statement_lines, text_of
from agent.analysis.walk import children, statements, walk
from tests.analysis.shown import shown
from tests.analysis.test_syntax_samples import SAMPLES


def test_each_node_type_of_the_grammar_has_its_row_or_is_listed() -> None:
    language = Language(tree_sitter_python.language())
    named = {
        str(language.node_kind_for_id(number))
        for number in range(language.node_kind_count)
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    }
    known = {*EXPRESSIONS, *STATEMENTS, *PATTERNS, *PARTS, *EXTRAS}
    assert named - known == set()


def only(source: str) -> ir.Stmt:
    (statement,) = parse("one.py", source.encode()).body
    return statement


literals = st.one_of(
    st.text().map(repr),
    st.binary().map(repr),
    st.integers().map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.complex_numbers(allow_nan=False, allow_infinity=False).map(lambda number: repr(number.imag) + "j"),
    st.tuples(
        st.sampled_from(["", "r", "b", "Rb", "u"]),
        st.sampled_from(['"', "'", '"""', "'''"]),
        st.text(alphabet="ab\\nrtx0123456789uUN{}'\"\n €", max_size=12),
    ).map(lambda parts: f"{parts[0]}{parts[1]}{parts[2]}{parts[1]}"),
)


@settings(max_examples=400)
@given(literals)
def test_a_literal_has_the_value_that_python_gives_it(text: str) -> None:
    source = f"x = {text}\n"
    try:
        expected = ast.literal_eval(text)
        assert len(ast.parse(source).body) == 1
    except (SyntaxError, ValueError):
        return
    assigned = only(source)
    assert isinstance(assigned, ir.Assign)
    value = assigned.value
    if isinstance(value, ir.UnaryOp) and isinstance(value.operand, ir.Constant):
        value = ir.Constant(-value.operand.value)
    assert isinstance(value, ir.Constant)
    assert value.value == expected
    assert type(value.value) is type(expected)


# --- places ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_each_node_lies_within_its_parent_and_on_its_lines(sample) -> None:  # type: ignore[no-untyped-def]
    module = parse(sample.name, sample.read_bytes())
    for root in module.body:
        for node in walk(root):
            assert module.source.count(b"\n", 0, node.start_byte) + 1 == node.line
            assert module.source.count(b"\n", 0, node.end_byte) + 1 == node.end
            for child in children(node):
                if isinstance(node, ir.Param) or (isinstance(node, (ir.FunctionDef, ir.ClassDef)) and child in node.decorators):
                    continue
                assert node.start_byte <= child.start_byte <= child.end_byte <= node.end_byte


def texts(source: bytes) -> list[str]:
    module = parse("one.py", source)
    return [text_of(module, node) for root in module.body for node in walk(root) if isinstance(node, (ir.Name, ir.Constant))]


LATIN = "# -*- coding: latin-1 -*-\nx = 'é'; yé = 2\n"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_offsets_and_lines_hold_under_each_line_end(newline: bytes) -> None:
    source = b"x = 'a'\nif x:\n    y = '''b\nc'''\n# d\nz = 1\n".replace(b"\n", newline)
    module = parse("one.py", source)
    assert [(each.line, each.end) for each in module.body] == [(1, 1), (2, 4), (6, 6)]
    assert texts(source) == ["x", "'a'", "x", "y", "'''b\nc'''".replace("\n", newline.decode()), "z", "1"]
    assert "'b\\nc'" in shown(module.body[1])


def test_offsets_index_the_file_as_it_lies_on_disk() -> None:
    assert texts(b"\xef\xbb\xbfx = 1\n") == ["x", "1"]
    module = parse("one.py", LATIN.encode("latin-1"))
    assert [module.source[each.start_byte : each.end_byte] for each in module.body] == [b"x = '\xe9'", b"y\xe9 = 2"]
    assert shown(module.body[0]) == "Assign([x], 'é')"
    gbk = "# coding: gbk\nx = '中文'; y = 1\n".encode("gbk")
    module = parse("one.py", gbk)
    assert [module.source[each.start_byte : each.end_byte] for each in module.body] == ["x = '中文'".encode("gbk"), b"y = 1"]
    wide = "# coding: utf-8\nx = '中文'; y = 1\n".encode()
    assert texts(wide) == texts(wide.decode().replace("coding: utf-8", "c").encode())


def test_names_are_compared_in_normal_form() -> None:
    assert shown(only("ﬁle = 1")) == "Assign([file], 1)"


def test_a_header_covers_its_lines() -> None:
    source = """
@deco(
    1
)
def f(
    a,  # : not the colon
    b: int = {1: 2}[1],
) -> dict[str, int]:
    return lambda: (
        a
    )


class A(
    B,
):
    x = 1


if (a and
        b): c
with open(
    a
) as f, \\
        g:
    pass
try:
    a
finally:
    b
match (a,
       b):
    case 1: c
"""
    lines = [(type(statement).__name__, first, last) for statement, first, last in statement_lines(parse("one.py", source.encode()))]
    assert lines == [
        ("FunctionDef", 2, 8),
        ("Return", 9, 11),
        ("ClassDef", 14, 16),
        ("Assign", 17, 17),
        ("If", 20, 21),
        ("ExprStmt", 21, 21),
        ("With", 22, 25),
        ("Pass", 26, 26),
        ("Try", 27, 27),
        ("ExprStmt", 28, 28),
        ("ExprStmt", 30, 30),
        ("Match", 31, 32),
        ("ExprStmt", 33, 33),
    ]


# --- bad input ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_survived(source: bytes) -> None:
    check(source)


PYTHON_BYTES = (
    b"\n    if x: y\n\tdef f(a, *b):\r\n\r'\"\"\"{}[]()=:,.\\#@*f'{x!r:>{w}}'"
    b"match case _ with as try except class lambda yield await\0\xff\xef\xbb\xbf"
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([PYTHON_BYTES[at : at + size] for at in range(len(PYTHON_BYTES)) for size in (1, 3, 7)])).map(b"".join))
def test_python_like_bytes_are_survived(source: bytes) -> None:
    check(source)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_file_is_survived(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(SAMPLES)).read_bytes()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(source)))
        removed = data.draw(st.integers(0, 20))
        source = (
            source[:at] + data.draw(st.sampled_from([b"", b"(", b"'", b"\0", b"\n", b"{", b"if", b"\xe9", b":"])) + source[at + removed :]
        )
    check(source)


def check(source: bytes) -> None:
    """No error is raised; a file that Python refuses says so; statements are in order and within the file."""
    module = parse("any.py", source)
    places = [node for statement in statements(module.body) for node in walk(statement)]
    assert all(0 <= node.start_byte <= node.end_byte <= len(source) for node in places)
    assert [each.start_byte for each in module.body] == sorted(each.start_byte for each in module.body)
    list(statement_lines(module))


@pytest.mark.parametrize(
    ("source", "first"),
    [
        (b"x = 1\0\n", "NUL"),
        (b"x = '\xe9'\n", "not UTF-8"),
        (b"# coding: no-such-thing\nx = 1\n", "no-such-thing"),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", "not ascii"),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "encoding problem"),
        (b"def f():\n\nx = 1\n", "a block without a statement"),
        (b"x = (\n", "x = ("),
        (b"if a b: c\n", "b"),
    ],
)
def test_what_python_refuses_is_an_error(source: bytes, first: str) -> None:
    module = parse("one.py", source)
    assert module.errors
    assert first in module.errors[0].text


@pytest.mark.parametrize("source", [b"", b"\n", b"# only a comment", b"\xef\xbb\xbf", b"\\\n", b"\x0c"])
def test_an_empty_file_has_no_statement_and_no_error(source: bytes) -> None:
    module = parse("one.py", source)
    assert (module.body, module.errors) == ([], [])


@pytest.mark.parametrize(
    "expression",
    ["x" + " + x" * 3000, "x" + ".a()" * 3000, "x" + " and x or x" * 1500, "'a' " * 3000, "x" + "[0]" * 3000, "x" + " < x" * 3000],
    ids=["sum", "calls", "logic", "strings", "subscripts", "comparison"],
)
def test_long_chains_are_lowered(expression: str) -> None:
    statement = only(f"y = {expression}\n")
    assert isinstance(statement, ir.Assign)
    assert not isinstance(statement.value, ir.Unsupported)


@pytest.mark.parametrize(
    "expression",
    ["(" * 3000 + "x" + ")" * 3000, "not " * 3000 + "x", "[" * 3000 + "]" * 3000, "lambda: " * 2000 + "x"],
    ids=["brackets", "not", "lists", "lambdas"],
)
def test_deep_nesting_is_unsupported_and_its_neighbours_are_not(expression: str) -> None:
    before, deep, after = parse("one.py", f"a = 1\ny = {expression}\nb = 2\n".encode()).body
    assert shown(before) == "Assign([a], 1)"
    assert isinstance(deep, ir.Unsupported)
    assert shown(after) == "Assign([b], 2)"


def test_a_long_ladder_of_elif_is_lowered() -> None:
    source = "if a:\n    x = 0\n" + "".join(f"elif a == {n}:\n    x = {n}\n" for n in range(3000))
    module = parse("one.py", source.encode())
    assert len(list(statements(module.body))) == 6002


def test_fifty_thousand_lines_take_seconds_not_minutes() -> None:
    source = b"".join(
        b"def f%d(a, b=1):\n    if a and b:\n        return a.b(%d, c=[d])\n    x = f'{a}'\n    return x\n" % (n, n) for n in range(10_000)
    )
    began = time.perf_counter()
    module = parse("one.py", source)
    assert len(module.body) == 10_000
    assert not module.errors
    assert time.perf_counter() - began < 60
