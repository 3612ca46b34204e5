"""Settings that another object takes over under the same name, and that are changed there."""

from __future__ import annotations

import textwrap

import pytest

from agent.domain.launch import Launch
from agent.domain.values import Known, Unknown
from agent.domain.verdict import Setting
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles

PROGRAM = """\
import argparse
import os
from dataclasses import dataclass, field


class CacheConfig:
    def __init__(self, prefix, size):
        self.prefix = prefix
        self.size = size


@dataclass
class Args:
    size: int = 1
    depth: int = 1
    width: int = 1
    mla: bool = False
    prefix: bool = False

    def config(self):
        cache = CacheConfig(prefix=self.prefix, size=self.size)
        return Whole(cache_config=cache, mla=self.mla)


@dataclass
class Whole:
    cache_config: CacheConfig = field(default=None)
    mla: bool = False

    def settle(self):
        if {condition}:
            self.cache_config.prefix = {value}


class Other:
    def __init__(self):
        self.prefix = "other"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--width", type=int, default=1)
    parser.add_argument("--mla", action="store_true")
    parser.add_argument("--prefix", action="store_true")
    parsed = parser.parse_args()
    args = Args(parsed.size, parsed.depth, parsed.width, parsed.mla, parsed.prefix)
    args.config().settle()
    Other()


main()
"""
GUARD, CHANGED = 31, 32


def engine(*flags: str, condition: str = "self.mla", value: str = "False", program: str = PROGRAM) -> LaunchEngine:
    source = program.format(condition=condition, value=value)
    launch = Launch(argv=("python3", "-m", "program", *flags))
    return open_engine(MemoryTree({"program.py": source}), launch, files=NoFiles())


def row(of: LaunchEngine, name: str = "prefix") -> Setting:
    return next(setting for setting in of.audit().settings if setting.name == name)


def test_overridden_in_the_object_that_took_it_over() -> None:
    found = row(engine("--prefix", "--mla"))
    assert (found.effective.value, found.verdict) == (False, "overridden")
    (change,) = found.changed_by
    assert (change.line, change.text) == (CHANGED, "self.cache_config.prefix = False")
    assert [(guard.line, guard.condition, guard.truth) for guard in change.guards] == [(GUARD, "self.mla", "true")]


def test_as_asked_where_the_guard_is_false() -> None:
    found = row(engine("--prefix"))
    assert (found.effective.value, found.verdict, found.changed_by) == (True, "as_asked", ())


def test_the_undecided_guard_is_the_reason() -> None:
    found = row(engine("--prefix", condition="os.getpid() == 1"))
    assert (found.effective.status, found.verdict) == ("unknown", "unknown")
    assert "os.getpid() == 1" in found.effective.why and f"program.py:{GUARD}" in found.effective.why
    assert [change.line for change in found.changed_by] == [CHANGED]


def test_what_is_written_there_may_be_what_was_asked() -> None:
    assert row(engine("--prefix", "--mla", value="True")).verdict == "as_asked"


def test_a_value_that_is_worked_out_is_not_claimed() -> None:
    found = row(engine("--prefix", "--mla", value="bool(self.mla) and False"))
    assert found.effective.status == "unknown" and f"program.py:{CHANGED}" in found.effective.why


@pytest.mark.parametrize("name", ["prefix", "--prefix", "cache_config.prefix", "CacheConfig.prefix"])
def test_asked_for_by_name(name: str) -> None:
    assert engine("--prefix", "--mla").setting(name) == Known(value=False)
    assert engine("--prefix").setting(name) == Known(value=True)


def test_the_record_itself_keeps_its_value() -> None:
    assert engine("--prefix", "--mla").setting("Args.prefix") == Known(value=True)


@pytest.mark.parametrize("name", ["Whole.prefix", "colour", "Nobody.prefix"])
def test_nobody_has_it(name: str) -> None:
    assert isinstance(engine("--prefix").setting(name), Unknown)


LATER = textwrap.dedent(
    """\
    import argparse
    import external
    from dataclasses import dataclass


    @dataclass
    class CacheConfig:
        prefix: bool = True


    @dataclass
    class Args:
        size: int = 1
        depth: int = 1
        prefix: bool = False

        def config(self):
            if external.multimodal:
                self.prefix = False
            return Whole(CacheConfig(prefix=self.prefix))


    @dataclass
    class Whole:
        cache_config: CacheConfig = None

        def __post_init__(self):
            if self.cache_config is not None:
                self.cache_config.prefix = False


    Whole()
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--prefix", action="store_true")
    parsed = parser.parse_args()
    args = Args(parsed.size, parsed.depth, parsed.prefix)
    external.start(args)
    """
)


def test_later_methods_of_the_record_and_methods_that_python_calls() -> None:
    """One ``Whole`` was seen with no cache; the other is made where the forward run has not been."""
    launch = Launch(argv=("python3", "-m", "program", "--prefix"))
    found = row(open_engine(MemoryTree({"program.py": LATER}), launch, files=NoFiles()))
    assert found.verdict == "unknown"
    assert [change.line for change in found.changed_by] == [19, 29]
    assert "external.multimodal" in found.effective.why


UNRELATED = """\
import argparse
from dataclasses import dataclass


@dataclass
class Pool:
    kind: str = "auto"
    count: int = 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="auto")
    args = parser.parse_args()
    print(Pool(), args.kind)


main()
"""


def test_a_bare_name_never_means_a_field_of_something_else() -> None:
    of = open_engine(MemoryTree({"program.py": UNRELATED}), Launch(argv=("python3", "-m", "program", "--kind", "fp8")), files=NoFiles())
    assert of.setting("kind") == Known(value="fp8")
    assert of.setting("Pool.kind") == Known(value="auto")
    assert isinstance(of.setting("count"), Unknown)
    assert (row(of, "kind").effective.value, row(of, "kind").verdict) == ("fp8", "as_asked")
    assert row(of, "Pool.kind").effective.value == "auto"


TWO = """\
import argparse
from dataclasses import dataclass


@dataclass
class Front:
    a: int = 1
    b: int = 1
    c: int = 1


@dataclass
class Back:
    a: int = 1
    b: int = 1
    c: int = 1


def main():
    parser = argparse.ArgumentParser()
    for name in ("a", "b", "c"):
        parser.add_argument("--" + name, type=int, default=1)
    args = parser.parse_args()
    Front(args.a, args.b, args.c)
    Back(args.a, args.b, args.c + 1)


main()
"""


def test_two_configurations_that_disagree() -> None:
    of = open_engine(MemoryTree({"program.py": TWO}), Launch(argv=("python3", "-m", "program", "--c", "4")), files=NoFiles())
    assert of.setting("a") == Known(value=1)
    disagreeing = of.setting("c")
    assert isinstance(disagreeing, Unknown) and disagreeing.reason.endswith("Front 4, Back 5")
    assert (of.setting("Front.c"), of.setting("back.c")) == (Known(value=4), Known(value=5))
    assert row(of, "c").verdict == "unknown"


AFTER = """\
import argparse
from dataclasses import dataclass


@dataclass
class Args:
    a: int = 1
    b: int = 1
    c: int = 1

    def check(self):
        if self.a == 2:
            self.c = 0


def main():
    parser = argparse.ArgumentParser()
    for name in ("a", "b", "c"):
        parser.add_argument("--" + name, type=int, default=1)
    parsed = parser.parse_args()
    args = Args(parsed.a, parsed.b, parsed.c)
    args.check()


main()
"""


def test_changed_once_the_record_is_complete() -> None:
    of = open_engine(MemoryTree({"program.py": AFTER}), Launch(argv=("python3", "-m", "program", "--a", "2", "--c", "4")), files=NoFiles())
    found = row(of, "c")
    assert (found.effective.value, found.verdict, [change.line for change in found.changed_by]) == (0, "overridden", [13])
    assert of.setting("c") == Known(value=0)


MAYBE_CHANGED = PROGRAM.replace(
    "        cache = CacheConfig(",
    "        import outside\n\n        if outside.unsure:\n            self.prefix = False\n        cache = CacheConfig(",
)


def test_the_later_change_decides_where_the_record_has_one_of_two_values() -> None:
    assert row(engine("--prefix", program=MAYBE_CHANGED)).effective.values == (False, True)
    found = row(engine("--prefix", "--mla", program=MAYBE_CHANGED))
    assert (found.effective.value, found.verdict) == (False, "overridden")
    assert found.changed_by[-1].text == "self.cache_config.prefix = False"


FROM_A_FILE = """\
import argparse
import json
from dataclasses import dataclass


@dataclass
class Kept:
    a: int = 1
    b: int = 1
    c: int = 1


def main():
    parser = argparse.ArgumentParser()
    for name in ("a", "b", "c"):
        parser.add_argument("--" + name, type=int, default=1)
    args = parser.parse_args()
    kept = Kept(**{"a": 7, "b": 1, "c": args.c})
    if args.a == 4 and kept.a == 7:
        print("both")


main()
"""


def test_a_record_filled_from_elsewhere_does_not_stand_for_the_command_line() -> None:
    of = open_engine(
        MemoryTree({"program.py": FROM_A_FILE}), Launch(argv=("python3", "-m", "program", "--a", "4", "--c", "5")), files=NoFiles()
    )
    found = row(of, "a")
    assert (found.asked.value, found.asked.source, found.verdict) == (4, "flag", "unknown")
    assert found.effective.why == "the command line gives 4, Kept holds 7 from elsewhere"
    assert (row(of, "c").effective.value, row(of, "c").verdict) == (5, "as_asked")
