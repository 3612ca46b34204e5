"""Decode lines to numbers: read, summarised, and compared only where that is honest."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.config import shipped_directory
from agent.domain.errors import PlaybookInvalid
from agent.domain.metrics import MetricTable, read_samples
from agent.library.metrics import read_metric_tables, table_for
from agent.verification.numbers import compare, meaning, series_of, summarise
from agent.verification.payoff import payoff

TABLES = read_metric_tables(shipped_directory("playbooks") / "metrics")
SGLANG, VLLM = (next(table for table in TABLES if name in table.packages) for name in ("sglang", "vllm"))
TABLE = "product: x\npackages: [x]\nline: a\n"


def decode_line(running: int = 1, accept: float | None = 1.0, speed: float = 61.4) -> str:
    """The line of 0.5.9, scheduler_metrics_mixin.py:357-412."""
    accepted = "" if accept is None else f"accept len: {accept:.2f}, accept rate: {accept / 16:.2f}, "
    return (
        f"[2026-05-01 15:18:44 TP0] Decode batch, #running-req: {running}, #token: 412, token usage: 0.00, {accepted}"
        f"cuda graph: False, gen throughput (token/s): {speed:.2f}, #queue-req: 0"
    )


def test_a_decode_line_of_0_5_9() -> None:
    (sample,) = read_samples([decode_line(), "[2026-05-01 15:18:44 TP0] Prefill batch, #new-seq: 1"], SGLANG)
    assert dict(sample.values) == {"running": 1, "accept_length": 1.0, "accept_rate": 0.06, "throughput": 61.4}
    assert sample.rank == "TP0"


def test_older_and_newer_decode_lines() -> None:
    lines = [
        "[2025-05-01 10:00:00 TP0] Decode batch. #running-req: 2, #token: 9, token usage: 0.00, accept len: 1.85, "
        "gen throughput (token/s): 7.5, ",
        "[2026-09-01 10:00:00 DP0 TP1] Decode batch [40], #running-req: 3, #full token: 9, full token usage: 0.1, accept len: 2.00, "
        "accept rate: 0.33, cap len: 3.00, block accept len: 5.00, cuda graph: True, gen throughput (token/s): 100, #queue-req: 0",
    ]
    old, new = read_samples(lines, SGLANG)
    assert dict(old.values) == {"running": 2, "accept_length": 1.85, "throughput": 7.5}
    assert (new.values["accept_length"], new.rank) == (2.0, "DP0 TP1")


def test_lines_of_the_other_product() -> None:
    lines = [
        "INFO 05-01 10:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 3.1 tokens/s, Avg generation throughput: 82.3 tokens/s, "
        "Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%",
        "INFO 05-01 10:00:00 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.10, Accepted throughput: 43.1 tokens/s, "
        "Drafted throughput: 117.5 tokens/s, Accepted: 431 tokens, Drafted: 1175 tokens, Per-position acceptance rate: 0.7, 0.3, 0.1, "
        "Avg Draft acceptance rate: 36.7%",
    ]
    first, second = read_samples(lines, VLLM)
    assert dict(first.values) == {"running": 1, "throughput": 82.3}
    assert dict(second.values) == {"accept_length": 2.1, "accept_rate": 36.7}


def test_a_metric_that_no_line_has_is_none_and_idle_lines_do_not_count() -> None:
    samples = list(read_samples([decode_line(accept=None), decode_line(running=0, speed=0.0)], SGLANG))
    assert summarise(samples, "accept_length") is None
    speed = summarise(samples, "throughput")
    assert speed is not None
    assert (speed.count, speed.mean) == (1, 61.4)


@given(st.lists(st.floats(1, 16), min_size=1, max_size=60))
@example([8.0] * 8 + [7.21] * 2)  # interpolated between equal neighbours, 7.21 comes out smaller
@example([7.21] * 10)
def test_a_summary_lies_within_its_values(values: list[float]) -> None:
    series = summarise(read_samples([decode_line(accept=value) for value in values], SGLANG), "accept_length")
    assert series is not None
    shown = [round(value, 2) for value in values]
    assert min(shown) <= series.low <= series.median <= series.high <= max(shown)
    assert series.count == len(values)


@pytest.mark.parametrize(
    ("version", "metric", "words"),
    [
        ("0.5.4", "accept_rate", "speculative steps plus one"),
        ("0.5.9", "accept_rate", "over the number of draft tokens"),
        ("0.5.10.post1", "accept_rate", "over the number of draft tokens"),
        ("0.5.11", "accept_rate", "own left out"),
        ("0.5.23", "accept_rate", "own left out"),
        ("0.4.6", "accept_length", "own token included"),
    ],
)
def test_what_a_number_means_depends_on_the_release(version: str, metric: str, words: str) -> None:
    assert words in (meaning(SGLANG, metric, version) or "")


def test_a_release_outside_the_table_has_no_known_meaning() -> None:
    assert meaning(SGLANG, "accept_rate", "") is None
    assert meaning(SGLANG, "throughput", "") == ""


def test_numbers_of_different_meaning_are_not_compared() -> None:
    samples = list(read_samples([decode_line()] * 3, SGLANG))
    old, new = (summarise(samples, "accept_rate", means=meaning(SGLANG, "accept_rate", version)) for version in ("0.5.9", "0.5.23"))
    found = compare("accept_rate", old, new, per_batch=False)
    assert not found.comparable
    assert "calculated differently" in found.why


def test_throughput_is_compared_at_the_common_batch_size() -> None:
    before = summarise(read_samples([decode_line(1, speed=50)] * 5 + [decode_line(8, speed=300)] * 9, SGLANG), "throughput")
    after = summarise(read_samples([decode_line(1, speed=80)] * 7 + [decode_line(16, speed=900)] * 9, SGLANG), "throughput")
    found = compare("throughput", before, after, per_batch=True)
    assert (found.comparable, found.at, found.before, found.after) == (True, 1, 50, 80)


def test_without_a_common_batch_size_throughput_is_not_compared() -> None:
    before = summarise(read_samples([decode_line(1)], SGLANG), "throughput")
    after = summarise(read_samples([decode_line(8)], SGLANG), "throughput")
    found = compare("throughput", before, after, per_batch=True)
    assert not found.comparable
    assert found.why == "the batches had different sizes: 1 before and 8 after running requests"


def test_the_founding_story_pays_from_2_30_on() -> None:
    found = payoff(2.1, 82.3, 90.0)
    assert not found.pays
    assert found.break_even == pytest.approx(2.2965, abs=1e-4)
    assert "slower than 90.0 tok/s" in found.words
    assert "breaks even at an accept length of 2.30" in found.words


@given(st.floats(1, 16), st.floats(1, 1e5), st.floats(1, 1e5))
def test_at_the_break_even_length_speculation_is_as_fast_as_none(length: float, speed: float, baseline: float) -> None:
    found = payoff(length, speed, baseline)
    step_seconds = length / speed
    assert found.break_even / step_seconds == pytest.approx(baseline)
    assert found.pays == (speed > baseline)
    assert found.pays == (length > found.break_even) or length == pytest.approx(found.break_even)


@pytest.mark.parametrize("wrong", [(0, 1, 1), (1, 0, 1), (1, 1, -1)])
def test_payoff_refuses_what_is_no_measurement(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        payoff(*wrong)


def test_a_product_without_a_table_has_no_numbers() -> None:
    assert table_for(TABLES, "llama") is None
    assert series_of([decode_line()], None, "1.0") == {}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("product: x\npackages: [x]\nline: a\n", "fields"),
        ("product: x\npackages: [x]\nline: a\nfields: {a: 'b'}\n", "group"),
        ("- 1", "table"),
    ],
)
def test_a_broken_table_says_what_is_wrong(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(PlaybookInvalid, match=where):
        read_metric_tables(tmp_path)


def test_every_field_catches_a_number() -> None:
    table: MetricTable
    for table in TABLES:
        assert all(pattern.groups >= 1 for pattern in table.fields.values())
