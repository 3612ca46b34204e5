"""An object that a question's run made is written by what that run followed, and goes by its own names; any other writer counts."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

SERVER = """\
import argparse
import multiprocessing

import outside


class AuxConfig:
    def __init__(self):
        self.capture = False


class OtherConfig:
    def __init__(self):
        self.size = 0


def resolve(kind):
    config = AuxConfig()
    fill(config, kind)
    return config


def fill(config, kind):
    if kind == "deep":
        config.capture = True


class Runner:
    def __init__(self, kind):
        self.kind = kind
        self.resolve()

    def resolve(self):
        self.aux_config = resolve(self.kind)

    def start(self):
        set_up(capture=self.aux_config.capture, model=outside.model())


def set_up(*, capture, model):
    if capture:
        if not hasattr(model, "capture"):
            raise ValueError
        print("captured")


def copy_all(config, values):
    for name in values:
        setattr(config, name, values[name])


class Loader:
    def __init__(self):
        self.other_config = OtherConfig()
        copy_all(self.other_config, outside.values())


class Server:
    def __init__(self, kind):
        self.runner = Runner(kind)

    def run(self):
        self.runner.start()


def work(kind):
    outside.serve(Server(kind))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="flat")
    args = parser.parse_args()
    multiprocessing.Process(target=work, args=(args.kind,)).start()


if __name__ == "__main__":
    main()
"""


def verdict(source: str, *flags: str) -> str:
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "captured" in text)
    engine = open_engine(MemoryTree({"server.py": source}), Launch(argv=("python3", "-m", "server", *flags)), files=NoFiles())
    return engine.why(f"server.py:{line}", counterfactuals=False).verdict


def test_the_object_keeps_what_its_maker_left() -> None:
    assert verdict(SERVER) == "never"
    assert verdict(SERVER, "--kind", "deep") != "never"


OTHER = "def work(kind):"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OTHER, f"def other(runner):\n    fill(runner.aux_config, outside.kind())\n\n\noutside.register(other)\n\n\n{OTHER}"),
        (OTHER, f"def other(runner):\n    runner.aux_config.capture = outside.kind()\n\n\noutside.register(other)\n\n\n{OTHER}"),
        (OTHER, f"def other(x):\n    config = x.aux_config\n    config.capture = True\n\n\noutside.register(other)\n\n\n{OTHER}"),
        (OTHER, f"def other(x):\n    copy_all(x.aux_config, outside.values())\n\n\noutside.register(other)\n\n\n{OTHER}"),
        ("aux_config = resolve(self.kind)", "aux_config = resolve(self.kind)\n        self.aux_config.capture = True"),
        (
            "self.aux_config = resolve(self.kind)",
            "config = resolve(self.kind)\n        self.aux_config = config\n        fill(config, 'deep')",
        ),
    ],
)
def test_whoever_else_may_write_it(old: str, new: str) -> None:
    assert old in SERVER
    assert verdict(SERVER.replace(old, new)) != "never"


HANDED_ON = SERVER.replace("        set_up(capture", "        outside.show(self.aux_config)\n        set_up(capture")
"""It may get any name, so that each ``config`` in the program may be this one."""
WRITES = f"\n\n\noutside.register(other)\n\n\n{OTHER}"


@pytest.mark.parametrize(
    "body",
    [
        "    config = outside.config()\n    setattr(config, x, 1)",
        "    config = OtherConfig()\n    setattr(config, x, 1)",
        "    config = OtherConfig()\n    for y in x:\n        setattr(config, y, 1)\n    config = x",
        "    change(None, x)\n\n\ndef change(config, name):\n    setattr(config, name, 1)",
    ],
)
def test_a_name_that_holds_another_object(body: str) -> None:
    assert verdict(HANDED_ON.replace(OTHER, f"def other(x):\n{body}{WRITES}")) == "never"


@pytest.mark.parametrize(
    "body",
    [
        "    config = x.aux_config\n    setattr(config, x.name, 1)",
        "    config = pick(x)\n    setattr(config, x.name, 1)\n\n\ndef pick(x):\n    return x.aux_config",
        "    config = OtherConfig()\n    for y in x:\n        setattr(config, y, 1)\n        config = x",
        "    config = OtherConfig()\n    if x:\n        config = x\n    setattr(config, x.name, 1)",
        "    change(x, x.name)\n\n\ndef change(config, name):\n    setattr(config, name, 1)\n\n\noutside.register(change)",
        "    change(*x)\n\n\ndef change(config, name):\n    setattr(config, name, 1)",
        "    change(x.aux_config, x.name)\n\n\ndef change(config, name):\n    setattr(config, name, 1)",
    ],
)
def test_a_name_that_may_hold_the_object(body: str) -> None:
    assert verdict(HANDED_ON.replace(OTHER, f"def other(x):\n{body}{WRITES}")) != "never"
