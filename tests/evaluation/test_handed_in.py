"""Settings that a helper writes under any name it is given: the calls that hand a name in say whether this setting is meant."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

SERVER = """\
import argparse

import fastapi
import uvicorn

from settings import Options, at_hand, declare, force, hold

app = fastapi.FastAPI()


class Worker:
    def __init__(self, options: Options):
        self.options = options
        {prepare}

    def start(self):
        if self.options.mode == "fast":
            print("fast")

    def change(self, message):
        wanted = message.fields
        if wanted:
            fields = dict(wanted)
            {change}


{more}


@app.get("/run")
def handle():
    Worker(at_hand()).start()


@app.post("/change")
def change(message):
    Worker(at_hand()).change(message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="slow")
    parser.add_argument("--size", type=int, default=1)
    args = parser.parse_args()
    options = Options(args.mode, args.size)
    hold(options)
    declare(options, False)
    uvicorn.run(app)


if __name__ == "__main__":
    main()
"""
SETTINGS = """\
class Options:
    def __init__(self, mode, size):
        self.mode = mode
        self.size = size

    def override(self, source, **fields):
        self.last = source
        for name, value in fields.items():
            setattr(self, name, value)

{method}


class Held:
    def __init__(self):
        self.options = None


HELD = Held()


def hold(options):
    HELD.options = options


def at_hand():
    return HELD.options


def declare(options, late, **fields):
    if late:
        options.override("late", **fields)
        force(options)
    else:
        options.size = 2


def force(options):
    options.mode = options.other
"""


def verdict(prepare: str = "pass", change: str = "pass", more: str = "", method: str = "") -> str:
    server = SERVER.replace("{prepare}", prepare).replace("{change}", change).replace("{more}", more)
    line = next(number for number, text in enumerate(server.splitlines(), 1) if text.endswith('print("fast")'))
    tree = MemoryTree(
        {"server.py": server, "settings.py": "import copy\nimport weakref\n" + SETTINGS.replace("{method}", method), "control.py": CONTROL}
    )
    return (
        open_engine(tree, Launch(argv=("python3", "-m", "server")), files=NoFiles()).why(f"server.py:{line}", counterfactuals=False).verdict
    )


@pytest.mark.parametrize(
    "prepare",
    [
        'options.override("start", size=3)',
        'self.options.override("start", **{"size": 3})',
        'for name in ("size", "depth"):\n            options.override("start", **{name: 3})',
        'given = {"size": 3}\n        if options:\n            given["depth"] = 4\n        options.override("start", **given)',
        'change = getattr(options, "override", None)\n        if change is not None:\n            change("start", size=3)',
        'other = copy.copy(options)\n        other.override("start", **options.asked)',
    ],
)
def test_other_names_leave_it_decided(prepare: str) -> None:
    assert verdict(prepare, more="import copy") == "never"


@pytest.mark.parametrize(
    "prepare",
    [
        'options.override("start", mode="fast")',
        'self.options.override("start", **{"mode": "fast"})',
        'for name in ("size", "mode"):\n            options.override("start", **{name: "fast"})',
        'given = {"size": 3}\n        if options:\n            given["mode"] = "fast"\n        options.override("start", **given)',
        'change = getattr(options, "override", None)\n        if change is not None:\n            change("start", mode="fast")',
        'same = options\n        same.override("start", mode="fast")',
        'options.override("start", **options.asked)',
        'outside.call(options.override)',
        'Options.override(options, "start", mode="fast")',
    ],
)  # fmt: skip
def test_a_call_that_hands_in_this_name_keeps_it_open(prepare: str) -> None:
    assert verdict(prepare, more="import outside") not in ("never", "always")


def test_names_that_come_in_a_message() -> None:
    """Nobody has sent one; but what a handler adds of itself it writes whenever it runs."""
    assert verdict(change='at_hand().override("asked", **fields)') == "never"
    assert verdict(change='fields = {**fields, **at_hand().extra}\n            at_hand().override("asked", **fields)') != "never"


HELPER = "class Scoped:\n    def __init__(self, fields):\n        self.fields = fields\n\n    def install(self):\n" + (
    "        at_hand().override('scoped', **self.fields)\n"
)


def test_a_helper_that_nothing_calls() -> None:
    assert verdict(more=HELPER) == "never"
    assert verdict('Scoped({"mode": "fast"}).install()', more=HELPER) != "never"


def test_a_function_that_is_passed_by_here_and_that_nothing_calls_there() -> None:
    """``declare`` does not come to its call of ``force`` in this launch."""
    forces = HELPER.replace("at_hand().override('scoped', **self.fields)", "force(at_hand())")
    assert verdict(more=forces) == "never"
    assert verdict("Scoped({}).install()", more=forces) != "never"
    assert verdict("force(options)") != "never"


@pytest.mark.parametrize(
    ("made", "decided"),
    [
        ("copy.copy(self)", True),
        ("copy.deepcopy(self)", True),
        ("weakref.proxy(self)", False),
        ("itself(self)", False),
        ("copy.copy(self) if self.last else self", False),
    ],
)
def test_what_a_method_writes_to_a_copy(made: str, decided: bool) -> None:
    method = (
        f"    def changed(self, mode):\n        other = {made}\n        object.__setattr__(other, 'mode', mode)\n        return other\n"
    )
    found = verdict("options.changed(options.size)", method=method)
    assert found == "never" if decided else found != "never"


CONTROL = """\
from settings import at_hand


class Control:
    def change(self, message):
        at_hand().override("asked", **message.fields)

    def rpc(self, message):
        getattr(self, message.method)(message)
"""
ROUTES = """
from control import Control

@app.post("/change-it")
def by_route(message):
    Control().change(message)

@app.post("/rpc")
def by_name(message):
    Control().rpc(message)
"""


def test_a_message_may_name_the_handler() -> None:
    """What is called by a worked-out name is asked for where that name comes in a message: not where the start-up calls it."""
    assert verdict(more=ROUTES) == "never"
    assert verdict("Control().rpc(options)", more=ROUTES) != "never"
