"""Names through imports, and what classes inherit."""

from __future__ import annotations

import pytest

from agent.analysis.hierarchy import Hierarchy
from agent.analysis.outline import Definition
from agent.analysis.resolve import External, Meaning, ModuleRef, Resolver
from tests.analysis.trees import index_of

FILES = {
    "pkg/__init__.py": "from .base import Base as Exported\nfrom .stars import *\n",
    "pkg/base.py": """
import abc
class Base(abc.ABC):
    def run(self): pass
    def stop(self): pass
class Mixin:
    def run(self): pass
""",
    "pkg/stars.py": "from .base import Mixin\ndef starred(): pass\n",
    "pkg/use.py": """
import pkg.base
import pkg.base as b
from pkg import Exported, starred, Mixin as M
from .base import Base
from torch import nn
try:
    from fast import quick
except ImportError:
    quick = None
Alias = Base
if x:
    def either(): pass
else:
    def either(): pass
class Child(M, Exported):
    def stop(self):
        Inner = 1
    class Inner(pkg.base.Base): pass
    Same = Inner
class Grand(Child, Generic[T]): pass
class Net(nn.Module, Alias): pass
class Odd(make()): pass
class Loop(Loop): pass
def outer(param):
    class Local(Base): pass
    def inner():
        return Local, param
    return inner
""",
    "pkg/cycle_a.py": "from .cycle_b import thing\n",
    "pkg/cycle_b.py": "from .cycle_a import thing\n",
    "diamond.py": """
class O: pass
class A(O): pass
class B(O): pass
class C(A, B): pass
class Bad(O, A): pass
class X(Y): pass
class Y(X): pass
""",
}


def named(meaning: Meaning | None) -> str:
    if isinstance(meaning, Definition):
        return f"{meaning.path}:{meaning.qualname}"
    return (
        f"external {meaning.name}"
        if isinstance(meaning, External)
        else f"module {meaning.dotted}"
        if isinstance(meaning, ModuleRef)
        else "-"
    )


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("pkg/use.py", "Base", ["pkg/base.py:Base"]),
        ("pkg/use.py", "Exported", ["pkg/base.py:Base"]),
        ("pkg/use.py", "starred", ["pkg/stars.py:starred"]),
        ("pkg/use.py", "M", ["pkg/base.py:Mixin"]),
        ("pkg/use.py", "Alias", ["pkg/base.py:Base"]),
        ("pkg/use.py", "b.Base", ["pkg/base.py:Base"]),
        ("pkg/use.py", "pkg.base.Base.run", ["pkg/base.py:Base.run"]),
        ("pkg/use.py", "pkg.Exported", ["pkg/base.py:Base"]),
        ("pkg/use.py", "pkg.base", ["module pkg.base"]),
        ("pkg/use.py", "nn.Module", ["external torch.nn.Module"]),
        ("pkg/use.py", "quick", ["external fast.quick", "external <Constant>"]),
        ("pkg/use.py", "either", ["pkg/use.py:either", "pkg/use.py:either"]),
        ("pkg/use.py", "Child.Inner", ["pkg/use.py:Child.Inner"]),
        ("pkg/use.py", "Child.Same", ["pkg/use.py:Child.Inner"]),
        ("pkg/use.py", "absent", []),
        ("pkg/cycle_a.py", "thing", ["external pkg.cycle_a.thing"]),
    ],
)
def test_meanings(path: str, name: str, expected: list[str]) -> None:
    assert [named(each) for each in Resolver(index_of(FILES)).meanings(path, name)] == expected


def test_scopes_around_a_name() -> None:
    index = index_of(FILES)
    resolver = Resolver(index)
    inner = next(each for each in index.functions_named("inner"))
    chain = (*inner.chain, inner.node)
    assert [named(each) for each in resolver.meanings("pkg/use.py", "Local", chain)] == ["pkg/use.py:outer.Local"]
    assert resolver.meanings("pkg/use.py", "param", chain) == ()
    stop = next(each for each in index.functions_named("stop") if each.path == "pkg/use.py")
    assert [named(each) for each in resolver.meanings("pkg/use.py", "Inner", (*stop.chain, stop.node))] == ["external <Constant>"]
    assert [named(each) for each in resolver.meanings("pkg/use.py", "Inner", stop.chain)] == ["pkg/use.py:Child.Inner"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Child", ["Child", "Mixin", "Base", "abc.ABC"]),
        ("Grand", ["Grand", "Child", "Mixin", "Base", "abc.ABC", "Generic"]),
        ("Net", ["Net", "torch.nn.Module", "Base", "abc.ABC"]),
        ("Odd", ["Odd", "make()"]),
        ("Loop", ["Loop", "Loop"]),
        ("diamond.C", ["C", "A", "B", "O"]),
        ("diamond.Bad", ["Bad", "O", "A"]),
        ("diamond.X", ["X", "Y"]),
        ("Child.Inner", ["Child.Inner", "Base", "abc.ABC"]),
    ],
)
def test_method_resolution_order(name: str, expected: list[str]) -> None:
    hierarchy = Hierarchy(index_of(FILES))
    (cls,) = hierarchy.find(name)
    assert [each.qualname if isinstance(each, Definition) else each.name for each in hierarchy.mro(cls)] == expected


def test_subclasses_direct_and_indirect() -> None:
    hierarchy = Hierarchy(index_of(FILES))
    (base,) = hierarchy.find("pkg.base.Base")
    assert sorted(each.qualname for each in hierarchy.subclasses(base)) == ["Child", "Child.Inner", "Grand", "Net", "outer.Local"]


@pytest.mark.parametrize(
    ("cls", "name", "expected"),
    [
        ("Grand", "stop", "pkg/use.py:Child.stop"),
        ("Grand", "run", "pkg/base.py:Mixin.run"),
        ("Child.Inner", "run", "pkg/base.py:Base.run"),
        ("Net", "run", "external torch.nn.Module"),
        ("Grand", "absent", "-"),
    ],
)
def test_where_a_method_comes_from(cls: str, name: str, expected: str) -> None:
    hierarchy = Hierarchy(index_of(FILES))
    (found,) = hierarchy.find(cls)
    assert named(hierarchy.attribute(found, name)) == expected


def test_the_order_is_that_of_python() -> None:
    names: dict[str, type] = {}
    source = "class O: pass\nclass A(O): pass\nclass B(O): pass\nclass C(A, B): pass\nclass D(B): pass\nclass E(C, D): pass\n"
    exec(source, {"__name__": "m"}, names)
    hierarchy = Hierarchy(index_of({"m.py": source}))
    for name, cls in names.items():
        (found,) = hierarchy.find(name)
        assert [each.qualname for each in hierarchy.mro(found) if isinstance(each, Definition)] == [
            each.__name__ for each in cls.__mro__[:-1]
        ]
