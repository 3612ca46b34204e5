"""Values that code which runs later may change: no line that such a value lets run is called never."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import MemoryTree

SOURCE = """
import fastapi
import uvicorn
app = fastapi.FastAPI()
CACHE = {}
READY = False
ITEMS = []
QUIET = False
class State:
    def __init__(self):
        self.done = False
        self.count = 0
class Manager:
    def __init__(self):
        self.rid = {}
        self.state = State()
        self.flag = False
        self.names = ["a"]
        self.mode = "x"
    def add(self, rid):
        self.rid[rid] = 1
        self.names.append(rid)
    def finish(self):
        self.state.done = True
    def handle(self, rid):
        state = self.rid.get(rid, None)
        if state is None:
            return 0
        if self.state.done:
            print("an attribute of an object in an attribute")
        if len(self.names) > 1:
            print("a list that a method appends to")
        if self.flag:
            print("an attribute written from outside")
        return 1
class Named:
    def __init__(self):
        self.mode = "x"
    def set(self, name, value):
        setattr(self, name, value)
    def ask(self):
        if self.mode == "y":
            print("an attribute whose name is worked out")
named = Named()
manager = Manager()
same = manager
@app.get("/a")
def a(k):
    global READY
    if k in CACHE:
        print("a dict that its function fills")
    CACHE[k] = 1
    if READY:
        print("a global")
    READY = True
    if ITEMS:
        print("a list that another function fills")
    if manager.handle(k):
        print("what a method gives back")
    if manager.state.count > 3:
        print("a counter")
    if QUIET:
        print("nobody writes this")
    return named.ask()
@app.get("/b")
def b(k):
    ITEMS.append(k)
    manager.add(k)
    manager.finish()
    manager.state.count += 1
    same.flag = True
    named.set(k, k)
uvicorn.run(app)
"""
LINES = {line.split('"')[1]: number for number, line in enumerate(SOURCE.splitlines(), 1) if "print(" in line}


@pytest.fixture(scope="module")
def engine() -> LaunchEngine:
    tree = MemoryTree({"pk/__init__.py": "", "pk/__main__.py": SOURCE})
    return open_engine(tree, Launch(argv=("python3", "-m", "pk")), files=LocalFiles("/nonexistent"))


@pytest.mark.parametrize("words", [words for words in LINES if words != "nobody writes this"])
def test_a_value_that_is_written_later_closes_nothing(engine: LaunchEngine, words: str) -> None:
    assert engine.why(f"pk/__main__.py:{LINES[words]}", counterfactuals=False).verdict in ("may", "unknown")


def test_a_value_that_nobody_writes_later_still_closes(engine: LaunchEngine) -> None:
    answer = engine.why(f"pk/__main__.py:{LINES['nobody writes this']}", counterfactuals=False)
    assert answer.verdict == "never" and answer.decisive is not None and answer.decisive.condition == "QUIET"
