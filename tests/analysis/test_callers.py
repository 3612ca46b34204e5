"""References and writers, against samples that carry their expectation."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from agent.analysis import ir
from agent.analysis.callers import references, references_in
from agent.analysis.mentions import calling_files
from agent.analysis.syntax import text_of
from agent.analysis.writers import attribute_writers, reflective_writers
from tests.analysis.trees import index_of

SAMPLES = Path(__file__).parent.parent / "golden" / "callers"


def marks(source: str) -> dict[int, list[str]]:
    found = {}
    for number, line in enumerate(source.splitlines(), 1):
        mark = re.search(r"  #@(.*)$", line)
        if mark:
            found[number] = sorted(part.strip() for part in mark[1].split(","))
    return found


def test_each_reference_of_the_sample_is_found() -> None:
    source = (SAMPLES / "pkg.py").read_text()
    found: dict[int, list[str]] = defaultdict(list)
    for each in references(index_of({"pkg.py": source}), "target"):
        found[each.line].append(f"{each.kind} {each.role}".strip())
    assert {line: sorted(kinds) for line, kinds in found.items()} == marks(source)


def text(module: ir.Module, node: ir.Node | None) -> str:
    return "" if node is None else text_of(module, node)


def test_each_writer_of_the_sample_is_found() -> None:
    source = (SAMPLES / "writers.py").read_text()
    index = index_of({"writers.py": source})
    module = index.module("writers.py")
    found: dict[int, list[str]] = defaultdict(list)
    for each in attribute_writers(index, "size"):
        shown = f"{each.kind} {text(module, each.receiver)}" + (f" = {text(module, each.value)}" if each.value else "")
        found[each.line].append(" ".join(shown.split()))
    assert {line: sorted(kinds) for line, kinds in found.items()} == marks(source)


def test_each_reflective_writer_of_the_sample_is_found() -> None:
    source = (SAMPLES / "reflective.py").read_text()
    index = index_of({"reflective.py": source})
    module = index.module("reflective.py")
    found: dict[int, list[str]] = defaultdict(list)
    for each in reflective_writers(index):
        found[each.line].append(text(module, each.receiver))
    assert dict(found) == marks(source)


def test_a_reference_says_where_it_stands() -> None:
    source = "class A:\n    def f(self):\n        if self.x:\n            self.y(\n                1,\n            ).target(2)\n"
    (found,) = references(index_of({"a.py": source}), "target")
    assert (found.path, found.line, found.function, found.kind) == ("a.py", 6, "A.f", "call")
    assert found.call is not None
    assert isinstance(found.receiver, ir.Call)
    assert isinstance(found.statement, ir.ExprStmt)


def test_decorators_defaults_and_bases_stand_outside_of_their_definition() -> None:
    source = "class A:\n    @target\n    def f(self, a=target()):\n        target()\n    class B(target()):\n        x = target()\n"
    found = references(index_of({"a.py": source}), "target")
    assert [each.function for each in found] == ["A", "A", "A.f", "A", "A.B"]


def test_references_are_found_in_latin_1_files_and_in_damaged_ones() -> None:
    files = {"a.py": "# coding: latin-1\nx = 'é'; target()\n".encode("latin-1"), "b.py": "target()\nx = = 1\ntarget(2)\n"}
    assert [(each.path, each.line) for each in references(index_of(files), "target")] == [("a.py", 2), ("b.py", 1), ("b.py", 3)]


def test_part_of_a_longer_name_is_no_reference() -> None:
    assert references(index_of({"a.py": "target_x()\nmy_target()\nxtarget.targets()\n"}), "target") == []


def test_writers_know_their_class() -> None:
    source = (
        "class A:\n    x = 1\n    def f(self):\n        def g():\n            self.x = 2\nclass B:\n    def f(self):\n        self.x = 3\n"
    )
    found = attribute_writers(index_of({"a.py": source}), "x")
    assert [(each.line, each.owner.name if each.owner else None, each.function) for each in found] == [
        (2, "A", "A"),
        (5, "A", "A.f.g"),
        (8, "B", "B.f"),
    ]


RENAMED = {
    "home.py": "def target(): pass\n",
    "pkg/__init__.py": "from home import target as exported\n",
    "use.py": "from pkg import exported\nexported()\ndef exported_(): exported(1)\n",
    "again.py": "from pkg import exported as third\nthird()\n",
    "module.py": "import pkg\npkg.exported()\nself.exported()\n",
    "other.py": "from elsewhere import exported\nexported()\n",
    "assigned.py": "from home import target\nalias = target\nalias()\ndef f():\n    local = target\n    local()\n",
}


def test_calls_by_another_name_are_found() -> None:
    calls = [(each.path, each.line) for each in references(index_of(RENAMED), "target") if each.kind == "call"]
    assert sorted(calls) == [("again.py", 2), ("assigned.py", 3), ("module.py", 2), ("use.py", 2), ("use.py", 3)]


def test_renaming_in_a_circle_ends() -> None:
    files = {"a.py": "from b import target as other\nother()\n", "b.py": "from a import other as target\ntarget()\n"}
    assert {(each.path, each.line) for each in references(index_of(files), "target") if each.kind == "call"} == {("a.py", 2), ("b.py", 2)}


def test_what_could_not_be_lowered_is_named_too() -> None:
    index = index_of({"a.py": "exec 'target' in target\nprint target.size\nif target target: pass\ntarget.size = = 1\n"})
    assert {(each.kind, each.line) for each in references(index, "target")} == {("unsupported", line) for line in (1, 2, 3, 4)}
    assert {(each.kind, each.line) for each in attribute_writers(index, "size")} == {("unsupported", 2), ("unsupported", 4)}


def test_a_file_whose_setattr_calls_all_name_their_attribute_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of(
        {"a.py": "setattr(a.b, 'x', 1)\nsetattr(a,\n    \"y\", 2)\n", "b.py": "setattr(a, 'x' + y, 1)\n", "c.py": "setattr(a(), 'x', 1)\n"}
    )
    parsed: list[str] = []
    module = index.module
    monkeypatch.setattr(index, "module", lambda path: parsed.append(path) or module(path))
    assert [each.path for each in reflective_writers(index)] == ["b.py"]
    assert parsed == ["b.py", "c.py"]


HARMLESS = """
from m import Target
from m import (
    Other,
    Target,  # for types
)
import m, Target
# Target()
    # Target
class Target:
    def f(self, other: Target, more: "Target" = None) -> Optional[Target]: pass
    async def g(
        self,
        other: Optional[Target],
        more: List["Target"] = (),
    ) -> Target:
        x: Target = None
def Target(): pass
"""


def test_files_that_only_define_import_or_annotate_are_left_out() -> None:
    assert calling_files(index_of({"a.py": HARMLESS}), "Target") == ()


@pytest.mark.parametrize(
    "source",
    [
        "Target()",
        "x = Target",
        "x = Target if y else z",
        "x = y or Target",
        "return Target",
        "f(Target)",
        "f(a=Target)",
        "f(a, *Target)",
        "class B(m.Target): pass",
        "Target.build()",
        "Target[grid](x)",
        "{a: Target}",
        "{'a': Target}",
        "x = {\n    key: Target,\n    other: Target,\n}",
        "lambda a: Target",
        "f(lambda a, b: Target)",
        "@Target\ndef f(): pass",
        "from m import Target as T",
        "from m import (\n    Target as T,\n)",
        "import m; Target()",
        "from m import Target; Target()",
        "x: int = Target()",
        "def f(a: int = Target): pass",
        "load('m.Target')",
        "x = [Target\n]",
        "del Target",
        "x = (\n    Target,\n)",
        "def f() -> int: return Target()",
        "def f(a: int = 1, b=lambda c, d: Target): pass",
        "def f(b={c: 1, d: Target}): pass",
        "def f(a: int): return Target",
    ],
)
def test_files_that_use_the_name_otherwise_are_kept(source: str) -> None:
    assert calling_files(index_of({"a.py": source}), "Target") == ("a.py",)
    lower = source.replace("Target", "target")
    assert calling_files(index_of({"a.py": lower}), "target") == ("a.py",)


def test_references_of_one_file_follow_the_names_it_gives() -> None:
    source = "from m import target as one\none()\ntwo = one\ntwo()\nself.two()\n"
    (module,) = index_of({"a.py": source}).modules_with("target")
    assert [each.line for each in references_in(module, "target") if each.kind == "call"] == [2, 4]
