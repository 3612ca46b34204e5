"""Both readings of a file give the same tree: on random programs, on the standard library, on a real release."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.analysis import ir
from agent.analysis.syntax import parse
from agent.analysis.walk import walk
from tests.analysis.programs import Programs
from tests.analysis.readings import compare, difference, library_reading, plain
from tests.analysis.test_syntax_samples import SAMPLES, expectations

AGREE = ("same", "second", "refused")


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**32))
def test_random_programs_read_the_same_twice(seed: int) -> None:
    try:
        source = Programs(Random(seed)).source()
    except (ValueError, IndexError):  # what the library cannot write out
        return
    answer = compare(source.encode())
    assert answer in AGREE, source


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_the_second_reading_differs_in_nothing(seed: int) -> None:
    """A misread line makes the whole file be read by the library: what stands next to it keeps its tree, f-strings and places included."""
    try:
        source = Programs(Random(seed)).source()
    except (ValueError, IndexError):
        return
    if compare(source.encode()) != "same":
        return
    alone = parse("one.py", source.encode())
    beside = parse("one.py", source.encode() + b"x = a ^ b & c\n")
    assert strict(beside.body[:-1]) == strict(alone.body)


def strict(body: list[ir.Stmt]) -> list[object]:
    """Every node with its place, inside f-strings too."""
    return [(type(node), node.line, node.end, node.start_byte, node.end_byte) for root in body for node in walk(root)]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_samples_read_the_same_twice(sample: Path) -> None:
    assert compare(expectations(sample.read_bytes())[0]) in AGREE


LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize(
    "name",
    [
        "ast",
        "argparse",
        "dataclasses",
        "enum",
        "inspect",
        "typing",
        "asyncio/tasks",
        "test/test_patma",
        "test/test_grammar",
        "test/test_fstring",
    ],
)
def test_the_standard_library_reads_the_same_twice(name: str) -> None:
    path = LIBRARY / f"{name}.py"
    if not path.exists():
        pytest.skip("this Python came without its own tests")
    assert compare(path.read_bytes()) in AGREE


def test_a_release_reads_the_same_twice(wheel_tree) -> None:  # type: ignore[no-untyped-def]
    """Every fortieth file; all of them on demand, see readings.py."""
    root = wheel_tree("sglang", "0.5.9")
    files = sorted(root.rglob("*.py"))[::40]
    assert len(files) > 30
    assert {str(path): answer for path in files if (answer := compare(path.read_bytes())) not in AGREE} == {}


def test_a_difference_is_seen() -> None:
    one, other = library_reading(b"x = a + b\n"), library_reading(b"x = a - b\n")
    assert difference(plain(one), plain(other)) is not None
    moved = library_reading(b"x = a +  b\n")
    assert difference(plain(one), plain(moved)) is not None
