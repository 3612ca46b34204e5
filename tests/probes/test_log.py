"""Logs: records in both forms, limits, figures, rotation and several starts in one file."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.probes.log import LogLine, batch_series, parse_pairs, parse_repr, read_log
from agent.probes.products import LogPatterns

PATTERNS = LogPatterns(
    record=(re.compile(r"args=(?P<record>(?:Args\(|\{).*)"),),
    limits=(re.compile(r"max_tokens=\d+.*"),),
    batch=(re.compile(r"Decode batch, .*"),),
    notable=(re.compile(r"(?i)warning.*"),),
)


def numbered(*texts: str) -> list[LogLine]:
    return [LogLine(number=number, text=text) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("text", "values", "unread"),
    [
        (
            "Args(a=1, b='x, (y', c=None, d=('1', 2), e={'k': [1, 2]}) trailing",
            {"a": 1, "b": "x, (y", "c": None, "d": ("1", 2), "e": {"k": [1, 2]}},
            (),
        ),
        ("{'a': 1, \"b\": 'it\\'s', 'c': {'d': True}}", {"a": 1, "b": "it's", "c": {"d": True}}, ()),
        ("Args(kind=<Kind.A: 'a'>, device=device(type='cuda'), n=-1.5e-3)", {"n": -1.5e-3}, ("kind", "device")),
        ("module.Args(a=1)", {"a": 1}, ()),
        ("Args()", {}, ()),
        ("{}", {}, ()),
        ("nothing", {}, ()),
    ],
)
def test_both_forms_of_the_record(text: str, values: dict[str, object], unread: tuple[str, ...]) -> None:
    assert parse_repr(text) == (values, unread)


def test_a_record_that_was_cut_keeps_its_whole_pairs() -> None:
    assert parse_repr("Args(a=1, b='cut off he") == ({"a": 1}, ())


literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), literals, max_size=5), st.booleans())
def test_what_repr_writes_comes_back(values: dict[str, object], as_call: bool) -> None:
    text = f"Args({', '.join(f'{name}={value!r}' for name, value in values.items())})" if as_call else repr(values)
    assert parse_repr(text + " (and more)") == (values, ())


def test_the_last_start_counts() -> None:
    lines = numbered(
        "args=Args(a=1)", "max_tokens=10", "Decode batch, accept len: 9.0", "args={'a': 2}", "max_tokens=20, x=3", "WARNING: y"
    )
    reading = read_log(lines, PATTERNS)
    assert reading.starts == 2
    assert reading.record is not None and reading.record.values == {"a": 2} and reading.record.line.number == 4
    assert [line.text for line in reading.limits] == ["max_tokens=20, x=3"]
    assert reading.batches == ()
    assert [line.text for line in reading.notable] == ["WARNING: y"]


def test_lines_from_the_end_belong_to_the_last_start() -> None:
    lines = [
        LogLine(number=4, text="args=Args(a=1)"),
        LogLine(number=0, text="Decode batch, accept len: 2.5, gen throughput (token/s): 80.25"),
    ]
    reading = read_log(lines, PATTERNS)
    assert len(reading.batches) == 1


def test_a_log_without_a_record_is_read_too() -> None:
    reading = read_log(numbered("Decode batch, accept len: 1.0"), PATTERNS)
    assert reading.record is None and reading.starts == 0 and len(reading.batches) == 1


def test_figures_of_periodic_lines() -> None:
    lines = numbered(
        "Decode batch, #running-req: 1, accept len: 1.00, cuda graph: False, gen throughput (token/s): 82.3, #queue-req: 0",
        "Decode batch, #running-req: 3, accept len: 2.00, cuda graph: False, gen throughput (token/s): 90, #queue-req: 0",
    )
    series = batch_series(lines)
    assert series.mean("accept len") == 1.5
    assert series.values["gen throughput (token/s)"] == (82.3, 90.0)
    assert series.mean("cuda graph") is None
    assert series.mean("absent") is None


def test_pairs_keep_units_as_text() -> None:
    assert parse_pairs("max_tokens=452, ratio=0.5, free_mem=3.2 GB, on=True, none=None, sizes=[1, 2]") == {
        "max_tokens": 452,
        "ratio": 0.5,
        "free_mem": "3.2 GB",
        "on": True,
        "none": None,
        "sizes": "[1, 2]",
    }
