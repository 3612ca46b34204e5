"""The index: modules by path and name, definitions, statements by line, what is kept and what is let go."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.analysis import ir
from agent.analysis.index import Index
from agent.analysis.outline import Outline
from agent.analysis.syntax import parse, statement_lines
from agent.domain.errors import NotFoundOnHost
from agent.domain.source import Unreadable
from agent.hosts.local_tree import MemoryTree
from tests.analysis.shown import shown
from tests.analysis.test_syntax_samples import SAMPLES
from tests.analysis.trees import index_of

TREE = {
    "top.py": "x = 1\n",
    "pkg/__init__.py": "",
    "pkg/mod.py": "from . import other\nfrom .sub.deep import f as g\n",
    "pkg/other/__init__.py": "",
    "pkg/other.py": "",
    "pkg/sub/deep.py": "def f(): pass\n",
    "pkg/data.txt": "",
    "ns/only/mod.py": "",
}


@pytest.mark.parametrize(
    ("dotted", "path"),
    [
        ("top", "top.py"),
        ("pkg", "pkg/__init__.py"),
        ("pkg.mod", "pkg/mod.py"),
        ("pkg.other", "pkg/other/__init__.py"),
        ("pkg.sub.deep", "pkg/sub/deep.py"),
        ("pkg.sub", None),
        ("ns.only.mod", "ns/only/mod.py"),
        ("ns", None),
        ("pkg.data", None),
        ("absent", None),
    ],
)
def test_module_paths(dotted: str, path: str | None) -> None:
    index = index_of(TREE)
    assert index.module_path(dotted) == path
    if path is not None:
        assert index.dotted(path) == dotted


def test_packages_with_and_without_init() -> None:
    index = index_of(TREE)
    assert [index.is_package(name) for name in ("pkg", "pkg.sub", "ns", "ns.only", "pkg.mod", "absent")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]
    assert [index.package_of(path) for path in ("top.py", "pkg/__init__.py", "pkg/mod.py", "pkg/sub/deep.py")] == [
        "",
        "pkg",
        "pkg",
        "pkg.sub",
    ]


@pytest.mark.parametrize(
    ("path", "statement", "source"),
    [
        ("pkg/mod.py", "from . import a", "pkg"),
        ("pkg/mod.py", "from .a import b", "pkg.a"),
        ("pkg/__init__.py", "from .a import b", "pkg.a"),
        ("pkg/sub/deep.py", "from ..a import b", "pkg.a"),
        ("pkg/sub/deep.py", "from a.b import c", "a.b"),
        ("pkg/mod.py", "from .. import a", None),
        ("top.py", "from . import a", None),
    ],
)
def test_import_sources(path: str, statement: str, source: str | None) -> None:
    (parsed,) = parse("one.py", statement.encode()).body
    assert isinstance(parsed, ir.ImportFrom)
    assert index_of(TREE).import_source(path, parsed) == source


DEFINITIONS = """
def f(): pass
class A:
    def f(self):
        def f(): pass
    async def g(self): pass
    if x:
        def f(self): pass
try:
    def f(): pass
except E:
    class f: pass
match x:
    case 1:
        def  f(): pass
f = 1
"""


def test_definitions_by_name() -> None:
    index = index_of({"a.py": DEFINITIONS, "b.py": "# def f\nx = 'def f()'\n", "c.py": "class A:\n    class A: pass\n"})
    assert [(each.qualname, each.node.line) for each in index.functions_named("f")] == [
        ("f", 2),
        ("A.f", 4),
        ("A.f.f", 5),
        ("A.f", 8),
        ("f", 10),
        ("f", 15),
    ]
    assert [(each.path, each.qualname) for each in index.classes_named("A")] == [("a.py", "A"), ("c.py", "A"), ("c.py", "A.A")]
    assert [(each.qualname, each.owner.name if each.owner else None) for each in index.functions_named("g")] == [("A.g", "A")]
    assert index.functions_named("absent") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(): pass", True),
        ("async def \\\n  f(): pass", True),
        ("def" + " " * 400 + "f(): pass", True),
        ("undef f(): pass", False),
        ("def f_(): pass", False),
        ("def\nf = 1", False),
        ("return f", False),
        (" " * 400 + "f()", False),
    ],
)
def test_a_definition_is_told_by_its_text(text: str, found: bool) -> None:
    assert bool(index_of({"a.py": text})._files_defining("f", b"def")) is found


class Broken(MemoryTree):
    def read(self, path: str):  # type: ignore[no-untyped-def]
        return Unreadable(path=path, reason="permission denied") if path == "b.py" else super().read(path)


def test_absent_and_unreadable_are_told_apart() -> None:
    index = Index(Broken({"a.py": "def f(): pass\n", "b.py": "def f(): pass\n"}))
    with pytest.raises(NotFoundOnHost, match=r"there is no file c\.py"):
        index.module("c.py")
    with pytest.raises(NotFoundOnHost, match=r"b\.py cannot be read: permission denied"):
        index.module("b.py")
    assert [each.path for each in index.functions_named("f")] == ["a.py"]
    assert index.unread == {"b.py": "permission denied"}


# --- places ------------------------------------------------------------------------------------------------------------------

PLACES = """import os

# a comment
class A:
    @deco(
        1)
    def f(self):
        if a: return 1
        else:
            x = (
                2
            ); y = 3
        return y

    z = 1
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (1, "Import"),
        (2, None),
        (3, None),
        (4, "ClassDef"),
        (5, "FunctionDef"),
        (6, "FunctionDef"),
        (7, "FunctionDef"),
        (8, "Return"),
        (9, None),
        (10, "Assign"),
        (11, "Assign"),
        (12, "Assign"),
        (13, "Return"),
        (14, None),
        (15, "Assign"),
        (99, None),
    ],
)
def test_the_statement_on_a_line(line: int, expected: str | None) -> None:
    statement = index_of({"a.py": PLACES}).statement_at("a.py", line)
    assert (type(statement).__name__ if statement else None) == expected


def test_nearest_statements_come_closest_first() -> None:
    outline = index_of({"a.py": PLACES}).outline("a.py")
    assert [each.line for each in outline.nearest(3)] == [4, 1, 7]
    assert [each.line for each in outline.nearest(14)] == [13, 15, 10]
    assert [each.line for each in outline.nearest(99)] == [15, 13, 12]
    assert index_of({"a.py": ""}).outline("a.py").nearest(1) == ()


def test_definitions_around_a_line() -> None:
    index = index_of({"a.py": PLACES})
    names = [[each.name for each in index.enclosing("a.py", line)] for line in (1, 4, 5, 8, 14, 15)]
    assert names == [[], ["A"], ["A", "f"], ["A", "f"], ["A"], ["A"]]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_each_statement_is_found_on_its_lines(sample) -> None:  # type: ignore[no-untyped-def]
    module = parse(sample.name, sample.read_bytes())
    outline = Outline(module)
    for statement, first, last in statement_lines(module):
        for line in range(first, last + 1):
            found = outline.statement_at(line)
            assert found is not None
            assert found is statement or found.line >= statement.line or found.end >= line


def test_parents_lead_from_each_node_to_its_statement() -> None:
    outline = index_of({"a.py": PLACES}).outline("a.py")
    deepest = outline.statement_at(11)
    assert isinstance(deepest, ir.Assign)
    line = [deepest.value]
    while (parent := outline.parents.get(line[-1])) is not None:
        line.append(parent)  # type: ignore[arg-type]
    assert [type(node).__name__ for node in line] == ["Constant", "Assign", "If", "FunctionDef", "ClassDef"]


# --- what is kept ------------------------------------------------------------------------------------------------------------


def test_a_module_is_one_object_while_it_is_held() -> None:
    index = Index(MemoryTree({f"m{n}.py": f"x = {n}\n" * 100 for n in range(50)}), held_bytes=3000)
    held = index.module("m0.py")
    node = held.body[0]
    for n in range(50):
        index.module(f"m{n}.py")
    assert index.module("m0.py").body[0] is node


def test_modules_are_let_go_beyond_the_limit() -> None:
    index = Index(MemoryTree({f"m{n}.py": f"x = {n}\n" * 100 for n in range(50)}), held_bytes=3000)
    first = weakref.ref(index.module("m0.py"))
    index.outline("m0.py").parents  # noqa: B018
    for n in range(1, 50):
        index.module(f"m{n}.py")
    gc.collect()
    assert first() is None
    assert shown(index.module("m0.py").body[0]) == "Assign([x], 0)"


def test_a_definition_is_equal_to_itself_parsed_again() -> None:
    index = Index(MemoryTree({"a.py": "class A: pass\n", "b.py": "class A: pass\n"}), held_bytes=1)
    one, other = index.classes_named("A")
    again, _ = index.classes_named("A")
    assert one == again
    assert one != other
    assert len({one, other, again}) == 2


# --- byte search -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=20), max_size=8), st.lists(st.binary(max_size=3), min_size=1, max_size=4))
def test_byte_search_finds_what_each_file_holds(contents: list[bytes], words: list[bytes]) -> None:
    files = {f"m{n}.py": content for n, content in enumerate(contents)}
    expected = sorted(path for path, content in files.items() if any(word in content for word in words if b"\0" not in word))
    assert list(MemoryTree(files).containing(words)) == expected
