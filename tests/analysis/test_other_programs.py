"""Functions that run only where another module is started as the program."""

from __future__ import annotations

import pytest

from agent.analysis import ir
from agent.analysis.other_programs import programs_with
from tests.analysis.trees import index_of

BENCH = """\
def load():
    return 1


def speed():
    load()


def main():
    work = speed
    work()


if __name__ == "__main__":
    main()
"""


def programs(files: dict[str, str], name: str = "load", path: str = "tree/bench.py") -> frozenset[str] | None:
    index = index_of({"tree/__init__.py": "", **files})
    function = next(each.node for each in index.outline(path).definitions if each.name == name)
    assert isinstance(function, ir.FunctionDef)
    return programs_with(index, path, function)


def test_every_way_leads_to_a_main() -> None:
    for name in ("load", "speed", "main"):
        assert programs({"tree/bench.py": BENCH}, name) == {"tree/bench.py"}


@pytest.mark.parametrize(
    "other",
    [
        "from tree.bench import load\n\n\ndef serve():\n    load()\n",
        "from tree import bench\n\n\ndef serve():\n    bench.load()\n",
        "from tree.bench import *\n\n\ndef serve():\n    load()\n",
        "import tree.bench as b\n\n\nb.speed()\n",
        "from tree import bench\n\ngetattr(bench, 'load')()\n",
        "from tree.bench import speed\n\nTABLE = {'speed': speed}\n",
        "from tree import bench\n\n\ndef serve(name):\n    getattr(bench, name)()\n",
        "import importlib\n\n\ndef serve(name):\n    vars(importlib.import_module('tree.bench'))[name]()\n",
        "from tree.bench import load as read\n\n\ndef serve():\n    read()\n",
        "from tree.bench import \\\n    *\n\nload()\n",
        "from tree.bench \\\n    import *\n\nload()\n",
        "from .bench import*\n\nload()\n",
    ],
)
def test_anything_else_may_run_it(other: str) -> None:
    assert programs({"tree/bench.py": BENCH, "tree/server.py": other}) is None


def test_by_way_of_a_module_that_hands_it_on() -> None:
    files = {
        "tree/bench.py": BENCH,
        "tree/old.py": "from tree.bench import load\n",
        "tree/server.py": "from tree.old import load\n\nload()\n",
    }
    assert programs(files) is None
    files["tree/server.py"] = "from tree.elsewhere import load\n\nload()\n"
    assert programs(files) == {"tree/bench.py"}


@pytest.mark.parametrize("other", ["from . import load\n\nload()\n", "from . import *\n\nload()\n"])
def test_a_package_hands_it_on_to_modules_that_need_not_name_it(other: str) -> None:
    files = {"tree/bench/__init__.py": "from tree.bench.load import load\n", "tree/bench/load.py": BENCH, "tree/bench/server.py": other}
    assert programs(files, path="tree/bench/load.py") is None
    files["tree/bench/server.py"] = "from .load import other\n"
    assert programs(files, path="tree/bench/load.py") == {"tree/bench/load.py"}


def test_a_program_may_start_it_from_another_module() -> None:
    files = {"tree/bench.py": BENCH, "tree/old.py": "from tree.bench import main\n\nif __name__ == '__main__':\n    main()\n"}
    assert programs(files) == {"tree/bench.py", "tree/old.py"}


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ("def speed():\n    load()", "@register\ndef speed():\n    load()"),
        ("def speed():\n    load()", "def speed():\n    load()\n\n\nspeed()"),
        ("def load():", "class A:\n    def go(self):\n        load()\n\n\ndef load():"),
        ('if __name__ == "__main__":\n    main()', "main()"),
        ('if __name__ == "__main__":\n    main()', ""),
    ],
)
def test_not_where_a_way_is_left(change: str, to: str) -> None:
    assert change in BENCH
    assert programs({"tree/bench.py": BENCH.replace(change, to)}) is None
