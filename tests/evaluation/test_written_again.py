"""A function that the start-up calls and that other code calls once more with another value: no line that this lets run is called never."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.domain.verdict import WhyAnswer
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import os
import threading
import fastapi
import uvicorn
import outside

app = fastapi.FastAPI()
mode = "a"
_once = None
TABLE = {}
ITEMS = []


class State:
    def __init__(self):
        self.mode = "a"

    def set(self, value):
        self.mode = value


class Kind:
    name = "a"

    @classmethod
    def become(cls, name):
        cls.name = name


state = State()


def set_mode(value="b"):
    global mode
    mode = value


def put(key, value):
    TABLE[key] = value
    ITEMS.append(value)


def export(value):
    os.environ["SHOP_MODE"] = value


def once(value):
    global _once
    if _once is None:
        _once = value
    return _once


class Server(outside.Base):
    def handle(self):
        AGAIN
        asked()


def asked():
    if GUARD:
        print("open")


def main():
    set_mode("a")
    state.set("a")
    Kind.become("a")
    put("mode", "a")
    export("a")
    once("a")
    Server().serve()


main()
"""
ROUTE = '@app.get("/b")\ndef b(message):\n    AGAIN\n\n\n'


def answer(again: str, guard: str, *, route: bool = False) -> WhyAnswer:
    source = PROGRAM.replace("AGAIN", "pass" if route else again).replace("GUARD", guard)
    source = source.replace("def asked", ROUTE.replace("AGAIN", again) + "def asked") if route else source
    engine = open_engine(MemoryTree({"program.py": source}), Launch(argv=("python3", "program.py")), files=NoFiles())
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "open" in text)
    return engine.why(f"program.py:{line}", counterfactuals=False)


@pytest.mark.parametrize("route", [False, True], ids=["from-outside", "by-route"])
@pytest.mark.parametrize(
    ("again", "guard"),
    [
        ('set_mode("b")', 'mode == "b"'),
        ("set_mode()", 'mode == "b"'),
        ('state.set("b")', 'state.mode == "b"'),
        ('Kind.become("b")', 'Kind.name == "b"'),
        ('put("mode", "b")', 'TABLE["mode"] == "b"'),
        ('put("more", "b")', '"more" in TABLE'),
        ('put("mode", "b")', "len(ITEMS) > 1"),
        ('threading.Thread(target=set_mode, args=("b",)).start()', 'mode == "b"'),
        ('app.add_api_route("/c", set_mode)', 'mode == "b"'),
    ],
)
def test_another_value_closes_nothing(again: str, guard: str, route: bool) -> None:
    assert answer(again, guard, route=route).verdict in ("may", "unknown")


@pytest.mark.parametrize(
    ("again", "guard"),
    [
        ("pass", 'mode == "b"'),
        ('set_mode("a")', 'mode == "b"'),
        ('set_mode("c")', 'mode == "b"'),
        ('state.set("a")', 'state.mode == "b"'),
        ('State().set("b")', 'state.mode == "b"'),
        ('once("b")', '_once == "b"'),
    ],
)
def test_what_writes_no_other_value_still_closes(again: str, guard: str) -> None:
    """The same value, another one than is asked about, another object, and what is written once."""
    assert answer(again, guard).verdict == "never"


def test_what_a_message_brings_is_an_assumption_with_its_place() -> None:
    found = answer("set_mode(message.mode)", 'mode == "b"', route=True)
    assert found.verdict == "never" and any("nobody has asked the running program to change mode" in each for each in found.assumptions)


def test_a_variable_of_the_environment_is_an_assumption_or_open() -> None:
    assert answer('export("b")', 'os.environ["SHOP_MODE"] == "b"').verdict in ("may", "unknown")
