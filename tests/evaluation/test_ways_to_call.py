"""Every way in which a function gets an argument, or an object a value: a line that one of them lets run is never called never."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import MemoryTree

MAIN = """
import fastapi
import uvicorn
from pk.other import call_all
app = fastapi.FastAPI()
@app.get("/a")
def a(k):
    call_all(k)
uvicorn.run(app)
"""
OTHER = """
from pk.work import five as fifth
import pk.work as w
def call_all(k):
    fifth(flag=True)
    w.six(True)
    getattr(w, "seven")(True)
    fs = {"a": w.eight}
    fs[k](True)
    list(map(w.nine, [True]))
    import functools
    functools.partial(w.ten, True)()
    w.eleven(*[True])
    w.twelve(**{"flag": True})
    g = w.thirteen
    g(True)
    for h in (w.fourteen,):
        h(True)
    w.T15().go(True)
    m = w.T15().run16
    m(True)
    w.T17(True).go()
    w.Sub18().go()
    w.D19(flag=True).go()
    w.fac20()(True)
    w.Sub21().go()
    w.Sub22(True).go()
    d = w.D23()
    d.flag = True
    d.go()
    w.Sub24().go()
    w.run25(lambda: w.t25(True))
    w.T26.make().go()
    w.T27().go()
"""
WORK = """
import dataclasses
def five(flag=False):
    if flag:
        print("5")
def six(flag=False):
    if flag:
        print("6")
def seven(flag=False):
    if flag:
        print("7")
def eight(flag=False):
    if flag:
        print("8")
def nine(flag=False):
    if flag:
        print("9")
def ten(flag=False):
    if flag:
        print("10")
def eleven(flag=False):
    if flag:
        print("11")
def twelve(flag=False):
    if flag:
        print("12")
def thirteen(flag=False):
    if flag:
        print("13")
def fourteen(flag=False):
    if flag:
        print("14")
class T15:
    def go(self, flag=False):
        if flag:
            print("15")
    def run16(self, flag=False):
        if flag:
            print("16")
class T17:
    def __init__(self, flag=False):
        self.flag = flag
    def go(self):
        if self.flag:
            print("17")
class Base18:
    flag = False
    def go(self):
        if self.flag:
            print("18")
class Sub18(Base18):
    flag = True
@dataclasses.dataclass
class D19:
    flag: bool = False
    def go(self):
        if self.flag:
            print("19")
def fac20():
    def inner(flag=False):
        if flag:
            print("20")
    return inner
class Base21:
    def want(self):
        return False
    def go(self):
        if self.want():
            print("21")
class Sub21(Base21):
    def want(self):
        return True
class Base22:
    def __init__(self, flag=False):
        self.flag = flag
    def go(self):
        if self.flag:
            print("22")
class Sub22(Base22):
    def __init__(self, x):
        super().__init__(x)
class D23:
    flag = False
    def go(self):
        if self.flag:
            print("23")
class Base24:
    def __init__(self):
        self.flag = False
    def go(self):
        if self.flag:
            print("24")
class Sub24(Base24):
    def __init__(self):
        super().__init__()
        self.flag = True
def run25(f):
    f()
def t25(flag=False):
    if flag:
        print("25")
class T26:
    def __init__(self, flag=False):
        self.flag = flag
    @classmethod
    def make(cls):
        return cls(True)
    def go(self):
        if self.flag:
            print("26")
class T27:
    def __init__(self):
        self.reset(True)
    def reset(self, v=False):
        self.flag = v
    def go(self):
        if self.flag:
            print("27")
def unused(flag=False):
    if flag:
        print("nobody calls it with another value")
unused()
"""
LINES = {line.split('"')[1]: number for number, line in enumerate(WORK.splitlines(), 1) if "print(" in line}


@pytest.fixture(scope="module")
def engine() -> LaunchEngine:
    tree = MemoryTree({"pk/__init__.py": "", "pk/__main__.py": MAIN, "pk/other.py": OTHER, "pk/work.py": WORK})
    return open_engine(tree, Launch(argv=("python3", "-m", "pk")), files=LocalFiles("/nonexistent"))


@pytest.mark.parametrize("way", [way for way in LINES if way.isdigit()])
def test_a_line_that_some_way_lets_run_is_not_called_never(engine: LaunchEngine, way: str) -> None:
    answer = engine.why(f"pk/work.py:{LINES[way]}", counterfactuals=False)
    assert answer.verdict in ("may", "always", "unknown"), answer.decisive


def test_a_default_that_nobody_overrides_closes(engine: LaunchEngine) -> None:
    assert engine.why(f"pk/work.py:{LINES['nobody calls it with another value']}", counterfactuals=False).verdict == "never"


def test_an_answer_does_not_depend_on_what_was_asked_before(engine: LaunchEngine) -> None:
    for way in ("6", "18", "22"):
        query = f"pk/work.py:{LINES[way]}"
        alone = open_engine(MemoryTree({name: engine.tree.read(name) for name in engine.tree.files()}), engine.launch, files=engine.files)  # type: ignore[misc]
        assert alone.why(query, counterfactuals=False) == engine.why(query, counterfactuals=False)


UNNAMED = """
import external
from dataclasses import dataclass

@dataclass
class Whole:
    cache: object = None
    def __post_init__(self):
        if self.cache is not None:
            print("later")
    def __enter__(self):
        if self.cache is not None:
            print("entered")
        return self
    def __exit__(self, *a):
        pass
    def __len__(self):
        if self.cache is not None:
            print("len")
        return 1

with Whole() as w:
    len(w)

class Work:
    def run(self):
        with Whole(cache=1) as w:
            return len(w)

external.objects[0].run()
"""


@pytest.mark.parametrize("text", ["later", "entered", "len"])
def test_methods_that_python_calls_unnamed_run_on_every_object(text: str) -> None:
    line = next(number for number, each in enumerate(UNNAMED.splitlines(), 1) if f'"{text}"' in each)
    engine = open_engine(MemoryTree({"p.py": UNNAMED}), Launch(argv=("python3", "-m", "p")), files=LocalFiles("/nonexistent"), facts={})
    assert engine.why(f"p.py:{line}").verdict == "may"
    assert not any(first <= line <= last for first, last in engine.reach("p.py").never)
